//! A single object of Kaldi's: `feats.ark:5`, `feats.ark:119[0:4]`, `final.mat`.

use std::ffi::OsStr;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;

use anyhow::Result;
use seqfeed::io::{Location, Opener, RxFilename, name_from_text, name_to_text};
use seqfeed::kaldi::{AnyObject, Mode, ObjectReader, ObjectType, Range, load, write_object};
use seqfeed::{Description, Error};
use serde_json::{Value, json};

use crate::report;
use crate::screen::{Screen, print_json};

/// An object, with the given name.
pub(crate) struct KaldiObject {
    name: String,
    object: AnyObject,
}

impl KaldiObject {
    /// Loads the object with a name. `None` if the name is that of a corpus.
    pub(crate) fn of_name(name: &str, opener: &Opener) -> Result<Option<Self>> {
        let bytes = name_from_text(name);
        if !is_object(&bytes) || Description::is_htk_file(name, opener) {
            return Ok(None);
        }
        let object: AnyObject = load(&bytes, opener)?;
        let object = Self { name: name.to_owned(), object };
        let others: Vec<&str> =
            object.object.other_types().into_iter().map(ObjectType::name).collect();
        if !others.is_empty() {
            let (name, found) = (&object.name, object.object.object_type());
            report::note(&format!(
                "{name} is taken for {found}; nothing in it says that it is not of type {}",
                others.join(" or ")
            ));
        }
        Ok(Some(object))
    }

    /// Fails if an option was given that applies only to corpora.
    pub(crate) fn refuse(&self, option: &str, given: bool) -> Result<()> {
        if !given {
            return Ok(());
        }
        let what = format!("{option} is for corpora; {} is one object of Kaldi's", self.name);
        let help = "a part of an object is named by a range: feats.ark:5[0:4]";
        Err(Error::usage(what).with_help(help).into())
    }

    /// Prints type and size.
    pub(crate) fn write_info(&self, json: bool) -> Result<()> {
        if json {
            return print_json(&self.description());
        }
        let mut out = Screen::text();
        writeln!(out, "object       {}", self.name)?;
        writeln!(out, "type         {}", self.object.object_type())?;
        if let Some(size) = self.size() {
            writeln!(out, "size         {}", shown(&size))?;
        }
        Ok(out.flush()?)
    }

    /// Prints its values, in Kaldi's text form for its type.
    pub(crate) fn write_values(&self, json: bool) -> Result<()> {
        let mut text = Vec::new();
        write_object(&self.object, &mut text, Mode::Text)?;
        let mut out = if json { Screen::json() } else { Screen::text() };
        if json {
            let mut description = self.description();
            description["text"] = name_to_text(OsStr::from_bytes(&text)).into();
            serde_json::to_writer(&mut out, &description)?;
            writeln!(out)?;
        } else {
            let size = self.size().map(|size| format!(" {}", shown(&size))).unwrap_or_default();
            writeln!(out, "{}\n  {}{size}", self.name, self.object.object_type())?;
            out.write_all(&text)?;
        }
        out.flush()?;
        Ok(())
    }

    fn description(&self) -> Value {
        let name = self.object.object_type().name();
        json!({ "name": self.name, "type": name, "size": self.size() })
    }

    /// Rows and columns, or the number of elements, for types that have these.
    fn size(&self) -> Option<Vec<usize>> {
        Some(match &self.object {
            AnyObject::FloatMatrix(matrix) => vec![matrix.rows, matrix.cols],
            AnyObject::DoubleMatrix(matrix) => vec![matrix.rows, matrix.cols],
            AnyObject::CompressedMatrix(matrix) => vec![matrix.rows(), matrix.cols()],
            AnyObject::FloatPackedMatrix(matrix) => vec![matrix.size, matrix.size],
            AnyObject::DoublePackedMatrix(matrix) => vec![matrix.size, matrix.size],
            AnyObject::FloatVector(vector) => vec![vector.0.len()],
            AnyObject::DoubleVector(vector) => vec![vector.0.len()],
            AnyObject::Int32Vector(vector) => vec![vector.len()],
            _ => return None,
        })
    }
}

fn shown(size: &[usize]) -> String {
    size.iter().map(ToString::to_string).collect::<Vec<_>>().join(" x ")
}

/// Whether a command has no kind of table before it. With one (`ark:cat x |`), it is a table.
fn is_alone(command: &OsStr) -> bool {
    let mut words = command.as_bytes().split(|&byte| byte == b' ');
    words.find(|word| !word.is_empty()).is_some_and(|word| !word.contains(&b':'))
}

/// Whether a name is that of one object: an existing archive with an offset, a file that begins
/// like such an object, or a command.
fn is_object(name: &OsStr) -> bool {
    // Names of existing files may themselves end with a bracket or with digits.
    let (alone, _) = Range::split_name(name).unwrap_or((name, None));
    let opener = Opener::default();
    match RxFilename::parse(alone) {
        Ok(name) if name.location().command().is_some_and(is_alone) => true,
        Ok(name) if !opener.is_file(name.location()) => false,
        Ok(name) if name.offset().is_some() => !opener.exists(&Location::of_file(alone)),
        Ok(_) => begins_as_object(alone),
        Err(_) => false,
    }
}

fn begins_as_object(name: &OsStr) -> bool {
    const HEAD: usize = 64;
    let opened =
        RxFilename::parse(name).and_then(|name| ObjectReader::open(&name, &Opener::default()));
    // A file that cannot be opened gives a better error when it is opened as a corpus.
    let Ok(mut reader) = opened else { return false };
    let Ok(head) = reader.ensure(HEAD) else { return false };
    if head.starts_with(b"\0B") {
        return true;
    }
    // A matrix or a vector as text. A description may also begin with a bracket, but then a letter
    // follows.
    let Some(inside) = head.trim_ascii_start().strip_prefix(b"[") else { return false };
    let value = inside.trim_ascii_start();
    value.len() < inside.len()
        && value.first().is_some_and(|byte| byte.is_ascii_digit() || b"-.]".contains(byte))
}
