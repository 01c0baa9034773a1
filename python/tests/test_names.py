"""What names mean, and names that are no text."""

from __future__ import annotations

import os
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import Corpus

import seqfeed
from seqfeed import kaldi


def test_what_names_mean() -> None:
    cases: list[tuple[Any, str, tuple[Any, ...]]] = [
        (kaldi.RxFilename, "", ("standard-input", None, None)),
        (kaldi.RxFilename, "-", ("standard-input", None, None)),
        (kaldi.RxFilename, "gunzip -c a.gz |", ("pipe", "gunzip -c a.gz ", None)),
        (kaldi.RxFilename, "a.ark", ("file", "a.ark", None)),
        (kaldi.RxFilename, "a.ark:12", ("offset", "a.ark", 12)),
        (kaldi.WxFilename, "-", ("standard-output", None)),
        (kaldi.WxFilename, "| gzip", ("pipe", " gzip")),
        (kaldi.WxFilename, "a.ark", ("file", "a.ark")),
        (kaldi.Rspecifier, "ark:a.ark", ("ark", "a.ark", False, False, False, False, False)),
        (kaldi.Rspecifier, "scp,o,p,s,cs,bg:a", ("scp", "a", True, True, True, True, True)),
        (kaldi.Wspecifier, "ark,t,f:a", ("a", None, True, True, False)),
        (kaldi.Wspecifier, "ark,scp:a,b", ("a", "b", False, False, False)),
        (kaldi.Wspecifier, "scp,p:b", (None, "b", False, False, True)),
    ]
    for kind, name, expected in cases:
        parsed = kind.parse(name)
        assert type(parsed) is kind and tuple(parsed) == expected
        assert kind.parse(Path(name)) == kind.parse(str(Path(name)))
    wrong = [
        (kaldi.RxFilename, "| gzip"),
        (kaldi.RxFilename, "ark:a"),
        (kaldi.RxFilename, " a"),
        (kaldi.WxFilename, "a |"),
        (kaldi.WxFilename, "a:12"),
        (kaldi.Rspecifier, "a.ark"),
        (kaldi.Rspecifier, "ark,scp:a,b"),
        (kaldi.Wspecifier, "scp,ark:a,b"),
        (kaldi.Wspecifier, "ark,scp:a"),
    ]
    for kind, name in wrong:
        with pytest.raises(seqfeed.UsageError):
            kind.parse(name)
    for kind in (kaldi.RxFilename, kaldi.WxFilename, kaldi.Rspecifier, kaldi.Wspecifier):
        with pytest.raises(TypeError):
            kind.parse(5)


def test_keys_that_a_map_gives(corpus: Corpus, tmp_path: Path) -> None:
    statistics = {"anna": np.ones((2, 4)), "bert": np.zeros((3, 4))}
    corpus.write("ark,scp", "cmvn", statistics)
    (tmp_path / "utt2spk").write_text("utt1 anna\nutt2 bert\nutt3 anna\nutt4 carl\n")
    for source in (f"scp:{corpus['cmvn']}.scp", f"ark:{corpus['cmvn']}.ark", f"{corpus['cmvn']}.scp"):
        for utt2spk in (f"ark:{tmp_path}/utt2spk", tmp_path / "utt2spk"):
            reader = kaldi.RandomAccessReader(source, utt2spk=utt2spk, object_type="double-matrix")
            for one in (reader, pickle.loads(pickle.dumps(reader))):
                assert one["utt3"].shape == one["utt1"].shape == (2, 4) and one["utt2"].shape == (3, 4)
                assert "utt1" in one and "utt4" not in one and one.get("utt4", 5) == 5
                assert one.rows("utt2", 1).shape == (2, 4)
                with pytest.raises(seqfeed.CorpusError, match="no entry"):
                    one["anna"]
                with pytest.raises(KeyError):
                    one["utt4"]
    with pytest.raises(FileNotFoundError):
        kaldi.RandomAccessReader(f"scp:{corpus['cmvn']}.scp", utt2spk="ark:none")
    with pytest.raises(TypeError):
        kaldi.RandomAccessReader(f"scp:{corpus['cmvn']}.scp", utt2spk=5)  # type: ignore[arg-type]


MATRIX = np.arange(6, dtype=np.float32).reshape(3, 2)


