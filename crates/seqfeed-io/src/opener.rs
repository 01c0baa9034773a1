//! The opener of names, and its policy.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fmt;
use std::sync::Arc;

use seqfeed_core::{Error, ErrorKind, Result};

use crate::open_files::{Cache, OpenFiles};
use crate::read_at::{ReadAt, Store};
use crate::{LINE_LIMIT, Location, RxFilename, Url};

/// Opens names. It stands between all readers and the places where bytes lie. It has the policy for
/// names, and the limit for lines. By default names stand for files and the standard streams, and
/// run no commands.
///
/// Names also come out of data files (`scp`). Opening someone else's corpus could run any command
/// written there. So an opener tells names that the caller gave from names that stand in a file:
/// code that reads names out of a file opens them with the opener [for its
/// contents](Self::of_contents).
///
/// | opener | a name that the caller gave | a name that stands in a file |
/// | --- | --- | --- |
/// | [`default`](Self::default) | runs no command | runs no command |
/// | [`with_given_pipes`](Self::with_given_pipes) | may be a command | runs no command |
/// | [`with_pipes`](Self::with_pipes) | may be a command | may be a command |
///
/// A name such as `s3://bucket/feats.ark` is opened by the [`Store`] that is
/// [registered](Self::with_store) for its scheme.
///
/// Names that are text are relative to the [directory](Self::in_directory) of the opener. A
/// [`Location`] is final, and is opened unchanged.
///
/// Clones share their open files. So give one opener, and clones of it, to all readers that work
/// together.
#[derive(Clone)]
pub struct Opener {
    commands: Commands,
    line_limit: usize,
    directory: Option<Arc<Location>>,
    stores: Option<Arc<Stores>>,
    open: Arc<Cache>,
}

impl Default for Opener {
    fn default() -> Self {
        Self::allowing(Commands::None)
    }
}

/// Stores by their schemes.
type Stores = BTreeMap<String, Arc<dyn Store>>;

/// Which names may be commands of the shell (`gunzip -c x.gz |`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Commands {
    #[default]
    None,
    Given,
    All,
}

impl Opener {
    /// An opener that allows commands in all names.
    #[must_use]
    pub fn with_pipes() -> Self {
        Self::allowing(Commands::All)
    }

    /// An opener that allows commands in names that the caller gives, such as on a command line,
    /// but not in names that stand in files.
    ///
    /// ```
    /// use seqfeed_io::Opener;
    ///
    /// let opener = Opener::with_given_pipes();
    /// assert!(opener.allows_pipes() && !opener.of_contents().allows_pipes());
    /// ```
    #[must_use]
    pub fn with_given_pipes() -> Self {
        Self::allowing(Commands::Given)
    }

    /// An opener that allows commands in all names, or in none.
    #[must_use]
    pub fn allowing_pipes(allow: bool) -> Self {
        Self::allowing(if allow { Commands::All } else { Commands::None })
    }

    fn allowing(commands: Commands) -> Self {
        let (directory, stores, open) = (None, None, Arc::default());
        Self { commands, line_limit: LINE_LIMIT, directory, stores, open }
    }

    /// The same opener, with another limit for keys, words and lines in text, in bytes
    /// ([`LINE_LIMIT`] by default).
    #[must_use]
    pub fn with_line_limit(mut self, bytes: usize) -> Self {
        self.line_limit = bytes;
        self
    }

    /// The most bytes of a key, a word or a line in text.
    #[must_use]
    pub fn line_limit(&self) -> usize {
        self.line_limit
    }

    /// The same opener, for names relative to a directory, or to the working directory if none is
    /// given.
    ///
    /// ```
    /// use seqfeed_io::{Location, Opener};
    ///
    /// let opener = Opener::default().in_directory(Some(Location::of_file("s3://bucket/d")));
    /// assert_eq!(opener.place("feats.scp").to_string(), "s3://bucket/d/feats.scp");
    /// assert_eq!(opener.place("/feats.scp").to_string(), "/feats.scp");
    /// ```
    #[must_use]
    pub fn in_directory(mut self, directory: Option<Location>) -> Self {
        self.directory = directory.map(Arc::new);
        self
    }

    /// The directory that names are relative to, if not the working directory.
    #[must_use]
    pub fn directory(&self) -> Option<&Location> {
        self.directory.as_deref()
    }

