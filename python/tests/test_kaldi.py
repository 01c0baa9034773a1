"""Kaldi's objects, readers and writers."""

from __future__ import annotations

import gc
import io
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import seqfeed
from seqfeed import kaldi

OBJECTS: dict[str, Any] = {
    "float-matrix": np.arange(6, dtype=np.float32).reshape(2, 3) / 7,
    "double-matrix": np.arange(6, dtype=np.float64).reshape(3, 2) / 7,
    "float-vector": np.array([1.5, -2.5], np.float32),
    "double-vector": np.array([1.5, -2.5, 1e300]),
    "float-packed-matrix": kaldi.PackedMatrix(2, np.array([1, 2, 3], np.float32)),
    "double-packed-matrix": kaldi.PackedMatrix(2, np.array([1.0, 2.0, 3.0])),
    "int8": -3,
    "int16": -300,
    "int32": -70000,
    "int64": -(1 << 40),
    "uint8": 200,
    "uint16": 60000,
    "uint32": 4_000_000_000,
    "uint64": 1 << 50,
    "float": 1.5,
    "double": 0.1,
    "bool": True,
    "int32-vector": np.array([3, 1, 2], np.int32),
    "int8-vector": np.array([3, -128], np.int8),
    "int16-vector": np.array([3, -32768], np.int16),
    "int64-vector": np.array([3, -(1 << 40)], np.int64),
    "int32-vector-vector": [np.array([1, 2], np.int32), np.array([], np.int32)],
    "int32-pair-vector": np.array([[1, 2], [3, 4]], np.int32),
    "float-pair-vector": np.array([[1.5, 2.5]], np.float32),
    "float-basic-vector": np.array([1.5, -2.5], np.float32),
    "double-basic-vector": np.array([0.5, 1e100]),
    "blob": b"\0bytes",
    "token": "hello",
    "token-vector": ["hello", "wörld"],
    "posterior": [[(1, 0.5), (7, 0.5)], []],
    "gauss-posterior": [[(1, np.array([0.5, 1.5], np.float32))]],
    "wave": kaldi.Wave(8000.0, np.array([[1.0, -2.0, 3.0]], np.float32)),
    "htk-matrix": kaldi.HtkMatrix(np.ones((2, 3), np.float32), 100000, 9),
    "float-numpy-array": np.arange(4, dtype=np.float32).reshape(2, 2),
    "double-numpy-array": np.arange(3, dtype=np.float64),
    "sparse-matrix": seqfeed.Sparse(
        np.array([1, 2], np.float32), np.array([0, 2], np.int32), np.array([0, 1, 2]), (2, 3)
    ),
    "sparse-vector": seqfeed.Sparse(
        np.array([1, 2], np.float32), np.array([0, 2], np.int32), np.array([0, 2]), (1, 3)
    ),
    "double-sparse-matrix": seqfeed.Sparse(
        np.array([0.1, 2]), np.array([0, 2], np.int32), np.array([0, 1, 2]), (2, 3)
    ),
    "double-sparse-vector": seqfeed.Sparse(
        np.array([0.1, 2]), np.array([0, 2], np.int32), np.array([0, 2]), (1, 3)
    ),
}
NO_TEXT = {"blob", "wave", "htk-matrix", "float-numpy-array", "double-numpy-array"}


def same(left: Any, right: Any) -> bool:
    """Whether two values are of one type, with the same numbers and dtypes."""
    if isinstance(left, np.ndarray):
        return (
            isinstance(right, np.ndarray)
            and left.dtype == right.dtype
            and left.shape == right.shape
            and np.array_equal(left, right)
        )
    if isinstance(left, (list, tuple)):
        return (
            type(left) is type(right)
            and len(left) == len(right)
            and all(same(*pair) for pair in zip(left, right))
        )
    return type(left) is type(right) and bool(left == right)


