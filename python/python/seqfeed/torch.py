"""PyTorch: minibatches as tensors.

``Loader`` is the fast way. The library's own threads load, shuffle, splice and pack, without
processes and without the interpreter, and copy minibatches to a GPU while it computes. ``Dataset``
is for programs that are built around ``torch.utils.data.DataLoader``.

>>> from seqfeed.torch import Loader
>>> loader = Loader("examples/digits/train.toml", batch_size=512, dtypes={"labels": "int64"})
>>> for epoch in range(2):
...     for batch in loader:
...         x, y = batch["features"], batch["labels"]
>>> tuple(x.shape[1:]), x.dtype, y.dtype
((440,), torch.float32, torch.int64)

Both give dictionaries: a tensor for each stream, with the shapes of ``seqfeed.Minibatch``, and
*fields*. A sparse stream is a ``seqfeed.Sparse`` of tensors: ``embedding_bag`` takes its
``indices`` and ``indptr``, and ``sparse_coo`` makes a sparse tensor of it. Fields are other values
of the minibatch. ``fields`` chooses them; by default the layout does:

==================  ==========================================  ===================================
field               value                                       unless asked for, there with layout
==================  ==========================================  ===================================
``lengths``         int64 tensor of shape (sequences,)          all but ``frames``
``offsets``         int64 tensor of shape (sequences + 1,)      ``concatenated``
``rows``            for each stream int64 (sequences, 2)        ``packed``, ``truncated``
``cu_seqlens``      ``offsets`` as int32, for attention over
                    sequences of different lengths
``max_seqlen``      the longest length
``position_ids``    int64 (samples,): each sample's number in
                    its sequence, for ``concatenated``
``starts``          int64 tensor of shape (sequences,)
``utterances``      list of keys
``samples``, ``index``, ``sweep``, ``end_of_sweep``             numbers, as in ``seqfeed.Minibatch``
==================  ==========================================  ===================================

The first six but ``rows`` are those of the corpus. A stream has its own under its name:
``text_lengths``, ``text_cu_seqlens``. Streams with lengths of their own have them as the table says
unless other fields are asked for.

An epoch is one sweep. Epoch ``epoch`` is the same as this sweep of ``seqfeed.Feed``. ``dtypes``
converts streams: PyTorch's losses want labels of int64, tables have int32.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

try:
    import torch
    from torch.utils.data import IterableDataset, get_worker_info
except ImportError as error:  # pragma: no cover
    raise ImportError("seqfeed.torch needs PyTorch: pip install torch") from error

from seqfeed._epochs import (
    EpochIterator,
    Epochs,
    Source,
    check_state,
    converted,
    each_part,
    open_feed,
)
from seqfeed._fields import Fields
from seqfeed._seqfeed import Feed, Minibatch
from seqfeed._types import Sparse, Stream

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from seqfeed._epochs import FeedKeywords

__all__ = ["Dataset", "Loader", "sparse_coo"]

DTypes = Mapping[str, "torch.dtype | str"] | None

_ITERATIONS = 64
"""Iterations of DataLoaders over one data set that may run at once."""

_OF_WORKER = ("worker", "workers", "ranks")
"""The further keys in the state of a DataLoader's worker."""


def sparse_coo(sparse: Sparse) -> torch.Tensor:
    """A sparse tensor with the shape of a sparse stream's rows. Its values and columns are not
    copied.

    >>> import numpy as np
    >>> rows = Sparse(np.array([2.0, 3.0]), np.array([1, 0]), np.array([0, 1, 2]), (2, 3))
    >>> sparse_coo(rows).to_dense()
    tensor([[0., 2., 0.],
            [3., 0., 0.]], dtype=torch.float64)
    """
    data, indices, indptr = (torch.as_tensor(part) for part in sparse[:3])
    rows = torch.repeat_interleave(torch.arange(len(indptr) - 1, device=indptr.device), indptr.diff())
    return torch.sparse_coo_tensor(torch.stack([rows, indices.long()]), data, tuple(sparse.shape))


def _dtypes(feed: Feed, dtypes: DTypes) -> dict[str, torch.dtype]:
    found = {}
    for name, dtype in (dtypes or {}).items():
        if name not in feed.streams:
            raise ValueError(f"there is no stream {name!r}, they are {', '.join(feed.streams)}")
        made = getattr(torch, dtype, None) if isinstance(dtype, str) else dtype
        if not isinstance(made, torch.dtype):
            raise TypeError(f"{dtype!r} is no dtype of PyTorch")
        found[name] = made
    return found