    /// The location of a file by its name: a path or a URL.
    #[must_use]
    pub fn place(&self, name: impl AsRef<OsStr>) -> Location {
        Location::of_file(name).relative_to(self.directory())
    }

    /// Parses a name to read from.
    ///
    /// # Errors
    ///
    /// The same as [`RxFilename::parse`].
    pub fn rxfilename(&self, name: &(impl AsRef<OsStr> + ?Sized)) -> Result<RxFilename> {
        RxFilename::parse(name).map(|name| name.relative_to(self.directory()))
    }

    /// The same opener, with a store for the URLs of a scheme (`s3`). It replaces an earlier store.
    ///
    /// ```
    /// use std::io;
    /// use std::sync::Arc;
    /// use seqfeed_io::{Location, Opener, ReadAt, Store, Url};
    ///
    /// /// Has nothing.
    /// struct Empty;
    ///
    /// impl Store for Empty {
    ///     fn open(&self, _: &Url) -> io::Result<Arc<dyn ReadAt>> {
    ///         Err(io::ErrorKind::NotFound.into())
    ///     }
    ///
    ///     fn list(&self, _: &Url) -> io::Result<Vec<Url>> {
    ///         Ok(Vec::new())
    ///     }
    /// }
    ///
    /// let opener = Opener::default().with_store("empty", Arc::new(Empty));
    /// let nothing = Location::of_file("empty://x.ark");
    /// assert!(opener.open(&nothing).unwrap_err().is_not_found());
    /// ```
    #[must_use]
    pub fn with_store(mut self, scheme: impl Into<String>, store: Arc<dyn Store>) -> Self {
        let stores = Arc::make_mut(self.stores.get_or_insert_default());
        stores.insert(scheme.into(), store);
        self
    }

    /// The opener for names that stand in a file that this one opened. They are relative to the
    /// working directory; the reader of the file may look for them in other places too.
    #[must_use]
    pub fn of_contents(&self) -> Self {
        let commands = match self.commands {
            Commands::None | Commands::Given => Commands::None,
            Commands::All => Commands::All,
        };
        Self { commands, directory: None, ..self.clone() }
    }

    /// Whether a name may be a command now.
    #[must_use]
    pub fn allows_pipes(&self) -> bool {
        !matches!(self.commands, Commands::None)
    }

    /// A table of files by number; few of them stay open. All tables of this opener and of its
    /// clones share one limit.
    #[must_use]
    pub fn open_files<T: Send + Sync + 'static>(&self) -> OpenFiles<T> {
        OpenFiles::new(&self.open)
    }

    /// The store for a URL.
    pub(crate) fn store(&self, url: &Url) -> Result<&dyn Store> {
        let store = self.stores.as_ref().and_then(|stores| stores.get(url.scheme()));
        store.map(|store| &**store).ok_or_else(|| no_store(url))
    }

    /// Opens an object of a store.
    pub(crate) fn object(&self, url: &Url) -> Result<Arc<dyn ReadAt>> {
        let opened = self.store(url)?.open(url);
        opened.map_err(|error| Error::io("opening", error).in_file(url.to_string()))
    }

    /// Fails with [`ErrorKind::Forbidden`] if commands are not allowed.
    pub(crate) fn check_pipe(&self, name: &impl fmt::Display) -> Result<()> {
        if self.allows_pipes() {
            return Ok(());
        }
        let message = format!("the name `{name}` runs a command, which is not allowed here");
        Err(Error::new(ErrorKind::Forbidden(message))
            .with_help("if you trust the commands, allow them with --allow-pipes"))
    }
}

/// The error for a URL without a store.
pub(crate) fn no_store(url: &Url) -> Error {
    let message = format!("no store is registered for names that begin with {}://", url.scheme());
    Error::usage(message)
        .in_file(url.to_string())
        .with_help("copy the file to a local disk, and give its path")
}

impl fmt::Debug for Opener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let schemes: Vec<&String> = self.stores.iter().flat_map(|stores| stores.keys()).collect();
        f.debug_struct("Opener")
            .field("commands", &self.commands)
            .field("directory", &self.directory)
            .field("stores", &schemes)
            .field("open", &self.open)
            .finish()
    }
}
