//! The subcommands.

pub(crate) mod feed;
pub(crate) mod info;
pub(crate) mod show;