def test_names_are_bytes(tmp_path: Path) -> None:
    """Latin-1 and GBK: names that differ in one byte are those of two files, everywhere."""
    names = [os.fsdecode(os.fsencode(tmp_path) + name) for name in (b"/o\xe4", b"/o\xe5", b"/\xc4\xe3\xba\xc3")]
    for number, name in enumerate(names):
        keys = {f"utt{number}": MATRIX + number, "other": MATRIX}
        with kaldi.Writer(f"ark,scp:{name}.ark,{name}.scp") as writer:
            assert writer.name == f"ark,scp:{name}.ark,{name}.scp"
            for key, value in keys.items():
                writer[key] = value
        kaldi.save(f"{name}.mat", MATRIX + number)
        with kaldi.ObjectWriter(name + ".model") as out:
            out.write_token("<A>")
    assert len(os.listdir(tmp_path)) == 12 and all(os.path.exists(name + ".ark") for name in names)
    for number, name in enumerate(names):
        key, value = f"utt{number}", MATRIX + number
        for source in (f"scp:{name}.scp", f"ark:{name}.ark", f"{name}.scp", Path(name + ".ark"), Bytes(name + ".ark")):
            sequential = kaldi.SequentialReader(source)
            assert np.array_equal(next(sequential)[1], value) and sequential.name.endswith((".scp", ".ark"))
            assert os.path.basename(name) in sequential.name
            assert len(list(pickle.loads(pickle.dumps(sequential)))) == 1
            random = kaldi.RandomAccessReader(source)
            assert np.array_equal(pickle.loads(pickle.dumps(random))[key], value) and key in random
            with seqfeed.open(source) as table:
                assert np.array_equal(table[key], value) and len(table) == 2
                assert np.array_equal(pickle.loads(pickle.dumps(table))[key], value)
        assert np.array_equal(kaldi.load(f"{name}.mat"), value)
        assert np.array_equal(kaldi.load(f"{name}.mat[1:1]"), value[1:2])
        assert kaldi.ObjectReader(name + ".model").read_token() == "<A>"
        assert kaldi.RxFilename.parse(f"{name}.ark:7") == ("offset", f"{name}.ark", 7)
        feed = seqfeed.Feed(f"scp:{name}.scp", order="sequential", batch_size=3)
        assert np.array_equal(next(feed)["features"], value)
        feed = seqfeed.Feed({"features": f"scp:{name}.scp"}, order="sequential", batch_size=3)
        assert np.array_equal(next(feed)["features"], value)
        with seqfeed.Writer(f"{name}.parquet") as corpus:
            corpus[key] = value
        assert seqfeed.convert(f"scp:{name}.scp", f"{name}.arrow")["sequences"] == 2
        assert np.array_equal(seqfeed.open(f"{name}.parquet")[key], value)
        with seqfeed.Writer(f"ark:{name}.x", to={"labels": f"ark:{name}.y"}) as corpus:
            corpus.write(key, features=value, labels=np.arange(3))
        assert kaldi.SequentialReader(f"ark:{name}.y").__next__()[1].tolist() == [0, 1, 2]
        with open(f"{name}.x", "rb") as file:
            reader = kaldi.SequentialReader(file)
            assert reader.name.endswith(".x") and next(reader)[0] == key
    assert len(os.listdir(tmp_path)) == 24
    with pytest.raises(FileNotFoundError) as caught:
        seqfeed.open(f"scp:{names[0]}.none")
    # What is shown is escaped, never half a name.
    assert "o\\xe4.none" in str(caught.value)


def test_keys_and_names_in_the_drop_ins(tmp_path: Path) -> None:
    import seqfeed.compat.kaldi_native_io as native

    name = os.fsdecode(os.fsencode(tmp_path) + b"/o\xe4")
    with native.FloatMatrixWriter(f"ark,scp:{name}.ark,{name}.scp") as writer:
        writer["k\udce4"] = MATRIX
    [(key, value)] = native.SequentialFloatMatrixReader(f"scp:{name}.scp")
    assert key == "k\udce4" and np.array_equal(value, MATRIX)
    native.FloatMatrix(MATRIX).write(f"{name}.mat", True)
    assert native.FloatMatrix.read(f"{name}.mat").shape == (3, 2)


class Bytes(os.PathLike[bytes]):
    """A path whose name is bytes, as ``os.scandir(b".")`` gives them."""

    def __init__(self, name: str) -> None:
        self._name = os.fsencode(name)

    def __fspath__(self) -> bytes:
        return self._name
