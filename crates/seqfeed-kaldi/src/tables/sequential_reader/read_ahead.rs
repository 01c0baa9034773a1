//! Reads ahead in a thread.

use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::{self, JoinHandle};

use seqfeed_core::{Error, Result};

use crate::holder::Holder;
use crate::tables::options::ReadReport;
use crate::tables::sequential_reader::SequentialReader;

/// Objects that wait, beside the one that is being read and the one in use.
const WAITING: usize = 2;

/// A key and its object, or the error.
type Next<T> = Result<(Vec<u8>, T)>;

/// A table that is read by a thread, some objects ahead. Dropping it waits for the thread.
pub(crate) struct ReadAhead<T> {
    /// `None` when nothing more is wanted. The thread notices this.
    objects: Option<Receiver<Next<T>>>,
    /// Keys and values that are no longer used, so that their memory is used again.
    used: Sender<(Vec<u8>, T)>,
    thread: Option<JoinHandle<Result<ReadReport>>>,
    /// The thread's result when it is done.
    report: Option<Result<ReadReport>>,
}

impl<T: Holder> ReadAhead<T> {
    pub(crate) fn start(reader: SequentialReader<T>) -> Result<Self> {
        let (objects_in, objects) = sync_channel(WAITING);
        let (used, used_out) = channel();
        let thread = thread::Builder::new()
            .name("seqfeed-read-ahead".into())
            .spawn(move || read(reader, &objects_in, &used_out))
            .map_err(|error| Error::io("starting a thread", error))?;
        Ok(Self { objects: Some(objects), used, thread: Some(thread), report: None })
    }

    /// The next object, in exchange for one that is no longer used.
    pub(crate) fn next(&mut self, key: &mut Vec<u8>, value: &mut Option<T>) -> Result<bool> {
        let Some(next) = self.objects.as_ref().and_then(|objects| objects.recv().ok()) else {
            // The thread is done, or it panicked. A panic must not look like the end of the table.
            self.join();
            return Ok(false);
        };
        let (next_key, next_value) = next?;
        if let Some(old) = value.replace(next_value) {
            // Nobody listens once the thread is done.
            let _ = self.used.send((std::mem::take(key), old));
        }
        *key = next_key;
        Ok(true)
    }

    fn join(&mut self) {
        self.objects = None;
        if let Some(thread) = self.thread.take() {
            match thread.join() {
                Ok(report) => self.report = Some(report),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
    }

    /// Stops the thread.
    pub(crate) fn close(mut self) -> Result<ReadReport> {
        self.join();
        self.report.take().unwrap_or_else(|| Ok(ReadReport::default()))
    }
}

impl<T> Drop for ReadAhead<T> {
    fn drop(&mut self) {
        self.objects = None;
        if let Some(thread) = self.thread.take() {
            // A panic there has been seen, or nobody asked.
            let _ = thread.join();
        }
    }
}

fn read<T: Holder>(
    mut reader: SequentialReader<T>,
    objects: &SyncSender<Next<T>>,
    used: &Receiver<(Vec<u8>, T)>,
) -> Result<ReadReport> {
    loop {
        let (mut key, mut value) = match used.try_recv() {
            Ok((key, value)) => (key, Some(value)),
            Err(_) => (Vec::new(), None),
        };
        let next = match reader.next_entry(&mut key, &mut value) {
            Ok(false) => return reader.close(),
            Ok(true) => match value {
                Some(value) => Ok((key, value)),
                None => return reader.close(),
            },
            Err(error) => Err(error),
        };
        if objects.send(next).is_err() {
            // Nobody wants more.
            return reader.close();
        }
    }
}