def _ranks() -> tuple[int | None, int | None]:
    """This process' rank and the number of ranks, if ``torch.distributed`` is in use."""
    distributed = torch.distributed
    if distributed.is_available() and distributed.is_initialized():
        return distributed.get_rank(), distributed.get_world_size()
    return None, None


def _tensor(array: np.ndarray[Any, Any]) -> torch.Tensor:
    """A tensor that shares the array's memory."""
    if array.dtype.name in ("bfloat16", "uint16"):
        # PyTorch does not take arrays of bfloat16. Without ``ml_dtypes`` they are uint16.
        return torch.from_numpy(array.view(np.int16)).view(torch.bfloat16)
    return torch.from_numpy(array)


class _ToTensors:
    """Minibatches as dictionaries of tensors that share their memory."""

    def __init__(self, fields: Fields, dtypes: dict[str, torch.dtype]) -> None:
        self.fields, self.dtypes = fields, dtypes

    def __call__(self, minibatch: Minibatch) -> dict[str, Any]:
        return converted(minibatch, self.fields, self.of_stream, torch.from_numpy)

    def of_stream(self, name: str, array: np.ndarray[Any, Any]) -> torch.Tensor:
        tensor = _tensor(array)
        dtype = self.dtypes.get(name)
        return tensor if dtype is None else tensor.to(dtype)


