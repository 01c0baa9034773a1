"""Small types, and functions with which the compiled part makes objects."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from seqfeed import _seqfeed
from seqfeed._seqfeed import Table

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from seqfeed._options import TableOptions


class Readable(Protocol):
    """A file object, opened in binary mode, or an object with the same ``read``."""

    def read(self, size: int, /) -> bytes | bytearray | None:
        """At most this many bytes; empty at the end."""


class Sparse(NamedTuple):
    """Rows with only some of their values: compressed sparse rows, in scipy's form.

    Row ``r`` has the values ``data[indptr[r]:indptr[r + 1]]`` at the columns
    ``indices[indptr[r]:indptr[r + 1]]``.
    ``scipy.sparse.csr_matrix(sparse[:3], shape=sparse.shape)`` makes a matrix of them
    without copying.

    >>> import numpy as np
    >>> Sparse(np.array([2.0, 3.0]), np.array([1, 0]), np.array([0, 1, 2]), (2, 3)).toarray()
    array([[0., 2., 0.],
           [3., 0., 0.]])
    """

    data: npt.NDArray[Any]
    """The values."""
    indices: npt.NDArray[np.int32]
    """The column of each value, from 0."""
    indptr: npt.NDArray[np.int64]
    """The number of values before each row, and in all: one entry more than rows."""
    shape: tuple[int, int]
    """Rows, and possible columns."""

    def toarray(self) -> npt.NDArray[Any]:
        """All values in a dense array. Values with the same position are added."""
        dense: npt.NDArray[Any] = np.zeros(self.shape, self.data.dtype)
        rows = np.repeat(np.arange(self.shape[0]), np.diff(self.indptr))
        np.add.at(dense, (rows, self.indices), self.data)
        return dense


class Stream(NamedTuple):
    """The description of a stream."""

    name: str
    kind: str
    """``dense``, ``label`` or ``sparse``."""
    dtype: str
    """``float32``, ``float64`` or ``int32``; of a feed also ``float16``, ``bfloat16`` or ``int64``.
    Without the package ``ml_dtypes`` numpy has no bfloat16: then arrays of it are ``uint16``."""
    dim: int
    """Values in a sample, with context. For sparse samples, the number of possible values."""
    extent: str
    """``samples`` (one a time step), ``sequence`` (one for the whole utterance) or ``own``."""


class Progress(NamedTuple):
    """The argument of a feed's progress hook."""

    samples: int
    """Samples that this loop has returned."""
    total: int
    """Samples of the loop, over all ranks."""
    minibatches: int
    """Minibatches that this loop has returned."""
    seconds: float
    """Seconds since the loop began."""
    transform_seconds: float
    """How many of them the feed's ``transform`` took."""


class Wave(NamedTuple):
    """A waveform in Kaldi's form."""

    sample_rate: float
    """Samples a second."""
    samples: npt.NDArray[np.float32]
    """Of shape (channels, samples), in the range of 16-bit integers."""


class WaveInfo(NamedTuple):
    """The header of a waveform."""

    sample_rate: float
    """Samples a second."""
    channels: int
    """Number of channels."""
    samples: int | None
    """Samples of each channel; None if they go on to the end of the stream."""
    block_align: int
    """Bytes of a sample of all channels."""
    big_endian: bool
    """Whether numbers are big-endian (RIFX)."""


class MatrixShape(NamedTuple):
    """The shape of a matrix, read without its values."""

    rows: int
    cols: int


class HtkMatrix(NamedTuple):
    """A matrix in HTK's parameter format, in Kaldi's form."""

    matrix: npt.NDArray[np.float32]
    """Of shape (frames, values)."""
    sample_period: int
    """Time between frames, in 100 ns."""
    kind: int
    """HTK's parameter kind with its qualifiers."""


class PackedMatrix(NamedTuple):
    """A symmetric or lower triangular matrix: Kaldi's ``SpMatrix`` and ``TpMatrix``."""

    size: int
    """Rows and columns."""
    values: npt.NDArray[Any]
    """Row after row of the lower triangle, ``size * (size + 1) / 2`` values."""

    def triangular(self) -> npt.NDArray[Any]:
        """The lower triangular matrix, of shape (size, size)."""
        full = np.zeros((self.size, self.size), self.values.dtype)
        full[np.tril_indices(self.size)] = self.values
        return full

    def symmetric(self) -> npt.NDArray[Any]:
        """The symmetric matrix, of shape (size, size)."""
        lower = self.triangular()
        full: npt.NDArray[Any] = lower + np.tril(lower, -1).T
        return full


class RxFilename(NamedTuple):
    """The parsed form of a name to read from."""

    kind: str
    """``standard-input``, ``pipe`` (the output of a command), ``file``, or ``offset`` (a position
    in a file)."""
    name: str | None
    """The file or the command; None for standard input."""
    offset: int | None
    """Bytes before the position in a file."""

    @staticmethod
    def parse(name: str | os.PathLike[str]) -> RxFilename:
        """Parses a name by Kaldi's rules.

        >>> RxFilename.parse("feats.ark:13")
        RxFilename(kind='offset', name='feats.ark', offset=13)

        :raises seqfeed.UsageError: if it is invalid
        """
        return _seqfeed.parse_rxfilename(name)


