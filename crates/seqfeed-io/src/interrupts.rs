//! Signals that arrive during a wait for a pipe.

use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::OnceLock;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::passing::flush_all;

static ASKED: OnceLock<fn() -> io::Result<()>> = OnceLock::new();

/// Sets a function to call whenever a signal interrupts the wait for a command, a named pipe or
/// standard input. It is called in the waiting thread. An error from it ends the wait; otherwise
/// waiting goes on. This is for hosts that handle signals only on request, such as Python's
/// interpreter. The first function that is set counts; without one, waiting goes on.
pub fn on_interrupt(ask: fn() -> io::Result<()>) {
    let _ = ASKED.set(ask);
}

/// A pipe whose wait such a function may end.
pub(crate) struct Waiting<T>(pub(crate) T);

fn until_done(mut attempt: impl FnMut() -> io::Result<usize>) -> io::Result<usize> {
    loop {
        match attempt() {
            Err(error) if error.kind() == ErrorKind::Interrupted => {
                ASKED.get().map_or(Ok(()), |ask| ask())?;
            }
            other => return other,
        }
    }
}

impl<T: Read + AsFd> Read for Waiting<T> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        if would_wait(self.0.as_fd()) {
            flush_all();
        }
        until_done(|| self.0.read(buf))
    }
}

/// Whether there is nothing to read yet.
fn would_wait(file: BorrowedFd<'_>) -> bool {
    let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
    let mut files = [PollFd::from_borrowed_fd(file, PollFlags::IN)];
    matches!(poll(&mut files, Some(&at_once)), Ok(0))
}

impl<T: Write> Write for Waiting<T> {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        until_done(|| self.0.write(buf))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Interrupted a few times, then done.
    struct Disturbed(u32);

    impl Disturbed {
        fn attempt(&mut self) -> io::Result<usize> {
            if self.0 == 0 {
                return Ok(1);
            }
            self.0 -= 1;
            Err(ErrorKind::Interrupted.into())
        }
    }

    #[test]
    fn what_is_asked_decides() {
        let read = |mut disturbed: Disturbed| until_done(|| disturbed.attempt());
        assert_eq!(read(Disturbed(3)).unwrap(), 1);
        on_interrupt(|| Err(io::Error::other("enough")));
        assert_eq!(read(Disturbed(1)).unwrap_err().to_string(), "enough");
        assert_eq!(read(Disturbed(0)).unwrap(), 1);
    }
}
