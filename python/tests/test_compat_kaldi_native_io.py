"""The drop-in for kaldi_native_io, by itself and beside it."""

from __future__ import annotations

import gc
import gzip
import inspect
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from peers import run_cases
from test_kaldi import same

import seqfeed
import seqfeed.compat.kaldi_native_io as native
from seqfeed import compat, kaldi

MATRIX = np.arange(12, dtype=np.float32).reshape(4, 3) / 8
VALUES: dict[str, Any] = {
    "Int32": -7,
    "Float": 1.5,
    "Double": 0.1,
    "Bool": True,
    "Token": "wörd",
    "TokenVector": ["a", "b"],
    "Blob": bytes(range(256)),
    "Posterior": [[(1, 0.5), (2, 0.25)], []],
    "Int32Vector": [3, -1, 2],
    "Int8Vector": [3, -128, 127],
    "Int32VectorVector": [[1, 2], [], [3]],
    "Int32PairVector": [(1, 2), (3, 4)],
    "FloatPairVector": [(1.0, 2.5)],
    "FloatVector": MATRIX[1],
    "DoubleVector": MATRIX[2].astype(np.float64),
    "FloatMatrix": MATRIX,
    "DoubleMatrix": MATRIX.astype(np.float64),
    "HtkMatrix": (MATRIX, native.HtkHeader(4, 100000, 12, 9)),
    "GaussPost": [[(1, MATRIX[0])], []],
}
NO_TEXT = {"Blob", "HtkMatrix"}


def table(kind: str, name: str) -> Any:
    pattern = {"w": "{}Writer", "s": "Sequential{}Reader", "r": "RandomAccess{}Reader"}[kind]
    return getattr(native, pattern.format(name))


def alike(left: Any, right: Any) -> bool:
    if isinstance(left, (list, tuple)):
        return type(left) is type(right) and len(left) == len(right) and all(map(alike, left, right))
    return same(left, right)


@pytest.mark.parametrize("options", ["", "t,"])
@pytest.mark.parametrize("name", VALUES)
def test_every_type_comes_back(tmp_path: Path, name: str, options: str) -> None:
    value, names = VALUES[name], f"{tmp_path}/a.ark,{tmp_path}/a.scp"
    if options and name in NO_TEXT:
        kind = ValueError if name == "Blob" else native.KaldiError
        with pytest.raises(kind) as caught, table("w", name)(f"ark,t,scp:{names}") as writer:
            writer["a"] = value
        assert isinstance(caught.value, native.KaldiError)
        assert (tmp_path / "a.ark").read_bytes() == (tmp_path / "a.scp").read_bytes() == b""
        return
    with table("w", name)(f"ark,{options}scp:{names}") as writer:
        writer.write("a", value)
        writer["b"] = value
        assert writer.is_open
    assert not writer.is_open
    for source in (f"ark:{tmp_path}/a.ark", f"scp:{tmp_path}/a.scp"):
        with table("s", name)(source) as reader:
            found = list(reader)
        assert [key for key, _ in found] == ["a", "b"]
        assert all(alike(read, value) for _, read in found), found
        with table("r", name)(source) as random:
            assert "a" in random and "c" not in random
            assert alike(random["b"], value) and alike(random["a"], value)
            with pytest.raises(RuntimeError, match="c"):
                random["c"]


def test_all_names_are_there() -> None:
    for name in [*VALUES, "Wave", "WaveInfo", "MatrixShape"]:
        for kind in "wsr":
            assert kind == "w" and name in ("WaveInfo", "MatrixShape") or inspect.isclass(table(kind, name))
    assert all(hasattr(native, name) for name in native.__all__)
    assert len(native.__all__) == len(set(native.__all__))


@pytest.mark.parametrize("name", ["FloatMatrix", "DoubleMatrix", "FloatVector", "GaussPost", "HtkMatrix"])
def test_arrays_are_the_callers_own(tmp_path: Path, name: str) -> None:
    """The original's are views that the next read overwrites."""
    with table("w", name)(f"ark,scp:{tmp_path}/a.ark,{tmp_path}/a.scp") as writer:
        for key in "abc":
            writer[key] = VALUES[name]
    random = table("r", name)(f"scp:{tmp_path}/a.scp")
    values = [random["a"], random["b"]]
    reader = table("s", name)(f"scp:{tmp_path}/a.scp")
    values += [value for _, value in reader]
    reader.close(), random.close()
    del reader, random
    gc.collect()
    first = values[0]
    array = first[0] if name == "HtkMatrix" else first[0][0][1] if name == "GaussPost" else first
    assert array.flags.writeable and array.flags.c_contiguous
    array[:] = 77
    assert all(alike(value, VALUES[name]) for value in values[1:])


