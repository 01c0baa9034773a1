//! Reads descriptions from TOML and from options.

use std::path::Path;

use seqfeed_core::{Error, Problem, Result};
use seqfeed_io::{Location, Opener};
use toml::{Table, Value};

use super::corpus::{CorpusSpec, InputSpec, StreamSpec};
use super::feed::FeedSpec;
use super::mix::{ComponentSpec, MixSpec};
use super::option::{CorpusOption, place};
use super::table::{SECTIONS, option};
use super::values::{KindName, OrderName, Text};
use super::{Description, file_text, unknown};

impl Description {
    /// Reads a description from TOML text; relative names are relative to the working directory.
    ///
    /// # Errors
    ///
    /// Fails if it is not TOML, or has unknown keys or values.
    pub fn from_toml(text: &str) -> Result<Self> {
        Self::from_table(parse(text)?)
    }

    /// Reads a `corpus.toml`; relative names in it are relative to the file.
    ///
    /// # Errors
    ///
    /// The same as [`from_toml`](Description::from_toml), or if the file cannot be read.
    pub fn from_file(path: &Path) -> Result<Self> {
        Self::from_file_with(&path.into(), Table::new(), &Opener::default())
    }

    /// The same as [`from_file`](Description::from_file), with [options](crate::options) that
    /// replace keys of the file. Names in them are relative to the working directory. `opener`
    /// opens the file: a path, or a URL of one of its stores.
    ///
    /// # Errors
    ///
    /// The same as [`from_file`](Description::from_file), or if an option is wrong.
    pub fn from_file_with(location: &Location, options: Table, opener: &Opener) -> Result<Self> {
        let file = location.to_string();
        let (text, seems) = file_text::read(location, opener)?;
        let table = parse(&text).map_err(|error| {
            let error = error.in_file(&file);
            match seems {
                Some(help) => error.with_help(help),
                None => error,
            }
        })?;
        let description = Self::from_table(table).map_err(|error| error.in_file(&file))?;
        description.in_directory(location.parent(), options)
    }

    /// Makes a description from the keys of a `corpus.toml` that could stand in a directory, with
    /// [options](crate::options) that replace them.
    pub(crate) fn from_table_in(
        directory: Option<Location>,
        keys: Table,
        options: Table,
    ) -> Result<Self> {
        Self::from_table(keys)?.in_directory(directory, options)
    }

    fn in_directory(self, base: Option<Location>, options: Table) -> Result<Self> {
        let base = base.filter(|base| !base.as_os_str().is_empty());
        let mut description = Self { base, from_file: true, ..self };
        description.replace(options)?;
        if description.is_given("order") && description.feed.order == Some(OrderName::Sequential) {
            description.feed.window = None;
        }
        Ok(description)
    }

    /// Makes a description from [options](crate::options) by their short names, such as `features`
    /// and `batch-size`. Sections are as in a `corpus.toml`.
    ///
    /// ```
    /// let options = r#"features = "scp:feats.scp"
    ///                  context = 5"#;
    /// let description = seqfeed::Description::from_options(options.parse().unwrap())?;
    /// assert_eq!(description.streams().len(), 1);
    /// # Ok::<(), seqfeed::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Fails if there is no such option, or if a value is invalid.
    pub fn from_options(options: Table) -> Result<Self> {
        let mut description = Self::default();
        description.replace(options)?;
        Ok(description)
    }

    /// Reads a description from a table with the contents of a `corpus.toml`.
    ///
    /// # Errors
    ///
    /// Fails if it has unknown keys or values.
    pub fn from_table(table: Table) -> Result<Self> {
        let mut description = Self::default();
        for (key, value) in table {
            match key.as_str() {
                "streams" | "inputs" | "overrides" | "mix" => {
                    drop(description.read_named(&key, value)?);
                }
                section if SECTIONS.contains(&section) => {
                    for (key, value) in keys_of(section, value)? {
                        description.set(section, &key, &value)?;
                    }
                }
                section if value.is_table() && section != "transforms" => {
                    return Err(unknown::section(section));
                }
                key => description.set("", key, &value)?,
            }
        }
        Ok(description)
    }

    /// Sets a key of a section.
    fn set(&mut self, section: &str, key: &str, value: &Value) -> Result<()> {
        let is_it = |option: &&CorpusOption| option.section == section && option.key == key;
        let set = if CorpusSpec::OPTIONS.iter().any(|option| is_it(&option)) {
            self.corpus.set(key, value)
        } else if FeedSpec::OPTIONS.iter().any(|option| is_it(&option)) {
            self.feed.set(key, value)
        } else {
            return Err(unknown::key(section, key));
        };
        set.map_err(|expected| unknown::value(&place(section, key), &expected, value))
    }

