//! Panics of other crates, which damaged files can cause: they become errors.

use std::any::Any;
use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe, catch_unwind};
use std::sync::Once;

thread_local! {
    /// Whether a panic of this thread is caught here and becomes an error.
    static CAUGHT: Cell<bool> = const { Cell::new(false) };
}

/// Runs code of another crate that may panic.
///
/// # Errors
///
/// Returns the message of a panic.
pub fn caught<T>(run: impl FnOnce() -> T) -> Result<T, String> {
    let before = CAUGHT.replace(true);
    let done = catch_unwind(AssertUnwindSafe(run));
    CAUGHT.set(before);
    done.map_err(|panic| said(panic.as_ref()).to_owned())
}

fn said(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("it is damaged")
}

/// Keeps panics that this library catches and returns as errors off standard error. All other
/// panics go to the panic hook that was set before.
///
/// Rust calls the panic hook, which prints, before the panic is caught. The hook belongs to the
/// program, not to its libraries. So a program calls this once at its start. Without it only more
/// is printed.
pub fn silence_caught_panics() {
    static SET: Once = Once::new();
    SET.call_once(|| {
        let others = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !CAUGHT.get() {
                others(info);
            }
        }));
    });
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    #[test]
    fn only_caught_panics_are_silent() {
        static HEARD: AtomicU32 = AtomicU32::new(0);
        let here = std::thread::current().id();
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| match std::thread::current().id() == here {
            true => drop(HEARD.fetch_add(1, Ordering::Relaxed)),
            false => before(info),
        }));
        let heard = || HEARD.load(Ordering::Relaxed);
        let panics = || -> u8 { panic!("damaged") };
        assert!(caught(panics).is_err());
        assert_eq!(heard(), 1, "a library alone changes nothing");
        silence_caught_panics();
        silence_caught_panics();
        assert!(caught(panics).is_err());
        assert_eq!(heard(), 1);
        assert!(catch_unwind(panics).is_err());
        assert_eq!(heard(), 2, "it is the program's own business");
    }

    #[test]
    fn a_caught_panic_is_an_error_and_the_mark_goes_away() {
        assert_eq!(caught(|| 7), Ok(7));
        assert_eq!(caught(|| -> u8 { panic!("row {}", 3) }), Err("row 3".to_owned()));
        assert!(!CAUGHT.get());
        let inner = caught(|| {
            assert!(caught(|| -> u8 { panic!("inner") }).is_err());
            CAUGHT.get()
        });
        assert_eq!(inner, Ok(true), "still caught by the outer one");
    }
}
