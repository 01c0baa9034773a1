"""A feed that is used one epoch at a time, with an exact state inside an epoch. The adapters build
on it."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Generic, TypeVar

import numpy as np

from seqfeed._fields import Fields
from seqfeed._options import FeedOptions, Name
from seqfeed._seqfeed import Feed, Minibatch
from seqfeed._types import Progress, Sparse

Source = str | os.PathLike[str] | Mapping[str, Any] | None

class FeedKeywords(FeedOptions, total=False):
    """All keywords of ``seqfeed.Feed``, as the adapters take them."""

    overrides: Mapping[str, Name | float] | None
    allow_pipes: bool
    progress: Callable[[Progress], object] | None
    transform: Callable[[Minibatch], Mapping[str, Any] | None] | None


def open_feed(source: Source, options: FeedKeywords) -> Feed:
    """A feed of any mapping or name."""
    if isinstance(source, Mapping) and not isinstance(source, dict):
        source = dict(source)
    return Feed(source, **options)


def converted(
    minibatch: Minibatch,
    fields: Fields,
    of_stream: Callable[[str, Any], Any],
    of_field: Callable[[Any], Any],
) -> dict[str, Any]:
    """A minibatch as a dictionary of streams and fields. ``of_stream`` and ``of_field`` convert
    them."""
    result: dict[str, Any] = {}
    for name, array in minibatch.items():
        if isinstance(array, Sparse):
            places = of_field(array.indices), of_field(array.indptr)
            result[name] = Sparse(of_stream(name, array.data), *places, array.shape)
        else:
            result[name] = of_stream(name, array)
    for field, value in fields.of(minibatch).items():
        if isinstance(value, dict):
            result[field] = {name: of_field(array) for name, array in value.items()}
        else:
            result[field] = of_field(value) if isinstance(value, np.ndarray) else value
    return result


def each_part(sparse: Sparse, change: Callable[[Any], Any]) -> Sparse:
    """Sparse rows, with a function applied to each of their three arrays."""
    return Sparse(change(sparse.data), change(sparse.indices), change(sparse.indptr), sparse.shape)


def check_state(state: Any, also: tuple[str, ...] = ()) -> tuple[int, dict[str, Any]]:
    """The epoch and the state of the feed. ``also`` names further keys that are allowed."""
    if not isinstance(state, dict):
        raise TypeError(f"a state is a dictionary, not {type(state).__name__}")
    if set(state) - set(also) != {"epoch", "feed"} or not isinstance(state["feed"], dict):
        raise ValueError("this is no state of such a loader: it has `epoch` and `feed`")
    return int(state["epoch"]), state["feed"]


T = TypeVar("T")


class EpochIterator(Generic[T]):
    """Iterates over one epoch. Its state is the one after the last minibatch that it returned."""

    def __init__(self, feed: Feed, epoch: int, convert: Callable[[Minibatch], T]) -> None:
        self.epoch = epoch
        self._feed = feed
        self._convert = convert
        self._ended = False
        self._why = ""

    def __iter__(self) -> EpochIterator[T]:
        return self

    def __next__(self) -> T:
        if self._ended:
            raise self._end()
        try:
            return self._convert(next(self._feed))
        except StopIteration:
            self._ended = True
            self._feed.close()
            raise

    @property
    def ended(self) -> bool:
        """Whether the epoch is over."""
        return self._ended

    def close(self, why: str = "") -> None:
        """Ends the feed's threads.

        If the epoch is not over, ``next`` raises an error with the reason ``why``: a loop that was
        cut short must not look like a whole one.
        """
        if not self._ended:
            self._ended, self._why = True, why
        self._feed.close()

    def _end(self) -> Exception:
        return RuntimeError(self._why) if self._why else StopIteration()

    def state_dict(self) -> dict[str, Any]:
        """The position: the epoch, and the feed's state in it."""
        return {"epoch": self.epoch, "feed": self._feed.state_dict()}


