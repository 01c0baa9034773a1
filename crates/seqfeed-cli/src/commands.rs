//! The subcommands.

pub(crate) mod convert;
pub(crate) mod copy;
pub(crate) mod feed;
pub(crate) mod info;
