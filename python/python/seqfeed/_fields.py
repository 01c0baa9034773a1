"""Fields: the values of a minibatch beside its streams."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from seqfeed._seqfeed import Feed, Minibatch
from seqfeed._types import Stream

FIELDS = (
    "utterances",
    "lengths",
    "starts",
    "offsets",
    "rows",
    "cu_seqlens",
    "max_seqlen",
    "position_ids",
    "samples",
    "index",
    "sweep",
    "end_of_sweep",
)

OF_STREAMS = ("lengths", "offsets", "cu_seqlens", "max_seqlen", "position_ids")
"""Fields that each stream has too, by the name ``STREAM_FIELD``."""


class Fields:
    """The fields that minibatches get: those that were asked for, or those of the layout."""

    def __init__(self, feed: Feed, fields: tuple[str, ...] | list[str] | None) -> None:
        self._streams: Mapping[str, Stream] = feed.streams
        self._own = [name for name, stream in feed.streams.items() if stream.extent == "own"]
        for field in fields or ():
            if field in self._streams:
                raise ValueError(f"{field!r} is a stream: it cannot be a field too")
            if field not in FIELDS and self._of_stream(field) is None:
                known = ", ".join((*FIELDS, *(f"STREAM_{one}" for one in OF_STREAMS)))
                raise ValueError(f"there is no field {field!r}, they are {known}")
        self._fields = None if fields is None else tuple(fields)

    def of(self, minibatch: Minibatch) -> dict[str, Any]:
        """The fields of a minibatch: arrays, lists, numbers, dictionaries of arrays."""
        names = self._usual(minibatch) if self._fields is None else self._fields
        return {name: self._value(minibatch, name) for name in names}

    def _usual(self, minibatch: Minibatch) -> list[str]:
        """The fields that are always needed: the ends of sequences, unless each sample stands
        alone."""
        usual = {"frames": (), "padded": ("lengths",), "concatenated": ("lengths", "offsets")}
        of_layout = usual.get(minibatch.layout)
        fields = ["lengths", "rows"] if of_layout is None else list(of_layout)
        fields += [f"{name}_{field}" for name in self._own for field in of_layout or ()]
        return [field for field in fields if field not in minibatch]

    def _of_stream(self, field: str) -> tuple[str, str] | None:
        """The stream and the field of a name such as ``text_lengths``."""
        for of in OF_STREAMS:
            name = field.removesuffix(f"_{of}")
            if name != field and name in self._streams:
                return name, of
        return None

    def _value(self, minibatch: Minibatch, field: str) -> Any:
        if field == "rows":
            return {name: minibatch.rows(name) for name in minibatch}
        if field in ("cu_seqlens", "max_seqlen", "position_ids"):
            return _counted(minibatch.lengths, field)
        of_stream = self._of_stream(field)
        if field in FIELDS or of_stream is None:
            return getattr(minibatch, field)
        name, of = of_stream
        return _counted(minibatch.rows(name)[:, 1].copy(), of)


def _counted(lengths: npt.NDArray[np.int64], field: str) -> Any:
    """A field that follows from the lengths of sequences."""
    if field == "lengths":
        return lengths
    if field == "max_seqlen":
        return int(lengths.max(initial=0))
    offsets = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    if field == "offsets":
        return offsets
    if field == "cu_seqlens":
        return offsets.astype(np.int32)
    return np.arange(offsets[-1]) - np.repeat(offsets[:-1], lengths)
