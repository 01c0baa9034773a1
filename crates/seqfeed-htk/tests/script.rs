//! Script files as HTK and CNTK read them, and as nobody should write them.
#![allow(clippy::unwrap_used, clippy::print_stderr)]

#[path = "script/cntk.rs"]
mod cntk;
#[path = "script/htk.rs"]
mod htk;
#[path = "script/random.rs"]
mod random;
#[path = "param/shared.rs"]
#[allow(dead_code)]
mod shared;
