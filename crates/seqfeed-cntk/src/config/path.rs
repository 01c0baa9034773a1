//! Names of sections of a configuration: `train.cntk#Simple_Test.reader`.

use seqfeed_core::{Error, Result};
use seqfeed_io::Opener;

use super::Config;
use super::section::Section;
use super::section::ValueForm;

/// Splits `file#dotted.path`; without `#` the path is empty.
///
/// ```
/// use seqfeed_cntk::config::path;
///
/// assert_eq!(path::split("a.cntk#Train.reader"), ("a.cntk", "Train.reader"));
/// assert_eq!(path::split("a.cntk"), ("a.cntk", ""));
/// ```
#[must_use]
pub fn split(name: &str) -> (&str, &str) {
    name.rsplit_once('#').unwrap_or((name, ""))
}

/// Reads a file and finds a section in it. Case does not matter in names. A section that lacks a
/// name looks it up outwards, as CNTK's commands look up their `reader`.
///
/// ```no_run
/// use seqfeed_cntk::config::{ReaderConfig, path};
/// use seqfeed_io::Opener;
///
/// let section = path::load("train.cntk", "Simple_Test.reader", &Opener::default())?;
/// let reader = ReaderConfig::from_section(&section)?;
/// # Ok::<(), seqfeed_core::Error>(())
/// ```
///
/// # Errors
///
/// Fails if the file cannot be read, or has no such section. The error then names the readers in
/// the file.
pub fn load(file: &str, dotted: &str, opener: &Opener) -> Result<Section> {
    Config::load(file, &[], opener)?.section_at(dotted)
}

impl Config {
    /// The section with a dotted path (`Simple_Test.reader`); the empty path is the outermost.
    ///
    /// # Errors
    ///
    /// Fails if there is no such section.
    pub fn section_at(&self, dotted: &str) -> Result<Section> {
        let mut section = self.root().clone();
        for name in dotted.split('.').filter(|name| !name.is_empty()) {
            section = match section.get(name)? {
                Some(value) if value.form() == ValueForm::Section => value.section()?,
                Some(value) => {
                    let message = format!("{name} of '{dotted}' is not a section");
                    return Err(value.error(message).with_help(self.what_there_is()));
                }
                None => return Err(self.no_section(name, dotted)),
            };
        }
        Ok(section)
    }

    /// The dotted paths of all sections that give a reader type.
    #[must_use]
    pub fn readers(&self) -> Vec<String> {
        let mut found = Vec::new();
        collect_readers(self.root(), "", 4, &mut found);
        found
    }

    fn no_section(&self, name: &str, dotted: &str) -> Error {
        let message = format!("there is no section {name} (of '{dotted}')");
        Error::usage(message).in_file(self.root().path()).with_help(self.what_there_is())
    }

    fn what_there_is(&self) -> String {
        match self.readers() {
            readers if readers.is_empty() => "it has no reader sections".into(),
            readers => format!("its reader sections: {}", readers.join(", ")),
        }
    }
}

/// Sections that cannot be read are skipped: this is for messages only.
fn collect_readers(section: &Section, path: &str, depth: usize, found: &mut Vec<String>) {
    const ENOUGH: usize = 20;
    if section.has_own("readerType") || section.has_own("deserializers") {
        found.push(path.to_owned());
        return;
    }
    for name in section.names() {
        if depth == 0 || found.len() >= ENOUGH {
            return;
        }
        // Also if variables have no values: the reader reports which.
        if let Some(value) = section.own_unresolved(name)
            && value.form() == ValueForm::Section
            && let Ok(inner) = value.section()
        {
            let dot = if path.is_empty() { "" } else { "." };
            collect_readers(&inner, &format!("{path}{dot}{name}"), depth - 1, found);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn goes_to_sections() {
        let text = "reader=[readerType=x]\nTrain=[a=1]\nTest=[reader=[deserializers=()];b=[]]";
        let config = Config::parse("f", text).unwrap();
        for (dotted, path) in [
            ("", "f"),
            ("train", "f:Train"),
            ("TEST.READER", "f:Test:reader"),
            ("Train.reader", "f:Train:reader"),
        ] {
            assert_eq!(config.section_at(dotted).unwrap().path(), path);
        }
        assert_eq!(config.readers(), ["reader", "Test.reader"]);
        let error = config.section_at("Test.raeder").unwrap_err().to_string();
        let expected = "f: there is no section raeder (of 'Test.raeder') \
                        (its reader sections: reader, Test.reader)";
        assert_eq!(error, expected);
        let config = Config::parse("f", "Train=[reader=[readerType=x\nfile=$Dir$/y]]").unwrap();
        assert_eq!(config.readers(), ["Train.reader"]);
        let error = config.section_at("Train.reader").unwrap_err().to_string();
        assert!(error.starts_with("f:2: CNTK configuration: No variable found with the name Dir."));
        let config = Config::parse("f", text).unwrap();
        let error = config.section_at("Train.a").unwrap_err().to_string();
        assert!(error.starts_with("f:2: CNTK configuration: a of 'Train.a' is not a section"));
    }
}
