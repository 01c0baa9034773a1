#!/usr/bin/env python3
"""Writes the files of this directory with pyarrow, polars and DuckDB, as their users would.

    python3 -m venv venv && venv/bin/pip install pyarrow polars duckdb
    venv/bin/python make.py

All hold the same four utterances: lengths 3, 1, 0 and 2; features of two values,
value[t, d] = 100 * utterance + 10 * t + d; labels 7 * utterance + t.
"""

import os

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq

os.chdir(os.path.dirname(os.path.abspath(__file__)))

KEYS = ["utt-a", "utt-b", "empty", "späh"]
LENGTHS = [3, 1, 0, 2]
FEATURES = [
    [[100.0 * u + 10 * t + d for d in range(2)] for t in range(n)] for u, n in enumerate(LENGTHS)
]
LABELS = [[7 * u + t for t in range(n)] for u, n in enumerate(LENGTHS)]
TEXT = ["a", None, "c", "d"]


def table(key=pa.string(), frame=None, label=pa.int32(), large=False):
    """One table, in many types."""
    many = pa.large_list if large else pa.list_
    frame = frame or pa.list_(pa.float32(), 2)
    return pa.table(
        {
            "text": pa.array(TEXT),
            "utt": pa.array(KEYS, pa.string()).cast(key),
            "duration": pa.array([0.03, 0.01, None, 0.02]),
            "features": pa.array(FEATURES, many(frame)),
            "labels": pa.array(LABELS, many(label)),
        }
    )


def ipc(name, table, compression=None, stream=False, rows=None):
    """Writes Arrow IPC."""
    options = pa.ipc.IpcWriteOptions(compression=compression)
    new = pa.ipc.new_stream if stream else pa.ipc.new_file
    with new(name, table.schema, options=options) as writer:
        writer.write_table(table, max_chunksize=rows)


plain = table()
ipc("plain.arrow", plain)
ipc("batches.arrow", plain, rows=1)
ipc("stream.arrows", plain, stream=True, rows=3)
ipc("zstd.arrow", plain, compression="zstd")
feather.write_feather(plain, "lz4.feather", compression="lz4")
large = table(key=pa.large_string(), frame=pa.large_list(pa.float64()), label=pa.int64(), large=True)
ipc("large.arrow", large)
ipc("dictionary.arrow", table(key=pa.dictionary(pa.int16(), pa.string()), label=pa.uint8()))
ipc("half.arrow", table(key=pa.binary(), frame=pa.list_(pa.float16(), 2), label=pa.int8()))
# A part of a table refers to the middle of its buffers.
ipc("slice.arrow", pa.concat_tables([plain, plain]).combine_chunks().slice(4, 4))
pl.from_arrow(plain).write_ipc("polars.arrow", compression="uncompressed")

pq.write_table(plain, "snappy.parquet")
pq.write_table(plain, "checksums.parquet", compression="none", write_page_checksum=True)
pq.write_table(plain, "zstd.parquet", compression="zstd", row_group_size=2)
pq.write_table(plain, "gzip.parquet", compression="gzip", data_page_version="2.0")
pq.write_table(plain, "lz4.parquet", compression="lz4", store_schema=False)
pq.write_table(large, "large.parquet", row_group_size=1)
pq.write_table(
    table(key=pa.dictionary(pa.int16(), pa.string())), "dictionary.parquet", compression="none"
)
pl.from_arrow(plain).write_parquet("polars.parquet")
duckdb.sql("COPY (SELECT * FROM plain) TO 'duckdb.parquet' (FORMAT parquet)")

# What cannot be read, and why.
null = pa.table({"key": ["a", "b"], "x": pa.array([[1.0, 2.0], None], pa.list_(pa.float32()))})
ipc("null_row.arrow", null)
pq.write_table(null, "null_row.parquet")
null = pa.table({"key": ["a", "b"], "x": pa.array([[1.0, None], [2.0]], pa.list_(pa.float32()))})
ipc("null_value.arrow", null)
pq.write_table(null, "null_value.parquet")
ragged = pa.table({"key": ["a"], "x": pa.array([[[1.0, 2.0], [3.0]]], pa.list_(pa.list_(pa.float32())))})
ipc("ragged.arrow", ragged)
pq.write_table(ragged, "ragged.parquet")

# Sequences of several streams with lengths of their own, sparse ones, and one vector a sequence.
pair = pa.struct([("value", pa.float64()), ("index", pa.int64())])
words = pa.field("words", pa.list_(pa.list_(pair)), metadata={"seqfeed.dim": "9"})
tokens = [[5, 6], [7, 8, 9]]
mixed = pa.table(
    {
        "tokens": pa.array(tokens, pa.list_(pa.int64())),
        "wave": pa.array([[1, -2, 3], [4]], pa.list_(pa.int16())),
        "words": pa.array(
            [[[{"index": 3, "value": 0.5}], [], [{"index": 8, "value": 2.0}, {"index": 0, "value": 1.0}]], [[]]],
            words.type,
        ),
        "xvector": pa.array([[1.5, 2.5, 3.5], [4.5, 5.5, 6.5]], pa.list_(pa.float32(), 3)),
        "speaker": pa.array([12, 13], pa.int64()),
    },
)
mixed = mixed.set_column(2, words, mixed.column("words"))
ipc("mixed.arrow", mixed)
pq.write_table(mixed, "mixed.parquet")