def test_a_reader_by_hand(tmp_path: Path) -> None:
    with native.Int32VectorWriter(f"ark:{tmp_path}/a.ark") as writer:
        writer["a"], writer["b"] = [1], [2]
    reader = native.SequentialInt32VectorReader(f"ark:{tmp_path}/a.ark")
    assert reader.is_open and not reader.done
    assert reader.key == "a" and reader.value == [1] and reader.value is not reader.value
    reader.next()
    assert reader.key == "b"
    reader.free_current()
    with pytest.raises(RuntimeError):
        reader.value
    reader.next()
    assert reader.done
    for wrong in (reader.next, lambda: reader.key, lambda: reader.value):
        with pytest.raises(RuntimeError):
            wrong()
    assert list(reader) == []
    reader.open(f"ark:{tmp_path}/a.ark")
    assert list(reader) == [("a", [1]), ("b", [2])]
    reader.close()
    reader.close()
    assert not reader.is_open
    for wrong in (lambda: reader.done, lambda: list(reader)):
        with pytest.raises(RuntimeError, match="closed"):
            wrong()
    with pytest.raises(RuntimeError, match="closed"):
        writer.write("c", [1])


def test_entries_that_cannot_be_loaded(tmp_path: Path) -> None:
    with native.FloatMatrixWriter(f"ark:{tmp_path}/a.ark") as writer:
        writer["a"] = MATRIX
    (tmp_path / "a.scp").write_text(f"a {tmp_path}/a.ark:2\nb {tmp_path}/none:3\nc {tmp_path}/a.ark:2\n")
    reader = native.SequentialFloatMatrixReader(f"scp:{tmp_path}/a.scp")
    reader.next()
    assert reader.key == "b"
    with pytest.raises(RuntimeError, match="none"):
        reader.value
    reader.next()
    assert reader.key == "c" and same(reader.value, MATRIX)
    with pytest.raises(RuntimeError) as caught:
        list(native.SequentialFloatMatrixReader(f"scp:{tmp_path}/a.scp"))
    assert isinstance(caught.value, seqfeed.Error) and caught.value.key == "b"
    assert caught.value.path == f"{tmp_path}/none"
    permissive = native.SequentialFloatMatrixReader(f"scp,p:{tmp_path}/a.scp")
    assert [key for key, _ in permissive] == ["a", "c"]


def test_a_damaged_archive_is_an_error(tmp_path: Path) -> None:
    """In the original it is the end."""
    with native.FloatMatrixWriter(f"ark:{tmp_path}/a.ark") as writer:
        writer["a"], writer["b"] = MATRIX, MATRIX
    data = (tmp_path / "a.ark").read_bytes()
    (tmp_path / "cut.ark").write_bytes(data[:-3])
    with pytest.raises(native.KaldiError) as caught:
        list(native.SequentialFloatMatrixReader(f"ark:{tmp_path}/cut.ark"))
    assert caught.value.key == "b" and isinstance(caught.value.__cause__, seqfeed.FormatError)
    assert len(list(native.SequentialFloatMatrixReader(f"ark,p:{tmp_path}/cut.ark"))) == 1
    with pytest.raises(RuntimeError):
        native.SequentialInt32VectorReader(f"ark:{tmp_path}/a.ark")


def test_what_was_written_can_be_read_at_once(tmp_path: Path) -> None:
    """The table is there from the beginning, and each entry in it, whole, when it has
    been written."""
    names = f"{tmp_path}/a.ark,{tmp_path}/a.scp"
    (tmp_path / "a.ark").write_bytes(b"what stood here")
    writer = native.FloatMatrixWriter(f"ark,scp:{names}")
    assert (tmp_path / "a.ark").read_bytes() == (tmp_path / "a.scp").read_bytes() == b""
    large = np.arange(90_000, dtype=np.float32).reshape(300, 300)
    for number, key in enumerate("abc", 1):
        writer[key] = large
        for source in (f"ark:{tmp_path}/a.ark", f"scp:{tmp_path}/a.scp"):
            found = list(native.SequentialFloatMatrixReader(source))
            assert len(found) == number and same(found[-1][1], large)
    writer.flush()
    # What cannot be written leaves no trace; what was written before stays, whatever happens.
    with pytest.raises(AssertionError), writer:
        writer["d"] = large.astype(np.float64)
    assert not writer.is_open
    assert [key for key, _ in native.SequentialFloatMatrixReader(f"scp:{tmp_path}/a.scp")] == list("abc")
    with pytest.raises(RuntimeError, match="closed"):
        writer.flush()


