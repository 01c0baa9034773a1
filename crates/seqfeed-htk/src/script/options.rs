//! How scripts are read.

/// How scripts are read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptOptions {
    /// Whose rules.
    pub style: Style,
    /// Whether `=` and `[...]` in names mean something (HTK's `EXTENDFILENAMES`). In CNTK's style
    /// they always do.
    pub extended_names: bool,
    /// In CNTK's style: whether an entry may be a whole file, with or without a logical name, as
    /// with `readMethod=rollingWindow`. HTK's style always allows it.
    pub whole_files: bool,
    /// Where files are.
    pub path_rule: PathRule,
}

impl Default for ScriptOptions {
    /// HTK's style, extended names, files where they are said to be.
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

/// Whose rules a script is read by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Style {
    /// Words between white space; quoted ones may hold white space.
    #[default]
    Htk,
    /// A name a line, nothing quoted or trimmed, each with a logical name and frames.
    Cntk,
}

/// Where the files of a script are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum PathRule {
    /// Where it says.
    #[default]
    AsWritten,
    /// `...`, where it first stands in an entry, is this directory.
    Dots(Vec<u8>),
    /// This stands before all names of files; it ends with a slash.
    Prefix(Vec<u8>),
}

impl PathRule {
    /// `...` for the directory of a script: what stands before the last `/` or `\` of its name, as
    /// in CNTK, but `.` where there is none. (CNTK then takes the root.)
    #[must_use]
    pub fn beside(script: &[u8]) -> Self {
        let end = script.iter().rposition(|byte| matches!(byte, b'/' | b'\\'));
        Self::Dots(end.map_or(b"." as &[u8], |end| &script[..end]).to_vec())
    }

    /// A directory before all names, as CNTK puts it there: backslashes become slashes, and one
    /// slash ends it.
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
