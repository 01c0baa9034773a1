//! The subcommands.

pub(crate) mod check;
pub(crate) mod completions;
pub(crate) mod convert;
pub(crate) mod copy;
pub(crate) mod describe;
pub(crate) mod feed;
pub(crate) mod info;
pub(crate) mod kaldi;
pub(crate) mod manual;
pub(crate) mod plan;
pub(crate) mod show;
