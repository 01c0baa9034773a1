//! Places of bytes.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::name_text::shown_name;

/// A place where bytes lie or go.
///
/// More kinds of places will come. So do not match, but ask a location what you need: whether it
/// [can be read at any place](Self::is_seekable), its [path](Self::path), its
/// [directory](Self::parent).
///
/// ```
/// use seqfeed_io::Location;
///
/// let local = Location::of_file("data/feats.ark");
/// let stored = Location::of_file("s3://bucket/feats.ark");
/// assert!(local.path().is_some() && stored.url().is_some());
/// assert!(local.is_seekable() && stored.is_seekable());
/// assert_eq!(stored.parent().unwrap().to_string(), "s3://bucket");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Location {
    /// Standard input, or standard output.
    Standard,
    /// The output or the input of a shell command.
    Command(OsString),
    /// A file of the file system.
    Path(PathBuf),
    /// An object that a store opens.
    Url(Url),
}

/// The address of an object in a store: `s3://bucket/feats.ark`. The text behind the scheme is kept
/// unchanged: only the store knows what it means.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Url(OsString);

/// The text between a scheme and the rest.
const BEHIND_SCHEME: &[u8] = b"://";

impl Url {
    /// Parses a text as a URL, if it begins with a scheme of at least two characters and `://`.
    ///
    /// ```
    /// use seqfeed_io::Url;
    ///
    /// assert_eq!(Url::parse("s3://bucket/x.ark").unwrap().scheme(), "s3");
    /// assert!(Url::parse("data/x.ark").is_none());
    /// ```
    #[must_use]
    pub fn parse(text: &(impl AsRef<OsStr> + ?Sized)) -> Option<Self> {
        let text = text.as_ref();
        let bytes = text.as_bytes();
        let is_of_scheme = |byte: &u8| byte.is_ascii_alphanumeric() || b"+-.".contains(byte);
        let scheme = bytes.iter().take_while(|byte| is_of_scheme(byte)).count();
        let is_url = scheme >= 2
            && bytes[0].is_ascii_alphabetic()
            && bytes[scheme..].starts_with(BEHIND_SCHEME);
        is_url.then(|| Self(text.to_owned()))
    }

    /// The name of the store: `s3`.
    #[must_use]
    pub fn scheme(&self) -> &str {
        let bytes = self.0.as_bytes();
        // A scheme is ASCII.
        std::str::from_utf8(&bytes[..self.start() - BEHIND_SCHEME.len()]).unwrap_or_default()
    }

    /// The whole text.
    #[must_use]
    pub fn as_os_str(&self) -> &OsStr {
        &self.0
    }

    /// The text behind `://`, which the store understands.
    fn inside(&self) -> &[u8] {
        &self.0.as_bytes()[self.start()..]
    }

    /// The start of the text behind the scheme.
    fn start(&self) -> usize {
        let scheme = self.0.as_bytes().iter().take_while(|byte| **byte != BEHIND_SCHEME[0]);
        scheme.count() + BEHIND_SCHEME.len()
    }

    fn parent(&self) -> Option<Self> {
        let slash = self.inside().iter().rposition(|&byte| byte == b'/')?;
        let end = self.start() + slash;
        Some(Self(OsStr::from_bytes(&self.0.as_bytes()[..end]).to_owned()))
    }

    fn join(&self, path: &Path) -> Self {
        let mut joined = self.clone();
        if !joined.0.as_bytes().ends_with(b"/") {
            joined.0.push("/");
        }
        joined.0.push(path);
        joined
    }
}

impl fmt::Display for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&shown_name(&self.0))
    }
}

impl Location {
    /// The location of a file by its name: a URL or a path. Here `-` is a path.
    #[must_use]
    pub fn of_file(name: impl AsRef<OsStr>) -> Self {
        let name = name.as_ref();
        Url::parse(name).map_or_else(|| Self::Path(name.into()), Self::Url)
    }

