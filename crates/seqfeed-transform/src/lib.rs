//! Changes of sequences between files and a feed: normalization, deltas, context, and others.
//!
//! Each file has one [`Transform`](seqfeed_core::Transform): its options, its checks and its
//! arithmetic. The arithmetic is that of Kaldi's tools, in their order of operations;
//! `seqfeed-kaldi-tools` uses the same functions. Rows lie one after another in a slice, `dim`
//! values each.
//!
//! A transform whose options are all plain is read with serde. Reading checks the options:
//!
//! ```
//! use seqfeed_transform::Subsample;
//!
//! assert!(toml::from_str::<Subsample>("n = 3\noffset = 1").is_ok());
//! assert!(toml::from_str::<Subsample>("n = 0").is_err());
//! ```

#![forbid(unsafe_code)]

pub mod affine;
pub mod deltas;
mod dims;
mod float;
pub mod log;
mod noise;
pub mod normalization;
pub mod select;
pub mod splice;
mod stack;
pub mod statistics;
pub mod subsample;

pub use affine::Affine;
pub use deltas::Deltas;
pub use dims::Dims;
pub use float::Float;
pub use noise::Noise;
pub use normalization::Normalization;
pub use select::Select;
pub use splice::Splice;
pub use stack::Stack;
pub use statistics::Statistics;
pub use subsample::Subsample;
