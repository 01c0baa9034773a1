"""`seqfeed.open`: any corpus as a table."""

from __future__ import annotations

import gc
import gzip
import io
import os
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import seqfeed

from test_processes import in_child


def check(table: seqfeed.Table, expected: dict[str, np.ndarray]) -> None:
    assert len(table) == len(expected)
    assert list(table.keys()) == list(expected)
    for (key, value), wanted in zip(table, expected.values()):
        assert np.array_equal(value, wanted) and value.flags.writeable
        assert np.array_equal(table[key], wanted)
        assert np.array_equal(table.rows(key, 1, 3), wanted[1:3])
        assert np.array_equal(table.rows(key, 2), wanted[2:])
        assert np.array_equal(table.rows(key, 3, 10_000), wanted[3:])
        assert table.rows(key, 4, 2).shape[0] == 0 and table.rows(key, 99, 100).shape[0] == 0
    assert [value.shape for value in table.values()] == [v.shape for v in expected.values()]
    assert {key: value.tolist() for key, value in table.items()} == {
        key: value.tolist() for key, value in expected.items()
    }
    assert "nobody" not in table and table.get("nobody") is None
    with pytest.raises(seqfeed.MissingKeyError) as caught:
        table["nobody"]
    assert isinstance(caught.value, KeyError) and caught.value.key == "nobody"


@pytest.mark.parametrize("name", ["feats.scp", "feats.ark", "ali.scp", "ali.ark"])
def test_kaldi(corpus: Any, name: str) -> None:
    expected = corpus.features if name.startswith("feats") else corpus.labels
    kind = name[-3:]
    check(seqfeed.open(f"{kind}:{corpus[name]}"), expected)
    check(seqfeed.open(Path(corpus[name])), expected)


def test_kaldi_compressed_and_text(corpus: Any, tmp_path: Path) -> None:
    (tmp_path / "f.ark.gz").write_bytes(gzip.compress(Path(corpus["feats.ark"]).read_bytes()))
    check(seqfeed.open(tmp_path / "f.ark.gz"), corpus.features)
    with seqfeed.kaldi.Writer(tmp_path / "t.ark", text=True) as writer:
        for key, value in corpus.labels.items():
            writer[key] = value
    check(seqfeed.open(tmp_path / "t.ark"), corpus.labels)


def test_file_objects(corpus: Any) -> None:
    with open(corpus["feats.ark"], "rb") as file:
        table = seqfeed.open(file)
    assert table.name == corpus["feats.ark"]
    check(table, corpus.features)
    compressed = io.BytesIO(gzip.compress(Path(corpus["ali.ark"]).read_bytes()))
    labels = seqfeed.open(compressed, object_type="int32-vector")
    check(labels, corpus.labels)
    first = labels["utt000"]
    first[:] = 7
    assert np.array_equal(labels["utt000"], corpus.labels["utt000"])
    assert in_child(lambda: len(list(labels))) == 12
    with pytest.raises(TypeError, match="pickled"):
        pickle.dumps(table)
    with pytest.raises(TypeError, match="options"):
        seqfeed.open(io.BytesIO(), order="sequential")
    with pytest.raises(seqfeed.Error, match="by its name"):
        table.__arrow_c_stream__()
    cut = Path(corpus["feats.ark"]).read_bytes()[:100]
    with pytest.raises(seqfeed.FormatError, match="utt001"):
        seqfeed.open(io.BytesIO(cut))
    with pytest.raises(seqfeed.IoError, match="binary mode"):
        seqfeed.open(io.StringIO("utt1 1 2\n"))
    assert list(seqfeed.open(io.BytesIO())) == []
    table.close()
    with pytest.raises(ValueError, match="closed"):
        len(table)


def test_several_streams_are_dictionaries(corpus: Any) -> None:
    source = {"features": f"scp:{corpus['feats.scp']}", "labels": f"ark:{corpus['ali.ark']}"}
    for table in (seqfeed.open(source), seqfeed.open(source | {"missing": "stop"})):
        assert table.streams["labels"].kind == "label" and table.streams["features"].dim == 3
        for key, value in table:
            assert np.array_equal(value["features"], corpus.features[key])
            assert np.array_equal(value["labels"], corpus.labels[key])
            part = table.rows(key, 1, 4)
            assert np.array_equal(part["labels"], corpus.labels[key][1:4])


