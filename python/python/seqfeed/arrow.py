"""Apache Arrow: any corpus as record batches, with one row for each sequence.

Every ``seqfeed.Table`` has ``__arrow_c_stream__``. pyarrow, polars, DuckDB, pandas and others
accept it like tables of their own; batches are made while they are read. The columns are ``key``,
``samples`` (the length), and a column for each stream:

======================  =====================================================================
stream                  type
======================  =====================================================================
dense                   ``list<fixed_size_list<float, DIM>>``; ``list<float>`` where DIM is 1
dense, one a sequence   ``fixed_size_list<float, DIM>``; ``float`` where DIM is 1
labels                  ``list<int32>``; ``int32`` where there is one a sequence
sparse                  ``list<list<struct<index: int32, value: float>>>``
======================  =====================================================================

``float`` stands for ``float`` or ``double``, the type of the values. The metadata of fields
describe the streams, so Parquet and Arrow files of these batches are corpora again.

>>> import seqfeed
>>> table = seqfeed.open("examples/digits/train.toml")
>>> import pyarrow
>>> pyarrow.table(table).num_rows
60
>>> import seqfeed.arrow
>>> for batch in seqfeed.arrow.batches("examples/digits/train.toml"):
...     print(batch.schema.names)
['key', 'samples', 'features', 'labels']
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from seqfeed._types import open_table

if TYPE_CHECKING:
    import pyarrow
    from typing_extensions import Unpack

    from seqfeed._options import TableOptions

__all__ = ["batches", "rows", "table"]


def batches(
    source: str | os.PathLike[str] | Mapping[str, Any],
    *,
    overrides: Mapping[str, str | os.PathLike[str] | float] | None = None,
    allow_pipes: bool = False,
    **options: Unpack[TableOptions],
) -> pyarrow.RecordBatchReader:
    """A reader of record batches with at most 32,768 samples; a longer sequence has one of its own.
    ``source`` is as for ``seqfeed.open``. Needs pyarrow 14 or later.

    :raises seqfeed.Error: if the source is wrong, or cannot be read
    :raises OSError: from the reader, if data cannot be read
    """
    import pyarrow

    opened = open_table(source, overrides=overrides, allow_pipes=allow_pipes, **options)
    return pyarrow.RecordBatchReader.from_stream(opened)


def table(
    source: str | os.PathLike[str] | Mapping[str, Any],
    *,
    overrides: Mapping[str, str | os.PathLike[str] | float] | None = None,
    allow_pipes: bool = False,
    **options: Unpack[TableOptions],
) -> pyarrow.Table:
    """The whole corpus in memory, from ``batches``."""
    return batches(source, overrides=overrides, allow_pipes=allow_pipes, **options).read_all()


def rows(column: pyarrow.Array | pyarrow.ChunkedArray, row: int) -> npt.NDArray[Any]:
    """One sequence of a column of dense samples or labels, without a copy: shape (frames, DIM),
    or (frames,).

    >>> features = table("examples/digits/train.toml")["features"]
    >>> rows(features, 0).shape, rows(features, 0).dtype.name
    ((120, 40), 'float32')
    """
    value = column[row].values
    shape: tuple[int, ...] = (len(value),)
    if hasattr(value.type, "list_size"):
        width = value.type.list_size
        # `values` has exactly the values of the batch.
        value, shape = value.flatten(), (*shape, width)
    found: npt.NDArray[Any] = np.asarray(value.to_numpy(zero_copy_only=True)).reshape(shape)
    return found
