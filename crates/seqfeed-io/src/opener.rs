//! What opens names, and what names may do.

use seqfeed_core::{Error, ErrorKind, Result};

use crate::LINE_LIMIT;

/// What opens names: it says what they may do and how long lines may be, and stands between all
/// readers and the places where bytes lie. By default names stand for files and the standard
/// streams, but run no commands.
///
/// Names come out of data files (`scp`), so opening a corpus someone else made would otherwise run
/// whatever they wrote there. So an opener tells names that the caller gave from names that were
/// found in a file: who reads names out of a file opens them with the opener
/// [for its contents](Self::of_contents).
///
/// | opener | a name that was given | a name that stands in a file |
/// | --- | --- | --- |
/// | [`default`](Self::default) | runs no command | runs no command |
/// | [`with_given_pipes`](Self::with_given_pipes) | may be a command | runs no command |
/// | [`with_pipes`](Self::with_pipes) | may be a command | may be a command |
#[derive(Clone, Debug)]
pub struct Opener {
    commands: Commands,
    line_limit: usize,
}

impl Default for Opener {
    fn default() -> Self {
        Self::allowing(Commands::None)
    }
}

/// Which names may be commands of the shell (`gunzip -c x.gz |`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Commands {
    #[default]
    None,
    Given,
    All,
}

impl Opener {
    /// An opener that allows commands wherever a name stands.
    #[must_use]
    pub const fn with_pipes() -> Self {
        Self::allowing(Commands::All)
    }

    /// The opener that allows commands in names that the caller gives, such as on a command line,
    /// and not in names that stand in files.
    ///
    /// ```
    /// use seqfeed_io::Opener;
    ///
    /// let opener = Opener::with_given_pipes();
    /// assert!(opener.allows_pipes() && !opener.of_contents().allows_pipes());
    /// ```
    #[must_use]
    pub const fn with_given_pipes() -> Self {
        Self::allowing(Commands::Given)
    }

    /// An opener that allows commands wherever a name stands, or nowhere.
    #[must_use]
    pub const fn allowing_pipes(allow: bool) -> Self {
        Self::allowing(if allow { Commands::All } else { Commands::None })
    }

    const fn allowing(commands: Commands) -> Self {
        Self { commands, line_limit: LINE_LIMIT }
    }

    /// The same opener, with another limit for keys, words and lines in text: so many bytes
    /// ([`LINE_LIMIT`] by default).
    #[must_use]
    pub const fn with_line_limit(mut self, bytes: usize) -> Self {
        self.line_limit = bytes;
        self
    }

    /// Most bytes of a key, a word or a line in text.
    #[must_use]
    pub const fn line_limit(&self) -> usize {
        self.line_limit
    }

    /// The opener for names that stand in a file which this one opened.
    #[must_use]
    pub const fn of_contents(&self) -> Self {
        let commands = match self.commands {
            Commands::None | Commands::Given => Commands::None,
            Commands::All => Commands::All,
        };
        Self { commands, line_limit: self.line_limit }
    }

    /// Whether the name at hand may be a command.
    #[must_use]
    pub const fn allows_pipes(&self) -> bool {
        !matches!(self.commands, Commands::None)
    }

    /// Fails with [`ErrorKind::Forbidden`] where commands are not allowed.
    pub(crate) fn check_pipe(&self, name: &impl std::fmt::Display) -> Result<()> {
        if self.allows_pipes() {
            return Ok(());
        }
        let message = format!("the name `{name}` runs a command, which is not allowed here");
        Err(Error::new(ErrorKind::Forbidden(message))
            .with_help("if you trust the commands, allow them with --allow-pipes"))
    }
}