KILLED = """
import os, signal, sys
import numpy as np
import seqfeed.compat.kaldi_native_io as native
writer = native.FloatMatrixWriter(sys.argv[1])
for number in range(50):
    writer[f"u{number:03}"] = np.full((100, 40), number, np.float32)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_job_that_is_killed_keeps_what_it_wrote(tmp_path: Path) -> None:
    wspecifier = f"ark,scp:{tmp_path}/a.ark,{tmp_path}/a.scp"
    ended = subprocess.run([sys.executable, "-c", KILLED, wspecifier])
    assert ended.returncode == -signal.SIGKILL
    for source in (f"ark:{tmp_path}/a.ark", f"scp:{tmp_path}/a.scp"):
        found = list(native.SequentialFloatMatrixReader(source))
        assert len(found) == 50 and found[49][1][99, 39] == 49
    assert sorted(os.listdir(tmp_path)) == ["a.ark", "a.scp"]


FULL = """
import resource, signal, sys
import numpy as np
import seqfeed.compat.kaldi_native_io as native
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))
writer = native.FloatMatrixWriter(sys.argv[1])
try:
    for number in range(50):
        writer[f"u{number:03}"] = np.full((100, 40), number, np.float32)
except native.KaldiError as error:
    print(number, error)
"""


def test_an_entry_that_has_no_room_is_taken_back(tmp_path: Path) -> None:
    wspecifier = f"ark,scp:{tmp_path}/a.ark,{tmp_path}/a.scp"
    ended = subprocess.run([sys.executable, "-c", FULL, wspecifier], capture_output=True, text=True, check=True)
    assert ended.stdout.startswith("3 "), ended
    for source in (f"ark:{tmp_path}/a.ark", f"scp:{tmp_path}/a.scp"):
        assert [key for key, _ in native.SequentialFloatMatrixReader(source)] == ["u000", "u001", "u002"]


def test_a_writer_that_nobody_closed(tmp_path: Path) -> None:
    writer = native.FloatMatrixWriter(f"ark:{tmp_path}/a.ark")
    writer["a"] = MATRIX
    del writer
    gc.collect()
    assert len(list(native.SequentialFloatMatrixReader(f"ark:{tmp_path}/a.ark"))) == 1


def test_wrong_values(tmp_path: Path) -> None:
    cases: list[tuple[str, Any, type[Exception]]] = [
        ("Int32Vector", [1.5], TypeError),
        ("Int32Vector", [1 << 40], TypeError),
        ("Int32Vector", "12", TypeError),
        ("Int32Vector", np.ones(2), TypeError),
        ("Int8Vector", [128], TypeError),
        ("Int32", "a", TypeError),
        ("Int32", 1.5, TypeError),
        ("Float", "a", TypeError),
        ("Token", 5, TypeError),
        ("Token", "a b", RuntimeError),
        ("Blob", "text", TypeError),
        ("Wave", MATRIX, TypeError),
        ("FloatMatrix", MATRIX[0], AssertionError),
        ("FloatMatrix", MATRIX.astype(np.float64), AssertionError),
        ("FloatVector", MATRIX, AssertionError),
        ("FloatMatrix", [[1.0]], AttributeError),
        ("HtkMatrix", MATRIX, AssertionError),
        ("Posterior", [[1]], TypeError),
        ("Posterior", [[(1, 0.5, 2)]], TypeError),
        ("Posterior", [[[1]]], TypeError),
        ("Posterior", [[(1.0, 0.5)]], TypeError),
        ("GaussPost", [[(1, MATRIX[0], 2)]], TypeError),
        ("GaussPost", [[[1]]], TypeError),
        ("Int32PairVector", [(1, 2, 3)], TypeError),
        ("Int32PairVector", [(1,)], TypeError),
        ("Int32PairVector", [(1, 2.5)], TypeError),
        ("Int32PairVector", {(1, 2): 3}, TypeError),
        ("FloatPairVector", [(1.0, 2.0, 3.0)], TypeError),
        ("FloatPairVector", [(1.0,)], TypeError),
        ("FloatPairVector", [1.0], TypeError),
        ("FloatPairVector", ["ab"], TypeError),
        ("Int32", 2.0, TypeError),
        ("Int32", np.float64(2), TypeError),
        ("Int32", np.float32(2.5), TypeError),
        ("Int32", np.float32("nan"), TypeError),
        ("Int32", np.float32(1e20), TypeError),
        ("Int32", np.array([2]), TypeError),
        ("Int32", "2", TypeError),
        ("Int32Vector", np.float32([2.5]), TypeError),
        ("Int32Vector", [1, [2]], TypeError),
        ("Int32Vector", {1: 2}, TypeError),
        ("Int8Vector", b"ab", TypeError),
        *(("Bool", wrong, TypeError) for wrong in ("false", "", np.str_("x"), b"x", [], (), {}, object())),
        ("Bool", np.array([True, False]), TypeError),
    ]
    for name, value, kind in cases:
        with table("w", name)(f"ark:{tmp_path}/a.ark") as writer:
            with pytest.raises(kind):
                writer["a"] = value
        with pytest.raises(TypeError):
            table("s", name)(5)
    with native.Int32VectorWriter(f"ark:{tmp_path}/a.ark") as writer:
        for key in ("", "a b", "a\n"):
            with pytest.raises(RuntimeError):
                writer[key] = [1]
        writer["bool"], writer["generator"] = [True], (number for number in range(2))  # type: ignore[assignment]
        writer["array"], writer["tuple"] = np.arange(3), (1, 2)  # type: ignore[assignment]
    found = dict(native.SequentialInt32VectorReader(f"ark:{tmp_path}/a.ark"))
    assert found == {"bool": [1], "generator": [0, 1], "array": [0, 1, 2], "tuple": [1, 2]}
    for name in ("x", "x:y", "ark:/none/x", f"scp:{tmp_path}/none"):
        for kind_of_table in "sr":
            with pytest.raises(RuntimeError):
                table(kind_of_table, "FloatMatrix")(name)
    with pytest.raises(RuntimeError):
        native.FloatMatrixWriter("x")


def test_values_of_other_kinds(tmp_path: Path) -> None:
    cases: list[tuple[str, Any, Any]] = [
        *(("Bool", true, True) for true in (True, 1, 3, 2.0, np.True_, np.int32(1), np.array([True]))),
        *(("Bool", false, False) for false in (False, 0, None, 0.0, np.False_, np.uint8(0))),
        *(("Int32", two, 2) for two in (2, np.int64(2), np.float32(2), np.float16(2), np.array(2))),
        ("Int32", np.True_, 1),
        ("Int32Vector", np.float32([1, 2]), [1, 2]),
        ("Int32Vector", [1, np.float32(2)], [1, 2]),
        ("Int32PairVector", [[1, np.float32(2)]], [(1, 2)]),
        ("Int32PairVector", np.array([[1, 2], [3, 4]]), [(1, 2), (3, 4)]),
        ("FloatPairVector", [[1, 0.5]], [(1.0, 0.5)]),
        ("Posterior", [[[1, 0.5], (2, 0.25)], ()], [[(1, 0.5), (2, 0.25)], []]),
        ("Posterior", [np.array([[1, 5]])], [[(1, 5.0)]]),
        ("GaussPost", [[[1, MATRIX[0]]], []], [[(1, MATRIX[0])], []]),
    ]
    for name, value, expected in cases:
        with table("w", name)(f"ark:{tmp_path}/a.ark") as writer:
            writer["a"] = value
        [(_, found)] = table("s", name)(f"ark:{tmp_path}/a.ark")
        assert alike(found, expected), (name, value, found)


def test_compressed_matrices(tmp_path: Path) -> None:
    methods = native.CompressionMethod
    with native.CompressedMatrixWriter(f"ark,scp:{tmp_path}/a.ark,{tmp_path}/a.scp") as writer:
        writer["a"] = MATRIX
        writer["b"] = MATRIX.astype(np.float64), methods.kOneByteAuto
        writer.write("c", MATRIX, methods.kTwoByteAuto)
        writer.write("d", value=MATRIX, method=methods.kSpeechFeature)
        with pytest.raises(AssertionError):
            writer["e"] = MATRIX[0]
    data = (tmp_path / "a.ark").read_bytes()
    assert [data.count(token) for token in (b"\0BCM ", b"\0BCM2 ", b"\0BCM3 ")] == [1, 2, 1]
    for _, found in native.SequentialFloatMatrixReader(f"scp:{tmp_path}/a.scp"):
        assert np.abs(found - MATRIX).max() < 0.02
    shapes = native.RandomAccessMatrixShapeReader(f"scp:{tmp_path}/a.scp")
    assert (shapes["b"].num_rows, shapes["b"].num_cols) == (4, 3)


def test_single_objects(tmp_path: Path) -> None:
    name = str(tmp_path / "one")
    for binary in (True, False):
        matrix = native.FloatMatrix(MATRIX)
        matrix.write(wxfilename=name, binary=binary)
        found = native.FloatMatrix.read(name)
        assert same(found.numpy(), MATRIX) and found.shape == (4, 3) and np.array_equal(found, matrix)
        assert same(native.FloatMatrix.read(name + "[1:2]").numpy(), MATRIX[1:3])
        assert same(native.FloatMatrix.read(name + "[:,1:1]").numpy(), np.ascontiguousarray(MATRIX[:, 1:2]))
        assert native.DoubleMatrix.read(name).numpy().dtype == np.float64
        shape = native.MatrixShape.read(name)
        assert (shape.num_rows, shape.num_cols) == (4, 3) and str(native.MatrixShape(1, 2))
        assert native.FloatMatrix.read(f"cat {name} |").shape == (4, 3)
        native.DoubleVector(MATRIX[0]).write(name, binary)
        assert same(native.DoubleVector.read(name).numpy(), MATRIX[0].astype(np.float64))
        assert native.FloatVector.read(f"{name}[1:1]").numpy().tolist() == [0.125]
    assert str(native.FloatMatrix(MATRIX[:1])) == " [\n  0 0.125 0.25 ]\n"
    thirds = np.array([[1 / 3, 1e-8, 123456789, 1e20], [np.nan, np.inf, -np.inf, -0.0]])
    for kind in (native.FloatMatrix, native.DoubleMatrix):
        assert str(kind(thirds)) == " [\n  0.333333 1e-08 1.23457e+08 1e+20 \n  nan inf -inf -0 ]\n"
        assert str(kind()) == " [ ]\n"
    method = native.CompressionMethod.kSpeechFeature
    assert str(method) == f"{method}" == "CompressionMethod.kSpeechFeature" and method == 2
    assert native.FloatMatrix().shape == (0, 0) and len(native.FloatVector().numpy()) == 0
    for wrong in (f"{name}.none", f"{name}[5:9]", ""):
        with pytest.raises(RuntimeError):
            native.FloatVector.read(wrong)
    with pytest.raises(RuntimeError):
        native.FloatMatrix(MATRIX[0])
    with native.Int32VectorWriter(f"ark:{name}") as writer:
        writer["a"] = [1, 2]
    assert native.read_int32_vector(f"{name}:2") == [1, 2]
    with native.Int8VectorWriter(f"ark,t:{name}") as small:
        small["a"] = [1, -2]
    assert native.read_int8_vector(f"{name}:2") == [1, -2]


def test_blobs(tmp_path: Path) -> None:
    with native.BlobWriter(f"ark:{tmp_path}/a") as writer:
        writer["a"], writer["b"] = b"1234", b""
    name = f"{tmp_path}/a:2"
    assert native.read_blob(name) == native.read_blob(name + "[:]") == b"1234"
    assert native.read_blob(name + "[1:2]") == b"23" and native.read_blob(name + "[2:-1]") == b"34"
    for wrong in ("[3:2]", "[4:-1]", "[0:1,0:1]", "[x]"):
        with pytest.raises(RuntimeError):
            native.read_blob(name + wrong)
    with pytest.raises(RuntimeError):
        native.SequentialBlobReader(f"ark:{tmp_path}/none")


@pytest.mark.parametrize("channels", [1, 2])
def test_waves(tmp_path: Path, channels: int) -> None:
    samples = np.arange(channels * 800, dtype=np.float32).reshape(channels, -1)
    wave = native.WaveData(sample_freq=8000, data=samples[0] if channels == 1 else samples)
    assert wave.duration == np.float32(0.1) and wave.data.shape == (channels, 800) and "0.1 s" in str(wave)
    with native.WaveWriter(f"ark,scp:{tmp_path}/a.ark,{tmp_path}/a.scp") as writer:
        writer["a"], writer["b"] = wave, wave
    for source in (f"ark:{tmp_path}/a.ark", f"scp:{tmp_path}/a.scp"):
        for _, found in native.SequentialWaveReader(source):
            assert found.sample_freq == 8000 and same(found.data.numpy(), samples)
        for _, info in native.SequentialWaveInfoReader(source):
            assert (info.sample_freq, info.sample_count, info.num_channels) == (8000, 800, channels)
            assert info.block_align == 2 * channels and info.data_bytes == 1600 * channels
            assert info.duration == np.float32(0.1) and not info.reverse_bytes and "block_align" in str(info)
        assert native.RandomAccessWaveInfoReader(source)["b"].duration == np.float32(0.1)
        assert native.RandomAccessWaveReader(source)["b"].data.shape == (channels, 800)
    assert native.read_wave(f"{tmp_path}/a.ark:2").duration == np.float32(0.1)
    assert native.read_wave_info(f"{tmp_path}/a.ark:2").sample_count == 800


def test_shapes_and_headers_are_for_all(tmp_path: Path) -> None:
    """``object_type`` of the readers of seqfeed itself."""
    with kaldi.Writer(f"ark,scp:{tmp_path}/a.ark,{tmp_path}/a.scp") as writer:
        writer["a"], writer["b"] = MATRIX, MATRIX[:2]
    (tmp_path / "part.scp").write_text(f"a {tmp_path}/a.ark:2[1:2,0:0]\n")
    for source, shape in ((f"ark:{tmp_path}/a.ark", (4, 3)), (f"scp:{tmp_path}/part.scp", (2, 1))):
        assert next(kaldi.SequentialReader(source, object_type="matrix-shape")) == ("a", shape)
        assert kaldi.RandomAccessReader(source, object_type="matrix-shape")["a"] == kaldi.MatrixShape(*shape)
        assert seqfeed.open(source, object_type="matrix-shape")["a"].rows == shape[0]
    part = seqfeed.open(f"ark:{tmp_path}/a.ark", object_type="matrix-shape").rows("a", 1, 3)
    assert part == (2, 3)
    with open(tmp_path / "a.ark", "rb") as file:
        found = dict(kaldi.SequentialReader(file, object_type="matrix-shape"))
    assert found == {"a": (4, 3), "b": (2, 3)}


def test_pipes_and_compressed_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with native.FloatMatrixWriter(f"ark:| cat > {tmp_path}/a.ark") as writer:
        writer["a"] = MATRIX
    name = f"ark:cat {tmp_path}/a.ark |"
    assert same(dict(native.SequentialFloatMatrixReader(name))["a"], MATRIX)
    assert same(native.RandomAccessFloatMatrixReader(name)["a"], MATRIX)
    assert dict(native.SequentialMatrixShapeReader(name))["a"].num_rows == 4
    (tmp_path / "a.ark.gz").write_bytes(gzip.compress((tmp_path / "a.ark").read_bytes()))
    assert same(dict(native.SequentialFloatMatrixReader(f"ark:{tmp_path}/a.ark.gz"))["a"], MATRIX)
    with pytest.raises(RuntimeError):
        list(native.SequentialFloatMatrixReader("ark:false |"))
    monkeypatch.setattr(compat, "ALLOW_PIPES", False)
    for use in (native.SequentialFloatMatrixReader, native.RandomAccessFloatMatrixReader):
        with pytest.raises(native.KaldiError, match="allow") as caught:
            use(name)
        assert isinstance(caught.value.__cause__, seqfeed.ForbiddenError)
    with pytest.raises(RuntimeError):
        native.FloatMatrixWriter(f"ark:| touch {tmp_path}/run")
    assert not (tmp_path / "run").exists()


SETUP = """
m = np.arange(12, dtype=np.float32).reshape(3, 4) / 8
h = k.HtkHeader(3, 100000, 16, 9)
values = {"Int32": -7, "Float": 1.5, "Double": 0.1, "Bool": True, "Token": "w", "TokenVector": ["a", "b"],
  "Blob": b"ab", "Posterior": [[(1, 0.5), (2, 0.25)], []], "Int32Vector": [3, -1], "Int8Vector": [3, -128],
  "Int32VectorVector": [[1, 2], []], "Int32PairVector": [(1, 2), (3, 4)], "FloatPairVector": [(1.0, 2.5)],
  "FloatVector": m[0], "DoubleVector": m[0].astype(float), "FloatMatrix": m, "DoubleMatrix": m.astype(float),
  "HtkMatrix": (m, h), "GaussPost": [[(1, m[0])], []]}
