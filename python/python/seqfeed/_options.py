"""The options of corpora and feeds, as keywords. ``cargo xtask docs`` writes this file out of the
table of options."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypedDict, Union

Name = Union[str, "os.PathLike[str]"]
Transform = Union[str, Mapping[str, Any]]


class CorpusOptions(TypedDict, total=False):
    """What a corpus is made of: keywords of ``open``, ``convert`` and ``Feed``."""

    reader: Name
    """A CNTK reader, which defines the corpus and its feed: ``train.cntk#Train.reader`` (a
    section of a configuration), ``reader.json`` (the same as a dictionary), or
    ``train.ctf`` (a bare file). All other keys replace its settings."""

    data: Name
    """A data specification of PDNN: ``train.pfile,context=5,random=True``. All other keys
    replace its settings."""

    task: int
    """With the data of several tasks (``a.pfile|b.pfile,context=5``): the task that is fed,
    from 0."""

    corpus: Name | Sequence[Name]
    """Arrow or Parquet files that hold all streams of a corpus, one after another. Other
    streams are joined to theirs by key."""

    transforms: Transform | Sequence[Transform]
    """Transforms of all streams, with their options: ``subsample,n=3``. They are applied
    one after another when the streams are joined."""

    features: Name | Sequence[Name]
    """The features: an rspecifier, such as scp:feats.scp or ark:feats.ark, or files of
    HTK's. Several follow one another."""

    labels: Name | Sequence[Name]
    """The frame labels: an rspecifier, such as ark:ali.ark, or master label files of HTK's."""

    states: Name
    """For labels in master label files: the list of states, one a line, that gives their
    names numbers. Without it, the fourth column has the numbers."""

    feature_transforms: Transform | Sequence[Transform]
    """Transforms of the stream, with their options: ``noise,deviation=0.1``. They are
    applied one after another, before all else."""

    chunk_size: int
    """The most samples in a chunk, the unit of loading. Default: 32768."""

    map: bool
    """Map files into memory instead of reading them. A file that is cut short while it is
    mapped ends the program. Default: false."""

    line_limit: int
    """The most bytes of a key, a word or a line in text. A longer one is an error, before
    it fills the memory. Default: 65536."""

    missing: str | int
    """What to do with keys that a stream lacks: stop, skip them, or skip N at most.
    Default: skip."""

    errors: str | int
    """What to do with sequences that are wrong (objects that cannot be read, lengths that
    differ between streams): stop, skip them, or skip N at most. Default: stop."""

    keys: Name
    """Keep the sequences with these keys only: a file with a key at the beginning of each
    line, such as ``utt2spk``."""

    not_keys: Name
    """Leave out the sequences with these keys."""

    min_length: str | int
    """Leave out shorter sequences: a number of samples, or of seconds (``0.5 s``)."""

    max_length: str | int
    """Leave out longer sequences: a number of samples, or of seconds (``30 s``)."""

    length_of: Name
    """The stream whose lengths count. Without it, the length of the sequence counts."""

    sample_time: str | int
    """The time from one sample to the next, such as ``10 ms``, for lengths in seconds.
    Without it, the files must say it."""

    share: str | int
    """Keep a share of the sequences, such as ``90 %``. Their keys decide, so a sequence
    stays on its side when others are added."""

    not_share: str | int
    """Keep the other side: the sequences that the same ``share`` would leave out."""

    first: str | int
    """Of all that the other keys leave, keep so many at the beginning: a number, or a share
    such as ``10 %``."""

    segment_length: int
    """Cut utterances into segments of so many samples. Each is a sequence of its own."""

    segment_shift: int
    """Samples from the beginning of one segment to that of the next. Without it, segments
    lie side by side."""

    segment_left: int
    """Frames of context before each segment, in dense streams. Default: 0."""

    segment_right: int
    """Frames of context behind each segment, in dense streams. Default: 0."""

    segment_ends: Literal["repeat", "drop"]
    """Context beyond the ends of an utterance: repeat the first and last frame, or drop the
    segments that would need it. Default: repeat."""

    segment_rest: Literal["drop", "keep", "shift"]
    """The samples behind the last whole segment: drop them, keep them as a shorter segment,
    or shift that segment back until it is whole. Default: drop."""


class TableOptions(CorpusOptions, total=False):
    """These, and whole sections of a ``corpus.toml``: keywords of ``open`` and ``Feed``."""

    streams: Mapping[str, Mapping[str, Any]]
    """The sections ``[streams.NAME]``, by name."""

    inputs: Mapping[str, Mapping[str, Any]]
    """The sections ``[inputs.NAME]``, by name."""

    mix: Mapping[str, Any]
    """A mixture of corpora: the keys of ``[mix]``, and the sections ``[mix.NAME]`` by name."""


