//! Signals that end the program: its temporary files go first.

use std::sync::Arc;
use std::sync::mpsc::channel;
use std::thread;

use seqfeed::io::remove_temporary_files;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::flag;
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

/// Waits in a thread for signals that ask the program to end. (At SIGKILL nothing can be done; what
/// is left then, the next run or `seqfeed check DIR` takes away.)
pub(crate) fn watch() {
    // A file that may grow no more (`ulimit -f`) is an error of writing it, as a full disk is.
    let _ = flag::register(SIGXFSZ, Arc::default());
    let ignored = ignored();
    let asks: Vec<i32> =
        [SIGTERM, SIGHUP, SIGINT].into_iter().filter(|signal| !is_in(*signal, ignored)).collect();
    let (ready, waits) = channel();
    // Without a thread, signals do what they do to any program.
    let _ = thread::Builder::new().name("signals".to_owned()).spawn(move || {
        let Ok(mut signals) = Signals::new(asks) else { return };
        drop(ready);
        for signal in signals.forever() {
            // Kept to the end: nothing new is made.
            let _removed = remove_temporary_files();
            let _ = emulate_default_handler(signal);
        }
    });
    // Before anything is made. It ends when the sender is gone, whatever became of the thread.
    let _: Result<(), _> = waits.recv();
}

/// The signals that whoever started the program wants to be ignored, as `nohup` does: a bit for
/// each. None where the system does not tell.
fn ignored() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let bits = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    bits.and_then(|bits| u64::from_str_radix(bits.trim(), 16).ok()).unwrap_or(0)
}

fn is_in(signal: i32, bits: u64) -> bool {
    bits >> (signal - 1) & 1 == 1
}
