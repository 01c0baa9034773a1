"""One engine for three decades of sequence-model training data.

``open`` gives any corpus as a table of numpy arrays, ``Feed`` as minibatches. ``Writer`` writes
arrays, and ``convert`` any corpus, in any format:

>>> import seqfeed
>>> table = seqfeed.open("examples/digits/train.ctf")
>>> sorted(table.streams)
['features', 'labels']

Kaldi's tables are in ``seqfeed.kaldi``.
"""

from seqfeed import kaldi
from seqfeed._errors import (
    AccessError,
    CommandError,
    CorpusError,
    DataWarning,
    Error,
    ForbiddenError,
    FormatError,
    IoError,
    LimitError,
    MissingKeyError,
    NotFoundError,
    UsageError,
)
from seqfeed._options import CorpusOptions, FeedOptions, TableOptions
from seqfeed._seqfeed import CorpusWriter as Writer
from seqfeed._seqfeed import Feed, Minibatch, Table, TableIterator, __version__, convert
from seqfeed._types import Progress, Sparse, Stream
from seqfeed._types import open_table as open

__all__ = [
    "AccessError",
    "CommandError",
    "CorpusError",
    "CorpusOptions",
    "DataWarning",
    "Error",
    "Feed",
    "FeedOptions",
    "ForbiddenError",
    "FormatError",
    "IoError",
    "LimitError",
    "Minibatch",
    "MissingKeyError",
    "NotFoundError",
    "Progress",
    "Sparse",
    "Stream",
    "Table",
    "TableIterator",
    "TableOptions",
    "UsageError",
    "Writer",
    "__version__",
    "convert",
    "kaldi",
    "open",
]
