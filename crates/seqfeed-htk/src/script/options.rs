//! Options for reading scripts.

/// Options for reading scripts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptOptions {
    /// The rules.
    pub style: Style,
    /// Whether `=` and `[...]` in names have a meaning (HTK's `EXTENDFILENAMES`). In CNTK's style
    /// they always have.
    pub extended_names: bool,
    /// In CNTK's style: whether an entry may be a whole file, with or without a logical name, as
    /// with `readMethod=rollingWindow`. HTK's style always allows this.
    pub whole_files: bool,
    /// The rule for paths of files.
    pub path_rule: PathRule,
}

impl Default for ScriptOptions {
    /// HTK's style, extended names, paths as written.
    fn default() -> Self {
        Self {
            style: Style::Htk,
            extended_names: true,
            whole_files: false,
            path_rule: PathRule::AsWritten,
        }
    }
}

impl ScriptOptions {
    /// CNTK's style, with `...` for the directory of the script.
    #[must_use]
    pub fn cntk(script: &[u8]) -> Self {
        let path_rule = PathRule::beside(script);
        Self { style: Style::Cntk, path_rule, ..Self::default() }
    }

    /// CNTK's style with a directory before all names (`prefixPathInSCP`).
    #[must_use]
    pub fn cntk_with_prefix(prefix: &[u8]) -> Self {
        Self { style: Style::Cntk, path_rule: PathRule::under(prefix), ..Self::default() }
    }
}

/// The rules for reading a script.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Style {
    /// Words between white space. Quoted words may contain white space.
    #[default]
    Htk,
    /// One name a line, nothing quoted or trimmed, each with a logical name and frames.
    Cntk,
}

/// The rule for the paths of files in a script.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum PathRule {
    /// As written.
    #[default]
    AsWritten,
    /// The first `...` of an entry is this directory.
    Dots(Vec<u8>),
    /// This prefix stands before all names of files. It ends with a slash.
    Prefix(Vec<u8>),
}

impl PathRule {
    /// `...` means the directory of a script: as in CNTK, the text before the last `/` or `\` of
    /// its name. If there is none, it is `.` (CNTK then takes the root).
    #[must_use]
    pub fn beside(script: &[u8]) -> Self {
        let end = script.iter().rposition(|byte| matches!(byte, b'/' | b'\\'));
        Self::Dots(end.map_or(b"." as &[u8], |end| &script[..end]).to_vec())
    }

    /// A directory before all names, as in CNTK: backslashes become slashes, and it ends with one
    /// slash.
    #[must_use]
    pub fn under(prefix: &[u8]) -> Self {
        let slashed = prefix.iter().map(|&byte| if byte == b'\\' { b'/' } else { byte });
        let mut prefix: Vec<u8> = slashed.collect();
        while prefix.last() == Some(&b'/') {
            prefix.pop();
        }
        prefix.push(b'/');
        Self::Prefix(prefix)
    }
}