def plain(v):
    if isinstance(v, k.HtkHeader): return (v.num_samples, v.sample_period, v.sample_size, v.sample_kind)
    if isinstance(v, (list, tuple)): return type(v)(map(plain, v))
    return v.copy() if isinstance(v, np.ndarray) else v
"""
TYPES = [name for name in VALUES]
CASES = {
    f"{name} {mode}": SETUP
    + f"""
with k.{name}Writer("ark{mode},scp:a.ark,a.scp") as w:
    w.write("a", values["{name}"]); w["b"] = values["{name}"]
r = k.RandomAccess{name}Reader("scp:a.scp")
s = k.Sequential{name}Reader("ark:a.ark")
found = []
while not s.done:
    found.append((s.key, plain(s.value))); s.next()
result = (open("a.ark", "rb").read(), open("a.scp").read(), found, plain(r["b"]), "a" in r, "c" in r)
"""
    for name in TYPES
    for mode in ("", ",t")
}
CASES |= {
    f"compressed {method}": SETUP
    + f"""
with k.CompressedMatrixWriter("ark:c.ark") as w:
    w.write("a", m, k.CompressionMethod({method}))
    w["b"] = np.arange(40, dtype=float).reshape(10, 4)
result = (open("c.ark", "rb").read(), k.FloatMatrix.read("c.ark:2").numpy().copy())
"""
    for method in range(1, 8)
}
CASES |= {
    "single": SETUP + 'x = k.FloatMatrix(m); x.write("x", False); result = (open("x").read(), str(x), x.shape)',
    "digits": "result = str(k.FloatMatrix(np.array([[1 / 3, 1e-8, 123456789, 1e20], [np.nan, np.inf, -np.inf, -0.0]], 'f4'))), "
    "str(k.DoubleMatrix(np.array([[1 / 3]]))), str(k.FloatMatrix())",
    "words": 'with k.TokenVectorWriter("ark,t:t") as w: w["a"] = ["x", "y"]; w["b"] = []; w["c"] = ["z"]\n'
    'result = open("t").read(), list(k.SequentialTokenVectorReader("ark:t"))',
    "flush": SETUP + 'w = k.FloatMatrixWriter("ark,scp:f.ark,f.scp"); w["a"] = m; w.flush()\n'
    'result = open("f.ark", "rb").read(), open("f.scp").read()',
    "range": 'result = k.FloatMatrix.read("x[0:1,1:2]").numpy().copy()',
    "shape": 's = k.MatrixShape.read("x"); result = (s.num_rows, s.num_cols, str(s))',
    "wave": 'x = k.WaveData(8000, np.arange(80, dtype=np.float32))\n'
    'with k.WaveWriter("ark,scp:w.ark,w.scp") as w: w["a"] = x\n'
    # While its reader stands there: the original's are views, headers too.
    's = k.SequentialWaveInfoReader("scp:w.scp"); i = s.value; y = k.read_wave("w.ark:2")\n'
    'result = (open("w.ark", "rb").read(), str(x), str(i), y.data.numpy().copy(), y.duration, y.sample_freq,\n'
    " i.data_bytes, i.sample_count, i.num_channels, i.block_align, i.reverse_bytes, i.sample_freq, i.duration)",
    "methods": "result = [(m.name, int(m), str(m), repr(m), f'{m}') for m in map(k.CompressionMethod, range(1, 8))]",
    "header": "h = k.HtkHeader(1, 2, 3, 4); result = (repr(h), str(h), h == k.HtkHeader(1, 2, 3, 4), h == k.HtkHeader())",
    "no archive": 'result = k.SequentialFloatMatrixReader("ark:none")',
    "no script": 'result = k.RandomAccessFloatMatrixReader("scp:none")',
    "no rspecifier": 'result = k.SequentialFloatMatrixReader("none")',
    "no wspecifier": 'result = k.FloatMatrixWriter("none")',
    "no directory": 'result = k.FloatMatrixWriter("ark:none/none")',
    "no text": "result = k.SequentialFloatMatrixReader(5)",
    "no key": SETUP + 'w = k.FloatMatrixWriter("ark,scp:f.ark,f.scp"); w["a"] = m; w.close()\n'
    'result = k.RandomAccessFloatMatrixReader("scp:f.scp")["b"]',
    "closed": 'r = k.RandomAccessFloatMatrixReader("scp:f.scp"); r.close(); result = r["a"]',
    "closed writer": SETUP + 'w = k.FloatMatrixWriter("ark:g.ark"); w.close(); result = w.write("a", m)',
    "closed reader": 'r = k.SequentialFloatMatrixReader("ark:f.ark"); r.close(); result = r.done',
    "at the end": 'r = k.SequentialFloatMatrixReader("ark:f.ark"); r.next(); result = r.value',
    "behind": 'r = k.SequentialFloatMatrixReader("ark:f.ark"); r.next(); r.next(); result = 1',
    "freed": 'r = k.SequentialFloatMatrixReader("ark:f.ark"); r.free_current(); result = r.value',
    "twice": 'r = k.SequentialFloatMatrixReader("ark:f.ark"); result = (len(list(r)), len(list(r)))',
    "other type": 'result = list(k.SequentialInt32VectorReader("ark:f.ark"))',
    "doubles of floats": 'result = k.DoubleMatrix.read("f.ark:2").numpy().copy()',
    "no number": 'w = k.Int32VectorWriter("ark:g.ark"); result = w.write("a", [1.5])',
    "large": 'w = k.Int32VectorWriter("ark:g.ark"); result = w.write("a", [1 << 40])',
    "dtype": 'w = k.FloatMatrixWriter("ark:g.ark"); result = w.write("a", np.ones((2, 2)))',
    "blank key": 'w = k.Int32Writer("ark:g.ark"); result = w.write("a b", 1)',
    "bad entry": 'open("e.scp", "w").write("a f.ark:2\\nb none:1\\nc f.ark:2\\n")\n'
    'result = [key for key, _ in k.SequentialFloatMatrixReader("scp:e.scp")]',
    "bad entry, p": 'result = [key for key, _ in k.SequentialFloatMatrixReader("scp,p:e.scp")]',
    "no vector": 'result = k.read_int32_vector("none")',
    "pipe": 's = k.SequentialMatrixShapeReader("scp:f.scp"); result = s.value.num_rows, k.FloatMatrix.read("cat f.ark | tail -c +3 |").shape',
}

# What each writer makes of other values: the text, or the exception.
OTHERS = {
    "Bool": """1; 3; None; 2.0; np.True_; np.uint8(0); np.array([True]); np.array([True, False]); "false"; "";
        np.str_("false"); b"x"; []; {}; object()""",
    "Int32": """np.float32(2); np.float16(2); np.array(2); np.array([2]); np.True_; np.int64(2);
        np.float64(2); np.float32("nan"); np.float32(1e20); 2.0; 2.5; "2"; None""",
    "Int32Vector": """np.array([1, 2], "f4"); np.ones(2); [1, np.float32(2)]; [1, [2]]; {1: 2}; b"ab";
        [None]""",
    "Int32PairVector": """[[1, 2]]; [(1, np.float32(2))]; np.array([[1, 2]]); np.array([[1, 2, 3]]); 
        [(1, 2, 3)]; [(1,)]; [1]; [[]]; {(1, 2): 3}; ["ab"]""",
    "FloatPairVector": '[[1, 0.5]]; np.array([[1, 0.5]]); [(1, 2, 3)]; [(1,)]; [1]; [[]]; ["ab"]',
    "Posterior": """[[[1, 0.5]]]; (((1, 0.5),),); [np.array([[1, 5]])]; [[(np.float32(2), 1)]]; [[(1, 2, 3)]];
        [[(1,)]]; [[1]]; [[(1.5, 1)]]; ["ab"]; [["ab"]]; [{}]""",
    "GaussPost": '[[[1, np.array([0.5], "f4")]]]; [[[1, [0.5]]]]; [[1]]; [[(1.5, [0.5])]]',
}
CASES |= {
    f"{name} of {value.strip()}": f'with k.{name}Writer("ark,t:v.ark") as w: w["a"] = {value.strip()}\n'
    'result = open("v.ark").read()'
    for name, values in OTHERS.items()
    for value in values.split(";")
}


def test_beside_the_original(tmp_path: Path) -> None:
    expected = run_cases("kaldi_native_io", CASES, tmp_path / "theirs")
    found = run_cases("seqfeed.compat.kaldi_native_io", CASES, tmp_path / "ours")
    for name, (how, what) in expected.items():
        assert found[name][0] == how, (name, found[name], what)
        if how == "gives":
            assert alike(found[name][1], what), (name, found[name][1], what)
        else:
            assert what[0] in found[name][1], (name, found[name][1], what)
