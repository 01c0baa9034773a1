//! Standard output, shared by all names `-` of a process.
//!
//! As in Kaldi, bytes that several outputs write to `-` keep their order.

use std::io::{self, BufWriter, IoSlice, Write};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use crate::buffered::CAPACITY;

/// The name of standard output in messages.
pub(crate) const NAME: &str = "standard output";

/// Standard output with one large buffer. The buffer of the standard library ends at every line.
static STDOUT: LazyLock<Mutex<BufWriter<io::Stdout>>> =
    LazyLock::new(|| Mutex::new(BufWriter::with_capacity(CAPACITY, io::stdout())));

/// A writer of standard output. Dropping it flushes at the latest: the buffer itself lives as long
/// as the process, and nobody would flush it.
pub(crate) struct Stdout;

impl Drop for Stdout {
    fn drop(&mut self) {
        // A caller who needs the error flushes before.
        let _ = self.flush();
    }
}

impl Stdout {
    fn lock() -> MutexGuard<'static, BufWriter<io::Stdout>> {
        STDOUT.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Passes on the bytes buffered for standard output, unless another thread is writing to it.
pub(crate) fn flush_what_there_is() {
    if let Ok(mut stdout) = STDOUT.try_lock()
        && !stdout.buffer().is_empty()
    {
        // The next write gets the error: the bytes stay in the buffer.
        let _ = stdout.flush();
    }
}

impl Write for Stdout {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        Self::lock().write(buf)
    }

    fn write_vectored(&mut self, bufs: &[IoSlice<'_>]) -> io::Result<usize> {
        Self::lock().write_vectored(bufs)
    }

    fn flush(&mut self) -> io::Result<()> {
        Self::lock().flush()
    }
}
