//! Values: texts that are parsed as the requested type.

use std::str::FromStr;

use seqfeed_core::{Error, Result};
use serde_json::Value as Json;

use super::super::records::elements;
use super::super::text::{Text, excerpt, fault};
use super::Section;

/// The form of a value. In CNTK only the reader of a value knows its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueForm {
    /// Anything else: words, numbers, `1:2:3`.
    Text,
    /// `( ... )`.
    Array,
    /// `[ ... ]` or `{ ... }`.
    Section,
}

/// A value with its variables replaced.
#[derive(Clone, Debug)]
pub struct Value {
    path: String,
    /// The start of its own name in `path`.
    name: usize,
    content: Content,
    /// The section where missing names are looked up, if it is a section.
    around: Option<Section>,
}

/// A value in the form of a file or of a dictionary.
#[derive(Clone, Debug)]
pub(crate) enum Content {
    Text(Text),
    Json(Json),
}

impl Value {
    /// The value of a name of a section.
    pub(crate) fn new(name: &str, content: Content, around: Section) -> Value {
        let path = format!("{}:{name}", around.path());
        Self { name: path.len() - name.len(), path, content, around: Some(around) }
    }

    /// Its name, after the names of the sections around it.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Its name alone.
    pub(crate) fn name(&self) -> &str {
        &self.path[self.name..]
    }

    /// Its form.
    #[must_use]
    pub fn form(&self) -> ValueForm {
        match &self.content {
            Content::Text(text) => match text.bytes().first() {
                Some(b'[' | b'{') => ValueForm::Section,
                Some(b'(') => ValueForm::Array,
                _ => ValueForm::Text,
            },
            Content::Json(Json::Array(_)) => ValueForm::Array,
            Content::Json(Json::Object(_)) => ValueForm::Section,
            Content::Json(_) => ValueForm::Text,
        }
    }

