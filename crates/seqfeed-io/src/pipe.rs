//! Shell commands whose output is read or whose input is written.

use std::ffi::OsStr;
use std::io::{self, Read};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use seqfeed_core::{Error, ErrorKind, Result};

use crate::interrupts::Waiting;
use crate::shown_name;

/// A running command. Dropping it waits for the command at the latest, so it leaves no zombie. Our
/// end of the pipe must be closed before; otherwise the command may never end.
pub(crate) struct Running {
    command: String,
    child: Option<Child>,
    failed: Option<FailedCommand>,
}

/// A command that ended with a status other than success.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailedCommand {
    command: String,
    status: ExitStatus,
}

impl FailedCommand {
    /// The command as in the name, without the `|`.
    #[must_use]
    pub fn command(&self) -> &str {
        &self.command
    }

    /// Whether it, or the last command that it ran, ended because nobody read on.
    pub(crate) fn by_broken_pipe(&self) -> bool {
        const SIGPIPE: i32 = 13;
        self.status.signal() == Some(SIGPIPE) || self.status.code() == Some(128 + SIGPIPE)
    }

    /// The wait status of the operating system: 256 times the exit status, or the number of the
    /// signal that ended the command.
    #[must_use]
    pub fn wait_status(&self) -> i32 {
        self.status.into_raw()
    }
}

impl From<FailedCommand> for Error {
    fn from(failed: FailedCommand) -> Self {
        Self::new(ErrorKind::Command {
            command: failed.command.trim().to_owned(),
            status: describe(failed.status),
        })
    }
}

/// Starts a command to read from. It inherits standard input, as in Kaldi's `popen`.
pub(crate) fn read_from(command: &OsStr) -> Result<(Running, PipeReader)> {
    let mut child = spawn(shell(command).stdout(Stdio::piped()))?;
    let stdout = child.stdout.take().expect("standard output was asked for");
    let ended = Arc::new(AtomicBool::new(false));
    Ok((Running::new(command, child), PipeReader { stdout: Waiting(stdout), ended }))
}

/// Starts a command to write to.
pub(crate) fn write_to(command: &OsStr) -> Result<(Running, Waiting<ChildStdin>)> {
    let mut child = spawn(shell(command).stdin(Stdio::piped()))?;
    let stdin = child.stdin.take().expect("standard input was asked for");
    Ok((Running::new(command, child), Waiting(stdin)))
}

fn shell(command: &OsStr) -> Command {
    let mut shell = Command::new("/bin/sh");
    // A command that begins with `-` is not an option.
    shell.args(["-c", "--"]).arg(command);
    shell
}

fn spawn(shell: &mut Command) -> Result<Child> {
    shell.spawn().map_err(|error| Error::system("starting /bin/sh", error))
}

impl Running {
    fn new(command: &OsStr, child: Child) -> Self {
        Self { command: shown_name(command), child: Some(child), failed: None }
    }

    /// Waits for the command. Fails with [`ErrorKind::Command`] for any status but success.
    pub(crate) fn wait(mut self) -> Result<()> {
        let failed =
            self.failed().map_err(|error| Error::system("waiting for the command", error))?;
        failed.map_or(Ok(()), |failed| Err(failed.clone().into()))
    }

    /// Waits for the command on the first call. Returns whether it failed.
    pub(crate) fn failed(&mut self) -> io::Result<Option<&FailedCommand>> {
        if let Some(mut child) = self.child.take() {
            let status = child.wait()?;
            if !status.success() {
                self.failed = Some(FailedCommand { command: self.command.clone(), status });
            }
        }
        Ok(self.failed.as_ref())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Nobody is left to get the error.
        let _ = self.failed();
    }
}

/// The status of a command in words. The shell reports a signal as 128 plus its number.
fn describe(status: ExitStatus) -> String {
    if let Some(signal) = status.signal() {
        return format!("ended by signal {signal}");
    }
    match status.code() {
        Some(126) => "exit status 126: not executable".to_owned(),
        Some(127) => "exit status 127: command not found".to_owned(),
        Some(code) if code > 128 && code < 128 + 65 => {
            format!("exit status {code}: ended by signal {}", code - 128)
        }
        Some(code) => format!("exit status {code}"),
        None => status.to_string(),
    }
}

/// The output of a command. It notes whether its end was read.
pub(crate) struct PipeReader {
    stdout: Waiting<ChildStdout>,
    ended: Arc<AtomicBool>,
}

impl PipeReader {
    /// Becomes true when the end of the command's output has been read.
    pub(crate) fn ended(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.ended)
    }
}

impl Read for PipeReader {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let count = self.stdout.read(buf)?;
        if count == 0 && !buf.is_empty() {
            self.ended.store(true, Ordering::Relaxed);
        }
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses_in_words() {
        let cases = [
            (3 << 8, "exit status 3"),
            (127 << 8, "exit status 127: command not found"),
            (126 << 8, "exit status 126: not executable"),
            (141 << 8, "exit status 141: ended by signal 13"),
            (255 << 8, "exit status 255"),
            (9, "ended by signal 9"),
        ];
        for (raw, expected) in cases {
            assert_eq!(describe(ExitStatus::from_raw(raw)), expected);
        }
    }
}
