//! Sections: names with their values, and the sections around them.

mod value;
mod variables;

use std::collections::BTreeMap;
use std::sync::Arc;

use seqfeed_core::{Error, Result};
use serde_json::Value as Json;

use super::braces::MAX_DEPTH;
use super::records::{Assignments, assignments};
use super::text::{Origin, Text, excerpt, fault, limit};
use value::Content;
pub use value::{Value, ValueForm};
use variables::resolve;

/// A section: names, without regard to case, and their values.
///
/// As in CNTK, a name that a section lacks is looked up in the section around it, and so on
/// outwards. The methods with `own` look only into this section. Values are parsed when they are
/// asked for, so a mistake in an unused section is no error. A clone is the same section.
#[derive(Clone, Debug)]
pub struct Section(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    path: String,
    entries: BTreeMap<String, Entry>,
    around: Option<Section>,
    depth: usize,
    origin: Option<Origin>,
}

#[derive(Debug)]
struct Entry {
    name: String,
    content: Content,
}

impl Section {
    /// Parses the text of a section.
    pub(crate) fn from_text(path: String, text: &Text, around: Option<Section>) -> Result<Section> {
        let entries = take(assignments(text)?);
        Self::new(path, entries, around, text.origin(0).cloned())
    }

    /// Takes over a JSON object.
    pub(crate) fn from_json(
        path: String,
        object: &serde_json::Map<String, Json>,
        around: Option<Section>,
    ) -> Result<Section> {
        let mut entries = BTreeMap::new();
        for (name, json) in object.iter().filter(|(_, json)| !json.is_null()) {
            let entry = Entry { name: name.clone(), content: Content::Json(json.clone()) };
            if let Some(other) = entries.insert(name.to_ascii_lowercase(), entry) {
                let message = format!(
                    "{path}: configparameters: duplicate parameter definition for {} and {name}",
                    other.name
                );
                return Err(fault(message).with_help("names are the same in any case"));
            }
        }
        Self::new(path, entries, around, None)
    }

    fn new(
        path: String,
        entries: BTreeMap<String, Entry>,
        around: Option<Section>,
        origin: Option<Origin>,
    ) -> Result<Section> {
        let depth = around.as_ref().map_or(0, |around| around.depth() + 1);
        if depth > MAX_DEPTH {
            let error = limit("nested sections", depth as u64, MAX_DEPTH);
            return Err(error.with_help(format!("look at {}", excerpt(&path))));
        }
        Ok(Self(Arc::new(Inner { path, entries, around, depth, origin })))
    }

