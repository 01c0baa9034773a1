//! Errors of the operating system: whether the data are to blame, and the cure.

use std::borrow::Cow;
use std::io::{self, ErrorKind};

// Error codes that have no kind of their own in the standard library.
const EIO: i32 = 5;
const ENFILE: i32 = 23;
const EMFILE: i32 = 24;
const EAGAIN: i32 = if cfg!(target_os = "linux") { 11 } else { 35 };
const ELOOP: i32 = if cfg!(target_os = "linux") { 40 } else { 62 };

/// Whether an error is one of the environment: a full disk, no file handles, no permission, no
/// memory, a failing device. All other errors lie in the request: missing files, files of another
/// kind, damaged contents.
///
/// An error code of the operating system counts as the environment's, unless it is known to be
/// about a name. An error that a reader makes itself (mainly a decoder) counts as one of the data,
/// unless it is known to be about the system.
pub(crate) fn is_environment(error: &io::Error) -> bool {
    let Some(code) = error.raw_os_error() else {
        return matches!(
            error.kind(),
            ErrorKind::StorageFull
                | ErrorKind::QuotaExceeded
                | ErrorKind::FileTooLarge
                | ErrorKind::ReadOnlyFilesystem
                | ErrorKind::PermissionDenied
                | ErrorKind::OutOfMemory
                | ErrorKind::ResourceBusy
                | ErrorKind::WouldBlock
                | ErrorKind::TimedOut
                | ErrorKind::Interrupted
        );
    };
    let about_a_name = matches!(
        error.kind(),
        ErrorKind::NotFound
            | ErrorKind::NotADirectory
            | ErrorKind::IsADirectory
            | ErrorKind::InvalidFilename
            | ErrorKind::InvalidInput
            | ErrorKind::NotSeekable
            // The other end has gone, which is its own decision.
            | ErrorKind::BrokenPipe
    );
    !about_a_name && code != ELOOP
}

/// The message of the operating system, or clearer words where its own say little.
pub(crate) fn words(error: &io::Error) -> Cow<'static, str> {
    match error.raw_os_error() {
        Some(EMFILE) => "this process has as many files open as it may (EMFILE)".into(),
        Some(ENFILE) => "this machine has as many files open as it can (ENFILE)".into(),
        _ => error.to_string().into(),
    }
}

/// The cure of a failure of the environment.
pub(crate) fn cure(error: &io::Error) -> Option<&'static str> {
    match (error.raw_os_error(), error.kind()) {
        (Some(EMFILE), _) => {
            Some("raise the limit (`ulimit -n 4096`), or let fewer files be open at a time")
        }
        (Some(ENFILE), _) => Some("end other programs, or raise the machine's limit"),
        (Some(EAGAIN), _) => Some(
            "a thread or process more than allowed was wanted: use fewer threads, or raise the limit (`ulimit -u`)",
        ),
        (Some(EIO), _) => Some("the device fails: the system's log (dmesg) says more"),
        (_, ErrorKind::StorageFull | ErrorKind::QuotaExceeded) => {
            Some("make room there, or take another place")
        }
        (_, ErrorKind::PermissionDenied) => Some("may this user do that there?"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_contents_are_data_and_all_else_is_not() {
        let os = io::Error::from_raw_os_error;
        let (enoent, eisdir, einval, eacces, enospc, enomem) = (2, 21, 22, 13, 28, 12);
        for code in [enoent, eisdir, einval, ELOOP] {
            assert!(!is_environment(&os(code)), "{}", os(code));
        }
        for code in [EIO, ENFILE, EMFILE, EAGAIN, eacces, enospc, enomem] {
            assert!(is_environment(&os(code)), "{}", os(code));
        }
        for kind in [ErrorKind::StorageFull, ErrorKind::OutOfMemory, ErrorKind::Interrupted] {
            assert!(is_environment(&kind.into()), "{kind}");
        }
        for kind in [ErrorKind::InvalidData, ErrorKind::UnexpectedEof, ErrorKind::Other] {
            assert!(!is_environment(&io::Error::new(kind, "said by a decoder")), "{kind}");
        }
    }
}
