//! Binary or text.

/// The two forms of every object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mode {
    /// Raw numbers after a `\0B`.
    Binary,
    /// Characters.
    Text,
}
