//! Standard output, which all names `-` of a process share.
//!
//! As in Kaldi, what is written to `-` through several outputs keeps its order.

use std::io::{self, BufWriter, IoSlice, Write};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use crate::buffered::CAPACITY;

/// What standard output is called in messages.
pub(crate) const NAME: &str = "standard output";

/// Standard output with one large buffer; that of the standard library ends at every line.
static STDOUT: LazyLock<Mutex<BufWriter<io::Stdout>>> =
    LazyLock::new(|| Mutex::new(BufWriter::with_capacity(CAPACITY, io::stdout())));

/// A writer of standard output. What was written reaches the reader when this is dropped, at the
/// latest: the buffer itself lives as long as the process, and nobody would flush it.
pub(crate) struct Stdout;

impl Drop for Stdout {
    fn drop(&mut self) {
        // Who wants to hear of an error flushes before.
        let _ = self.flush();
    }
}

impl Stdout {
    fn lock() -> MutexGuard<'static, BufWriter<io::Stdout>> {
        STDOUT.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Hands on what is buffered for standard output, unless another thread writes to it just now.
pub(crate) fn flush_what_there_is() {
    if let Ok(mut stdout) = STDOUT.try_lock()
        && !stdout.buffer().is_empty()
    {
        // Who writes next hears of the error: the bytes stay in the buffer.
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
