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
mod clip;
pub mod cmvn;
mod computed;
pub mod deltas;
mod dense;
mod dims;
mod dither;
mod float;
pub mod log;
mod mixed_noise;
mod noise;
pub mod normalization;
mod one_hot;
mod recent;
mod scale;
pub mod select;
mod share;
mod shift_deltas;
mod shuffle_bins;
pub mod sliding_cmvn;
mod spec_augment;
pub mod splice;
mod stack;
pub mod statistics;
pub mod subsample;
mod time_crop;

pub use affine::{Affine, MatrixProduct};
pub use clip::Clip;
pub use cmvn::{Cmvn, CmvnRule};
pub use computed::{Computed, Speakers, bytes_of_keys};
pub use deltas::Deltas;
pub use dims::Dims;
pub use dither::Dither;
pub use float::Float;
pub use log::Log;
pub use mixed_noise::{MixedNoise, MixedNoiseRule, NoiseDomain};
pub use noise::Noise;
pub use normalization::Normalization;
pub use one_hot::OneHot;
pub use scale::Scale;
pub use select::Select;
pub use share::Share;
pub use shift_deltas::ShiftDeltas;
pub use shuffle_bins::ShuffleBins;
pub use sliding_cmvn::SlidingCmvn;
pub use spec_augment::SpecAugment;
pub use splice::Splice;
pub use stack::Stack;
pub use statistics::Statistics;
pub use subsample::Subsample;
pub use time_crop::TimeCrop;