    /// Whether it is an empty text.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        match &self.content {
            Content::Text(text) => text.is_empty(),
            Content::Json(json) => json.as_str() == Some(""),
        }
    }

    /// The value as text, without the quotes around it.
    ///
    /// # Errors
    ///
    /// Fails for arrays and objects of a dictionary.
    pub fn text(&self) -> Result<String> {
        match &self.content {
            Content::Text(text) => Ok(text.as_str().to_owned()),
            Content::Json(Json::String(string)) => Ok(string.clone()),
            Content::Json(json @ (Json::Array(_) | Json::Object(_))) => {
                let shown = excerpt(&json.to_string());
                Err(self.error(format!("a text is expected, found {shown}")))
            }
            Content::Json(json) => Ok(json.to_string()),
        }
    }

    /// The value as a boolean: `t`, `true`, `T`, `True`, `TRUE`, `1`; or the same of `false`, `0`,
    /// and the empty text.
    ///
    /// # Errors
    ///
    /// Fails if it is anything else.
    pub fn boolean(&self) -> Result<bool> {
        let text = self.text()?;
        match text.as_str() {
            "t" | "true" | "T" | "True" | "TRUE" | "1" => Ok(true),
            "f" | "false" | "F" | "False" | "FALSE" | "0" | "" => Ok(false),
            _ => {
                let message = "ConfigValue (bool): boolean argument expected";
                let shown = excerpt(&text);
                Err(self.error(format!("{message}, found '{shown}'")).with_help("true or false"))
            }
        }
    }

    /// The value as a whole number that is not negative.
    ///
    /// # Errors
    ///
    /// Fails if it is anything else. (CNTK lets negative numbers wrap around.)
    pub fn u64(&self) -> Result<u64> {
        self.number("uint64_t", "a whole number that is not negative")
    }

    /// The value as a whole number.
    ///
    /// # Errors
    ///
    /// Fails if it is anything else.
    pub fn i64(&self) -> Result<i64> {
        self.number("int64_t", "a whole number")
    }

    /// The value as a number; `#inf` is infinity.
    ///
    /// # Errors
    ///
    /// Fails if it is anything else.
    pub fn f64(&self) -> Result<f64> {
        if self.text()?.trim_start().to_ascii_lowercase().starts_with("#inf") {
            return Ok(f64::INFINITY);
        }
        self.number("double", "a number")
    }

    fn number<T: FromStr>(&self, kind: &str, expected: &'static str) -> Result<T> {
        let text = self.text()?;
        text.trim_start().parse().map_err(|_| {
            let shown = excerpt(&text);
            self.error(format!("ConfigValue ({kind}): invalid input string '{shown}'"))
                .with_help(expected)
        })
    }

    /// The value as a section. A text without braces is one too: its records are the section.
    ///
    /// # Errors
    ///
    /// Fails if braces do not match, or a name has no value.
    pub fn section(&self) -> Result<Section> {
        match &self.content {
            Content::Text(text) => Section::from_text(self.path.clone(), text, self.around.clone()),
            Content::Json(Json::Object(object)) => {
                Section::from_json(self.path.clone(), object, self.around.clone())
            }
            Content::Json(json) => {
                let shown = excerpt(&json.to_string());
                Err(self.error(format!("a section is expected, found {shown}")))
            }
        }
    }

    /// The value as an array: `1:2:3`, `0.1*3:0.2`, `( [..] : [..] )`. A single value is an array
    /// of one. Sections in arrays have no section around them.
    ///
    /// # Errors
    ///
    /// Fails if braces do not match, or a count after `*` is not a number.
    pub fn array(&self) -> Result<Vec<Value>> {
        let contents: Vec<Content> = match &self.content {
            Content::Text(text) => elements(text)?.into_iter().map(Content::Text).collect(),
            Content::Json(Json::Array(array)) => array.iter().cloned().map(Content::Json).collect(),
            Content::Json(Json::String(string)) => {
                let mut text = Text::default();
                text.push_string(string, None);
                elements(&text)?.into_iter().map(Content::Text).collect()
            }
            Content::Json(json) => vec![Content::Json(json.clone())],
        };
        let element = |(i, content)| Value {
            path: format!("{}[{i}]", self.path),
            name: self.name,
            content,
            around: None,
        };
        Ok(contents.into_iter().enumerate().map(element).collect())
    }

    /// The number of its bytes.
    pub(crate) fn size(&self) -> usize {
        match &self.content {
            Content::Text(text) => text.len(),
            Content::Json(_) => 1,
        }
    }

    /// An error about this value, with file and line if they are known, else with its name.
    pub(crate) fn error(&self, message: String) -> Error {
        match &self.content {
            Content::Text(text) if text.origin(0).is_some() => text.error(0, message),
            _ => fault(format!("{}: {message}", self.path)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::Config;
    use super::*;

    fn value(text: &str) -> Value {
        Config::parse("f", &format!("\nv={text}")).unwrap().require("v").unwrap()
    }

    #[test]
    fn reads_truths() {
        for (text, expected) in [("t", Some(true)), ("FALSE", Some(false)), ("tRue", None)] {
            assert_eq!(value(text).boolean().ok(), expected, "{text}");
        }
        let error = value("auto").boolean().unwrap_err().to_string();
        let expected = "f:2: CNTK configuration: ConfigValue (bool): boolean argument expected, \
                        found 'auto' (true or false)";
        assert_eq!(error, expected);
    }

    #[test]
    fn reads_numbers() {
        for (text, expected) in [
            ("7", Some(7)),
            ("+7", Some(7)),
            ("-7", None),
            ("7x", None),
            ("99999999999999999999", None),
        ] {
            assert_eq!(value(text).u64().ok(), expected, "{text}");
        }
        assert_eq!(value("-7").i64().unwrap(), -7);
        assert_eq!(value("1#INF").f64().ok(), None);
        assert_eq!(value("1e-3").f64().unwrap(), 1e-3);
    }

    #[test]
    fn elements_have_nothing_around_them() {
        let config = Config::parse("f", "x=1\ns=[ a=([y=2]:[y=3]) ]").unwrap();
        let section = config.require("s").unwrap().section().unwrap();
        let array = section.require("a").unwrap().array().unwrap();
        let element = array[1].section().unwrap();
        assert_eq!((element.path(), element.u64("y").unwrap()), ("f:s:a[1]", Some(3)));
        assert!(!element.has("x"));
    }
}
