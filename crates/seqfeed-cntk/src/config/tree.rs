//! A section with all its contents, parsed at once.

use std::collections::BTreeMap;
use std::fmt;

use seqfeed_core::Result;

use super::section::Section;
use super::section::{Value, ValueForm};
use super::text::limit;

/// A value with all its contents.
///
/// [`Display`](fmt::Display) writes it in a form that reads back the same, if its texts can be
/// written at all. The language cannot write quotes, line breaks, ` #`, or `$name$`, and in an
/// array no `*` and no empty text.
///
/// ```
/// use seqfeed_cntk::config::Config;
///
/// let config = Config::parse("a.cntk", "b=2\nA=[ x=1:2 ; y=([z]) ]")?;
/// let text = config.tree()?.to_string();
/// assert_eq!(Config::parse("b.cntk", &text)?.tree()?, config.tree()?);
/// # Ok::<(), seqfeed_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tree {
    /// A text.
    Text(String),
    /// An array.
    Array(Vec<Tree>),
    /// A section, by names as first written.
    Section(BTreeMap<String, Tree>),
}

/// The most bytes of text to parse. Bytes of inner sections count again.
const MAX_WORK: usize = 16 << 20;

impl Section {
    /// The contents of the section itself. `default` becomes an empty text.
    ///
    /// # Errors
    ///
    /// Fails if a part cannot be read, or if it is too large and too deeply nested.
    pub fn tree(&self) -> Result<Tree> {
        section_tree(self, &mut 0)
    }
}

impl Value {
    /// The value and all its contents.
    ///
    /// # Errors
    ///
    /// As [`Section::tree`].
    pub fn tree(&self) -> Result<Tree> {
        value_tree(self, &mut 0)
    }
}

fn section_tree(section: &Section, work: &mut usize) -> Result<Tree> {
    let mut tree = BTreeMap::new();
    for name in section.names() {
        let value = match section.own(name)? {
            Some(value) => value_tree(&value, work)?,
            None => Tree::Text(String::new()),
        };
        tree.insert(name.to_owned(), value);
    }
    Ok(Tree::Section(tree))
}

fn value_tree(value: &Value, work: &mut usize) -> Result<Tree> {
    *work += value.size();
    if *work > MAX_WORK {
        let error = limit("bytes to take apart", *work as u64, MAX_WORK);
        return Err(error.with_help("take single sections apart"));
    }
    match value.form() {
        ValueForm::Text => Ok(Tree::Text(value.text()?)),
        ValueForm::Section => section_tree(&value.section()?, work),
        ValueForm::Array => {
            let elements = value.array()?;
            let elements = elements.iter().map(|element| value_tree(element, work));
            Ok(Tree::Array(elements.collect::<Result<_>>()?))
        }
    }
}

impl fmt::Display for Tree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // The outermost section has no braces.
            Tree::Section(section) => {
                for (name, value) in section {
                    write!(f, "{name} = ")?;
                    value.write(f, 0)?;
                    writeln!(f)?;
                }
                Ok(())
            }
            value => value.write(f, 0),
        }
    }
}

impl Tree {
    fn write(&self, f: &mut fmt::Formatter<'_>, depth: usize) -> fmt::Result {
        let inner = "    ".repeat(depth + 1);
        let outer = "    ".repeat(depth);
        match self {
            Tree::Text(text) => write!(f, "\"{text}\""),
            Tree::Section(section) => {
                writeln!(f, "[")?;
                for (name, value) in section {
                    write!(f, "{inner}{name} = ")?;
                    value.write(f, depth + 1)?;
                    writeln!(f)?;
                }
                write!(f, "{outer}]")
            }
            Tree::Array(elements) => {
                writeln!(f, "(")?;
                for (i, element) in elements.iter().enumerate() {
                    write!(f, "{inner}")?;
                    element.write(f, depth + 1)?;
                    writeln!(f, "{}", if i + 1 < elements.len() { ":" } else { "" })?;
                }
                write!(f, "{outer})")
            }
        }
    }
}
