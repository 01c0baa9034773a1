//! What names may do.

use seqfeed_core::{Error, ErrorKind, Result};

/// What names may do. By default they name files and the standard streams, but run no commands.
///
/// Names come out of data files (`scp`), so opening a corpus someone else made would otherwise run
/// whatever they wrote there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Policy {
    /// Whether a name may be a command of the shell (`gunzip -c x.gz |`).
    pub pipes: bool,
}

impl Policy {
    /// The policy that allows commands.
    #[must_use]
    pub const fn with_pipes() -> Self {
        Self { pipes: true }
    }

    /// Fails with [`ErrorKind::Forbidden`] where commands are not allowed.
    pub(crate) fn check_pipe(self, name: &impl std::fmt::Display) -> Result<()> {
        if self.pipes {
            return Ok(());
        }
        let message = format!("the name `{name}` runs a command, which is not allowed here");
        Err(Error::new(ErrorKind::Forbidden(message))
            .with_help("if you trust the commands, allow them with --allow-pipes"))
    }
}
