"""`__arrow_c_stream__` and `seqfeed.arrow`."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import seqfeed
from seqfeed import kaldi

from conftest import Corpus
from test_feed import source
from test_processes import in_child, open_files, resident

pa = pytest.importorskip("pyarrow", reason="SKIPPED: the tests of seqfeed.arrow: there is no pyarrow")

import seqfeed.arrow  # noqa: E402


def same(table: Any, corpus: Any) -> None:
    assert table["key"].to_pylist() == list(corpus.features)
    assert table["samples"].to_pylist() == [len(labels) for labels in corpus.labels.values()]
    for row, key in enumerate(corpus.features):
        assert np.array_equal(seqfeed.arrow.rows(table["features"], row), corpus.features[key])
        assert np.array_equal(seqfeed.arrow.rows(table["labels"], row), corpus.labels[key])


def test_pyarrow(corpus: Any) -> None:
    table = seqfeed.open(source(corpus))
    same(pa.table(table), corpus)
    same(pa.table(table), corpus)  # each stream begins anew
    same(seqfeed.arrow.table(source(corpus)), corpus)
    schema = pa.table(table).schema
    assert schema.names == ["key", "samples", "features", "labels"]
    assert schema.field("features").type == pa.list_(pa.list_(pa.field("item", pa.float32(), False), 3)) or (
        schema.field("features").type.value_type.list_size == 3
    )
    assert schema.field("features").metadata[b"seqfeed.kind"] == b"dense"


def test_a_corpus_of_several_batches(tmp_path: Path) -> None:
    corpus = Corpus(tmp_path, sequences=4000, dim=2)
    batches = list(seqfeed.arrow.batches(source(corpus)))
    assert [sum(batch["samples"].to_pylist()) <= 32_768 for batch in batches] == [True, True]
    same(pa.Table.from_batches(batches), corpus)


def test_what_is_written_is_a_corpus(corpus: Any, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(seqfeed.arrow.table(source(corpus)), tmp_path / "x.parquet")
    with seqfeed.open(tmp_path / "x.parquet") as again:
        for key, value in again:
            assert np.array_equal(value["features"], corpus.features[key])
            assert np.array_equal(value["labels"], corpus.labels[key])


def test_tables_of_kaldi(corpus: Any, tmp_path: Path) -> None:
    for name, stream, values in (
        ("feats.scp", "features", corpus.features),
        ("ali.ark", "labels", corpus.labels),
    ):
        table = pa.table(seqfeed.open(corpus[name]))
        assert table.schema.names == ["key", "samples", stream]
        assert np.array_equal(seqfeed.arrow.rows(table[stream], 3), values["utt003"])
    with kaldi.Writer(f"{tmp_path}/d.ark") as writer:
        writer["a"] = np.ones((2, 2))
    assert pa.table(seqfeed.open(tmp_path / "d.ark"))["features"].type.value_type.value_type == pa.float64()
    with kaldi.Writer(f"{tmp_path}/text.ark", object_type="token-vector") as writer:
        writer["a"] = ["no", "features"]
    with pytest.raises(seqfeed.Error):
        pa.table(seqfeed.open(tmp_path / "text.ark"))


@pytest.mark.parametrize("name", ["train.ctf", "train.pfile", "train.toml", "htk/train.scp"])
def test_other_formats(digits: Path, name: str) -> None:
    with seqfeed.open(digits / name) as corpus:
        table = pa.table(corpus)
        assert table.num_rows == len(corpus) > 0
        for row, (key, value) in enumerate(corpus):
            assert str(table["key"][row].as_py()) == key
            features = value["features"] if isinstance(value, dict) else value
            assert np.array_equal(seqfeed.arrow.rows(table["features"], row), features)


def test_sparse_streams(tmp_path: Path) -> None:
    (tmp_path / "x.ctf").write_text("0 |w 1:2 3:4\n0 |w 0:1\n1 |w 3:5\n")
    (tmp_path / "x.cntk").write_text(
        "r = [ readerType = CNTKTextFormatReader\n file = x.ctf\n randomize = false\n"
        " input = [ w = [ dim = 5\n format = sparse ] ] ]\n"
    )
    table = pa.table(seqfeed.open(f"{tmp_path / 'x.cntk'}#r"))
    pairs = table["w"].to_pylist()
    assert [[[p["index"], p["value"]] for p in sample] for sample in pairs[0]] == [[[1, 2], [3, 4]], [[0, 1]]]


def test_polars(corpus: Any) -> None:
    polars = pytest.importorskip("polars", reason="SKIPPED: there is no polars")
    frame = polars.DataFrame(seqfeed.open(source(corpus)))
    assert frame.columns == ["key", "samples", "features", "labels"] and frame.height == 12
    assert frame["labels"].to_list() == [labels.tolist() for labels in corpus.labels.values()]
    first = np.array(frame["features"][0].to_list(), np.float32)
    assert np.array_equal(first, corpus.features["utt000"])


def test_duckdb(corpus: Any) -> None:
    duckdb = pytest.importorskip("duckdb", reason="SKIPPED: there is no duckdb")
    utterances = seqfeed.open(source(corpus))
    rows = duckdb.sql("select sum(samples), count(*), max(key) from utterances").fetchall()
    assert rows == [(corpus.frames, 12, "utt011")]
    (sums,) = duckdb.sql("select list_sum(labels) from utterances where key = 'utt004'").fetchall()
    assert sums[0] == corpus.labels["utt004"].sum()


def test_errors(corpus: Any) -> None:
    table = seqfeed.open(source(corpus))
    path = Path(corpus["feats.ark"])
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(OSError, match="feats.ark"):
        pa.table(table)
    table.close()
    with pytest.raises(ValueError, match="closed"):
        table.__arrow_c_stream__()


def test_streams_that_nobody_takes(corpus: Any) -> None:
    table = seqfeed.open(source(corpus))
    kept = pa.table(table)["features"]
    reader = seqfeed.arrow.batches(source(corpus))
    assert in_child(lambda: pa.table(table).num_rows) == 12
    for _ in range(20):
        table.__arrow_c_stream__()
        pa.table(table)
    files, memory = open_files(), resident()
    for _ in range(200):
        table.__arrow_c_stream__()
        pa.table(table)
    table.close()
    del table
    gc.collect()
    assert open_files() <= files and resident() - memory < 4 << 20
    assert reader.read_all().num_rows == 12
    assert np.array_equal(seqfeed.arrow.rows(kept, 5), corpus.features["utt005"])
