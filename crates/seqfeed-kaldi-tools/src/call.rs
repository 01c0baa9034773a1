//! One call of a tool: its arguments, its options, what it logs, how it ends.

use std::fmt;
use std::io::{self, Write};
use std::ops::RangeInclusive;

use seqfeed_core::{Error, ErrorKind, Problem};
use seqfeed_io::Policy;
use seqfeed_kaldi::Range;

use crate::options::{self, Opt};

/// The version of Kaldi whose behaviour and messages are followed.
pub const KALDI_VERSION: &str = "5.5.0";

/// What a call has around it.
pub struct Surroundings<'a> {
    /// What names may do. Kaldi's users expect commands (`gunzip -c x.gz |`) to run.
    pub policy: Policy,
    /// Standard output, for the few tools that print to it. Tables that are written to `-` go to that of
    /// the process.
    pub out: &'a mut dyn Write,
    /// Standard error: usage, the echo of the command line, and log lines.
    pub log: &'a mut dyn Write,
}

impl fmt::Debug for Surroundings<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Surroundings").field("policy", &self.policy).finish_non_exhaustive()
    }
}

/// One call of a tool.
pub(crate) struct Call<'a> {
    /// The name the tool was called by, perhaps with a directory before it.
    pub(crate) program: &'a str,
    /// The words behind it.
    pub(crate) words: &'a [String],
    pub(crate) around: Surroundings<'a>,
}

/// How a call ends: with the exit code, or early.
pub(crate) type Outcome = Result<u8, Stop>;

/// Why a call ends early.
pub(crate) enum Stop {
    /// All that there is to say is said.
    Exit(u8),
    /// Kaldi throws: exit code 255. With the place of the message in Kaldi, if it is one of Kaldi's.
    Throw(Option<&'static str>, String),
    /// Kaldi aborts (an assertion, or an error while a table is being closed): exit code 1.
    Abort(String),
    /// The reader of our output has gone: as if killed by SIGPIPE, which says nothing.
    BrokenPipe,
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        if is_broken_pipe(&error) {
            return Self::BrokenPipe;
        }
        match error.kind() {
            ErrorKind::Format { problem: Problem::OutOfRange { what, .. }, .. }
                if *what == Range::FIRST_ROW =>
            {
                Self::Abort(error.to_string())
            }
            _ => Self::Throw(None, error.to_string()),
        }
    }
}

impl Stop {
    /// The end where Kaldi would abort with this error.
    pub(crate) fn abort(error: &Error) -> Self {
        if is_broken_pipe(error) { Self::BrokenPipe } else { Self::Abort(error.to_string()) }
    }
}

fn is_broken_pipe(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Io { source, .. } if source.kind() == io::ErrorKind::BrokenPipe)
}

/// The severities of log lines.
#[derive(Clone, Copy)]
enum Severity {
    Log,
    Warning,
    Error,
}

impl Call<'_> {
    /// The tool's own name.
    pub(crate) fn name(&self) -> &str {
        self.program.rsplit('/').next().unwrap_or_default()
    }

    pub(crate) fn policy(&self) -> Policy {
        self.around.policy
    }

    /// Logs what was done. `place` is where Kaldi 5.5.0 logs it: `main():featbin/copy-feats.cc:143`, without
    /// the line where that is not known.
    pub(crate) fn log(&mut self, place: &str, message: impl fmt::Display) {
        self.line(Severity::Log, Some(place), &message);
    }

    /// Logs what went wrong but does not end the call.
    pub(crate) fn warn(&mut self, place: &str, message: impl fmt::Display) {
        self.line(Severity::Warning, Some(place), &message);
    }

    /// Logs that an object was passed over because the rspecifier has `p`.
    pub(crate) fn warn_skipped(&mut self, error: &Error) {
        self.line(Severity::Warning, None, &format_args!("skipped (permissive mode): {error}"));
    }

    fn line(&mut self, severity: Severity, place: Option<&str>, message: &dyn fmt::Display) {
        let severity = match severity {
            Severity::Log => "LOG",
            Severity::Warning => "WARNING",
            Severity::Error => "ERROR",
        };
        let place = place.map(|place| format!(":{place}")).unwrap_or_default();
        let name = self.name();
        let line = format!("{severity} ({name}[{KALDI_VERSION}]{place}) {message}\n");
        self.say(&line);
    }

    /// Writes to the log. That nobody can read it is no reason to stop.
    pub(crate) fn say(&mut self, text: &str) {
        let _ = self.around.log.write_all(text.as_bytes());
        let _ = self.around.log.flush();
    }

    /// Prints to standard output.
    pub(crate) fn print(&mut self, text: &[u8]) -> Result<(), Stop> {
        self.around.out.write_all(text).map_err(print_error)
    }

    /// Reads options and arguments, and echoes the command line, as every tool of Kaldi does first.
    pub(crate) fn parse(
        &mut self,
        usage: &str,
        count: RangeInclusive<usize>,
        options: &mut [Opt<'_>],
    ) -> Result<Vec<String>, Stop> {
        options::parse(self, usage, count, options)
    }

    /// Says how the call ended; the exit code.
    pub(crate) fn end(mut self, outcome: Outcome) -> u8 {
        let outcome = outcome.and_then(|code| {
            self.around.out.flush().map_err(print_error)?;
            Ok(code)
        });
        match outcome {
            Ok(code) | Err(Stop::Exit(code)) => code,
            Err(Stop::Throw(place, message)) => {
                self.line(Severity::Error, place, &message);
                255
            }
            Err(Stop::Abort(message)) => {
                self.line(Severity::Error, None, &message);
                1
            }
            Err(Stop::BrokenPipe) => 141,
        }
    }
}

fn print_error(error: io::Error) -> Stop {
    Error::io("writing", error).in_file("standard output").into()
}

/// Ends a call with an error that Kaldi throws at this place.
pub(crate) fn throw<T>(place: &'static str, message: impl fmt::Display) -> Result<T, Stop> {
    Err(Stop::Throw(Some(place), message.to_string()))
}

/// Ends a call where Kaldi's assertions would abort it.
pub(crate) fn abort<T>(message: impl fmt::Display) -> Result<T, Stop> {
    Err(Stop::Abort(message.to_string()))
}

/// 0 where something was done, otherwise 1: how most tools end.
pub(crate) fn some(done: u64) -> Outcome {
    Ok(u8::from(done == 0))
}