    /// The path, if this is in the file system.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        if let Self::Path(path) = self { Some(path) } else { None }
    }

    /// The URL, if this is in a store.
    #[must_use]
    pub fn url(&self) -> Option<&Url> {
        if let Self::Url(url) = self { Some(url) } else { None }
    }

    /// The command, if this is one.
    #[must_use]
    pub fn command(&self) -> Option<&OsStr> {
        if let Self::Command(command) = self { Some(command) } else { None }
    }

    /// Whether this is standard input or output.
    #[must_use]
    pub fn is_standard(&self) -> bool {
        *self == Self::Standard
    }

    /// Whether it can be opened again and read at any place (if it is a regular file). Otherwise it
    /// is a stream that can be read only once.
    #[must_use]
    pub fn is_seekable(&self) -> bool {
        matches!(self, Self::Path(_) | Self::Url(_))
    }

    /// Whether it is a path relative to a directory.
    #[must_use]
    pub fn is_relative(&self) -> bool {
        self.path().is_some_and(Path::is_relative)
    }

    /// The same location, with a relative path resolved against a directory, or against the working
    /// directory if none is given. Other locations stay.
    #[must_use]
    pub fn relative_to(self, directory: Option<&Self>) -> Self {
        match (self, directory) {
            (Self::Path(path), Some(Self::Path(directory))) => Self::Path(directory.join(path)),
            (Self::Path(path), Some(Self::Url(directory))) if path.is_relative() => {
                Self::Url(directory.join(&path))
            }
            (other, _) => other,
        }
    }

    /// The directory of the location.
    #[must_use]
    pub fn parent(&self) -> Option<Self> {
        match self {
            Self::Path(path) => path.parent().map(Self::from),
            Self::Url(url) => url.parent().map(Self::Url),
            Self::Standard | Self::Command(_) => None,
        }
    }

    /// Its name: the path, the URL, the command; `-` for standard input and output.
    #[must_use]
    pub fn as_os_str(&self) -> &OsStr {
        match self {
            Self::Standard => "-".as_ref(),
            Self::Command(command) => command,
            Self::Path(path) => path.as_os_str(),
            Self::Url(url) => url.as_os_str(),
        }
    }

    /// Its name, as [`as_os_str`](Self::as_os_str).
    #[must_use]
    pub fn into_name(self) -> OsString {
        match self {
            Self::Standard => "-".into(),
            Self::Command(command) => command,
            Self::Path(path) => path.into_os_string(),
            Self::Url(url) => url.0,
        }
    }

    /// The text behind the last dot of a file's name.
    #[must_use]
    pub fn extension(&self) -> Option<&OsStr> {
        match self {
            Self::Path(path) => path.extension(),
            Self::Url(url) => Path::new(OsStr::from_bytes(url.inside())).extension(),
            Self::Standard | Self::Command(_) => None,
        }
    }

    /// The file whose name is longer by an ending, such as `.gz`. Other locations stay.
    #[must_use]
    pub fn with_end(&self, end: &str) -> Self {
        let mut longer = self.clone();
        match &mut longer {
            Self::Path(path) => path.as_mut_os_string().push(end),
            Self::Url(url) => url.0.push(end),
            Self::Standard | Self::Command(_) => {}
        }
        longer
    }
}

impl From<PathBuf> for Location {
    fn from(path: PathBuf) -> Self {
        Self::Path(path)
    }
}

impl From<&Path> for Location {
    fn from(path: &Path) -> Self {
        Self::Path(path.to_owned())
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&shown_name(self.as_os_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_begin_with_a_scheme() {
        for text in ["s3://b/x", "a+b-c.1://", "file:///x"] {
            assert_eq!(Url::parse(text).unwrap().to_string(), text);
        }
        for text in ["C://x", "://x", "1a://x", "a/b://x", "s3:/x", "s3:x", ""] {
            assert!(Url::parse(text).is_none(), "{text}");
        }
    }

    #[test]
    fn directories_are_joined() {
        let joined = |name, directory| {
            Location::of_file(name).relative_to(Some(&Location::of_file(directory))).to_string()
        };
        assert_eq!(joined("x.ark", "data"), "data/x.ark");
        assert_eq!(joined("/x.ark", "data"), "/x.ark");
        assert_eq!(joined("a/x.ark", "s3://b/c"), "s3://b/c/a/x.ark");
        assert_eq!(joined("x.ark", "s3://b/"), "s3://b/x.ark");
        assert_eq!(joined("/x.ark", "s3://b/c"), "/x.ark");
        assert_eq!(joined("s3://b/x.ark", "data"), "s3://b/x.ark");
        let parent = |name| Location::of_file(name).parent().map(|parent| parent.to_string());
        assert_eq!(parent("s3://b/c/x.ark").as_deref(), Some("s3://b/c"));
        assert_eq!(parent("s3://b"), None);
        assert_eq!(parent("x.ark").as_deref(), Some(""));
    }

    #[test]
    fn ends_of_names() {
        let file = |name: &str| Location::of_file(name);
        assert_eq!(file("s3://b.c/x.ark").extension(), Some("ark".as_ref()));
        assert_eq!(file("s3://b/x").extension(), None);
        assert_eq!(file("s3://b/x").with_end(".gz"), file("s3://b/x.gz"));
        assert_eq!(file("d/x").with_end(".gz"), file("d/x.gz"));
    }
}