    /// Replaces keys by [options](crate::options). Names in these are relative to the working
    /// directory.
    ///
    /// # Errors
    ///
    /// Fails if there is no such option, or if a value is invalid.
    pub fn replace(&mut self, options: Table) -> Result<()> {
        // Short options replace keys of sections.
        let (sections, short): (Table, Table) =
            options.into_iter().partition(|(_, value)| value.is_table());
        for (name, value) in sections.into_iter().chain(short) {
            if matches!(name.as_str(), "streams" | "inputs" | "overrides" | "mix") {
                let places = self.read_named(&name, value)?;
                self.given.extend(places);
                continue;
            }
            if SECTIONS.contains(&name.as_str()) && value.is_table() {
                for (key, value) in keys_of(&name, value)? {
                    self.set(&name, &key, &value)?;
                    self.given.insert(place(&name, &key));
                }
                continue;
            }
            let Some(option) = option(&name) else { return Err(unknown::option(&name)) };
            let wrong = |expected: String| unknown::value(&format!("`{name}`"), &expected, &value);
            if let Some(stream) = option.section.strip_prefix("streams.") {
                let stream = self.corpus.streams.entry(stream.to_owned()).or_default();
                stream.set(option.key, &value).map_err(wrong)?;
                if name == "labels" {
                    stream.kind.get_or_insert(KindName::Label);
                }
            } else if CorpusSpec::OPTIONS.iter().any(|one| one.name == name) {
                self.corpus.set(option.key, &value).map_err(wrong)?;
            } else {
                self.feed.set(option.key, &value).map_err(wrong)?;
            }
            self.given.insert(option.place());
        }
        Ok(())
    }

    /// Reads the sections `[mix]` and `[mix.NAME]`. Returns the places of the keys that were set.
    fn read_mix(&mut self, value: Value) -> Result<Vec<String>> {
        let mix = &mut self.corpus.mix;
        let mut places = Vec::new();
        for (name, value) in keys_of("mix", value)? {
            let Value::Table(keys) = value else {
                if !MixSpec::OPTIONS.iter().any(|option| option.key == name) {
                    return Err(unknown::key("mix", &name));
                }
                let set = mix.set(&name, &value);
                set.map_err(|expected| unknown::value(&place("mix", &name), &expected, &value))?;
                places.push(place("mix", &name));
                continue;
            };
            let section = format!("mix.{name}");
            let component = mix.components.entry(name).or_default();
            for (key, value) in &keys {
                if !ComponentSpec::OPTIONS.iter().any(|option| option.key == key) {
                    return Err(unknown::key(&section, key));
                }
                let set = component.set(key, value);
                set.map_err(|expected| unknown::value(&place(&section, key), &expected, value))?;
                places.push(place(&section, key));
            }
        }
        Ok(places)
    }

    /// Reads the sections `[streams.NAME]`, `[inputs.NAME]`, `[overrides]` and `[mix]`. Returns the
    /// places of the keys that were set.
    fn read_named(&mut self, kind: &str, value: Value) -> Result<Vec<String>> {
        if kind == "mix" {
            return self.read_mix(value);
        }
        let mut places = Vec::new();
        for (name, value) in keys_of(kind, value)? {
            if kind == "overrides" {
                let text = scalar(&name, value)?;
                self.corpus.overrides.insert(name, text);
                continue;
            }
            let section = format!("{kind}.{name}");
            let is_stream = kind == "streams";
            let keys = keys_of(&section, value)?;
            for (key, value) in &keys {
                let known = if is_stream { StreamSpec::OPTIONS } else { InputSpec::OPTIONS }.iter();
                if !known.clone().any(|option| option.key == key) {
                    return Err(unknown::key(&section, key));
                }
                let set = match is_stream {
                    true => self.corpus.streams.entry(name.clone()).or_default().set(key, value),
                    false => self.corpus.inputs.entry(name.clone()).or_default().set(key, value),
                };
                set.map_err(|expected| unknown::value(&place(&section, key), &expected, value))?;
                places.push(place(&section, key));
            }
            if is_stream {
                self.corpus.streams.entry(name).or_default();
                continue;
            }
            let input = self.corpus.inputs.entry(name).or_default();
            for (key, is_there) in
                [("dim", input.dim.is_some()), ("format", input.format.is_some())]
            {
                if !is_there {
                    return Err(Error::usage(format!("description: [{section}] has no {key}")));
                }
            }
        }
        Ok(places)
    }
}

/// The keys of a section.
fn keys_of(section: &str, value: Value) -> Result<Table> {
    match value {
        Value::Table(keys) => Ok(keys),
        _ => Err(Error::usage(format!("description: [{section}] is a section of keys"))),
    }
}

/// A text, number or truth as text.
fn scalar(name: &str, value: Value) -> Result<Text> {
    Ok(Text::Word(match value {
        Value::String(text) => text,
        Value::Integer(number) => number.to_string(),
        Value::Float(number) => number.to_string(),
        Value::Boolean(truth) => truth.to_string(),
        _ => {
            return Err(Error::usage(format!(
                "description: the value of override {name} must be a text or a number"
            )));
        }
    }))
}

fn parse(text: &str) -> Result<Table> {
    text.parse::<Table>().map_err(|error| {
        let before = error.span().map_or(0, |span| span.start.min(text.len()));
        let line = text.as_bytes()[..before].iter().filter(|&&byte| byte == b'\n').count() + 1;
        let problem = Problem::Unsupported(error.message().to_owned().into());
        Error::format("description", problem).at_line(line as u64)
    })
}