class Dataset(IterableDataset[dict[str, Any]]):
    """Minibatches for ``torch.utils.data.DataLoader``, which must not batch them again.

    Each minibatch of a sweep comes exactly once, over any number of workers, and over the ranks of
    ``torch.distributed`` (or ``rank`` of ``ranks``). A rank's minibatches come in the same order
    with any number of workers. If ``partial`` is ``drop`` or ``even``, workers count like ranks,
    and ``len`` raises TypeError, because the data set does not know how many there will be. A
    worker has one thread, unless ``threads`` gives another number.

    Each iteration is an epoch with an order of its own; ``set_epoch`` chooses it. (If all random
    numbers of PyTorch are seeded alike before each epoch, workers cannot tell epochs apart: use
    ``set_epoch`` then.) torchdata's ``StatefulDataLoader`` goes on in the middle of an epoch, with
    the same number of workers.

    ``source`` and ``options`` are as for ``seqfeed.Feed``.

    >>> from torch.utils.data import DataLoader
    >>> dataset = Dataset("examples/digits/train.toml", batch_size=1024)
    >>> loader = DataLoader(dataset, batch_size=None, num_workers=2)
    >>> sum(len(batch["labels"]) for batch in loader)
    10402

    :raises seqfeed.Error: if the description is wrong, or data cannot be read
    """

    def __init__(
        self,
        source: Source = None,
        *,
        fields: tuple[str, ...] | list[str] | None = None,
        dtypes: DTypes = None,
        **options: Unpack[FeedKeywords],
    ) -> None:
        super().__init__()
        self._threads = options.get("threads", 1)
        self._given = (options.pop("rank", None), options.pop("ranks", None))
        self._feed = open_feed(source, options)
        self._convert = _ToTensors(Fields(self._feed, fields), _dtypes(self._feed, dtypes))
        # The next epoch, and for each iteration by workers its seed, its count and its epoch. They
        # are shared with workers, however these are started.
        self._shared = torch.zeros(1 + 3 * _ITERATIONS, dtype=torch.int64).share_memory_()
        self._begun = 0
        self._resume: dict[str, Any] | None = None
        self._current: EpochIterator[dict[str, Any]] | None = None

    def __iter__(self) -> Iterator[dict[str, Any]]:
        worker = get_worker_info()
        (rank, ranks), threads = self._rank(), None
        if worker is not None:
            # Dealt to workers in the order in which DataLoader collects them.
            rank, ranks = rank + ranks * worker.id, ranks * worker.num_workers
            threads = self._threads
        state, self._resume = self._resume, None
        if state is not None:
            epoch, resume = check_state(state, _OF_WORKER)
            # First, so that a worker without a state does not wait for it.
            self._begin(epoch)
            self._check_owner(state)
        else:
            epoch, resume = self._next_epoch(), {}
        self._begun += 1
        sweep = self._feed.one_sweep(epoch, rank, ranks, threads=threads)
        if resume:
            sweep.load_state_dict(resume)
        self._current = EpochIterator(sweep, epoch, self._convert)
        return self._current

    def _rank(self) -> tuple[int, int]:
        rank, ranks = self._given if self._given != (None, None) else _ranks()
        return rank or 0, 1 if ranks is None else ranks

    def _next_epoch(self) -> int:
        """The epoch of an iteration that begins: the same one for all of its workers.

        Worker 0 decides the epoch; the others look up its decision for their iteration. They know
        the iteration by the seed that the DataLoader gave them all, and by the number of iterations
        with it.
        """
        worker = get_worker_info()
        if worker is None:
            return self._begin(int(self._shared[0]))
        here = self._iteration(worker)
        until = time.monotonic() + 120
        while True:
            for seed, begun, epoch in self._shared[1:].reshape(_ITERATIONS, 3).tolist():
                if (seed, begun) == here:
                    return int(epoch)
            if worker.id == 0:
                return self._begin(int(self._shared[0]))
            if time.monotonic() > until:
                raise RuntimeError("worker 0 of the DataLoader did not begin the epoch")
            time.sleep(0.001)

    def _begin(self, epoch: int) -> int:
        """Begins an iteration with this epoch; the next iteration has the next one. Worker 0 tells
        the others."""
        worker = get_worker_info()
        if worker is not None and worker.id == 0:
            seed, begun = self._iteration(worker)
            place = self._shared[1:].reshape(_ITERATIONS, 3)[epoch % _ITERATIONS]
            # The identification comes last.
            place[0] = 0
            place[2], place[1] = epoch, begun
            place[0] = seed
        self._shared[0] = epoch + 1
        return epoch

    def _iteration(self, worker: Any) -> tuple[int, int]:
        """The identification of the iteration, the same for all of its workers."""
        return (worker.seed - worker.id) % (1 << 62) + 1, self._begun + 1

    def _owner(self) -> dict[str, int]:
        """The worker of this iteration: 0 of 0 without workers."""
        worker = get_worker_info()
        number, workers = (0, 0) if worker is None else (worker.id, worker.num_workers)
        return {"worker": number, "workers": workers, "ranks": self._rank()[1]}

    def _owned(self, state: dict[str, Any]) -> dict[str, Any]:
        """Adds the worker to its state. Other workers, or another number of them, have other
        minibatches."""
        return state if get_worker_info() is None else state | self._owner()

    def _check_owner(self, state: dict[str, Any]) -> None:
        here = self._owner()
        was = here | {name: state[name] for name in _OF_WORKER if name in state}
        if (was["workers"], was["ranks"]) != (here["workers"], here["ranks"]):
            raise ValueError(
                f"the state belongs to {was['workers']} workers (ranks: {was['ranks']}), and there are "
                f"{here['workers']} (ranks: {here['ranks']}): set num_workers as it was, or begin without "
                "the state, at an epoch chosen by set_epoch"
            )
        if was != here:
            raise ValueError(
                f"the state belongs to worker {was['worker']}, and this is worker {here['worker']}: each has "
                "its own, as StatefulDataLoader gives them"
            )

    def __len__(self) -> int:
        """Number of minibatches in an epoch, for this rank.

        :raises TypeError: if it is not known before the minibatches are cut, or without the number
        of workers
        """
        rank, ranks = self._rank()
        count = len(self._feed.one_sweep(0, rank, ranks))
        # Would workers share exactly this number? With one minibatch more, the first worker would
        # have one, unless the rest is dropped, and the last would have none, unless samples are
        # spread evenly.
        workers = count + 1
        first, last = (
            len(self._feed.one_sweep(0, rank + ranks * worker, ranks * workers)) for worker in (0, count)
        )
        if count and (first, last) != (1, 0):
            raise TypeError(
                "the number of minibatches depends on the number of workers, which count as ranks where partial "
                "is drop or even: a DataLoader cannot say it, a Loader can"
            )
        return count

    @property
    def streams(self) -> dict[str, Stream]:
        """The streams, by name; dims include the context."""
        return self._feed.streams

    @property
    def symbols(self) -> dict[str, dict[int, str]]:
        """The names of labels by their numbers, for each stream whose labels have names."""
        return self._feed.symbols

    def set_epoch(self, epoch: int) -> None:
        """Sets the epoch of the next iteration, also in workers that persist."""
        self._shared.zero_()
        self._shared[0] = int(epoch)
        self._resume = self._current = None

    def state_dict(self) -> dict[str, Any]:
        """The state of this process' iteration, after the last minibatch that it returned."""
        if self._current is not None:
            return self._owned(self._current.state_dict())
        return self._resume or self._owned({"epoch": int(self._shared[0]), "feed": {}})

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """The next iteration begins with the minibatch that comes after the state.

        Each worker has a state of its own, which ``StatefulDataLoader`` gives it. The iteration
        raises ValueError if the state belongs to another worker, or to another number of workers or
        ranks.

        :raises ValueError: if it is not such a state
        """
        check_state(state, _OF_WORKER)
        self._resume, self._current = state, None

    def __getstate__(self) -> dict[str, Any]:
        # A worker that is started as a new process does not know torch.distributed.
        given = self._given if self._given != (None, None) else _ranks()
        return self.__dict__ | {"_given": given, "_current": None}