@pytest.mark.parametrize("object_type", OBJECTS)
def test_every_type_comes_back(tmp_path: Path, object_type: str) -> None:
    value, path = OBJECTS[object_type], tmp_path / "a.ark"
    with kaldi.Writer(path, object_type=object_type) as writer:
        writer["one"] = value
        writer["two"] = value
    with kaldi.SequentialReader(path, object_type=object_type) as reader:
        found = list(reader)
    assert [key for key, _ in found] == ["one", "two"]
    assert all(same(value, read) for _, read in found), found
    random = kaldi.RandomAccessReader(path, object_type=object_type)
    assert same(random["two"], value) and same(random["one"], value) and same(random["one"], value)
    assert "two" in random and "three" not in random and random.get("three", 5) == 5


@pytest.mark.parametrize("object_type", [name for name in OBJECTS if name not in NO_TEXT])
def test_every_type_comes_back_as_text(tmp_path: Path, object_type: str) -> None:
    path = tmp_path / "a.ark"
    with kaldi.Writer(path, object_type=object_type, text=True) as writer:
        writer["one"] = OBJECTS[object_type]
    first = path.read_bytes()
    [(_, value)] = kaldi.SequentialReader(path, object_type=object_type)
    with kaldi.Writer(f"ark,t:{path}", object_type=object_type) as writer:
        writer["one"] = value
    assert path.read_bytes() == first


def test_all_types_are_tested() -> None:
    opaque = {"nnet-example", "nnet-chain-example", "fst", "lattice", "compact-lattice"}
    assert set(kaldi.object_types()) == set(OBJECTS) | opaque | {"compressed-matrix"}


def test_types_are_inferred(tmp_path: Path) -> None:
    values = {
        "f16": np.ones((2, 2), np.float16),
        "int64": np.array([1, 2]),
        "list": [4, 5, 6],
        "words": ["a", "b"],
        "text": "word",
        "strided": np.arange(12, dtype=np.float32).reshape(3, 4)[::2, ::-1],
        "fortran": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        "big-endian": np.arange(3, dtype=">f4"),
    }
    with kaldi.Writer(tmp_path / "a.ark", text=True) as writer:
        for key, value in values.items():
            writer.write(key, value)
    found = dict(kaldi.SequentialReader(tmp_path / "a.ark"))
    assert np.array_equal(found["f16"], values["f16"])
    assert same(found["int64"], np.array([1, 2], np.int32))
    assert same(found["list"], np.array([4, 5, 6], np.int32))
    # Lines of words are all of one type: one that fits each of them.
    assert found["words"] == ["a", "b"] and found["text"] == ["word"]
    for name in ("strided", "fortran"):
        assert np.array_equal(found[name], values[name])
    # Among matrices, one line of numbers is a matrix of one row.
    assert np.array_equal(found["big-endian"], [values["big-endian"]])


@pytest.mark.parametrize(
    "value",
    [
        None,
        object(),
        np.zeros((2, 2, 2), np.float32),
        np.array(["a"]),
        np.array([1 + 2j]),
        np.array([1 << 40]),
        [1 << 40],
        [1, "a"],
        [[1], 2],
        [object()],
        {"a": 1},
        b"bytes",
    ],
)
def test_other_values_are_refused(tmp_path: Path, value: Any) -> None:
    with kaldi.Writer(tmp_path / "a.ark") as writer:
        with pytest.raises((TypeError, ValueError, OverflowError)):
            writer["k"] = value
        writer["k"] = [1]
    assert len(seqfeed.open(tmp_path / "a.ark")) == 1


@pytest.mark.parametrize("key", ["", "a b", "a\n", 3, None])
def test_wrong_keys_are_refused(tmp_path: Path, key: Any) -> None:
    with kaldi.Writer(tmp_path / "a.ark") as writer, pytest.raises((TypeError, ValueError)):
        writer.write(key, [1])
    with kaldi.Writer(io.BytesIO()) as writer, pytest.raises((TypeError, ValueError)):
        writer.write(key, [1])


