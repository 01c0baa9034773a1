//! Converts the library's error to Python's exceptions.

use pyo3::exceptions::{PyException, PyMemoryError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use seqfeed::{Error, ErrorKind, Position, PrintableLines};

/// An exception of a class, on its way through the library.
#[derive(Debug)]
pub(crate) struct Raised(pub(crate) PyErr);

impl std::fmt::Display for Raised {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for Raised {}

/// The Python exception for an error.
pub(crate) fn to_python(error: &Error) -> PyErr {
    Python::attach(|py| exception(py, error).unwrap_or_else(|failed| failed))
}

/// A result with Python's exceptions.
pub(crate) fn raise<T>(result: seqfeed::Result<T>) -> PyResult<T> {
    result.map_err(|error| to_python(&error))
}

fn exception(py: Python<'_>, error: &Error) -> PyResult<PyErr> {
    let cause = match error.kind() {
        ErrorKind::Io { source, .. } | ErrorKind::System { source, .. } => {
            source.get_ref().and_then(|inner| inner.downcast_ref::<PyErr>())
        }
        _ => None,
    };
    // An exception from the caller's own class is passed on unchanged.
    if let ErrorKind::Io { source, .. } = error.kind()
        && let Some(raised) = source.get_ref().and_then(|inner| inner.downcast_ref::<Raised>())
    {
        let place = error.place().to_string();
        let exception = raised.0.clone_ref(py);
        if !place.is_empty() && exception.value(py).hasattr("add_note")? {
            let note = format!("while reading {place}");
            exception.value(py).call_method1("add_note", (note,))?;
        }
        return Ok(exception);
    }
    // Exceptions that end programs (such as Ctrl-C) are no fault of the current file.
    if let Some(cause) = cause
        && (!cause.is_instance_of::<PyException>(py) || cause.is_instance_of::<PyMemoryError>(py))
    {
        return Ok(cause.clone_ref(py));
    }
    let (name, errno) = match error.kind() {
        ErrorKind::Io { source, .. } | ErrorKind::System { source, .. } => {
            let name = match source.kind() {
                std::io::ErrorKind::NotFound => "NotFoundError",
                std::io::ErrorKind::PermissionDenied => "AccessError",
                _ => "IoError",
            };
            (name, source.raw_os_error())
        }
        ErrorKind::Format { .. } => ("FormatError", None),
        ErrorKind::Command { .. } => ("CommandError", None),
        ErrorKind::Corpus(_) => ("CorpusError", None),
        ErrorKind::Usage(_) => ("UsageError", None),
        ErrorKind::Forbidden(_) => ("ForbiddenError", None),
        ErrorKind::Limit { .. } => ("LimitError", None),
        _ => ("Error", None),
    };
    let place = error.place();
    let (offset, line, column) = match place.position {
        Some(Position::Byte(byte)) => (Some(byte), None, None),
        Some(Position::Line(line)) => (None, Some(line), None),
        Some(Position::Column { line, column }) => (None, Some(line), Some(column)),
        None => (None, None, None),
    };
    let details = PyDict::new(py);
    details.set_item("key", place.key.as_deref())?;
    details.set_item("path", place.file.as_deref())?;
    details.set_item("offset", offset)?;
    details.set_item("line", line)?;
    details.set_item("column", column)?;
    details.set_item("help", error.help().map(in_python))?;
    details.set_item("reason", error.message())?;
    details.set_item("errno", errno)?;
    let class = py.import("seqfeed._errors")?.getattr(name)?;
    let text = match error.quote() {
        Some(quote) => format!("{error}\n{quote}"),
        None => error.to_string(),
    };
    let exception = PyErr::from_value(class.call((in_python(&text),), Some(&details))?);
    if let Some(cause) = cause {
        exception.set_cause(py, Some(cause.clone_ref(py)));
    }
    Ok(exception)
}

/// Cures name options in the spelling of the command line.
fn in_python(text: &str) -> String {
    const SPELLED: [(&str, &str); 12] = [
        ("--allow-pipes", "allow_pipes=True"),
        ("--allow-lossy", "allow_lossy=True"),
        ("--to STREAM=ark:NAME", "to={\"STREAM\": \"ark:NAME\"}"),
        ("--to STREAM=ark:...", "to={\"STREAM\": \"ark:...\"}"),
        ("--compress=zstd:9", "compress=\"zstd:9\""),
        ("--compress=zstd", "compress=\"zstd\""),
        ("--compress", "compress"),
        ("with --streams", "with streams=[...]"),
        ("--sample-rate", "sample_rate"),
        ("--verify", "verify=True"),
        ("--type", "object_type"),
        ("`line-limit`", "`line_limit`"),
    ];
    let spelled = SPELLED
        .iter()
        .fold(text.to_owned(), |text, (command, python)| text.replace(command, python));
    let mut parts = spelled.split("--");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.find(|c: char| !c.is_ascii_lowercase() && c != '-').unwrap_or(part.len());
        let (name, rest) = part.split_at(end);
        // Options with `_` belong to OpenFst's commands.
        if name.is_empty() || rest.starts_with('_') || text.ends_with(char::is_alphanumeric) {
            text.push_str("--");
            text.push_str(name);
        } else {
            text.push_str(&name.replace('-', "_"));
        }
        text.push_str(rest);
    }
    text
}

/// The exception for a key that a table does not have.
pub(crate) fn no_key(py: Python<'_>, table: &str, key: &str) -> PyErr {
    let make = || -> PyResult<PyErr> {
        let details = PyDict::new(py);
        details.set_item("key", key)?;
        details.set_item("path", table)?;
        let class = py.import("seqfeed._errors")?.getattr("MissingKeyError")?;
        let text = format!("{table} (key {key}): there is no such key");
        Ok(PyErr::from_value(class.call((text,), Some(&details))?))
    };
    make().unwrap_or_else(|failed| failed)
}

/// Warns with `seqfeed.DataWarning`, at the line of the program that called the package.
pub(crate) fn warn(py: Python<'_>, message: &str) -> PyResult<()> {
    let message = PrintableLines(message).to_string();
    py.import("seqfeed._errors")?.getattr("warn")?.call1((message,)).map(drop)
}

/// The exception for an unknown option, with a suggestion: one of the caller's own, or the text of
/// `help`.
pub(crate) fn no_option(py: Python<'_>, name: &str, help: Option<&str>, own: &[&str]) -> PyErr {
    let make = || -> PyResult<PyErr> {
        let error = py.import("seqfeed._errors")?.getattr("no_option")?;
        Ok(PyErr::from_value(error.call1((name, help, own.to_vec()))?))
    };
    make().unwrap_or_else(|failed| failed)
}

/// The exception for a stream that a minibatch does not have, with a list of its streams.
pub(crate) fn no_stream<'py>(
    name: &Bound<'py, PyAny>,
    streams: impl Iterator<Item = Bound<'py, PyAny>>,
) -> PyErr {
    let make = || -> PyResult<PyErr> {
        let streams: Vec<Bound<'_, PyAny>> = streams.collect();
        let error = name.py().import("seqfeed._errors")?.getattr("no_stream")?;
        Ok(PyErr::from_value(error.call1((name, streams))?))
    };
    make().unwrap_or_else(|failed| failed)
}

/// The exception for a value of a wrong type.
pub(crate) fn wrong_type(expected: &str, found: &Bound<'_, PyAny>) -> PyErr {
    let name = found.get_type().name().map_or_else(|_| "?".to_owned(), |name| name.to_string());
    PyTypeError::new_err(format!("expected {expected}, found {name}"))
}
