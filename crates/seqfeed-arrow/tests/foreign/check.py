#!/usr/bin/env python3
"""Reads the files that the test `others_read_our_files` wrote into a directory, and checks them."""

import sys

import pyarrow as pa
import pyarrow.parquet as pq

KEYS = ["utt-a", "utt-b", "empty", "späh"]
LENGTHS = [3, 1, 0, 2]
EXPECTED = [
    {
        "key": key,
        "samples": n,
        "features": [[100.0 * u + 10 * t + d for d in range(2)] for t in range(n)],
        "labels": [7 * u + t for t in range(n)],
        "energy": [0.5] * n,
        "speaker": [float(u)] * 3,
        "words": [[{"index": 3, "value": 0.5}, {"index": 8, "value": 1.5}], []],
    }
    for u, (key, n) in enumerate(zip(KEYS, LENGTHS))
]

directory = sys.argv[1]
for kind in ("plain", "zstd"):
    arrow, parquet = f"{directory}/{kind}.arrow", f"{directory}/{kind}.parquet"
    with pa.OSFile(arrow) as file:
        table = pa.ipc.open_file(file).read_all()
    for found in (table, pq.read_table(parquet)):
        found.validate(full=True)
        assert found.to_pylist() == EXPECTED, found.to_pylist()
        frames = found.schema.field("features").type
        assert frames.value_type == pa.list_(pa.field("element", pa.float32(), False), 2), frames
        marks = found.schema.field("words").metadata
        assert marks[b"seqfeed.kind"] == b"sparse" and marks[b"seqfeed.dim"] == b"9", marks
    print(f"{kind}: read by pyarrow {pa.__version__}")
    try:
        import polars as pl
    except ImportError:
        print("SKIPPED: no polars")
    else:
        for found in (pl.read_ipc(arrow), pl.read_parquet(parquet)):
            assert found.schema["features"] == pl.List(pl.Array(pl.Float32, 2)), found.schema
            assert found.rows(named=True) == EXPECTED, found.rows(named=True)
        print(f"{kind}: read by polars {pl.__version__}")
    try:
        import duckdb
    except ImportError:
        print("SKIPPED: no DuckDB")
    else:
        query = f"SELECT key, samples, len(features), labels[1], speaker[1] FROM '{parquet}'"
        rows = duckdb.sql(query).fetchall()
        wanted = [
            (r["key"], r["samples"], r["samples"], r["labels"][0] if r["labels"] else None, r["speaker"][0])
            for r in EXPECTED
        ]
        assert rows == wanted, rows
        print(f"{kind}: read by DuckDB {duckdb.__version__}")
