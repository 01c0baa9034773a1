//! Waits that Ctrl-C can end.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread;
use std::time::Duration;

use pyo3::prelude::*;
use seqfeed::Error;

use crate::errors;

/// The longest delay of Ctrl-C.
pub(crate) const SLICE: Duration = Duration::from_millis(50);

/// Called when a signal comes during a wait for a pipe. It runs Python's handlers, in Python's main
/// thread.
pub(crate) fn ask() -> io::Result<()> {
    Python::attach(|py| py.check_signals().map_err(io::Error::other))
}

/// Runs long work in a thread of its own. After Ctrl-C the thread goes on alone.
pub(crate) fn interruptible<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce() -> seqfeed::Result<T> + Send + 'static,
) -> PyResult<T> {
    wait(py, start(work)?, None)
}

/// As [`interruptible`], for work that must not go on alone: Ctrl-C asks it to stop, and waits
/// until it has.
pub(crate) fn stoppable<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce(&AtomicBool) -> seqfeed::Result<T> + Send + 'static,
) -> PyResult<T> {
    let stop = Arc::new(AtomicBool::new(false));
    let asked = Arc::clone(&stop);
    wait(py, start(move || work(&asked))?, Some(&stop))
}

type Done<T> = Receiver<seqfeed::Result<T>>;

fn start<T: Send + 'static>(
    work: impl FnOnce() -> seqfeed::Result<T> + Send + 'static,
) -> PyResult<Done<T>> {
    let (sender, receiver) = sync_channel(1);
    let spawned = thread::Builder::new().name("seqfeed-open".to_owned()).spawn(move || {
        let _ = sender.send(work());
    });
    errors::raise(spawned.map(drop).map_err(|error| Error::io("starting a thread", error)))?;
    Ok(receiver)
}

fn wait<T: Send>(py: Python<'_>, receiver: Done<T>, stop: Option<&AtomicBool>) -> PyResult<T> {
    let mut receiver = Some(receiver);
    loop {
        let waited = py.detach(|| {
            let channel = receiver.take()?;
            match channel.recv_timeout(SLICE) {
                Ok(done) => Some(done),
                Err(RecvTimeoutError::Timeout) => {
                    receiver = Some(channel);
                    None
                }
                Err(RecvTimeoutError::Disconnected) => Some(Err(Error::corpus("opening panicked")
                    .with_help("this is a bug in seqfeed; please report it"))),
            }
        });
        if let Some(done) = waited {
            return errors::raise(done);
        }
        if let Err(interrupt) = py.check_signals() {
            if let Some(stop) = stop {
                stop.store(true, Ordering::Relaxed);
                py.detach(|| drop(receiver.map(|channel| channel.recv())));
            }
            return Err(interrupt);
        }
    }
}
