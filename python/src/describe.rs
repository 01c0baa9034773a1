//! A description out of what Python programs say: names, dictionaries, keywords.

use pyo3::exceptions::PyOverflowError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyTuple};
use seqfeed::{Description, Table, Value};

use crate::{errors, keys};

/// A description, and what is worth a warning.
pub(crate) struct Described {
    pub(crate) description: Description,
    pub(crate) warnings: Vec<String>,
    /// What to call it.
    pub(crate) name: String,
}

/// The description that a source (a name, a path, a dictionary, or nothing) and keywords mean.
pub(crate) fn describe(
    source: Option<&Bound<'_, PyAny>>,
    options: &Bound<'_, PyDict>,
) -> PyResult<Described> {
    let mut given = Table::new();
    let mut name = None;
    if let Some(source) = source.filter(|source| !source.is_none()) {
        if let Ok(dictionary) = source.cast::<PyDict>() {
            insert(&mut given, dictionary)?;
        } else {
            let Some(text) = keys::name_of(source)? else {
                return Err(errors::wrong_type("a name, a path or a dictionary", source));
            };
            name = Some(text);
        }
    }
    insert(&mut given, options)?;
    let called = name.clone().unwrap_or_else(|| "corpus".to_owned());
    let (description, warnings) = errors::raise(of_name(name.as_deref(), given))?;
    Ok(Described { description, warnings, name: called })
}

fn insert(table: &mut Table, dictionary: &Bound<'_, PyDict>) -> PyResult<()> {
    for (key, value) in dictionary.iter() {
        if !value.is_none() {
            table.insert(key.extract::<String>()?.replace('_', "-"), to_toml(&value)?);
        }
    }
    Ok(())
}

fn to_toml(value: &Bound<'_, PyAny>) -> PyResult<Value> {
    if value.is_instance_of::<PyBool>() {
        return Ok(Value::Boolean(value.extract()?));
    }
    if value.is_instance_of::<PyInt>() || value.hasattr("__index__")? {
        let number = value.extract::<i64>();
        let too_large = |_| PyOverflowError::new_err("an option's number does not fit 64 bits");
        return Ok(Value::Integer(number.map_err(too_large)?));
    }
    if let Ok(number) = value.cast::<PyFloat>() {
        return Ok(Value::Float(number.extract()?));
    }
    if let Some(text) = keys::name_of(value)? {
        return Ok(Value::String(text));
    }
    if let Ok(dictionary) = value.cast::<PyDict>() {
        let mut table = Table::new();
        for (key, value) in dictionary.iter() {
            // Names of streams stay as they are; the keys in them are spelled either way.
            let key = key.extract::<String>()?;
            if !value.is_none() {
                let value = match value.cast::<PyDict>() {
                    Ok(inner) => {
                        let mut table = Table::new();
                        insert(&mut table, inner)?;
                        Value::Table(table)
                    }
                    Err(_) => to_toml(&value)?,
                };
                table.insert(key, value);
            }
        }
        return Ok(Value::Table(table));
    }
    if value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>() {
        let items: Vec<Bound<'_, PyAny>> = value.extract()?;
        return Ok(Value::Array(items.iter().map(to_toml).collect::<PyResult<_>>()?));
    }
    Err(errors::wrong_type("text, a path, a number, a truth value, a list or a dictionary", value))
}

/// What a name means, as for the command line.
fn of_name(name: Option<&str>, given: Table) -> seqfeed::Result<(Description, Vec<String>)> {
    match name {
        None => Ok((Description::from_table(given)?, Vec::new())),
        Some(name) => {
            let named = Description::of_name_with(name, given)?;
            Ok((named.description, named.warnings))
        }
    }
}

/// Whether a name is an rspecifier or a wspecifier of Kaldi's tables.
pub(crate) fn is_table(name: &str) -> bool {
    let kind = name.split(':').next().unwrap_or_default();
    name.contains(':') && kind.split(',').any(|word| word == "ark" || word == "scp")
}

fn uncompressed(file: &str) -> &str {
    [".gz", ".bz2", ".zst"].iter().find_map(|end| file.strip_suffix(end)).unwrap_or(file)
}

/// The rspecifier that the name of a table's file means: `feats.scp`, `ali.ark.gz`.
pub(crate) fn rspecifier_of(name: &str) -> Option<String> {
    if is_table(name) {
        return Some(name.to_owned());
    }
    let file = uncompressed(name);
    if file.ends_with(".ark") {
        return Some(format!("ark:{name}"));
    }
    (file.ends_with(".scp") && !Description::is_htk_file(name)).then(|| format!("scp:{name}"))
}

/// The description of a table's streams: also of files that are labels only.
pub(crate) fn describe_table(
    source: &Bound<'_, PyAny>,
    options: &Bound<'_, PyDict>,
) -> PyResult<Described> {
    if let Some(name) = keys::name_of(source)?
        && name.ends_with(".mlf")
    {
        let mut given = Table::new();
        insert(&mut given, options)?;
        given.insert("labels".to_owned(), Value::String(name.clone()));
        let description = errors::raise(Description::from_table(given))?;
        return Ok(Described { description, warnings: Vec::new(), name });
    }
    describe(Some(source), options)
}