class AheadIterator(EpochIterator[T]):
    """Keeps ``ahead`` minibatches on their way to a device, beyond the last one that it
    returned."""

    def __init__(self, feed: Feed, epoch: int, convert: Callable[[Minibatch], T], ahead: int) -> None:
        super().__init__(feed, epoch, convert)
        self._ahead, self._done, self._state = ahead, False, feed.state_dict()
        self._coming: deque[tuple[Any, dict[str, Any]]] = deque()

    def _send(self, minibatch: Minibatch) -> Any:
        """Begins to send a minibatch. Returns the transfer."""
        return self._convert(minibatch)

    def _arrived(self, sent: Any) -> T:
        """The minibatch of a transfer, ready to be used."""
        batch: T = sent
        return batch

    def __next__(self) -> T:
        if self._ended:
            raise self._end()
        while not self._done and len(self._coming) <= self._ahead:
            minibatch = next(self._feed, None)
            if minibatch is None:
                self._done = True
            else:
                self._coming.append((self._send(minibatch), minibatch.state_dict()))
        if not self._coming:
            self.close()
            raise StopIteration
        sent, self._state = self._coming.popleft()
        return self._arrived(sent)

    def close(self, why: str = "") -> None:
        self._coming.clear()
        super().close(why)

    def state_dict(self) -> dict[str, Any]:
        return {"epoch": self.epoch, "feed": self._state}


class Epochs(Generic[T]):
    """Loops over a feed. Each loop is an epoch: one sweep, in an order of its own.

    A loop that is left in the middle is over: the next one begins the next epoch, except right
    after ``load_state_dict``. So there is one loop at a time. Going on with an earlier loop raises
    RuntimeError.
    """

    def __init__(
        self,
        source: Source,
        options: FeedKeywords,
        fields: tuple[str, ...] | list[str] | None,
    ) -> None:
        self.feed = open_feed(source, options)
        self._fields = Fields(self.feed, fields)
        self._epoch = 0
        self._resume: dict[str, Any] = {}
        self._current: EpochIterator[T] | None = None

    def _converted(self, feed: Feed, epoch: int) -> EpochIterator[T]:
        raise NotImplementedError

    def __iter__(self) -> Iterator[T]:
        if self._current is not None:
            why = "another loop over this Loader has begun, which ended this one: use two Loaders"
            self._current.close(why)
        feed = self.feed.one_sweep(self._epoch)
        if self._resume:
            feed.load_state_dict(self._resume)
        self._current = self._converted(feed, self._epoch)
        self._epoch, self._resume = self._epoch + 1, {}
        return self._current

    def __len__(self) -> int:
        """Number of minibatches in an epoch, for this rank.

        :raises TypeError: if it is not known before the minibatches are cut
        """
        return len(self.feed.one_sweep(0))

    @property
    def streams(self) -> dict[str, Any]:
        """The streams, by name: see ``seqfeed.Stream``; dims include the context."""
        return self.feed.streams

    @property
    def symbols(self) -> dict[str, dict[int, str]]:
        """The names of labels by their numbers, for each stream whose labels have names."""
        return self.feed.symbols

    @property
    def epoch(self) -> int:
        """The epoch of the current loop, or of the next one."""
        return self._epoch if self._current is None else self._current.epoch

    def set_epoch(self, epoch: int) -> None:
        """Sets the epoch of the next loop, which starts at its beginning."""
        self._drop("set_epoch ended this loop over the Loader: begin a new one")
        self._epoch = int(epoch)

    def state_dict(self) -> dict[str, Any]:
        """The state after the last minibatch that was returned: JSON's types only."""
        if self._current is not None and not self._current.ended:
            return self._current.state_dict()
        return {"epoch": self._epoch, "feed": dict(self._resume)}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Goes to the position of a state: the next loop begins with the minibatch that came after
        it.

        :raises ValueError: if it is not such a state
        :raises seqfeed.Error: if it belongs to another corpus or order
        """
        epoch, resume = check_state(state)
        if resume:
            with self.feed.one_sweep(epoch) as feed:
                feed.load_state_dict(resume)
        self._drop("load_state_dict ended this loop over the Loader: begin a new one")
        self._epoch, self._resume = epoch, resume

    def _drop(self, why: str) -> None:
        if self._current is not None:
            self._current.close(why)
        self._current, self._resume = None, {}

    def close(self) -> None:
        """Ends the threads and gives memory back. Minibatches that were returned stay valid."""
        self._drop("the Loader was closed, which ended this loop over it")
        self.feed.close()

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_exception: object) -> None:
        self.close()
