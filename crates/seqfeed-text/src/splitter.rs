//! Divides a text into symbols.

use seqfeed_core::{Error, Problem, Result};

use crate::form::Value;

/// The units that a text is divided into.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Units {
    /// Words between white space.
    #[default]
    Words,
    /// Characters of Unicode.
    Characters,
    /// The whole text is one unit.
    Lines,
}

/// Divides a text into symbols.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Splitter {
    /// The units of the text.
    pub units: Units,
    /// With characters: the symbol between two words. If it is empty, nothing stands between them.
    pub space: Vec<u8>,
    /// The symbol before each text.
    pub begin: Option<Vec<u8>>,
    /// The symbol behind each text.
    pub end: Option<Vec<u8>>,
}

impl Default for Splitter {
    /// Words.
    fn default() -> Self {
        Self { units: Units::Words, space: b"<space>".to_vec(), begin: None, end: None }
    }
}

impl Splitter {
    /// Passes each symbol of a text to `take`.
    ///
    /// # Errors
    ///
    /// Fails if a text is to be divided into characters and is not UTF-8, or if `take` fails.
    pub fn each(&self, value: &Value<'_>, mut take: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
        if let Some(begin) = &self.begin {
            take(begin)?;
        }
        match value {
            Value::Parts(parts) => parts.iter().try_for_each(|part| take(part.as_bytes()))?,
            Value::Text(text) => self.split(text, &mut take)?,
        }
        if let Some(end) = &self.end {
            take(end)?;
        }
        Ok(())
    }

    fn split(&self, text: &[u8], mut take: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let blank = |byte: &u8| byte.is_ascii_whitespace();
        let mut words = text.split(blank).filter(|word| !word.is_empty());
        match self.units {
            Units::Lines => match text.trim_ascii() {
                [] => Ok(()),
                line => take(line),
            },
            Units::Words => words.try_for_each(take),
            Units::Characters => {
                for (number, word) in words.enumerate() {
                    if number > 0 && !self.space.is_empty() {
                        take(&self.space)?;
                    }
                    let word = std::str::from_utf8(word).map_err(|_| {
                        let found = word[..word.len().min(32)].to_vec();
                        let expected = "characters of UTF-8".into();
                        Error::format("text", Problem::Unexpected { expected, found })
                            .with_help("convert the file to UTF-8, or take units = \"words\"")
                    })?;
                    for character in word.chars() {
                        take(character.encode_utf8(&mut [0; 4]).as_bytes())?;
                    }
                }
                Ok(())
            }
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn split(splitter: &Splitter, text: &[u8]) -> Result<Vec<String>> {
        let mut found = Vec::new();
        splitter.each(&Value::Text(text.into()), |symbol| {
            found.push(String::from_utf8_lossy(symbol).into_owned());
            Ok(())
        })?;
        Ok(found)
    }

    #[test]
    fn texts_are_divided() {
        let words = Splitter::default();
        assert_eq!(split(&words, b" ab \t c\r").unwrap(), ["ab", "c"]);
        let mut characters = Splitter { units: Units::Characters, ..Splitter::default() };
        assert_eq!(split(&characters, "aé c".as_bytes()).unwrap(), ["a", "é", "<space>", "c"]);
        characters.space = Vec::new();
        characters.begin = Some(b"<s>".to_vec());
        characters.end = Some(b"</s>".to_vec());
        assert_eq!(split(&characters, b"a c").unwrap(), ["<s>", "a", "c", "</s>"]);
        assert_eq!(split(&characters, b"").unwrap(), ["<s>", "</s>"]);
        assert!(split(&characters, b"a\xff").unwrap_err().message().contains("UTF-8"));
        let lines = Splitter { units: Units::Lines, ..Splitter::default() };
        assert_eq!(split(&lines, b" a b ").unwrap(), ["a b"]);
        assert!(split(&lines, b" ").unwrap().is_empty());
    }
}
