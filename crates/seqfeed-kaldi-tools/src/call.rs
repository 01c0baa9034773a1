//! One call of a tool: arguments, options, log, exit code.

use std::cell::RefCell;
use std::fmt;
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::rc::Rc;

use seqfeed_core::{Error, ErrorKind, PrintableLines, Problem};
use seqfeed_io::{InputFiles, Opener, WxFilename, name_from_text};
use seqfeed_kaldi::{Range, ReadOptions, Warning, Warnings};

/// The version of Kaldi whose behaviour and messages the tools follow.
pub const KALDI_VERSION: &str = "5.5.0";

/// The surroundings of a call.
pub struct Surroundings<'a> {
    /// Opens names. Kaldi's users expect commands (`gunzip -c x.gz |`) to run.
    pub opener: Opener,
    /// Standard output, for the few tools that print to it. Tables written to `-` go to the
    /// standard output of the process.
    pub out: &'a mut dyn Write,
    /// Standard error: usage, the echo of the command line, and log lines.
    pub log: &'a mut dyn Write,
}

impl fmt::Debug for Surroundings<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Surroundings").field("opener", &self.opener).finish_non_exhaustive()
    }
}

/// One call of a tool.
pub(crate) struct Call<'a> {
    /// The name by which the tool was called, with an optional directory.
    pub(crate) program: &'a str,
    /// The words after it.
    pub(crate) words: &'a [String],
    pub(crate) around: Surroundings<'a>,
    /// Warnings of readers that have not been logged yet.
    pub(crate) warnings: Warnings,
    pub(crate) files: Files,
}

/// The files that a call reads and writes.
#[derive(Clone)]
pub(crate) struct Files {
    inputs: InputFiles,
    outputs: Rc<RefCell<Vec<WxFilename>>>,
}

impl Files {
    pub(crate) fn record() -> Self {
        Self { inputs: InputFiles::record(), outputs: Rc::default() }
    }

    /// Fails if an output is an input too.
    pub(crate) fn check(&self) -> Result<(), Stop> {
        Ok(self.inputs.check_outputs(self.outputs.borrow().iter())?)
    }
}

/// The end of a call: an exit code, or an early end.
pub(crate) type Outcome = Result<u8, Stop>;

/// The reason of an early end.
pub(crate) enum Stop {
    /// Everything has been said.
    Exit(u8),
    /// Kaldi throws: exit code 255. With the place of the message in Kaldi, if it is one of
    /// Kaldi's.
    Throw(Option<&'static str>, String),
    /// Kaldi aborts (an assertion, or an error while a table is being closed): exit code 1.
    Abort(String),
    /// The reader of our output has gone. The call ends silently, as if killed by SIGPIPE.
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
    /// The end for an error at which Kaldi would abort.
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

    pub(crate) fn opener(&self) -> &Opener {
        &self.around.opener
    }

    /// Notes outputs. Fails if one of them is another output. An output may be an input for single
    /// objects, which are read first; for tables this is [checked](Files::check).
    pub(crate) fn note_outputs(&self, names: &[WxFilename]) -> Result<(), Stop> {
        let files = names.iter().filter(|name| name.path().is_some());
        let mut outputs = self.files.outputs.borrow_mut();
        outputs.extend(files.cloned());
        Ok(InputFiles::default().check_outputs(outputs.iter())?)
    }

    /// Logs a success. `place` is its place in Kaldi 5.5.0: `main():featbin/copy-feats.cc:143`,
    /// without the line if it is not known.
    pub(crate) fn log(&mut self, place: &str, message: impl fmt::Display) {
        self.line(Severity::Log, Some(place), &message);
    }

    /// Logs an error that does not end the call.
    pub(crate) fn warn(&mut self, place: &str, message: impl fmt::Display) {
        self.line(Severity::Warning, Some(place), &message);
    }

    /// Logs why an object of a table is passed over: there is nothing to be written.
    pub(crate) fn pass_over(
        &mut self,
        place: &str,
        message: impl fmt::Display,
    ) -> Result<bool, Stop> {
        self.warn(place, message);
        Ok(false)
    }

    /// The options for reading files and tables: with Kaldi's patience, and with its warnings.
    pub(crate) fn reading(&self) -> ReadOptions {
        let warnings = Some(self.warnings.clone());
        ReadOptions { opener: self.opener().clone(), warnings, ..ReadOptions::default() }
    }

    /// Logs the warnings of readers since the last line.
    fn warn_of_readers(&mut self) {
        for warning in self.warnings.take() {
            let (place, message) = match warning {
                Warning::FailedCommand(failed) => {
                    let (command, status) = (failed.command(), failed.wait_status());
                    let message = format!("Pipe {command}| had nonzero return status {status}");
                    (Some("Close():util/kaldi-io.cc:515"), message)
                }
                Warning::NotWritten(objects) => {
                    let what = "objects not written (permissive mode): the script file has no \
                                names for their keys";
                    (None, format!("{objects} {what}"))
                }
                Warning::Skipped(error) => (None, format!("skipped (permissive mode): {error}")),
                Warning::BeyondEnd { span: (first, last), rows, vector: false } => (
                    Some("ParseMatrixRangeSpecifier():util/kaldi-holder.cc:82"),
                    format!(
                        "Row range {first}:{last} goes beyond the number of rows of the matrix {rows}"
                    ),
                ),
                Warning::BeyondEnd { span: (first, last), rows, .. } => (
                    Some("ExtractObjectRange():util/kaldi-holder.cc:199"),
                    format!("Range {first}:{last} goes beyond the vector dimension {rows}"),
                ),
                _ => continue,
            };
            self.write_line(Severity::Warning, place, &message);
        }
        let missed = self.warnings.take_missed();
        if missed > 0 {
            self.write_line(Severity::Warning, None, &format_args!("{missed} more such warnings"));
        }
    }

    fn line(&mut self, severity: Severity, place: Option<&str>, message: &dyn fmt::Display) {
        self.warn_of_readers();
        self.write_line(severity, place, message);
    }

    fn write_line(&mut self, severity: Severity, place: Option<&str>, message: &dyn fmt::Display) {
        let severity = match severity {
            Severity::Log => "LOG",
            Severity::Warning => "WARNING",
            Severity::Error => "ERROR",
        };
        let place = place.map(|place| format!(":{place}")).unwrap_or_default();
        let name = self.name();
        // Line ends stay, since some of Kaldi's messages have several lines.
        let message = PrintableLines(message);
        let line = format!("{severity} ({name}[{KALDI_VERSION}]{place}) {message}\n");
        self.say(&line);
    }

    /// Writes to the log. A log that cannot be written is no reason to stop.
    pub(crate) fn say(&mut self, text: &str) {
        let _ = self.around.log.write_all(name_from_text(text).as_bytes());
        let _ = self.around.log.flush();
    }

    /// Prints to standard output.
    pub(crate) fn print(&mut self, text: &[u8]) -> Result<(), Stop> {
        self.around.out.write_all(text).map_err(print_error)
    }

    /// Logs the end of the call. Returns the exit code.
    pub(crate) fn end(mut self, outcome: Outcome) -> u8 {
        self.warn_of_readers();
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

/// Ends a call where one of Kaldi's assertions would abort it.
pub(crate) fn abort<T>(message: impl fmt::Display) -> Result<T, Stop> {
    Err(Stop::Abort(message.to_string()))
}

/// 0 if something was done, otherwise 1: the end of most tools.
pub(crate) fn some(done: u64) -> Outcome {
    Ok(u8::from(done == 0))
}
