//! Signals that end the program. Its temporary files are removed first.

use std::sync::Arc;
use std::sync::mpsc::channel;
use std::thread;

use seqfeed::io::remove_temporary_files;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::flag;
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

/// Waits in a thread for signals that ask the program to end. (Nothing can be done at SIGKILL. The
/// next run or `seqfeed check DIR` then removes the files.)
pub(crate) fn watch() {
    // A file that has reached its limit (`ulimit -f`) is an error of writing, like a full disk.
    let _ = flag::register(SIGXFSZ, Arc::default());
    let ignored = ignored();
    let asks: Vec<i32> =
        [SIGTERM, SIGHUP, SIGINT].into_iter().filter(|signal| !is_in(*signal, ignored)).collect();
    let (ready, waits) = channel();
    // Without a thread, signals have their usual effect.
    let _ = thread::Builder::new().name("signals".to_owned()).spawn(move || {
        let Ok(mut signals) = Signals::new(asks) else { return };
        drop(ready);
        for signal in signals.forever() {
            // Kept to the end, so that no new files are made.
            let _removed = remove_temporary_files();
            let _ = emulate_default_handler(signal);
        }
    });
    // Before any file is made. It ends when the sender is dropped, even if there is no thread.
    let _: Result<(), _> = waits.recv();
}

/// The signals that the caller of the program ignores, as `nohup` does: a bit for each. 0 if the
/// system does not tell.
fn ignored() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let bits = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    bits.and_then(|bits| u64::from_str_radix(bits.trim(), 16).ok()).unwrap_or(0)
}

fn is_in(signal: i32, bits: u64) -> bool {
    bits >> (signal - 1) & 1 == 1
}
