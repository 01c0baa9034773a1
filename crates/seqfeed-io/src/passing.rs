//! Outputs whose readers wait for the bytes while they are written.
//!
//! Their bytes are buffered. Before this process waits for more input, it passes the buffers on. So
//! a program in the middle of a pipeline holds nothing back.

use std::io::{self, BufWriter, IoSlice, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use crate::buffered::CAPACITY;
use crate::standard_output;

/// A buffered output that is flushed when this process is about to wait.
pub(crate) struct Passing<W: Write + Send + 'static>(Arc<Mutex<Buffer<W>>>);

/// `None` when it is closed.
struct Buffer<W: Write>(Option<BufWriter<W>>);

/// The open ones.
static OPEN: Mutex<Vec<Weak<Mutex<dyn Flush + Send>>>> = Mutex::new(Vec::new());

trait Flush {
    fn flush_what_there_is(&mut self);
}

impl<W: Write> Flush for Buffer<W> {
    fn flush_what_there_is(&mut self) {
        if let Some(writer) = self.0.as_mut().filter(|writer| !writer.buffer().is_empty()) {
            // The next write gets the error: the bytes stay in the buffer.
            let _ = writer.flush();
        }
    }
}

impl<W: Write + Send + 'static> Passing<W> {
    pub(crate) fn new(writer: W) -> Self {
        let writer = BufWriter::with_capacity(CAPACITY, writer);
        let buffer = Arc::new(Mutex::new(Buffer(Some(writer))));
        let open: Weak<Mutex<dyn Flush + Send>> = Arc::<Mutex<Buffer<W>>>::downgrade(&buffer);
        let mut others = lock(&OPEN);
        others.retain(|other| other.strong_count() > 0);
        others.push(open);
        Self(buffer)
    }

    /// Writes the buffered bytes, and closes.
    pub(crate) fn close(self) -> io::Result<()> {
        let Some(mut writer) = lock(&self.0).0.take() else { return Ok(()) };
        let flushed = writer.flush();
        // Dropping the writer would try to write again.
        drop(writer.into_parts());
        flushed
    }

    fn with<T>(&self, work: impl FnOnce(&mut BufWriter<W>) -> io::Result<T>) -> io::Result<T> {
        let closed = || Err(io::Error::other("the output is closed"));
        lock(&self.0).0.as_mut().map_or_else(closed, work)
    }
}

impl<W: Write + Send + 'static> Write for Passing<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.with(|writer| writer.write(bytes))
    }

    fn write_vectored(&mut self, bufs: &[IoSlice<'_>]) -> io::Result<usize> {
        self.with(|writer| writer.write_vectored(bufs))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.with(BufWriter::flush)
    }
}

/// Passes on all buffered bytes for readers who wait. If another thread is writing to a buffer just
/// now, that buffer is left to it.
pub(crate) fn flush_all() {
    standard_output::flush_what_there_is();
    let open: Vec<_> = lock(&OPEN).iter().filter_map(Weak::upgrade).collect();
    for output in open {
        if let Ok(mut output) = output.try_lock() {
            output.flush_what_there_is();
        }
    }
}

fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A panic elsewhere leaves the buffered bytes.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
