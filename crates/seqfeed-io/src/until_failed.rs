//! A reader that is not used again after it has failed.

use std::io::{self, Read};

use seqfeed_core::Error;

/// A decoder that stays failed. The inner reader is dropped at its first error, and each further
/// read gives this error again. After its end each read gives the end.
///
/// No decoder promises how it behaves after an error: some go on with garbage, some say "end", some
/// abort the process. Wrap every decoder that is read from more than one place.
///
/// ```
/// use std::io::{self, Read};
/// use seqfeed_io::UntilFailed;
///
/// struct Aborts(bool);
/// impl Read for Aborts {
///     fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
///         assert!(!std::mem::replace(&mut self.0, true), "used after its error");
///         Err(io::Error::new(io::ErrorKind::InvalidData, "damaged"))
///     }
/// }
///
/// let mut reader = UntilFailed::new(Aborts(false));
/// for _ in 0..3 {
///     assert_eq!(reader.read(&mut [0; 8]).unwrap_err().to_string(), "damaged");
/// }
/// ```
#[derive(Debug)]
pub struct UntilFailed<R>(State<R>);

#[derive(Debug)]
enum State<R> {
    Reading(R),
    Ended,
    Failed(io::Error),
}

impl<R: Read> UntilFailed<R> {
    /// Wraps a reader.
    #[must_use]
    pub fn new(reader: R) -> Self {
        Self(State::Reading(reader))
    }
}

impl<R: Read> Read for UntilFailed<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        if buf.is_empty() {
            return Ok(0);
        }
        let reader = match &mut self.0 {
            State::Reading(reader) => reader,
            State::Ended => return Ok(0),
            State::Failed(error) => return Err(again(error)),
        };
        match reader.read(buf) {
            Ok(0) => self.0 = State::Ended,
            Ok(count) => return Ok(count),
            // A signal interrupted the read; nothing has failed.
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return Err(error),
            Err(error) => {
                self.0 = State::Failed(again(&error));
                return Err(error);
            }
        }
        Ok(0)
    }
}

/// The same error again. Errors of the system cannot be copied, but they can be made again.
fn again(error: &io::Error) -> io::Error {
    if let Some(code) = error.raw_os_error() {
        return io::Error::from_raw_os_error(code);
    }
    match error.get_ref().and_then(|inner| inner.downcast_ref::<Error>()) {
        Some(inner) => io::Error::new(error.kind(), inner.clone()),
        None => io::Error::new(error.kind(), error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives what it is told to, and panics when it is asked for more.
    struct Script(Vec<io::Result<usize>>);

    impl Read for Script {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            assert!(!self.0.is_empty(), "asked again");
            self.0.remove(0)
        }
    }

    #[test]
    fn is_not_asked_again() {
        let mut byte = [0];
        let interrupted = Err(io::ErrorKind::Interrupted.into());
        let mut reader = UntilFailed::new(Script(vec![Ok(1), interrupted, Ok(1), Ok(0)]));
        assert_eq!(reader.read(&mut []).unwrap(), 0);
        assert_eq!(reader.read(&mut byte).unwrap(), 1);
        assert_eq!(reader.read(&mut byte).unwrap_err().kind(), io::ErrorKind::Interrupted);
        assert_eq!(reader.read(&mut byte).unwrap(), 1);
        for _ in 0..2 {
            assert_eq!(reader.read(&mut byte).unwrap(), 0);
        }
        let full = || Error::system("writing", io::ErrorKind::StorageFull.into());
        let errors =
            [io::Error::from_raw_os_error(5), io::Error::other("odd"), io::Error::other(full())];
        for error in errors {
            let said = error.to_string();
            let environment = Error::io("reading", again(&error)).is_environment();
            let mut reader = UntilFailed::new(Script(vec![Err(error)]));
            for _ in 0..3 {
                let error = reader.read(&mut byte).unwrap_err();
                assert_eq!(error.to_string(), said);
                assert_eq!(Error::io("reading", error).is_environment(), environment);
            }
        }
    }
}
