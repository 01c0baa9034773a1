"""JAX: minibatches as arrays on devices.

>>> from seqfeed.jax import Loader
>>> loader = Loader("examples/digits/train.toml", batch_size=512, partial="drop")
>>> for batch in loader:
...     x, y = batch["features"], batch["labels"]
>>> x.shape, x.dtype.name
((512, 440), 'float32')

Compiled functions are compiled anew for each shape: ``partial="drop"`` keeps frames to one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

try:
    import jax
except ImportError as error:  # pragma: no cover
    raise ImportError("seqfeed.jax needs JAX: pip install jax") from error

from seqfeed._epochs import AheadIterator, EpochIterator, Epochs, Source, converted
from seqfeed._seqfeed import Feed, Minibatch

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from seqfeed._epochs import FeedKeywords

__all__ = ["Loader"]


class Loader(Epochs[dict[str, Any]]):
    """Minibatches on a device, loaded and packed by the library's own threads.

    Each is a dictionary: an array for each stream (for sparse ones ``seqfeed.Sparse`` with arrays
    in it), with the shapes of ``seqfeed.Minibatch``, and fields, as those of ``seqfeed.torch``. JAX
    makes 64-bit values 32-bit ones, unless it is told otherwise (``jax_enable_x64``).

    ``device`` is a device or a sharding, as ``jax.device_put`` takes them; ``ahead`` minibatches
    are on their way to it before they are asked for. Each loop is an epoch, one sweep in an order
    of its own, and ends the one before it, which raises RuntimeError if it goes on; ``state_dict``
    and ``load_state_dict`` are exact, also in its middle. ``rank`` and ``ranks`` are those of the
    processes of ``jax.distributed``, unless given. ``source`` and ``options`` are those of
    ``seqfeed.Feed``.

    :raises seqfeed.Error: where the description is wrong, or data cannot be read
    """

    def __init__(
        self,
        source: Source = None,
        *,
        device: Any = None,
        ahead: int = 2,
        fields: tuple[str, ...] | list[str] | None = None,
        **options: Unpack[FeedKeywords],
    ) -> None:
        if not {"rank", "ranks"} & set(options) and jax.process_count() > 1:
            options["rank"], options["ranks"] = jax.process_index(), jax.process_count()
        if ahead < 1:
            raise ValueError("ahead must be 1 at least")
        super().__init__(source, options, fields)
        self._device, self._ahead = device, ahead

    def _converted(self, feed: Feed, epoch: int) -> EpochIterator[dict[str, Any]]:
        return AheadIterator(feed, epoch, self._sent, self._ahead)

    def _sent(self, minibatch: Minibatch) -> dict[str, Any]:
        def send(array: np.ndarray[Any, Any]) -> Any:
            return jax.device_put(array, self._device)

        return converted(minibatch, self._fields, lambda _, array: send(array), send)
