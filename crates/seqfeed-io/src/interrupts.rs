//! Signals that arrive while a pipe is waited for.

use std::io::{self, ErrorKind, Read, Write};
use std::sync::OnceLock;

static ASKED: OnceLock<fn() -> io::Result<()>> = OnceLock::new();

/// Sets what is asked, in the thread that waits, whenever a signal has interrupted waiting for a command, a named pipe
/// or standard input: its error ends the wait, else waiting goes on. For hosts that handle signals when they are
/// asked to, as Python's interpreter does. The first one that is set counts; without one, waiting goes on.
pub fn on_interrupt(ask: fn() -> io::Result<()>) {
    let _ = ASKED.set(ask);
}

/// A pipe whose waiting may be ended so.
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

impl<T: Read> Read for Waiting<T> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        until_done(|| self.0.read(buf))
    }
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

    impl Read for Disturbed {
        fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
            if self.0 == 0 {
                buf[0] = 7;
                return Ok(1);
            }
            self.0 -= 1;
            Err(ErrorKind::Interrupted.into())
        }
    }

    #[test]
    fn what_is_asked_decides() {
        let mut byte = [0];
        assert_eq!(Waiting(Disturbed(3)).read(&mut byte).unwrap(), 1);
        assert_eq!(byte, [7]);
        on_interrupt(|| Err(io::Error::other("enough")));
        let failed = Waiting(Disturbed(1)).read(&mut byte).unwrap_err();
        assert_eq!(failed.to_string(), "enough");
        assert_eq!(Waiting(Disturbed(0)).read(&mut byte).unwrap(), 1);
    }
}