def test_keys_that_are_no_text_come_back(tmp_path: Path) -> None:
    with kaldi.Writer(tmp_path / "a.ark") as writer:
        writer[b"\xfe\xfd"] = [1]
        writer["\udcfe"] = [2]
    keys = [key for key, _ in kaldi.SequentialReader(tmp_path / "a.ark")]
    assert keys == ["\udcfe\udcfd", "\udcfe"]
    assert seqfeed.open(tmp_path / "a.ark")[keys[0]].tolist() == [1]


@pytest.mark.parametrize("method", ["auto", "speech", "two-byte-auto", "one-byte-auto", 1, 5])
def test_compression(tmp_path: Path, method: Any) -> None:
    value = np.random.default_rng(0).normal(size=(200, 5)).astype(np.float32)
    with kaldi.Writer(tmp_path / "a.ark", compression=method) as writer:
        writer["k"] = value
    assert (tmp_path / "a.ark").stat().st_size < value.nbytes * 0.6
    found = seqfeed.open(tmp_path / "a.ark")["k"]
    assert found.dtype == np.float32 and np.abs(found - value).max() < 0.2
    rows = seqfeed.open(tmp_path / "a.ark").rows("k", 50, 60)
    assert np.array_equal(rows, found[50:60])
    with pytest.raises(ValueError):
        kaldi.Writer(tmp_path / "b.ark", compression="zip")


def test_arrays_are_the_callers_own(corpus: Any) -> None:
    """Later reads leave them alone; they may be changed, and outlive the reader."""
    reader = kaldi.SequentialReader(f"scp:{corpus['feats.scp']}")
    arrays = dict(reader)
    random = kaldi.RandomAccessReader(f"scp:{corpus['feats.scp']}")
    first = random["utt000"]
    second = random["utt000"]
    first[:] = 7
    assert np.array_equal(second, corpus.features["utt000"])
    assert np.array_equal(random["utt000"], corpus.features["utt000"])
    reader.close()
    del reader, random
    gc.collect()
    for key, array in arrays.items():
        assert array.flags.writeable and np.array_equal(array, corpus.features[key])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_memory_is_used_again_when_nobody_has_it(tmp_path: Path, dtype: type) -> None:
    """Arrays and parts of them keep what is theirs; what they give back is read into again."""
    matrices = {f"utt{n:02}": np.full((300, 40), n, dtype) for n in range(40)}
    with kaldi.Writer(f"ark,scp:{tmp_path}/m.ark,{tmp_path}/m.scp") as writer:
        for key, value in matrices.items():
            writer[key] = value
    whole = dict(kaldi.SequentialReader(tmp_path / "m.scp"))
    parts = {key: value[7:9] for key, value in kaldi.SequentialReader(tmp_path / "m.ark")}
    gc.collect()
    places = set()
    for key, value in kaldi.SequentialReader(tmp_path / "m.ark"):
        assert value.dtype == dtype and value.flags.writeable
        places.add(value.ctypes.data)
        value += 1
    assert len(places) < 20
    for key, value in matrices.items():
        assert np.array_equal(whole[key], value) and np.array_equal(parts[key], value[7:9])


def test_nothing_appears_before_the_end(tmp_path: Path) -> None:
    path = tmp_path / "a.ark"
    with pytest.raises(RuntimeError), kaldi.Writer(path) as writer:
        writer["k"] = [1]
        raise RuntimeError
    writer = kaldi.Writer(path)
    writer["k"] = [1]
    del writer
    gc.collect()
    assert list(tmp_path.iterdir()) == []
    writer = kaldi.Writer(path)
    writer.close()
    writer.close()
    assert path.exists()
    with pytest.raises(ValueError, match="closed"):
        writer["k"] = [1]