class FeedOptions(TableOptions, total=False):
    """How a corpus is fed: keywords of ``Feed``."""

    context: str | int | tuple[int, int]
    """Frames of context: as many to both sides (``5``), or to the left and to the right
    (``5:3``). The first and last frame of a sequence are repeated. Default: 0."""

    ignore_label: str | int
    """Labels whose frames are left out, such as ``0:3-9``. Context is taken before, so
    these frames are still the context of others. Needs ``unit = "frame"``."""

    map_label: str | int
    """Labels that become others, after frames were left out: ``1:0/4-6:2``. All are mapped
    at once."""

    preset: Literal["none", "cntk", "cntk-timeline", "pdnn"]
    """The system whose minibatches a feed gives. ``none``: the global order is cut, and
    minibatches are dealt to the ranks. ``cntk``: each rank cuts its own, as CNTK's
    workers do. ``cntk-timeline``: each rank has an order of its own, as with CNTK's
    local-timeline randomizers. ``pdnn``: files are cut into partitions, and these into
    minibatches. Default: none; cntk with readers of CNTK; pdnn with data specifications."""

    unit: Literal["frame", "sequence"]
    """The unit that is shuffled and dealt out: single frames or whole sequences. Default:
    frame."""

    order: Literal["shuffle", "sequential", "rolling", "blocks"]
    """The order in a sweep: shuffled anew in each with CNTK's moving window, shuffled in
    blocks as wide as the window (any place is found at once), as the samples lie, or
    CNTK's rolling window (frames, each swapped with another one in the window). Default:
    blocks; shuffle with the presets of CNTK and PDNN, the window `corpus`, or a
    generator."""

    window: str | int
    """How far the shuffle reaches: ``32 chunks``, ``200000 samples``, or ``corpus``.
    Default: 32 chunks."""

    seed: int
    """The seed of the shuffle, and of random transforms: sweep ``s`` is shuffled with seed
    ``s`` more. Default: 0; 18877 with preset pdnn."""

    batch_size: int
    """The size of a minibatch of one rank. With preset cntk or cntk-timeline: of all ranks.
    Default: 256."""

    batch_unit: Literal["samples", "sequences", "padded"]
    """What the size counts: samples, sequences, or samples with padding. Default: samples."""

    bucket: int
    """Group sequences of like length out of pools of N sequences."""

    buckets: int | Sequence[int]
    """Divide the sequences of the whole corpus into N bins by length, or at the lengths of
    a list: ``200,400`` makes bins of up to 200, up to 400 and more samples. The
    minibatches of all ranks in a step come from one bin. Needs the window ``corpus``."""

    pack: int
    """Fill minibatches with whole sequences of at most N samples together, by first fit.
    Takes the place of ``batch-size``. The layout is ``concatenated``."""

    max_sequences: int
    """The most sequences of a minibatch, beside its size."""

    max_padded: int
    """The most samples of a minibatch with padding, beside its size."""

    max_tokens: int
    """The most samples of a minibatch in the stream that ``tokens-of`` names, such as
    words, beside its size."""

    tokens_of: Name
    """The stream whose samples ``max-tokens`` counts."""

    quadratic: int
    """Count long sequences for more: a sequence of n samples counts n + n²/Q for the size."""

    layout: Literal["padded", "concatenated", "packed", "frames", "truncated"]
    """How sequences lie in a minibatch: padded (B x T x dim), concatenated (N x dim with
    offsets), or packed side by side in rows (S x T x dim), as CNTK does. Frames and
    truncated sequences have a layout of their own. Default: padded; packed with readers
    of CNTK; concatenated with pack."""

    label_padding: int
    """The padding of labels. Default: -100."""

    feature_padding: float
    """The padding of dense values. Default: 0."""

    partial: Literal["keep", "drop", "even"]
    """The end of a sweep, where minibatches are not full: keep them, drop them, or spread
    the rest evenly over ranks. Default: keep; even with pack."""

    sweeps: int
    """End after so many sweeps, counted from the very start."""

    samples: int
    """End after so many samples over all ranks, counted from the very start."""

    threads: int
    """Threads that pack minibatches, and as many that load chunks. Default: one a core, at
    most 8."""

    queue: int
    """Minibatches that are kept ready. Default: 4."""

    memory: str | int
    """The most memory for chunks, for minibatches with all padding that can come, and for
    the data that files keep, such as ``2 GB``. A feed that may need more does not start."""

    state: Name
    """The file that keeps the state after each minibatch. If it is there, the run goes on
    from it."""

    rank: int
    """This rank, from 0. Default: 0."""

    ranks: int
    """The number of ranks. Default: 1."""

    shard: Literal["minibatches", "chunks", "groups"]
    """How ranks divide the corpus with preset none: by minibatches, by chunks, or by groups
    of chunks. Default: minibatches."""

    groups: int
    """The number of groups with shard groups: a multiple of any number of ranks that the
    run may have. Each group has a window of its own. Default: 64."""

    local_timeline: bool
    """Whether only the rank's own samples count for the batch size, of which it has its
    share. Default: true; as the reader says with readers of CNTK."""

    cross_sweeps: bool
    """Whether minibatches go on over the ends of sweeps. Default: true; false with
    configurations of CNTK's program."""

    epoch: str | int
    """Where a minibatch must end: at the end of the run, of each sweep, or of each N
    samples. Default: run."""

    start: int
    """Begin so many samples from the very start (CNTK's ``minibatchSourcePosition``).
    Default: 0."""

    truncation: int
    """Truncate sequences to N samples a minibatch, side by side in rows, for truncated
    backpropagation through time."""

    right_splice: int
    """Where sequences are truncated: samples at the end of a row that come again at the
    beginning of the next one, for models that look ahead (CNTK's ``rightSplice``).
    Default: 0."""

    generator: Literal["mt19937-64", "rand"]
    """The random numbers of the shuffle: those of C++'s ``mt19937_64``, or of C's ``rand``.
    Default: mt19937-64."""

    htkmlf_epochs: bool
    """Whether epochs are those of CNTK's ``HTKMLFReader``: no minibatch is larger than what
    is left of its epoch, and at the start of an epoch each row gets one sequence.
    Default: false."""

    partition: str | int
    """The size of a partition: so many megabytes of features, context counted (``600m``),
    or ``4096 frames``. Default: 600m."""

    stream: bool
    """Shuffle, and keep in memory, one partition and not a whole file. Default: false; true
    with Kaldi's files."""

    reshuffle: bool
    """Whether each sweep has an order of its own. Default: false."""