    /// The names from the outermost section in, joined by colons. The outermost has the name of its
    /// file.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.0.path
    }

    /// The section around this one, where missing names are looked up.
    #[must_use]
    pub fn around(&self) -> Option<&Section> {
        self.0.around.as_ref()
    }

    /// The number of sections around it.
    pub(crate) fn depth(&self) -> usize {
        self.0.depth
    }

    /// Its own names, as first written, sorted without case.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.entries.values().map(|entry| entry.name.as_str())
    }

    /// Whether it has no names of its own.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.entries.is_empty()
    }

    /// Whether it has a name itself, even with the value `default`.
    #[must_use]
    pub fn has_own(&self, name: &str) -> bool {
        self.0.entries.contains_key(&name.to_ascii_lowercase())
    }

    /// Whether it or a section around it has a name, even with the value `default`.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.find(name).is_some()
    }

    /// The value of a name, here or further out; `None` if there is none, or if it is `default`.
    ///
    /// # Errors
    ///
    /// Fails if its variables cannot be replaced.
    pub fn get(&self, name: &str) -> Result<Option<Value>> {
        let Some((owner, entry)) = self.find(name) else { return Ok(None) };
        owner.value_of(entry, self)
    }

    /// The section's own value of a name; `None` if it has none, or if it is `default`.
    ///
    /// # Errors
    ///
    /// As [`get`](Section::get).
    pub fn own(&self, name: &str) -> Result<Option<Value>> {
        match self.0.entries.get(&name.to_ascii_lowercase()) {
            Some(entry) => self.value_of(entry, self),
            None => Ok(None),
        }
    }

    /// The section's own value of a name, with its variables not replaced: enough to see its form.
    pub(crate) fn own_unresolved(&self, name: &str) -> Option<Value> {
        let entry = self.0.entries.get(&name.to_ascii_lowercase())?;
        Some(Value::new(&entry.name, entry.content.clone(), self.clone()))
    }

    /// The value of a name that must exist and not be empty.
    ///
    /// # Errors
    ///
    /// As [`get`](Section::get); and if it is missing.
    pub fn require(&self, name: &str) -> Result<Value> {
        match self.get(name)? {
            Some(value) if !value.is_empty() => Ok(value),
            _ => Err(self
                .error(format!(
                    "configparameters: required parameter missing: {}:{name}",
                    self.path()
                ))
                .with_help(format!("add {name}=... to this section"))),
        }
    }

    /// A text, here or further out.
    ///
    /// # Errors
    ///
    /// As [`get`](Section::get) and [`Value::text`].
    pub fn text(&self, name: &str) -> Result<Option<String>> {
        self.get(name)?.map(|value| value.text()).transpose()
    }

    /// A boolean, here or further out.
    ///
    /// # Errors
    ///
    /// As [`get`](Section::get) and [`Value::boolean`].
    pub fn boolean(&self, name: &str) -> Result<Option<bool>> {
        self.get(name)?.map(|value| value.boolean()).transpose()
    }

    /// A whole number that is not negative, here or further out.
    ///
    /// # Errors
    ///
    /// As [`get`](Section::get) and [`Value::u64`].
    pub fn u64(&self, name: &str) -> Result<Option<u64>> {
        self.get(name)?.map(|value| value.u64()).transpose()
    }

    /// A whole number, here or further out.
    ///
    /// # Errors
    ///
    /// As [`get`](Section::get) and [`Value::i64`].
    pub fn i64(&self, name: &str) -> Result<Option<i64>> {
        self.get(name)?.map(|value| value.i64()).transpose()
    }

    /// An error about this section as a whole, with file and line if they are known.
    pub(crate) fn error(&self, message: String) -> Error {
        match &self.0.origin {
            Some(origin) => origin.error(message),
            None => fault(message),
        }
    }

    /// The text of a name and the section that has it. `default` is not a text.
    pub(crate) fn find_text(&self, name: &str) -> Option<(&Section, &Text)> {
        let (owner, entry) = self.find(name)?;
        match &entry.content {
            Content::Text(text) if text.as_str() != "default" => Some((owner, text)),
            _ => None,
        }
    }

    fn find(&self, name: &str) -> Option<(&Section, &Entry)> {
        let name = name.to_ascii_lowercase();
        let mut section = Some(self);
        while let Some(here) = section {
            if let Some(entry) = here.0.entries.get(&name) {
                return Some((here, entry));
            }
            section = here.0.around.as_ref();
        }
        None
    }

    /// The value of an entry of this section, for `asker`: names that the value lacks are looked up
    /// there.
    fn value_of(&self, entry: &Entry, asker: &Section) -> Result<Option<Value>> {
        let content = match &entry.content {
            Content::Text(text) if text.as_str() == "default" => return Ok(None),
            Content::Text(text) => Content::Text(resolve(text, self)?),
            Content::Json(json) if json.as_str() == Some("default") => return Ok(None),
            Content::Json(json) => Content::Json(json.clone()),
        };
        Ok(Some(Value::new(&entry.name, content, asker.clone())))
    }
}

fn take(assignments: Assignments) -> BTreeMap<String, Entry> {
    let entry = |(key, assignment): (String, super::records::Assignment)| {
        (key, Entry { name: assignment.name, content: Content::Text(assignment.value) })
    };
    assignments.into_iter().map(entry).collect()
}

#[cfg(test)]
mod tests {
    use super::super::Config;

    #[test]
    fn looks_outwards() {
        let config = Config::parse("f", "a=1\nb=2\ns=[b=3\nt=[c=4\nd=default]]\nd=5").unwrap();
        let inner = config.require("S").unwrap().section().unwrap();
        let inner = inner.require("T").unwrap().section().unwrap();
        let number = |name| inner.u64(name).unwrap();
        assert_eq!(["A", "b", "c", "d", "e"].map(number), [Some(1), Some(3), Some(4), None, None]);
        assert!(inner.own("b").unwrap().is_none() && inner.has("b") && !inner.has_own("b"));
        assert!(inner.has_own("D") && !inner.has("e"));
        assert_eq!(inner.path(), "f:s:t");
        assert_eq!(inner.names().collect::<Vec<_>>(), ["c", "d"]);
        let error = inner.require("d").unwrap_err().to_string();
        assert!(error.starts_with("f:4: CNTK configuration: configparameters: required parameter"));
    }

    #[test]
    fn a_section_found_further_out_sees_who_asks() {
        let text = "reader=[x=1]\ntrain=[action=write]";
        let config = Config::parse("f", text).unwrap();
        let train = config.require("train").unwrap().section().unwrap();
        let reader = train.require("reader").unwrap().section().unwrap();
        assert_eq!(reader.text("action").unwrap().as_deref(), Some("write"));
    }
}
