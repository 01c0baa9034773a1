"""Hugging Face ``datasets``: sequences or minibatches as an ``IterableDataset``.

>>> from seqfeed.huggingface import sequences
>>> dataset = sequences("examples/digits/train.toml", context=0)
>>> row = next(iter(dataset))
>>> row["key"], row["features"].shape, row["labels"].shape
('en+f3-0001', (120, 40), (120,))

Both are split over DataLoader workers, and by ``datasets.distributed.split_dataset_by_node``, so
that each example comes once. ``set_epoch`` gives another order. ``state_dict`` and
``load_state_dict`` resume an iteration. Epoch 0 is sweep 0 of ``seqfeed.Feed``; for the orders of
later epochs ``datasets`` draws the random numbers. If ``partial`` is ``drop`` or ``even``, workers
and nodes count like ranks.

``shuffle`` is the method of ``datasets``: its seed chooses another order of the feed, and its
buffer shuffles that again. The feed shuffles by itself (``sequences`` with ``shuffle=True``), so it
is seldom needed. Call it first, or with ``max_buffer_input_shards=1``: after ``map`` and others,
``datasets`` 5 merges ten parts. These count like ranks too, and are ten feeds with the memory of
each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import deepcopy
from inspect import signature
from typing import TYPE_CHECKING, Any

try:
    import datasets
    from datasets.iterable_dataset import _BaseExamplesIterable
except ImportError as error:  # pragma: no cover
    raise ImportError("seqfeed.huggingface needs datasets 4.6 or later: pip install datasets") from error

from seqfeed._epochs import Source, converted, open_feed
from seqfeed._fields import Fields
from seqfeed._seqfeed import Feed, Minibatch

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from seqfeed._epochs import FeedKeywords

__all__ = ["minibatches", "sequences"]

_SHARDS = 720_720
"""The number of shards: a multiple of all numbers up to 16, so that any usual number divides it."""


def minibatches(
    source: Source = None,
    *,
    fields: tuple[str, ...] | list[str] | None = None,
    **options: Unpack[FeedKeywords],
) -> datasets.IterableDataset:
    """Minibatches: dictionaries of arrays and fields as in ``seqfeed.torch``, with the shapes of
    ``seqfeed.Minibatch``. ``with_format("torch")`` makes tensors of them.

    ``source`` and ``options`` are as for ``seqfeed.Feed``. Streams must not be sparse.

    >>> dataset = minibatches("examples/digits/train.toml", batch_size=512)
    >>> next(iter(dataset))["features"].shape
    (512, 440)

    :raises seqfeed.Error: if the description is wrong, or data cannot be read
    """
    feed = open_feed(source, options)
    return _dataset(feed, _AsDictionary(Fields(feed, fields)))


def sequences(
    source: Source = None, *, shuffle: bool = False, **options: Unpack[FeedKeywords]
) -> datasets.IterableDataset:
    """Sequences: ``key``, and an array for each stream, of shape (frames, dim), or (frames,) for
    labels.

    In the order of the corpus, or shuffled.

    :raises seqfeed.Error: if the description is wrong, or data cannot be read
    """
    if not shuffle:
        options.setdefault("order", "sequential")
    options["unit"], options["layout"] = "sequence", "padded"
    options["batch_size"], options["batch_unit"] = 1, "sequences"
    return _dataset(open_feed(source, options), _as_row)


class _AsDictionary:
    def __init__(self, fields: Fields) -> None:
        self.fields = fields

    def __call__(self, minibatch: Minibatch) -> dict[str, Any]:
        return converted(minibatch, self.fields, lambda _, array: array, lambda array: array)


def _as_row(minibatch: Minibatch) -> dict[str, Any]:
    row: dict[str, Any] = {"key": minibatch.utterances[0]}
    for name, array in minibatch.items():
        row[name] = array[0]
    return row


def _dataset(feed: Feed, convert: Callable[[Minibatch], dict[str, Any]]) -> datasets.IterableDataset:
    for stream in feed.streams.values():
        if stream.kind == "sparse":
            raise ValueError(f"stream {stream.name!r} is sparse: datasets have no such columns")
    return _Dataset(ex_iterable=_Examples(feed, convert))


class _Dataset(datasets.IterableDataset):
    """A data set whose ``shuffle`` fills its buffer from one feed.

    From version 5 on, ten shards fill it by default. Elsewhere these are files. Here they are parts
    of one order; merging them gives that order again, with the work of ten feeds.
    """

    def shuffle(self, *given: Any, **options: Any) -> datasets.IterableDataset:
        """As the method of ``datasets``, from one shard unless ``max_buffer_input_shards`` is
        given."""
        shards = "max_buffer_input_shards"
        call = signature(super().shuffle)
        if shards in call.parameters and shards not in call.bind(*given, **options).arguments:
            options[shards] = 1
        return super().shuffle(*given, **options)


class _Examples(_BaseExamplesIterable):
    """One sweep of a feed, or a part of it."""

    def __init__(
        self,
        feed: Feed,
        convert: Callable[[Minibatch], dict[str, Any]],
        sweep: int = 0,
        part: tuple[int, int] = (0, 1),
    ) -> None:
        super().__init__()
        self._state_dict: dict[str, Any] | None = None
        self.feed, self.convert, self.sweep, self.part = feed, convert, sweep, part

    @property
    def is_typed(self) -> bool:
        return False

    @property
    def features(self) -> None:
        return None

    @property
    def sleep_on_threads_shutdown(self) -> bool:
        """Used from version 5 on: whether threads that read it need time to end."""
        return False

    @property
    def num_shards(self) -> int:
        return _SHARDS // self.part[1]

    def _init_state_dict(self) -> dict[str, Any]:
        state: dict[str, Any] = {"feed": None, "type": type(self).__name__}
        self._state_dict = state
        return state

    def __iter__(self) -> Iterator[tuple[int, dict[str, Any]]]:
        with self.feed.one_sweep(self.sweep, *self.part) as feed:
            if self._state_dict and self._state_dict["feed"]:
                feed.load_state_dict(self._state_dict["feed"])
            for minibatch in feed:
                if self._state_dict:
                    self._state_dict["feed"] = minibatch.state_dict()
                yield minibatch.index, self.convert(minibatch)

    def shuffle_data_sources(self, generator: Any, *_: Any, **__: Any) -> _Examples:
        sweep = int(deepcopy(generator).integers(1, 1 << 31))
        return _Examples(self.feed, self.convert, sweep, self.part)

    def shard_data_sources(self, num_shards: int, index: int, contiguous: bool = True) -> _Examples:
        rank, ranks = self.part
        part = rank + ranks * index, ranks * num_shards
        return _Examples(self.feed, self.convert, self.sweep, part)

    def reshard_data_sources(self) -> _Examples:
        return self

    def split_shard_indices_by_worker(
        self, num_shards: int, index: int, contiguous: bool = True
    ) -> list[int]:
        return [index]
