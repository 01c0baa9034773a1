import os
from collections.abc import Callable, ItemsView, Iterator, KeysView, Mapping, Sequence, ValuesView
from typing import Any, Protocol, final

import numpy as np
import numpy.typing as npt
from typing_extensions import Unpack

from seqfeed._options import CorpusOptions, FeedOptions, TableOptions
from seqfeed._types import Progress, Readable, Rspecifier, RxFilename, Stream, Wspecifier, WxFilename

__all__ = [
    "CorpusWriter",
    "Feed",
    "KaldiObject",
    "Minibatch",
    "ObjectReader",
    "ObjectWriter",
    "RandomAccessReader",
    "SequentialReader",
    "Table",
    "TableIterator",
    "Writer",
    "__version__",
    "convert",
    "load",
    "object_types",
    "parse_rspecifier",
    "parse_rxfilename",
    "parse_wspecifier",
    "parse_wxfilename",
    "save",
]

_Name = str | os.PathLike[str]
_Overrides = Mapping[str, str | os.PathLike[str] | float]

class _Writable(Protocol):
    def write(self, data: bytes, /) -> Any: ...

__version__: str

@final
class Feed:
    """Minibatches of a corpus: an iterator. Threads load and pack them ahead without the
    interpreter.

    ``source`` is a name as on the command line: a description (``corpus.toml``), an rspecifier of
    features, a reader of CNTK (``train.cntk#reader``), a CTF file, an HTK script, or a data
    specification of PDNN (``train.pfile,context=5``). It may also be a dictionary of options or of
    the sections of a ``corpus.toml``. ``options`` are those of the command line, with ``_`` for
    ``-``: ``help(seqfeed.Feed)`` lists them. They replace keys of the source.

    ``overrides`` are values for the configuration of a CNTK reader, as on CNTK's command line: for
    its variables (``{"ScpDir": "/data"}`` for ``$ScpDir$``), and for its settings
    (``{"Train.reader.randomize": "none"}``).

    One loop is one sweep; the next loop is the next sweep, which has an order of its own. If a loop
    is left in the middle, the next one goes on from there. If ``sweeps`` or ``samples`` are given,
    one loop has all of them.

    >>> feed = Feed("examples/digits/train.toml", sweeps=1, batch_size=512)
    >>> for minibatch in feed:
    ...     x, y = minibatch["features"], minibatch["labels"]
    >>> x.dtype.name, y.dtype.name, x.shape[1]
    ('float32', 'int32', 440)

    The minibatches depend only on corpus, settings and seed. ``progress`` is called with a
    ``Progress`` at most ten times a second, and at the end of each loop.

    ``transform`` is a function that changes each minibatch before it is returned. It may write to
    the arrays, or return a dictionary of arrays that replace those of their streams, also with
    other shapes and dtypes. ``lengths`` and the other properties stay as they were. It runs in the
    thread that asks for the minibatch, for one minibatch after another.
    ``Progress.transform_seconds`` says how long. If it raises, the minibatch does not count as
    returned: the state is the one before it.

    >>> def double(minibatch):
    ...     minibatch["features"][:] *= 2
    >>> feed = Feed("examples/digits/train.toml", transform=double)

    A forked child goes on from the parent's position, with threads of its own.

    :raises seqfeed.Error: if the description is wrong, or data cannot be read
    """

    def __new__(
        cls,
        source: _Name | dict[str, Any] | None = None,
        *,
        overrides: _Overrides | None = None,
        allow_pipes: bool = False,
        progress: Callable[[Progress], object] | None = None,
        transform: Callable[[Minibatch], Mapping[str, Any] | None] | None = None,
        **options: Unpack[FeedOptions],
    ) -> Feed: ...
    def __iter__(self) -> Feed: ...
    def __next__(self) -> Minibatch: ...
    def __len__(self) -> int:
        """Number of minibatches of a loop, from its beginning.

        :raises TypeError: if it is not known before the minibatches are cut
        """
    def next_into(self, buffers: dict[str, npt.NDArray[Any]]) -> Minibatch | None:
        """The next minibatch, with the arrays of some streams at the beginning of the caller's
        memory.

        A buffer is a contiguous array of the stream's dtype, of any shape, with room for all
        values. Returns None at the end of the loop.

        :raises ValueError: if a buffer does not fit (the minibatch is lost then)
        :raises KeyError: if there is no such stream
        """
    def state_dict(self) -> dict[str, Any]:
        """The state after the last minibatch that was returned: JSON's types only. Empty at the
        very start."""
    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Goes to the position of a state: the next minibatch is the one that came after it.

        The number of ranks may change, unless each rank cuts its own minibatches.

        :raises seqfeed.Error: if the state belongs to another corpus or order
        """
    def one_sweep(
        self,
        sweep: int,
        rank: int | None = None,
        ranks: int | None = None,
        *,
        threads: int | None = None,
    ) -> Feed:
        """A feed of one sweep of the same corpus, from its beginning, for one rank of ``ranks``.
        The corpus is not opened again, and this feed does not move.

        >>> feed = Feed("examples/digits/train.toml")
        >>> [minibatch.samples for minibatch in feed.one_sweep(3)][-1]
        34

        :raises ValueError: if there is no such rank, or if this feed is one sweep already
        """
    @property
    def sweep(self) -> int:
        """The sweep of the next minibatch, from 0: the number of finished sweeps."""
    @property
    def streams(self) -> dict[str, Stream]:
        """The streams, by name; dims include the context."""
    @property
    def symbols(self) -> dict[str, dict[int, str]]:
        """The names of labels by their numbers, for each stream whose labels have names."""
    @property
    def seed(self) -> int:
        """The seed of the shuffle: sweep ``s`` is shuffled like sweep 0 with seed ``seed + s``."""
    @property
    def utterances(self) -> int:
        """Number of utterances in the corpus."""
    @property
    def samples(self) -> int:
        """Number of samples in the corpus."""
    @property
    def delivered(self) -> dict[str, dict[str, int]]:
        """What was returned of each corpus of a mixture: its ``units``, its ``samples``, and
        its own ``sweeps``. Empty if the corpus is no mixture."""
    def close(self) -> None:
        """Ends the threads and gives memory back. Minibatches that were returned stay valid."""
    def __enter__(self) -> Feed: ...
    def __exit__(self, *_exception: object) -> None: ...

@final
class Minibatch:
    """One minibatch: a mapping of the names of streams to arrays, with further properties.

    The arrays use the feed's own memory. You may keep and change them. The feed uses the memory
    again when the last of them is deleted. Labels with one value have no last axis.

    ==============  ==============================================================================
    layout          shape of a stream's array
    ==============  ==============================================================================
    frames          (samples, dim)
    padded          (sequences, longest, dim), zeros and the padding label behind the end
    concatenated    (samples, dim), sequence after sequence: see ``offsets``
    packed          (rows, longest row, dim): see ``rows``
    truncated       (rows, truncation, dim): see ``rows``
    ==============  ==============================================================================

    Streams with one sample a sequence have the shape (sequences, dim). Sparse streams are
    ``Sparse`` rows.
    """

    @property
    def arrays(self) -> dict[str, Any]:
        """The arrays, by the names of their streams."""
    @property
    def utterances(self) -> list[str]:
        """For each sequence (or each frame, if frames are dealt out) the key of its utterance."""
    @property
    def lengths(self) -> npt.NDArray[np.int64]:
        """Number of samples of each sequence."""
    @property
    def starts(self) -> npt.NDArray[np.int64]:
        """The first sample of each sequence in the minibatch, counted in its utterance from 0."""
    @property
    def offsets(self) -> npt.NDArray[np.int64]:
        """The number of samples before each sequence, and in all: one entry more than sequences."""
    @property
    def sequences(self) -> int:
        """Number of sequences, or of frames if frames are dealt out."""
    @property
    def samples(self) -> int:
        """Number of samples, without padding."""
    @property
    def index(self) -> int:
        """Number of this minibatch of this rank since the very start, from 0."""
    @property
    def sweep(self) -> int:
        """The sweep of this minibatch, from 0."""
    @property
    def end_of_sweep(self) -> bool:
        """Whether the sweep ends with it, on all ranks."""
    @property
    def layout(self) -> str:
        """The layout of samples in the arrays."""
    def rows(self, stream: str) -> npt.NDArray[np.int64]:
        """The rows of the sequences in a stream, of shape (sequences, 2): the first row, counted
        over all rows of the array one after another, and the number of rows.

        :raises KeyError: if there is no such stream
        """
    def state_dict(self) -> dict[str, Any]:
        """The state of the feed after this minibatch, for ``Feed.load_state_dict``."""
    def __getitem__(self, stream: str, /) -> Any: ...
    def __contains__(self, stream: object, /) -> bool: ...
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[str]: ...
    def keys(self) -> KeysView[str]:
        """The names of the streams."""
    def values(self) -> ValuesView[Any]:
        """The arrays."""
    def items(self) -> ItemsView[str, Any]:
        """Pairs of name and array."""
    def get(self, stream: str, default: Any = None) -> Any:
        """The array of a stream, or ``default`` if there is no such stream."""

@final
class Table:
    """A table of any format: keys and arrays. ``seqfeed.open`` makes it.

    Iterating gives pairs of key and value in the order of the data; each iteration reads them
    again. Any number of threads may use a table. A forked child, or a process that unpickles it,
    opens the files again.
    """

    def __new__(
        cls,
        source: _Name | dict[str, Any] | Readable,
        *,
        object_type: str | type | None = None,
        overrides: _Overrides | None = None,
        allow_pipes: bool = False,
        **options: Unpack[TableOptions],
    ) -> Table: ...
    def __getitem__(self, key: str | bytes, /) -> Any: ...
    def __contains__(self, key: str | bytes, /) -> bool: ...
    def __len__(self) -> int: ...
    def __iter__(self) -> TableIterator: ...
    def rows(self, key: str | bytes, start: int = 0, stop: int | None = None) -> Any:
        """Rows ``start`` to ``stop`` (as in a slice, never negative) of the value of a key.

        For matrices in Kaldi's tables, only these rows are read. Other values are read whole.

        :raises KeyError: if there is no such key
        """
    def get(self, key: str | bytes, default: Any = None) -> Any:
        """The value of a key, or ``default`` if there is none."""
    def keys(self) -> TableIterator:
        """The keys, in order."""
    def values(self) -> TableIterator:
        """The values, in order."""
    def items(self) -> TableIterator:
        """Pairs of key and value, in order, as in iterating over the table."""
    @property
    def streams(self) -> dict[str, Stream]:
        """The streams, by name. Empty for tables of Kaldi, whose objects may have any type."""
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> Any:
        """A stream of Arrow's record batches with one row for each sequence: see ``seqfeed.arrow``.

        :raises seqfeed.Error: if the objects of a table are neither features nor labels
        """
    @property
    def name(self) -> str:
        """The name by which it was opened."""
    def close(self) -> None:
        """Closes it. Arrays that were returned stay valid."""
    def __enter__(self) -> Table: ...
    def __exit__(self, *_exception: object) -> None: ...

@final
class TableIterator:
    """Iterates over a table once."""

    def __iter__(self) -> TableIterator: ...
    def __next__(self) -> Any: ...

@final
class CorpusWriter:
    """Writes a corpus in any format that ``seqfeed convert`` writes. Its public name is
    ``seqfeed.Writer``.

    ``target`` is a file (``x.ctf``, ``x.pfile``, ``x.pickle``, ``x.npy``, ``x.npz``, ``x.ali``,
    ``x.parquet``, ``x.arrow``), ``x.htk`` for HTK's archive with script and labels, a wspecifier
    (``ark,scp:x.ark,x.scp``), or ``FORMAT:NAME`` (``kaldi:x``, ``htk-files:x``).

    A sequence is a dictionary of its streams, or a single array, which is called ``features`` or
    ``labels``. Floats are float32 or float64 arrays of shape (samples, dim). Labels are integers of
    shape (samples,) that fit int32. Sparse samples are ``Sparse`` rows or a CSR matrix of scipy's.
    The first sequence decides the streams; all others must have the same streams, types and dims.
    All streams of a sequence have the same number of samples, at least one.

    >>> import tempfile, numpy as np
    >>> directory = tempfile.mkdtemp()
    >>> with Writer(f"{directory}/x.parquet") as writer:
    ...     writer["utt1"] = {"features": np.ones((2, 3), np.float32), "labels": np.array([7, 8])}
    ...     writer.write("utt2", features=np.zeros((1, 3), np.float32), labels=np.array([9]))
    >>> open(f"{directory}/x.parquet")["utt1"]["labels"]
    array([7, 8], dtype=int32)

    Sequences wait in a temporary file (in ``TMPDIR``, else ``/tmp``) and are converted when the
    writer is closed. Their keys and lengths are in memory. All files appear then, under their
    names, together. If there is an exception in a ``with``, or if the writer is never closed, no
    file appears.

    If the target cannot hold something (keys, digits, streams ...), this is an error at the first
    sequence, or when the writer is closed, unless ``allow_lossy`` is given.

    >>> frames = np.ones((2, 3), np.float32)
    >>> Writer(f"{directory}/x.pfile").write("utt1", frames)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    seqfeed._errors.CorpusError: pfile cannot hold all of the corpus: 1 thing would be lost: ...

    ``states`` are names of labels for HTK's files: a list, or a file with one a line.
    ``frame_period`` (in seconds) and ``htk_kind`` (such as ``"FBANK"``) go into their headers.
    Times of labels follow the period. If it is not 10 ms, only HTK can read them. If the target is
    a wspecifier, ``to`` names the tables of other streams (``{"labels": "ark:ali.ark"}``), and
    ``sample_rate`` makes tables of waves. ``dtype`` is the type of floats, ``compress`` a method of
    Kaldi's or ``"zstd"``, ``protocol`` the protocol of pickles. ``describe`` writes a description
    beside the files.

    A writer belongs to the process that made it, and cannot be pickled.

    :raises seqfeed.Error: if the target, a key or a sequence is wrong, or writing fails
    """

    def __new__(
        cls,
        target: _Name,
        *,
        states: Sequence[str] | _Name | None = None,
        frame_period: float | None = None,
        htk_kind: str | None = None,
        compress: str | int | bool | None = None,
        protocol: int | None = None,
        dtype: str | None = None,
        to: dict[str, str | os.PathLike[str]] | None = None,
        sample_rate: int | None = None,
        describe: bool = False,
        allow_lossy: bool = False,
        allow_pipes: bool = False,
    ) -> CorpusWriter: ...
    def write(self, key: str | bytes, value: Any = None, /, **streams: Any) -> None:
        """Writes a sequence: a single stream, a dictionary of streams, or streams by their
        names."""
    def __setitem__(self, key: str | bytes, value: Any, /) -> None: ...
    @property
    def name(self) -> str:
        """The name of the target."""
    def close(self) -> None:
        """Writes the files. They appear under their names now. After Ctrl-C no file appears.

        :raises seqfeed.Error: if no sequence was written, if something would be lost, or if writing
        fails
        """
    def __enter__(self) -> CorpusWriter: ...
    def __exit__(self, *exception: object) -> None: ...

@final
class SequentialReader:
    """Reads a table from its first object to its last: an iterator of pairs of key and value.

    ``source`` is an rspecifier (``scp:feats.scp``, ``ark,p:feats.ark``), the path of an archive or
    script file, or a file object with an archive, opened in binary mode. ``object_type`` is one of
    ``object_types()``, or ``matrix-shape`` or ``wave-info`` to read only headers. By default the
    type is found from the data of all objects. Integers and floats in binary form look alike: if
    several types fit, ``object_type`` must be given. ``line_limit`` is the most bytes of a key, a
    token or a line of a script file.

    ``next_key()`` reads a key. Its value is read only if ``value()`` asks for it:

    >>> import io
    >>> from seqfeed import kaldi
    >>> archive = io.BytesIO(b"utt1 [ 1 2 ]\\nutt2 [ 3 4 5 ]\\n")
    >>> reader = kaldi.SequentialReader(archive)
    >>> while (key := reader.next_key()) is not None:
    ...     if key == "utt2":
    ...         print(reader.value())
    [3. 4. 5.]

    :raises seqfeed.Error: if the name is wrong, or an object cannot be read; the next call goes on
    with the next entry of a script file
    """

    def __new__(
        cls,
        source: _Name | Readable,
        *,
        object_type: str | type | None = None,
        allow_pipes: bool = False,
        line_limit: int | None = None,
    ) -> SequentialReader: ...
    def __iter__(self) -> SequentialReader: ...
    def __next__(self) -> tuple[str, Any]: ...
    def next_key(self) -> str | None:
        """The next key, or ``None`` at the end.

        ``value()`` reads its object. Otherwise the object is skipped.
        """
    def value(self) -> Any:
        """The object of the last key of ``next_key()``, read now. It can be asked for once.

        :raises seqfeed.Error: if it cannot be read; ``next_key()`` goes on with the next entry of a
            script file
        """
    def _skip_to(self, done: int) -> None: ...
    @property
    def name(self) -> str:
        """The name of the table."""
    @property
    def skipped(self) -> int:
        """The number of unreadable objects that were passed over because of the option ``p``."""
    def close(self) -> None:
        """Closes it."""
    def __enter__(self) -> SequentialReader: ...
    def __exit__(self, *_exception: object) -> None: ...

@final
class RandomAccessReader:
    """Reads objects of a table by their keys, in any order. ``s,cs`` is not needed.

    With ``utt2spk``, a table of tokens (``ark:utt2spk``, or its file), the key of an utterance
    gives the object of its speaker: Kaldi's ``RandomAccessTableReaderMapped``.

    :raises seqfeed.Error: if the name is wrong, or an object cannot be read
    """

    def __new__(
        cls,
        source: _Name,
        *,
        object_type: str | type | None = None,
        utt2spk: _Name | None = None,
        allow_pipes: bool = False,
        line_limit: int | None = None,
    ) -> RandomAccessReader: ...
    def __getitem__(self, key: str | bytes, /) -> Any: ...
    def __contains__(self, key: str | bytes, /) -> bool: ...
    def rows(self, key: str | bytes, start: int = 0, stop: int | None = None) -> Any:
        """Rows ``start`` to ``stop`` (as in a slice, never negative) of the value of a key."""
    def get(self, key: str | bytes, default: Any = None) -> Any:
        """The value of a key, or ``default`` if there is none."""
    @property
    def name(self) -> str:
        """The name of the table."""
    def close(self) -> None:
        """Closes it."""
    def __enter__(self) -> RandomAccessReader: ...
    def __exit__(self, *_exception: object) -> None: ...

@final
class Writer:
    """Writes a table.

    ``target`` is a wspecifier (``ark:a.ark``, ``ark,scp:a.ark,a.scp``, ``ark,t:-``), the path of an
    archive, or a file object opened in binary mode. The type of each object is ``object_type``, or
    follows from the value: arrays of floats become vectors and matrices of their precision,
    integers become vectors of int32, a str becomes a token, and so on; ``seqfeed.kaldi`` has the
    list. ``compression`` (``"auto"``, ``"speech"``, ... or Kaldi's number) compresses matrices.

    Files appear under their names when the writer is closed. If there is an exception in a
    ``with``, or if the writer is never closed, no file appears. With ``in_place`` the files are
    there from the beginning, and each value is whole in them as soon as it has been written. This
    is for readers that do not wait, and for jobs that may be killed.

    :raises seqfeed.Error: if the name, a key or a value is wrong, or writing fails
    """

    def __new__(
        cls,
        target: _Name | _Writable,
        *,
        object_type: str | type | None = None,
        compression: str | int | None = None,
        text: bool = False,
        in_place: bool = False,
        allow_pipes: bool = False,
    ) -> Writer: ...
    def write(self, key: str | bytes, value: Any) -> None:
        """Writes the value of a key."""
    def __setitem__(self, key: str | bytes, value: Any, /) -> None: ...
    @property
    def name(self) -> str:
        """The name of the table."""
    def flush(self) -> None:
        """Passes the written bytes on. Pipes, file objects, and the files of a table that is
        written in place have them then. Other files appear when the table is closed."""
    def close(self) -> None:
        """Ends the table: its files appear under their names now. A file object is flushed, and
        stays open."""
    def __enter__(self) -> Writer: ...
    def __exit__(self, *exception: object) -> None: ...

@final
class ObjectReader:
    """Reads the contents of one stream behind one header, as in Kaldi's models: tokens, basic
    values and objects, one after another.

    ``source`` is an rxfilename (``final.mdl``, ``a.ark:12``, ``cat a |``), a path, bytes or a file
    object. If it begins with ``\\0B``, all of it is binary; otherwise it is text.

    >>> import tempfile, numpy as np
    >>> from seqfeed.kaldi import ObjectReader, ObjectWriter
    >>> name = tempfile.mkdtemp() + "/x"
    >>> with ObjectWriter(name) as stream:
    ...     stream.write_token("<Model>")
    ...     stream.write_basic(3, "int32")
    ...     stream.write_object(np.ones((1, 2), np.float32))
    ...     stream.write_object(np.zeros(2, np.float32))
    >>> with ObjectReader(name) as stream:
    ...     stream.expect_token("<Model>")
    ...     size = stream.read_basic("int32")
    ...     matrix, vector = stream.read_object("float-matrix"), stream.read_object("float-vector")
    >>> size, matrix.shape, vector.shape, stream.binary
    (3, (1, 2), (2,), True)

    :raises seqfeed.Error: if the name is wrong, or the contents differ from what is read
    """

    def __new__(cls, source: _Name | bytes | Readable, *, allow_pipes: bool = False) -> ObjectReader: ...
    @property
    def binary(self) -> bool:
        """Whether the stream is in binary form."""
    @property
    def name(self) -> str:
        """The name of the stream."""
    @property
    def position(self) -> int:
        """The position of the next byte; in a compressed file, of the decompressed bytes."""
    def at_end(self) -> bool:
        """Whether nothing is left. White space at the end of text does not count."""
    def read_token(self) -> str:
        """The next token, such as ``<Nnet3>``. The blank after it is consumed."""
    def expect_token(self, token: str) -> None:
        """Reads a token that must be the given one."""
    def peek_token(self) -> str | None:
        """The first character of the next token, without its ``<``. Nothing is consumed. None at
        the end."""
    def read_basic(self, kind: str) -> Any:
        """A value of a basic type: ``int8`` to ``int64``, ``uint8`` to ``uint64``, ``float``,
        ``double`` or ``bool``."""
    def read_object(self, object_type: str | type) -> Any:
        """An object of a type, without a header of its own."""
    def read(self, size: int | None = None, /) -> bytes:
        """At most this many bytes, or all."""
    def readline(self) -> bytes:
        """The next line with its end; empty at the end."""
    def close(self) -> None:
        """Ends reading. A failed command is an error here."""
    def __enter__(self) -> ObjectReader: ...
    def __exit__(self, *exception: object) -> None: ...

@final
class ObjectWriter:
    """Writes the contents of one stream behind one header: see ``ObjectReader``.

    ``target`` is a wxfilename, a path or a file object. A file appears when the writer is closed.
    After an exception in a ``with``, no file appears.

    :raises seqfeed.Error: if the name or a value is wrong, or writing fails
    """

    def __new__(
        cls, target: _Name | _Writable, *, text: bool = False, allow_pipes: bool = False
    ) -> ObjectWriter: ...
    @property
    def binary(self) -> bool:
        """Whether the stream is in binary form."""
    def write_token(self, token: str | bytes) -> None:
        """Writes a token, such as ``<Nnet3>``, and a blank."""
    def write_basic(self, value: Any, kind: str) -> None:
        """Writes a value of a basic type: ``int8`` to ``int64``, ``uint8`` to ``uint64``,
        ``float``, ``double`` or ``bool``."""
    def write_object(self, value: Any, object_type: str | type | None = None) -> None:
        """Writes an object without a header of its own. Its type is found as by ``Writer``."""
    def write(self, data: str | bytes | bytearray) -> int:
        """Writes bytes, or text in UTF-8. Returns the number of bytes."""
    def close(self) -> None:
        """Ends writing: the file appears under its name now. A file object stays open."""
    def __enter__(self) -> ObjectWriter: ...
    def __exit__(self, *exception: object) -> None: ...

@final
class KaldiObject:
    """An object of Kaldi's without a Python type (a transducer, a lattice, an example for a
    network). It can be copied from table to table, or looked at as text."""

    @property
    def object_type(self) -> str:
        """The name of its type, such as ``lattice``."""
    def to_text(self) -> str:
        """As text, if the type has a text form."""
    def to_bytes(self) -> bytes:
        """As bytes, in the form inside tables."""
    @classmethod
    def from_bytes(cls, object_type: str, data: bytes) -> KaldiObject:
        """Makes an object from the bytes of ``to_bytes``."""
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...

def convert(
    source: _Name | Mapping[str, Any],
    target: _Name,
    *,
    streams: Sequence[str] | None = None,
    classes: Sequence[str] | None = None,
    to: dict[str, str | os.PathLike[str]] | None = None,
    dtype: str | None = None,
    compress: str | int | bool | None = None,
    sample_rate: int | None = None,
    protocol: int | None = None,
    frame_period: float | None = None,
    htk_kind: str | None = None,
    state_names: Sequence[str] | _Name | None = None,
    shards: int = 1,
    jobs: int = 1,
    anew: bool = False,
    verify: bool = False,
    describe: bool = False,
    allow_lossy: bool = False,
    overrides: _Overrides | None = None,
    allow_pipes: bool = False,
    **options: Unpack[CorpusOptions],
) -> dict[str, Any]:
    """Writes any corpus in any format that can hold it, as ``seqfeed convert`` does.

    ``source`` is as for ``open``. ``options`` are those of the command line
    (``seqfeed.CorpusOptions``). ``overrides`` are as for ``Feed``. ``target`` is as for ``Writer``.
    The result is the report that ``seqfeed convert --json`` prints.

    >>> import tempfile
    >>> directory = tempfile.mkdtemp()
    >>> target = f"{directory}/train.parquet"
    >>> report = convert("examples/digits/train.toml", target, compress="zstd", verify=True)
    >>> report["format"], report["sequences"], report["verified"]
    ('parquet', 60, True)

    ``streams`` are the streams to write, ``classes`` the sparse streams that become labels,
    ``dtype`` the type of floats. ``state_names`` (a list, or a file with one a line) are names of
    labels for HTK's files, in place of those of the source. ``shards`` files are written, ``jobs``
    at a time. Shards that an earlier run has completed are kept, unless ``anew`` is set. ``verify``
    reads back the written files. ``to``, ``compress``, ``sample_rate``, ``protocol``,
    ``frame_period``, ``htk_kind``, ``describe`` and ``allow_lossy`` are as for ``Writer``.

    :raises seqfeed.Error: if the source is wrong, if the target cannot hold it, or if data cannot
    be read or written
    """

def object_types() -> list[str]:
    """The names of all types of objects. The types of ``kaldi_native_io``, ``blob`` and
    ``int8-vector``, are never found from the data, and must be named."""

def parse_rxfilename(name: _Name) -> RxFilename: ...
def parse_wxfilename(name: _Name) -> WxFilename: ...
def parse_rspecifier(name: _Name) -> Rspecifier: ...
def parse_wspecifier(name: _Name) -> Wspecifier: ...
def load(
    source: _Name | bytes | Readable, *, object_type: str | type | None = None, allow_pipes: bool = False
) -> Any:
    """Reads one object from an rxfilename, a path, bytes or a file object.

    An rxfilename may have a range behind it, as in script files: ``a.ark:12[0:9]``, including the
    last row.
    """

def save(
    target: _Name | _Writable,
    value: Any,
    *,
    object_type: str | type | None = None,
    compression: str | int | None = None,
    text: bool = False,
    allow_pipes: bool = False,
) -> None:
    """Writes one object to a wxfilename, a path or a file object."""