def test_file_objects(corpus: Any, tmp_path: Path) -> None:
    with open(corpus["feats.ark"], "rb") as file:
        found = dict(kaldi.SequentialReader(file))
    assert all(np.array_equal(found[key], value) for key, value in corpus.features.items())
    out = io.BytesIO()
    with kaldi.Writer(out) as writer:
        for key, value in corpus.features.items():
            writer[key] = value
    assert out.getvalue() == Path(corpus["feats.ark"]).read_bytes()
    kaldi.save(tmp_path / "one", found["utt001"])
    with open(tmp_path / "one", "rb", buffering=0) as file:
        assert np.array_equal(kaldi.load(file), found["utt001"])
    with open(tmp_path / "raw", "wb", buffering=0) as file:
        kaldi.save(file, found["utt001"])
    assert np.array_equal(kaldi.load(tmp_path / "raw"), found["utt001"])
    assert np.array_equal(kaldi.load((tmp_path / "raw").read_bytes()), found["utt001"])


def test_file_objects_that_fail(corpus: Any) -> None:
    class Broken:
        def read(self, size: int) -> bytes:
            raise RuntimeError("no more")

    with pytest.raises(seqfeed.IoError, match="no more") as caught:
        list(kaldi.SequentialReader(Broken()))
    assert isinstance(caught.value.__cause__, RuntimeError)
    with pytest.raises(seqfeed.IoError, match="binary mode"):
        list(kaldi.SequentialReader(io.StringIO("utt1 1 2\n")))
    for wrong in (5, None, object(), ["scp:x"]):
        with pytest.raises(TypeError):
            kaldi.SequentialReader(wrong)  # type: ignore[arg-type]


def test_a_closed_reader_says_so(corpus: Any) -> None:
    reader = kaldi.SequentialReader(corpus["feats.scp"])
    next(reader)
    reader.close()
    with pytest.raises(ValueError, match="closed"):
        next(reader)
    random = kaldi.RandomAccessReader(corpus["feats.scp"])
    random.close()
    with pytest.raises(ValueError, match="closed"):
        random["utt000"]


def test_readers_are_pickled_where_they_stand(corpus: Any) -> None:
    reader = kaldi.SequentialReader(corpus["feats.scp"])
    next(reader), next(reader)
    copy = pickle.loads(pickle.dumps(reader))
    assert [key for key, _ in copy] == [key for key, _ in reader]
    random = pickle.loads(pickle.dumps(kaldi.RandomAccessReader(corpus["feats.scp"])))
    assert np.array_equal(random["utt003"], corpus.features["utt003"])


def test_damage_is_an_error_with_its_place(corpus: Any, tmp_path: Path) -> None:
    data = Path(corpus["feats.ark"]).read_bytes()
    (tmp_path / "cut.ark").write_bytes(data[:-5])
    with pytest.raises(seqfeed.FormatError) as caught:
        list(kaldi.SequentialReader(f"ark:{tmp_path}/cut.ark"))
    error = caught.value
    assert isinstance(error, ValueError)
    assert error.key == "utt011" and error.path == f"{tmp_path}/cut.ark" and error.offset
    assert error.help is not None and "cut short" in error.help
    reader = kaldi.SequentialReader(f"ark,p:{tmp_path}/cut.ark")
    assert len(list(reader)) == 11 and reader.skipped == 1


def test_pipes_need_leave(corpus: Any) -> None:
    name = f"ark:cat {corpus['feats.ark']} |"
    with pytest.raises(seqfeed.ForbiddenError, match="allow_pipes=True") as caught:
        kaldi.SequentialReader(name)
    assert isinstance(caught.value, PermissionError)
    with pytest.raises(seqfeed.ForbiddenError):
        kaldi.Writer("ark:| cat > /dev/null")
    found = dict(kaldi.SequentialReader(name, allow_pipes=True))
    assert len(found) == 12
    table = seqfeed.open(name, allow_pipes=True)
    assert len(table) == 12 and np.array_equal(table["utt003"], found["utt003"])
    with pytest.raises(seqfeed.CommandError):
        list(kaldi.SequentialReader("ark:false |", allow_pipes=True))