@pytest.mark.parametrize(
    "source", ["train.toml", "train.ctf", "train.pfile", "train.pickle", "train.cntk#Train.reader"]
)
def test_every_format(digits: Path, source: str) -> None:
    table = seqfeed.open(f"{digits}/{source}")
    keys = list(table.keys())
    assert len(keys) == len(table) > 0
    for key, value in table:
        values = value if isinstance(value, dict) else {"": value}
        again = table[key] if isinstance(value, dict) else {"": table[key]}
        for name, array in values.items():
            if isinstance(array, seqfeed.Sparse):
                assert np.array_equal(array.toarray(), again[name].toarray())
                part = table.rows(key, 2, 5)[name]
                assert np.array_equal(part.toarray(), array.toarray()[2:5])
            else:
                assert np.array_equal(array, again[name]) and array.flags.writeable


def test_formats_agree(digits: Path) -> None:
    """The digits are the same frames in every format."""
    kaldi = seqfeed.open(digits / "train.toml")
    ctf = seqfeed.open(digits / "train.ctf")
    for (_, one), (_, other) in zip(ctf, kaldi):
        labels = one["labels"]
        assert np.allclose(one["features"], other["features"], atol=1e-5)
        assert np.array_equal(labels.indices, other["labels"])


def test_sparse_rows_fit_scipy(digits: Path) -> None:
    scipy_sparse = pytest.importorskip("scipy.sparse")
    _, value = next(iter(seqfeed.open(digits / "train.ctf")))
    sparse = value["labels"]
    matrix = scipy_sparse.csr_matrix(sparse[:3], shape=sparse.shape)
    assert np.array_equal(matrix.toarray(), sparse.toarray())
    assert matrix.shape[0] == len(value["features"])


def test_numpy_files(tmp_path: Path) -> None:
    array = np.arange(12, dtype=np.float32).reshape(4, 3)
    np.save(tmp_path / "a.npy", array)
    [(_, value)] = seqfeed.open(tmp_path / "a.npy")
    assert np.array_equal(value["features"] if isinstance(value, dict) else value, array)


def test_iterators_outlive_the_table(corpus: Any) -> None:
    iterator = iter(seqfeed.open(corpus["feats.scp"]))
    gc.collect()
    assert len(list(iterator)) == 12
    assert list(iterator) == []
    table = seqfeed.open(corpus["feats.scp"])
    half = iter(table)
    next(half)
    del half
    with table as same:
        assert same is table
    with pytest.raises(ValueError, match="closed"):
        table["utt000"]


def test_tables_are_pickled(corpus: Any, digits: Path) -> None:
    for source in (corpus["feats.scp"], digits / "train.ctf"):
        table = seqfeed.open(source)
        copy = pickle.loads(pickle.dumps(table))
        assert list(copy.keys()) == list(table.keys())


@pytest.mark.parametrize("source", [None, 5, object(), ["a"], b"feats.scp"])
def test_wrong_sources(source: Any) -> None:
    with pytest.raises((TypeError, ValueError)):
        seqfeed.open(source)


@pytest.mark.parametrize("key", [None, 5, ("utt000", 3), object()])
def test_wrong_keys(corpus: Any, key: Any) -> None:
    for table in (seqfeed.open(corpus["feats.scp"]), seqfeed.open({"features": "scp:" + corpus["feats.scp"]})):
        with pytest.raises(TypeError):
            table[key]
        with pytest.raises((TypeError, OverflowError)):
            table.rows("utt000", -1)


def test_what_is_skipped_is_said(corpus: Any, tmp_path: Path) -> None:
    with seqfeed.kaldi.Writer(tmp_path / "few.ark") as writer:
        writer["utt000"] = corpus.labels["utt000"]
    source = {"features": f"scp:{corpus['feats.scp']}", "labels": f"ark:{tmp_path}/few.ark"}
    with pytest.warns(seqfeed.DataWarning, match="skipped 11"):
        assert list(seqfeed.open(source).keys()) == ["utt000"]


def test_what_can_be_no_key_is_not_there(tmp_path: Path) -> None:
    with seqfeed.kaldi.Writer(f"ark,scp:{tmp_path}/a.ark,{tmp_path}/a.scp") as writer:
        writer["a"] = np.ones((2, 2), np.float32)
    for name in (f"ark:{tmp_path}/a.ark", f"scp:{tmp_path}/a.scp"):
        table = seqfeed.open(name)
        for key in ("", "a b", "a\n", "\x01"):
            assert key not in table and table.get(key) is None
            with pytest.raises(KeyError):
                table[key]
        assert "a" in table


def test_a_name_that_is_no_utf8() -> None:
    """It is a name as any other; messages show its bytes."""
    with pytest.raises(FileNotFoundError, match=r"\\xff.ark"):
        seqfeed.open(Path(os.fsdecode(b"\xff.ark")))
