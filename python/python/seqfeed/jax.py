"""JAX: minibatches as arrays on devices.

>>> from seqfeed.jax import Loader
>>> loader = Loader("examples/digits/train.toml", batch_size=512, partial="drop")
>>> for batch in loader:
...     x, y = batch["features"], batch["labels"]
>>> x.shape, x.dtype.name
((512, 440), 'float32')

Functions are compiled again for each shape: with ``partial="drop"`` frames have only one shape.
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

    Each is a dictionary: an array for each stream (for sparse ones a ``seqfeed.Sparse`` of arrays),
    with the shapes of ``seqfeed.Minibatch``, and the fields of ``seqfeed.torch``. JAX makes 32-bit
    values of 64-bit ones, unless ``jax_enable_x64`` is set.

    ``device`` is a device or a sharding, as for ``jax.device_put``; ``ahead`` minibatches are on
    their way to it before they are asked for. Each loop is an epoch: one sweep in an order of its
    own. It ends the previous loop, which raises RuntimeError if it goes on. ``state_dict`` and
    ``load_state_dict`` are exact, also in the middle of an epoch. ``rank`` and ``ranks`` come from
    ``jax.distributed``, unless given. ``source`` and ``options`` are as for ``seqfeed.Feed``.

    :raises seqfeed.Error: if the description is wrong, or data cannot be read
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