def test_a_command_that_gave_all_and_failed_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "f.ark").write_text("a  [\n1 2 ]\nb  [\n3 4 ]\n")
    (tmp_path / "one.mat").write_text(" [\n1 2 ]\n")
    (tmp_path / "c.scp").write_text(f"a cat {tmp_path}/one.mat; exit 3 |\n")
    archive, script = f"ark:cat {tmp_path}/f.ark; exit 3 |", f"scp:{tmp_path}/c.scp"

    def failing(name: str, read: Any) -> None:
        with pytest.raises(seqfeed.CommandError, match="exit status 3"):
            read(name)

    failing(f"cat {tmp_path}/one.mat; exit 3 |", lambda name: kaldi.load(name, allow_pipes=True))
    for name in [archive, archive.replace("ark:", "ark,bg:"), script]:
        failing(name, lambda name: list(kaldi.SequentialReader(name, allow_pipes=True)))
    for name in [archive, archive.replace("ark:", "ark,s,cs:")]:
        failing(name, lambda name: kaldi.RandomAccessReader(name, allow_pipes=True).get("c"))
    failing(script, lambda name: kaldi.RandomAccessReader(name, allow_pipes=True)["a"])
    failing(archive, lambda name: len(seqfeed.open(name, allow_pipes=True)))


def test_objects_without_a_type_of_pythons(tmp_path: Path) -> None:
    text = b"lat \n0 1 3 1.5,2.5,1_2\n1 0.5,0.25,\n\n"
    (tmp_path / "lat.ark").write_bytes(text)
    [(_, lattice)] = kaldi.SequentialReader(tmp_path / "lat.ark", object_type="compact-lattice")
    assert isinstance(lattice, kaldi.KaldiObject) and lattice.object_type == "compact-lattice"
    copy = pickle.loads(pickle.dumps(lattice))
    assert copy == kaldi.KaldiObject.from_bytes("compact-lattice", lattice.to_bytes())
    assert copy.to_bytes() == lattice.to_bytes() and copy != 5
    with kaldi.Writer(tmp_path / "again.ark", text=True) as writer:
        writer["lat"] = lattice
    assert (tmp_path / "again.ark").read_text().split() == text.decode().split()
    assert lattice.to_text().split() == text.decode().split()[1:]
    with pytest.raises(TypeError), kaldi.Writer(tmp_path / "x.ark", object_type="lattice") as writer:
        writer["lat"] = lattice


def test_pairs_as_json_has_them(tmp_path: Path) -> None:
    path = f"ark:{tmp_path}/post.ark"
    for object_type in ("posterior", None):
        with kaldi.Writer(path, object_type=object_type) as writer:
            writer["a"] = [[[1, 0.5], (7, 0.25)], []]
        assert [value for _, value in kaldi.SequentialReader(path)] == [[[(1, 0.5), (7, 0.25)], []]]
    with kaldi.Writer(path, object_type="posterior") as writer, pytest.raises(TypeError, match="pair"):
        writer["a"] = [[[1, 0.5, 2]]]


def test_what_is_a_truth_value(tmp_path: Path) -> None:
    path = f"ark:{tmp_path}/bool.ark"
    with kaldi.Writer(path, object_type="bool") as writer:
        for key, value in {"a": True, "b": 0, "c": np.bool_(True), "d": 0.0}.items():
            writer[key] = value
        for wrong in ("false", b"", [], None):
            with pytest.raises(TypeError, match="truth"):
                writer["x"] = wrong
    assert [value for _, value in kaldi.SequentialReader(path)] == [True, False, True, False]