class WxFilename(NamedTuple):
    """The parsed form of a name to write to."""

    kind: str
    """``standard-output``, ``pipe`` (the input of a command), or ``file``."""
    name: str | None
    """The file or the command; None for standard output."""

    @staticmethod
    def parse(name: str | os.PathLike[str]) -> WxFilename:
        """Parses a name by Kaldi's rules.

        >>> WxFilename.parse("| gzip -c > feats.gz")
        WxFilename(kind='pipe', name=' gzip -c > feats.gz')

        :raises seqfeed.UsageError: if it is invalid
        """
        return _seqfeed.parse_wxfilename(name)


class Rspecifier(NamedTuple):
    """The parsed name of a table to read."""

    kind: str
    """``ark`` or ``scp``."""
    rxfilename: str
    """The name of the archive or script file."""
    once: bool
    """``o``: each key is asked for only once."""
    permissive: bool
    """``p``: unreadable objects count as missing."""
    sorted: bool
    """``s``: keys are sorted."""
    called_sorted: bool
    """``cs``: keys are asked for in sorted order."""
    background: bool
    """``bg``: objects are read ahead in a thread."""

    @staticmethod
    def parse(name: str | os.PathLike[str]) -> Rspecifier:
        """Parses a name by Kaldi's rules.

        >>> table = Rspecifier.parse("scp,p:feats.scp")
        >>> table.kind, table.rxfilename, table.permissive
        ('scp', 'feats.scp', True)

        :raises seqfeed.UsageError: if it is invalid
        """
        return _seqfeed.parse_rspecifier(name)


class Wspecifier(NamedTuple):
    """The parsed name of a table to write."""

    archive: str | None
    """The name of the archive."""
    script: str | None
    """The name of the script file. Without an archive, this script file says where to write
    objects."""
    text: bool
    """``t``: as text."""
    flush: bool
    """``f``: each object is passed on when it is written."""
    permissive: bool
    """``p``: keys that a script file lacks are left out."""

    @staticmethod
    def parse(name: str | os.PathLike[str]) -> Wspecifier:
        """Parses a name by Kaldi's rules.

        >>> Wspecifier.parse("ark,t:ali.txt").text
        True

        :raises seqfeed.UsageError: if it is invalid
        """
        return _seqfeed.parse_wspecifier(name)


def open_table(
    source: str | os.PathLike[str] | Mapping[str, Any] | Readable,
    *,
    object_type: str | type | None = None,
    overrides: Mapping[str, str | os.PathLike[str] | float] | None = None,
    allow_pipes: bool = False,
    **options: Unpack[TableOptions],
) -> Table:
    """Opens any corpus as a table of numpy arrays.

    ``source`` is a name as on the command line: an rspecifier (``scp:feats.scp``), a table's file
    (``feats.scp``, ``ali.ark.gz``), an HTK script or master label file, a CTF file or a reader of
    CNTK (``train.cntk#reader``), a PFile, pickle or ``.npy`` (``train.pfile``), or a description
    (``corpus.toml``). It may also be a dictionary of options or of the sections of a description.
    ``options`` are those of the command line, with ``_`` for ``-``: see ``seqfeed.TableOptions``.
    ``overrides`` are as for ``Feed``. A file object, opened in binary mode, is read as an archive
    of Kaldi's, at once and into memory.

    The value of a key is an array, a new one each time: floats of shape (frames, dim), labels of
    shape (frames,), ``Sparse`` rows. With several streams it is a dictionary of them. Tables of
    Kaldi hold any objects: ``seqfeed.kaldi.SequentialReader`` describes their Python types, and
    ``object_type``.

    >>> with open_table("examples/digits/train.ctf") as table:
    ...     key, value = next(iter(table))
    >>> value["features"].shape, value["features"].dtype.name
    ((120, 40), 'float32')

    :raises seqfeed.Error: if the source is wrong, or cannot be read
    """
    if isinstance(source, Mapping) and not isinstance(source, dict):
        source = dict(source)
    if "transform" in options:
        raise TypeError(
            "transform= changes minibatches, and a table has none: give it to a feed "
            "(`transforms` names those of the library, which tables have too)"
        )
    return Table(
        source, object_type=object_type, overrides=overrides, allow_pipes=allow_pipes, **options
    )


def _remake(kind: Any, arguments: tuple[Any, ...], options: dict[str, Any], state: Any) -> Any:
    made = kind(*arguments, **options)
    if isinstance(state, dict) and state:
        made.load_state_dict(state)
    elif isinstance(state, int) and state:
        made._skip_to(state)
    return made