class Loader(Epochs[dict[str, Any]]):
    """Minibatches from the library's own threads: no worker processes.

    On a CUDA ``device``, each minibatch is copied to pinned memory, and from there to the device on
    a CUDA stream of its own. ``ahead`` of them are copied before they are asked for. The current
    stream can use a minibatch at once. On other devices tensors use the feed's memory. You may keep
    and change them. The feed uses the memory again when the last of them is deleted.

    Each loop is an epoch with an order of its own. It ends the previous loop, which raises
    RuntimeError if it goes on. ``state_dict`` and ``load_state_dict`` work as in torchdata's
    ``StatefulDataLoader``. They are exact, also in the middle of an epoch and with another number
    of ranks.

    ``rank`` and ``ranks`` come from ``torch.distributed`` if it is in use. ``source`` and
    ``options`` are as for ``seqfeed.Feed``.

    >>> loader = Loader("examples/digits/train.toml", batch_size=512)
    >>> batches = iter(loader)
    >>> _ = next(batches), next(batches)
    >>> state = loader.state_dict()
    >>> third = next(batches)
    >>> loader.load_state_dict(state)
    >>> torch.equal(next(iter(loader))["features"], third["features"])
    True

    :raises seqfeed.Error: if the description is wrong, or data cannot be read
    """

    def __init__(
        self,
        source: Source = None,
        *,
        device: torch.device | str | None = None,
        ahead: int = 2,
        fields: tuple[str, ...] | list[str] | None = None,
        dtypes: DTypes = None,
        **options: Unpack[FeedKeywords],
    ) -> None:
        rank, ranks = _ranks()
        if rank is not None and ranks is not None and not {"rank", "ranks"} & set(options):
            options["rank"], options["ranks"] = rank, ranks
        super().__init__(source, options, fields)
        self.device = torch.device(device) if device is not None else torch.device("cpu")
        if ahead < 1:
            raise ValueError("ahead must be 1 at least")
        self._ahead = ahead
        self._convert = _ToTensors(self._fields, _dtypes(self.feed, dtypes))

    def _converted(self, feed: Feed, epoch: int) -> EpochIterator[dict[str, Any]]:
        if self.device.type == "cuda":
            from seqfeed._cuda import CudaIterator

            return CudaIterator(feed, epoch, self._convert, self.device, self._ahead)
        if self.device.type == "cpu":
            return EpochIterator(feed, epoch, self._convert)
        return EpochIterator(feed, epoch, self._moved)

    def _moved(self, minibatch: Minibatch) -> dict[str, Any]:
        """Copies for devices without CUDA streams."""
        batch = self._convert(minibatch)
        return {name: move(value, self.device) for name, value in batch.items()}


def move(value: Any, device: torch.device) -> Any:
    """The tensors of a value, on a device."""
    if isinstance(value, torch.Tensor):
        return value.to(device)
    if isinstance(value, Sparse):
        return each_part(value, lambda part: part.to(device))
    if isinstance(value, dict):
        return {name: part.to(device) for name, part in value.items()}
    return value