def test_values_are_read_when_they_are_asked_for(tmp_path: Path) -> None:
    archive, script = tmp_path / "a.ark", tmp_path / "a.scp"
    with kaldi.Writer(f"ark,scp:{archive},{script}") as writer:
        for number in range(3):
            writer[f"utt{number}"] = np.full((2, 3), number, np.float32)
    lines = script.read_text().splitlines()
    (tmp_path / "bad.scp").write_text("\n".join([lines[0], "gone nowhere.ark:5", *lines[1:]]) + "\n")

    def read(reader: kaldi.SequentialReader, wanted: str) -> list[tuple[str, float | None]]:
        found: list[tuple[str, float | None]] = []
        while (key := reader.next_key()) is not None:
            found.append((key, reader.value()[0, 0] if key == wanted else None))
        return found

    expected = [("utt0", None), ("utt1", 1.0), ("utt2", None)]
    for object_type in (None, "float-matrix", "double-matrix", "compressed-matrix"):
        for source in (f"ark:{archive}", f"scp:{script}", f"ark,p,bg:{archive}"):
            if object_type != "compressed-matrix":
                assert read(kaldi.SequentialReader(source, object_type=object_type), "utt1") == expected
    with open(archive, "rb") as file:
        assert read(kaldi.SequentialReader(file), "utt1") == expected
    # An entry that nobody asks for is not looked at.
    reader = kaldi.SequentialReader(f"scp:{tmp_path}/bad.scp")
    assert [key for key, _ in read(reader, "")] == ["utt0", "gone", "utt1", "utt2"]
    reader = kaldi.SequentialReader(f"scp:{tmp_path}/bad.scp")
    assert (reader.next_key(), reader.next_key()) == ("utt0", "gone")
    with pytest.raises(seqfeed.NotFoundError) as raised:
        reader.value()
    assert raised.value.key == "gone"
    assert reader.next_key() == "utt1"
    with pytest.raises(seqfeed.UsageError):
        kaldi.SequentialReader(f"ark:{archive}").value()
    reader = kaldi.SequentialReader(f"scp:{tmp_path}/bad.scp")
    assert reader.next_key() == "utt0"
    assert next(reader := kaldi.SequentialReader(f"scp:{script}"))[0] == "utt0"
    # Where it stands goes with it.
    copy = pickle.loads(pickle.dumps(reader))
    assert copy.next_key() == "utt1"
    copy.close()
    with pytest.raises(ValueError, match="closed"):
        copy.next_key()


def test_types_that_nothing_tells_are_to_be_named(tmp_path: Path) -> None:
    path = tmp_path / "a.ark"
    with kaldi.Writer(f"ark:{path}", object_type="float") as writer:
        writer["a"], writer["b"] = 0.5, 3.0
    opened = (
        lambda **options: dict(kaldi.SequentialReader(f"ark:{path}", **options)),
        lambda **options: dict(kaldi.SequentialReader(f"ark:cat {path} |", allow_pipes=True, **options)),
        lambda **options: dict(kaldi.SequentialReader(io.BytesIO(path.read_bytes()), **options)),
        lambda **options: {key: kaldi.RandomAccessReader(f"ark:{path}", **options)[key] for key in "ab"},
        lambda **options: dict(seqfeed.open(f"ark:{path}", **options).items()),
        lambda **options: {"a": kaldi.load(f"{path}:2", **options), "b": kaldi.load(f"{path}:11", **options)},
    )
    for read in opened:
        with pytest.raises(seqfeed.CorpusError, match="float, int32") as raised:
            read()
        assert "object_type" in raised.value.help
        assert read(object_type="float") == {"a": 0.5, "b": 3.0}
    # All objects together tell what one alone does not.
    with kaldi.Writer(f"ark:{path}", object_type="int32") as writer:
        writer["a"], writer["b"] = 1_000_000_000, 1
    for read in opened[:-1]:
        assert read() == {"a": 1_000_000_000, "b": 1}
