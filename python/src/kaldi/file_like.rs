//! Python's file-like objects as streams of bytes.

use std::io::{self, Read};

use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyString};
use seqfeed::io::Input;
use seqfeed::kaldi::ObjectReader;
use seqfeed_core::Key;

use crate::kaldi::types::{Sequential, Value, Wanted, check_guess, read_one};
use crate::keys;

/// Something with a method `read` that gives bytes.
struct PythonReader(Py<PyAny>);

impl Read for PythonReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        Python::attach(|py| {
            let found = self.0.bind(py).call_method1("read", (buffer.len(),))?;
            if let Ok(bytes) = found.cast::<PyBytes>() {
                return copy(bytes.as_bytes(), buffer);
            }
            if let Ok(bytes) = found.cast::<PyByteArray>() {
                return copy(&bytes.to_vec(), buffer);
            }
            if found.is_none() {
                return Err(io::Error::other("the file is not ready (read() gave None)"));
            }
            let what = match found.is_instance_of::<PyString>() {
                true => "text: open it in binary mode, \"rb\"",
                false => "no bytes",
            };
            Err(io::Error::other(format!("read() gave {what}")))
        })
    }
}

fn copy(bytes: &[u8], buffer: &mut [u8]) -> io::Result<usize> {
    match buffer.get_mut(..bytes.len()) {
        Some(part) => {
            part.copy_from_slice(bytes);
            Ok(bytes.len())
        }
        None => Err(io::Error::other("read() gave more bytes than it was asked for")),
    }
}

/// A reader of objects over a file-like object. To be called detached: it reads at once.
pub(crate) fn object_reader(file: Py<PyAny>, name: String) -> ObjectReader {
    ObjectReader::new(Input::from_reader(name, PythonReader(file)))
}

/// What to call a file-like object in messages.
pub(crate) fn name_of(file: &Bound<'_, PyAny>) -> String {
    let name = file.getattr("name").ok().and_then(|name| keys::name_of(&name).ok().flatten());
    name.map_or_else(|| "file object".to_owned(), |name| name.to_string())
}

/// An archive in a file-like object.
pub(crate) struct FileArchive {
    pub(crate) reader: ObjectReader,
    pub(crate) wanted: Option<Wanted>,
    pub(crate) ended: bool,
}

impl Sequential for FileArchive {
    fn next(&mut self, key: &mut Vec<u8>) -> seqfeed::Result<Option<Value>> {
        if self.ended || !self.reader.read_key(key).inspect_err(|_| self.ended = true)? {
            self.ended = true;
            return Ok(None);
        }
        match read_one(&mut self.reader, self.wanted.as_ref()) {
            Ok(object) => {
                if self.wanted.is_none() {
                    check_guess(Some(&object), Key(key))?;
                }
                Ok(Some(object))
            }
            Err(error) => {
                self.ended = true;
                Err(error.of_key(Key(key)))
            }
        }
    }

    fn next_key(&mut self, key: &mut Vec<u8>) -> seqfeed::Result<bool> {
        Ok(self.next(key)?.is_some())
    }

    fn skipped(&self) -> u64 {
        0
    }
}
