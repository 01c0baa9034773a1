//! The tools. Each tool or family of tools has a file.

mod cmvn;
mod compare_feats;
mod copy_feats;
mod copy_feats_to_htk;
mod copy_matrix;
mod copy_vectors;
mod egs;
mod egs_frames;
mod graphs;
mod lengths;
mod matrix_sums;
mod merge_feats;
mod posteriors;
mod segment_feats;
mod segment_waves;
mod select_feats;
mod sliding_cmvn;
mod spread_feats;
mod subset_feats;
mod sums;
mod transform_feats;
mod vectors;
mod waves;

use crate::Tool;
use crate::call::{Call, Outcome};

const fn tool(
    name: &'static str,
    summary: &'static str,
    run: fn(&mut Call<'_>) -> Outcome,
) -> Tool {
    Tool { name, summary, run }
}

pub(crate) const TOOLS: &[Tool] = &[
    tool("add-deltas", "add deltas to features", spread_feats::add_deltas),
    tool("ali-to-post", "alignments to posteriors", posteriors::ali_to_post),
    tool("append-vector-to-feats", "append a vector to each frame", merge_feats::append_vector),
    tool("apply-cmvn", "normalize features", cmvn::apply),
    tool("apply-cmvn-sliding", "normalize features by a sliding window", sliding_cmvn::run),
    tool("compare-feats", "say how similar two tables of features are", compare_feats::run),
    tool("compute-cmvn-stats", "statistics for normalization", cmvn::compute),
    tool("concat-feats", "features one after another", merge_feats::concat),
    tool("copy-feats", "copy features", copy_feats::run),
    tool("copy-feats-to-htk", "features to HTK's files", copy_feats_to_htk::run),
    tool("copy-int-vector", "copy vectors of integers (alignments)", copy_vectors::integers),
    tool("copy-int-vector-vector", "copy vectors of vectors of integers", copy_vectors::nested),
    tool("copy-matrix", "copy matrices, and change their values", copy_matrix::run),
    tool("copy-post", "copy posteriors", posteriors::copy),
    tool("copy-vector", "copy vectors", copy_vectors::floats),
    tool("dot-weights", "dot products of vectors", vectors::dot_weights),
    tool("extract-feature-segments", "segments of features", segment_feats::run),
    tool("extract-segments", "segments of waves", segment_waves::run),
    tool("feat-to-dim", "dimension of features", lengths::feat_to_dim),
    tool("feat-to-len", "numbers of frames", lengths::feat_to_len),
    tool("fstcopy", "copy FSTs", graphs::fstcopy),
    tool("lattice-copy", "copy lattices", graphs::lattice_copy),
    tool("matrix-dim", "print sizes of matrices", lengths::matrix_dim),
    tool("matrix-dot-product", "multiply matrices value by value", matrix_sums::multiply),
    tool("matrix-sum", "add matrices", sums::matrices),
    tool("matrix-sum-rows", "sum of the rows of matrices", matrix_sums::sum_rows),
    tool("modify-cmvn-stats", "keep dimensions from being normalized", cmvn::modify),
    tool("nnet3-copy-egs", "copy examples for nnet3", egs::copy),
    tool("nnet3-shuffle-egs", "shuffle examples for nnet3", egs::shuffle),
    tool("nnet3-subset-egs", "a random subset of examples for nnet3", egs::subset),
    tool("paste-feats", "features side by side", merge_feats::paste),
    tool("post-to-weights", "sum of the posteriors of each frame", posteriors::to_weights),
    tool("select-feats", "some dimensions of features", select_feats::run),
    tool("shift-feats", "shift features in time", spread_feats::shift),
    tool("splice-feats", "frames with their context", spread_feats::splice),
    tool("subsample-feats", "every n-th frame", spread_feats::subsample),
    tool("subset-feats", "some utterances", subset_feats::run),
    tool("transform-feats", "linear and affine transforms", transform_feats::run),
    tool("vector-scale", "scale vectors", vectors::scale),
    tool("vector-sum", "add vectors", sums::vectors),
    tool("wav-copy", "copy waves", waves::copy),
    tool("wav-to-duration", "durations of waves", waves::durations),
];
