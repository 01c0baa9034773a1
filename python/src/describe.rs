//! Makes descriptions from the arguments of Python programs: names, dictionaries, keywords.

use pyo3::exceptions::PyOverflowError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyMapping, PyTuple};
use seqfeed::io::Opener;
use seqfeed::{Description, OptionScope, Table, Value};

use crate::keys::Name;
use crate::{errors, keys};

/// A description, with warnings.
pub(crate) struct Described {
    pub(crate) description: Description,
    pub(crate) warnings: Vec<String>,
    /// The name for messages.
    pub(crate) name: Name,
}

/// The description for a source (a name, a path, a dictionary, or nothing) and keywords. The caller
/// has further keywords of its `own`. Keywords of a feed are refused if nothing is fed.
pub(crate) fn describe(
    source: Option<&Bound<'_, PyAny>>,
    options: &Bound<'_, PyDict>,
    own: &[&str],
    scope: OptionScope,
) -> PyResult<Described> {
    refuse_beyond(scope, options, own)?;
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
    let called = name.clone().unwrap_or_else(|| "corpus".into());
    let described = of_name(name.as_ref(), given);
    let (description, warnings) = described.map_err(|error| explain(&error, options, own))?;
    Ok(Described { description, warnings, name: called })
}

/// The keywords of a call, with values for a configuration of CNTK's among them.
pub(crate) fn with_overrides<'py>(
    py: Python<'py>,
    options: Option<Bound<'py, PyDict>>,
    overrides: Option<Bound<'py, PyMapping>>,
) -> PyResult<Bound<'py, PyDict>> {
    let options = options.unwrap_or_else(|| PyDict::new(py));
    if let Some(overrides) = overrides {
        options.set_item("overrides", py.get_type::<PyDict>().call1((overrides,))?)?;
    }
    Ok(options)
}

/// An error about a description. An unknown option is spelled as in Python.
fn explain(error: &seqfeed::Error, options: &Bound<'_, PyDict>, own: &[&str]) -> PyErr {
    let message = error.message();
    let word = message
        .strip_prefix("there is no option `")
        .and_then(|rest| rest.strip_suffix('`'))
        .map(|word| word.replace('-', "_"));
    match word {
        Some(word) if options.contains(&word).unwrap_or(false) => {
            errors::no_option(options.py(), &word, error.help(), own)
        }
        _ => errors::to_python(error),
    }
}

/// Refuses options without effect, because nothing is fed.
fn refuse_beyond(scope: OptionScope, options: &Bound<'_, PyDict>, own: &[&str]) -> PyResult<()> {
    if scope == OptionScope::Feed {
        return Ok(());
    }
    for option in seqfeed::options().iter().filter(|option| option.scope != scope) {
        let name = option.name.replace('-', "_");
        if options.contains(&name)? && !own.contains(&name.as_str()) {
            let help = Some("it is for seqfeed.Feed");
            return Err(errors::no_option(options.py(), &name, help, &[]));
        }
    }
    Ok(())
}

fn insert(table: &mut Table, dictionary: &Bound<'_, PyDict>) -> PyResult<()> {
    for (key, value) in dictionary.iter() {
        if value.is_none() {
            continue;
        }
        let key = key.extract::<String>()?.replace('_', "-");
        let named = matches!(key.as_str(), "streams" | "inputs" | "overrides" | "mix");
        let value = match value.cast::<PyDict>() {
            // Streams, inputs, overrides and corpora of a mixture have names. Other sections have
            // keys.
            Ok(section) if !named => {
                let mut keys = Table::new();
                insert(&mut keys, section)?;
                Value::Table(keys)
            }
            _ => to_toml(&value)?,
        };
        table.insert(key, value);
    }
    Ok(())
}

fn to_toml(value: &Bound<'_, PyAny>) -> PyResult<Value> {
    // Numbers and arrays of numpy say what they are in Python's own types.
    if value.hasattr("dtype")? && value.hasattr("tolist")? {
        return to_toml(&value.call_method0("tolist")?);
    }
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
    if let Some(name) = keys::name_of(value)? {
        return Ok(Value::String(name.in_description()));
    }
    if let Ok(dictionary) = value.cast::<PyDict>() {
        let mut table = Table::new();
        for (key, value) in dictionary.iter() {
            // Names of streams stay unchanged. Their keys may be spelled with `-` or `_`.
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

/// The description for a name, as on the command line.
fn of_name(name: Option<&Name>, given: Table) -> seqfeed::Result<(Description, Vec<String>)> {
    match name {
        None => Ok((Description::from_options(given)?, Vec::new())),
        Some(name) => {
            let named = Description::of_name_with(name, given, &Opener::default())?;
            Ok((named.description, named.warnings))
        }
    }
}

/// Whether a name is an rspecifier or a wspecifier of Kaldi's tables.
pub(crate) fn is_table(name: &Name) -> bool {
    let Some(colon) = name.bytes().iter().position(|&byte| byte == b':') else { return false };
    let mut words = name.bytes()[..colon].split(|&byte| byte == b',');
    words.any(|word| word == b"ark" || word == b"scp")
}

fn uncompressed(file: &[u8]) -> &[u8] {
    [".gz", ".bz2", ".zst"].iter().find_map(|end| file.strip_suffix(end.as_bytes())).unwrap_or(file)
}

/// The rspecifier for the file name of a table: `feats.scp`, `ali.ark.gz`.
pub(crate) fn rspecifier_of(name: &Name) -> Option<Name> {
    if is_table(name) {
        return Some(name.clone());
    }
    let file = uncompressed(name.bytes());
    if file.ends_with(b".ark") {
        return Some(name.behind("ark:"));
    }
    let is_script = || !Description::is_htk_file(&name.in_description(), &Opener::default());
    (file.ends_with(b".scp") && is_script()).then(|| name.behind("scp:"))
}

/// The description of a table's streams, also for files with labels only.
pub(crate) fn describe_table(
    source: &Bound<'_, PyAny>,
    options: &Bound<'_, PyDict>,
    own: &[&str],
) -> PyResult<Described> {
    refuse_beyond(OptionScope::Corpus, options, own)?;
    if let Some(name) = keys::name_of(source)?
        && name.bytes().ends_with(b".mlf")
    {
        let mut given = Table::new();
        insert(&mut given, options)?;
        given.insert("labels".to_owned(), Value::String(name.in_description()));
        let description = Description::from_options(given);
        let description = description.map_err(|error| explain(&error, options, own))?;
        return Ok(Described { description, warnings: Vec::new(), name });
    }
    describe(Some(source), options, own, OptionScope::Corpus)
}
