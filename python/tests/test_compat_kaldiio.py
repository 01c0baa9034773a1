"""The drop-in for kaldiio, by itself and beside it."""

from __future__ import annotations

import gzip
import io
import os
import pickle
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from peers import run_cases
from test_kaldi import same

import seqfeed
import seqfeed.compat.kaldiio as kaldiio
from seqfeed import compat, kaldi
from seqfeed.compat.kaldiio import compression_header, matio, utils, wavio

MATRIX = np.arange(12, dtype=np.float32).reshape(4, 3) / 7
ARRAYS: dict[str, Any] = {
    "float-matrix": MATRIX,
    "double-matrix": MATRIX.astype(np.float64),
    "float-vector": MATRIX[0],
    "double-vector": MATRIX[1].astype(np.float64),
    "integers": np.array([1, -2, 1 << 30], np.int32),
    "columns": np.asfortranarray(MATRIX),
    "strided": MATRIX[::2, ::-1],
    "empty": np.zeros((0, 0), np.float32),
    "no rows": np.zeros((0, 3), np.float32),
    "no integers": np.zeros(0, np.int32),
}


class ReadOnly:
    """A file object that has nothing but ``read``, and gives little at a time."""

    def __init__(self, data: bytes) -> None:
        self._file = io.BytesIO(data)

    def read(self, size: int = -1) -> bytes:
        return self._file.read(min(size, 7) if size > 0 else size)


@pytest.mark.parametrize("endian", ["<", ">"])
@pytest.mark.parametrize("name", ARRAYS)
def test_arrays_come_back(tmp_path: Path, name: str, endian: str) -> None:
    ark, scp, value = str(tmp_path / "a.ark"), str(tmp_path / "a.scp"), ARRAYS[name]
    kaldiio.save_ark(ark, {"ä": value, "b": value}, scp=scp, endian=endian)
    data = Path(ark).read_bytes()
    with open(ark, "rb") as file, open(ark, "rb", buffering=0) as raw:
        for source in (ark, file, raw, io.BytesIO(data), ReadOnly(data)):
            found = list(kaldiio.load_ark(source, endian=endian))
            assert [key for key, _ in found] == ["ä", "b"]
            for _, array in found:
                assert same(array, np.ascontiguousarray(value)), array
                assert array.flags.writeable and array.flags.owndata and array.flags.c_contiguous
    for table in (
        kaldiio.load_scp(scp, endian=endian),
        kaldiio.load_scp(scp, endian=endian, max_cache_fd=2),
        dict(kaldiio.load_scp_sequential(scp, endian=endian)),
    ):
        assert same(table["b"], np.ascontiguousarray(value)) and same(table["ä"], table["b"])


@pytest.mark.parametrize("name", [name for name in ARRAYS if name != "no rows"])
def test_seqfeed_reads_the_same(tmp_path: Path, name: str) -> None:
    with kaldiio.WriteHelper(f"ark,scp:{tmp_path}/a.ark,{tmp_path}/a.scp") as writer:
        writer("a", ARRAYS[name])
    # Nothing tells what an empty vector is one of.
    object_type = "int32-vector" if name == "no integers" else None
    [(key, value)] = kaldi.SequentialReader(f"scp:{tmp_path}/a.scp", object_type=object_type)
    assert key == "a" and np.array_equal(value, ARRAYS[name]) and value.dtype == ARRAYS[name].dtype


@pytest.mark.parametrize("method", range(1, 8))
def test_compressed_matrices(tmp_path: Path, method: int) -> None:
    matrix = np.random.default_rng(1).random((20, 4)).astype(np.float32)
    ours, little, big = io.BytesIO(), io.BytesIO(), io.BytesIO()
    kaldi.save(ours, matrix, compression=method)
    kaldiio.save_ark(little, {"a": matrix}, compression_method=method)
    kaldiio.save_ark(big, {"a": matrix}, compression_method=method, endian=">")
    assert little.getvalue() == b"a " + ours.getvalue() != big.getvalue()
    [(_, expected)] = kaldiio.load_ark(io.BytesIO(little.getvalue()))
    [(_, found)] = kaldiio.load_ark(io.BytesIO(big.getvalue()), endian=">")
    assert same(found, expected) and np.array_equal(expected, kaldi.load(ours.getvalue()))
    assert found.flags.writeable


TEXTS: dict[bytes, Any] = {
    b" [ 1.0 2 ]\n": np.array([1, 2], np.float32),
    b"[1.0 2.0]\n": np.array([1, 2], np.float32),
    b" [ 1 2 3 ]\n": np.array([1, 2, 3], np.int32),
    b" [ 1 2.5 ]\n": np.array([1, 2.5], np.float32),
    b" [ 1e-05 nan inf ]\n": np.array([1e-5, np.nan, np.inf], np.float32),
    b" [ nan 1 ]": np.array([np.nan, 1], np.float32),
    b"1 -2 +3\n": np.array([1, -2, 3], np.int32),
    b"3.5 2\n": np.array([3.5, 2], np.float32),
    b"7": np.array([7], np.int32),
    b"\n": np.array([], np.int32),
    b" [ ]\n": np.array([], np.float32),
    b"[]\n": np.array([], np.float32),
    b" [\n  1 2 \n  3 4 ]\n": np.array([[1, 2], [3, 4]], np.float32),
    b" [\n  1.5 2 ]\r\n": np.array([[1.5, 2]], np.float32),
}


@pytest.mark.parametrize("text", TEXTS)
def test_text(text: bytes) -> None:
    expected = TEXTS[text]
    for source in (io.BytesIO(text), ReadOnly(text)):
        found = matio.read_kaldi(source)
        assert found.dtype == expected.dtype and found.shape == expected.shape
        assert np.array_equal(found, expected, equal_nan=expected.dtype == np.float32)
    if not text.endswith(b"\n"):
        return
    # The next object begins where this one ends.
    found = dict(kaldiio.load_ark(io.BytesIO(b"a " + text + b"b 1 2\n")))
    assert found["b"].tolist() == [1, 2] and found["a"].shape == expected.shape


def test_text_of_all_kinds_of_numbers() -> None:
    texts: list[tuple[Any, bytes]] = [
        (np.array([True, False]), b"[ 1 0 ]"),
        (np.array([[True], [False]]), b"[\n  1 \n  0 ]"),
        (np.longdouble([1, 0.5]), b"[ 1.0 0.5 ]"),
        (np.float16([0.5]), b"[ 0.5 ]"),
        (np.uint8([200]), b"[ 200 ]"),
        (np.array([1 << 40]), b"[ 1099511627776 ]"),
        (np.array([True, 2.5, np.float32(0.5)], object), b"[ 1 2.5 0.5 ]"),
    ]
    for array, text in texts:
        out = io.BytesIO()
        kaldiio.save_ark(out, {"a": array}, text=True)
        assert out.getvalue() == b"a  " + text + b"\n"
    for wrong in (MATRIX.view(np.matrix), np.ma.masked_array([1.0, 2.0], [False, True]), np.array([None])):
        with pytest.raises(TypeError):
            kaldiio.save_ark(io.BytesIO(), {"a": wrong}, text=True)


def test_text_is_written_with_all_digits(tmp_path: Path) -> None:
    value = np.float32([0.1, 1e-5, 3, np.nan, np.inf])
    for array in (value, value.astype(np.float64), value[:3, np.newaxis], np.int32([1, 2])):
        out = io.BytesIO()
        kaldiio.save_ark(out, {"a": array}, text=True)
        [(_, found)] = kaldiio.load_ark(io.BytesIO(out.getvalue()))
        kind = np.int32 if array.dtype == np.int32 else np.float32
        assert np.array_equal(found, array.astype(kind), equal_nan=kind is np.float32)


# Of 16 bits, in one channel; the size of the samples comes next.
WAVE_HEADER = b"RIFF\x2a\0\0\0WAVEfmt " + struct.pack("<IHHIIHH", 16, 1, 1, 8000, 16000, 2, 16) + b"data"

DAMAGED = [
    b"\0BFM \4\2\0\0\0\4\1\0\0\0abcd",
    b"\0BFM \4\xff\xff\xff\xff\4\1\0\0\0abcd",
    b"\0BFM \4\xff\xff\xff\x7f\4\xff\xff\xff\x7fabcd",
    b"\0BDV \4\xff\xff\xff\x7fabcd",
    b"\0BFV \5\1\0\0\0abcd",
    b"\0BXX ",
    b"\0BCM ",
    b"\0BCM2 " + struct.pack("<ffii", 0, 1, 1 << 30, 1 << 30),
    b"\0B\4\2\0\0\0\4\1\0\0\0",
    b"\0B\4\1\0\0\0\5\1\0\0\0",
    b"\0B\4\xff\xff\xff\xff",
    b"\0B",
    b"\0",
    b"",
    b"NPYx",
    b"NPY\1\4abcd",
    b"PKLx",
    b"RIFFxxxx",
    b"RIFF\0\0\0\0WAVEfmt \x10\0\0\0",
    WAVE_HEADER + b"\6\0\0\0abcde",
    WAVE_HEADER + b"\6\0\0\0abcd",
    WAVE_HEADER + b"\6\0\0\0",
    WAVE_HEADER + b"\xff\xff\xff\xffabc",
    b"word a\n",
    b" [ 1.0\n",
    b" [ 1.0 ] x\n",
    b" [\n 1.0 2\n 3 ]\n",
    b" [ 5000000000 1 ]\n",
]


@pytest.mark.parametrize("data", DAMAGED)
def test_damage(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "a.ark").write_bytes(b"a " + data)
    with open(tmp_path / "a.ark", "rb") as file:
        for source in (str(tmp_path / "a.ark"), file, io.BytesIO(b"a " + data), ReadOnly(b"a " + data)):
            with pytest.raises(kaldiio.DataError, match="key a") as caught:
                list(kaldiio.load_ark(source))
            assert isinstance(caught.value, (ValueError, seqfeed.Error))
            assert isinstance(caught.value, RuntimeError) and caught.value.key == "a"
    assert list(kaldiio.ReadHelper(f"ark,p:{tmp_path}/a.ark")) == []


def test_every_cut_is_an_error_or_the_end(tmp_path: Path) -> None:
    out = io.BytesIO()
    for value in (MATRIX, ARRAYS["integers"]):
        kaldiio.save_ark(out, {"a": value})
    kaldiio.save_ark(out, {"w": (8000, np.int16([1, 2]))}, append=True)
    whole = out.getvalue()
    for end in range(len(whole)):
        try:
            found = list(kaldiio.load_ark(io.BytesIO(whole[:end])))
        except kaldiio.DataError:
            continue
        assert len(found) < 3, end


def test_pickles_run_nothing(tmp_path: Path) -> None:
    class Evil:
        def __reduce__(self) -> Any:
            return (Path.touch, (tmp_path / "owned",))

    fine = {"a": (8000, MATRIX, {"x": [1, 2.5, "y", b"z", None]}, {3, 4}, np.float64(2))}
    kaldiio.save_ark(str(tmp_path / "a.ark"), fine, write_function="pickle")
    [(_, found)] = kaldiio.load_ark(str(tmp_path / "a.ark"))
    assert np.array_equal(found[1], MATRIX) and found[2:] == fine["a"][2:]
    (tmp_path / "evil.ark").write_bytes(b"a PKL" + pickle.dumps(Evil()))
    with pytest.raises(seqfeed.ForbiddenError, match="ALLOW_PICKLES"):
        list(kaldiio.load_ark(str(tmp_path / "evil.ark")))
    (tmp_path / "objects.ark").write_bytes(b"a NPY")
    with pytest.raises(ValueError):
        kaldiio.save_ark(
            str(tmp_path / "objects.ark"),
            {"a": np.array([Evil()])},
            write_function="numpy",
            write_kwargs={"allow_pickle": False},
        )
    kaldiio.save_ark(str(tmp_path / "objects.ark"), {"a": np.array([{}])}, write_function="numpy")
    with pytest.raises(kaldiio.DataError, match="allow_pickle"):
        list(kaldiio.load_ark(str(tmp_path / "objects.ark")))
    assert not (tmp_path / "owned").exists()


def test_pickles_can_be_allowed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kaldiio.save_ark(str(tmp_path / "a.ark"), {"a": Path("x")}, write_function="pickle")
    monkeypatch.setattr(compat, "ALLOW_PICKLES", True)
    assert dict(kaldiio.load_ark(str(tmp_path / "a.ark"))) == {"a": Path("x")}


def test_pipes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ark = tmp_path / "a.ark"
    with kaldiio.WriteHelper(f"ark:| cat > {ark}") as writer:
        writer["a"] = MATRIX
    assert same(kaldiio.load_mat(f"tail -c +3 {ark} |"), MATRIX)
    [(_, found)] = kaldiio.ReadHelper(f"ark:cat {ark} |")
    assert same(found, MATRIX)
    (tmp_path / "bad.scp").write_text("x false |\n")
    with pytest.raises((seqfeed.CommandError, kaldiio.DataError)):
        list(kaldiio.load_scp_sequential(str(tmp_path / "bad.scp")))
    # What was read may be the half of it.
    with pytest.raises(seqfeed.CommandError, match="exit 3"):
        kaldiio.load_mat(f"tail -c +3 {ark}; exit 3 |")
    # A file object lives as long as something of it is used.
    assert list(kaldiio.open_like_kaldi("echo hi; echo ho |")) == ["hi\n", "ho\n"]
    assert [line for line in kaldiio.open_like_kaldi("echo hi |", "rb")] == [b"hi\n"]
    assert kaldiio.open_like_kaldi("echo hi |").read() == "hi\n"
    kaldiio.open_like_kaldi(f"| sleep 0.1; cat > {tmp_path}/text", "w").write("hä\n")
    assert (tmp_path / "text").read_text(encoding="utf-8") == "hä\n"
    text = kaldiio.open_like_kaldi("exit 3 |")
    assert text.read() == ""
    with pytest.raises(seqfeed.CommandError, match="ended with 3"):
        text.close()
    # A command need not be heard to its end.
    with kaldiio.open_like_kaldi("yes |", "rb") as file:
        assert file.read(4) == b"y\ny\n"
    monkeypatch.setattr(compat, "ALLOW_PIPES", False)
    with pytest.raises(seqfeed.ForbiddenError, match="ALLOW_PIPES"):
        kaldiio.load_mat(f"touch {tmp_path}/run |")
    with pytest.raises(PermissionError):
        kaldiio.WriteHelper(f"ark:| touch {tmp_path}/run")
    assert not (tmp_path / "run").exists()


def test_script_files(tmp_path: Path) -> None:
    kaldiio.save_ark(f"{tmp_path}/a.ark", {"a": MATRIX, "b": MATRIX + 1}, scp=f"{tmp_path}/a.scp")
    lines = (tmp_path / "a.scp").read_text()
    (tmp_path / "b.scp").write_text(lines + f"c {tmp_path}/no.ark:2\nd {tmp_path}/a.ark:2[1:2,0:0]\n")
    table = kaldiio.load_scp(tmp_path / "b.scp")
    assert list(table) == ["a", "b", "c", "d"] and len(table) == 4 and "d" in table
    assert same(table["d"], np.ascontiguousarray(MATRIX[1:3, :1])) and table["d"].base is None
    with pytest.warns(UserWarning, match="no.ark"), pytest.raises(FileNotFoundError):
        table["c"]
    with pytest.raises(KeyError):
        table["e"]
    table["e"] = lines.split()[1]
    assert same(table["e"], MATRIX)
    del table["e"]
    with pytest.raises(FileNotFoundError):
        list(kaldiio.ReadHelper(f"scp:{tmp_path}/b.scp"))
    assert [key for key, _ in kaldiio.ReadHelper(f"scp,p:{tmp_path}/b.scp")] == ["a", "b", "d"]
    with open(tmp_path / "a.scp") as file:
        assert same(kaldiio.load_scp(file)["b"], MATRIX + 1)
    (tmp_path / "bad.scp").write_text("a\n")
    with pytest.raises(ValueError, match="Invalid line"):
        kaldiio.load_scp(tmp_path / "bad.scp")
    with pytest.raises(FileNotFoundError):
        kaldiio.load_scp(tmp_path / "none.scp")
    cache: dict[str, Any] = {}
    name = f"{tmp_path}/a.ark"
    assert same(kaldiio.load_mat(lines.split()[3], fd_dict=cache), MATRIX + 1) and list(cache) == [name]
    assert same(kaldiio.load_mat(lines.split()[1], fd_dict=cache), MATRIX)
    cache[name].close()


def test_files_put_away_are_closed(tmp_path: Path) -> None:
    kept = utils.LimitedSizeDict(2)
    files = [open(tmp_path / str(number), "wb") for number in range(3)]
    for file in files:
        kept[file.name] = file
    kept[files[2].name] = files[2]
    assert [file.closed for file in files] == [True, False, False] and len(kept) == 2
    for file in files:
        file.close()


@pytest.mark.parametrize("samples", [np.uint8([1, 200]), np.int16([[1, -2], [3, 4], [5, 6]])])
def test_waves(tmp_path: Path, samples: Any) -> None:
    kaldiio.save_ark(f"{tmp_path}/a.ark", {"a": (8000, samples), "b": (16000, samples)})
    found = dict(kaldiio.load_ark(f"{tmp_path}/a.ark"))
    assert found["b"][0] == 16000 and same(found["a"][1], samples) and found["a"][1].flags.writeable
    out = io.BytesIO()
    size = wavio.write_wav(out, 8000, samples)
    assert size == len(out.getvalue()) == wavio.read_wav(io.BytesIO(out.getvalue()), True)[1]
    # Programs that write to pipes do not know how much will come; other chunks may stand before it.
    data = bytearray(out.getvalue())
    data[40:44] = b"\xff\xff\xff\xff"
    data[36:36] = b"LIST\3\0\0\0abc\0"
    rate, streamed = wavio.read_wav(ReadOnly(bytes(data)))
    assert rate == 8000 and same(streamed, samples)
    with pytest.raises(ValueError):
        wavio.write_wav(out, 8000, samples.astype(np.float32))


@pytest.mark.parametrize("shape", [(0,), (0, 2)])
def test_empty_waves_end_where_they_are(tmp_path: Path, shape: tuple[int, ...]) -> None:
    empty, samples = np.zeros(shape, np.int16), np.arange(5, dtype=np.int16)
    waves = {"a": (16000, empty), "b": (8000, samples), "c": (8000, empty)}
    kaldiio.save_ark(f"{tmp_path}/a.ark", waves, scp=f"{tmp_path}/a.scp")
    for found in (
        dict(kaldiio.load_ark(f"{tmp_path}/a.ark")),
        dict(kaldiio.load_ark(ReadOnly((tmp_path / "a.ark").read_bytes()))),
        dict(kaldiio.ReadHelper(f"ark:cat {tmp_path}/a.ark |")),
        dict(kaldiio.load_scp(f"{tmp_path}/a.scp")),
        dict(kaldiio.load_scp(f"{tmp_path}/a.scp", max_cache_fd=1)),
        dict(kaldiio.load_scp_sequential(f"{tmp_path}/a.scp")),
    ):
        assert list(found) == ["a", "b", "c"]
        for key, (rate, array) in waves.items():
            assert found[key][0] == rate and same(found[key][1], array)


# Of all and of the samples: what SoX, arecord, ffmpeg and others write to a pipe.
@pytest.mark.parametrize(
    "whole, size",
    [
        (0x7FFFF024, 0x7FFFF000),
        (0x7FFFF022, 0x7FFFEFFE),
        (0x80000024, 0x80000000),
        (0x7FFFFFFF, 0x7FFFFFFF - 36),
        (0xFFFFFFFF, 0xFFFFFFFF),
        (0xFFFFFFFF, 0xFFFFFFFF - 36),
        (0xFFFFFFFF, 0),
        (0, 0),
    ],
)
def test_waves_from_pipes_have_no_size(tmp_path: Path, whole: int, size: int) -> None:
    samples = np.arange(5, dtype=np.int16)
    data = b"RIFF" + struct.pack("<I", whole) + WAVE_HEADER[8:] + struct.pack("<I", size) + samples.tobytes()
    (tmp_path / "a.wav").write_bytes(data)
    for name in (f"{tmp_path}/a.wav", f"cat {tmp_path}/a.wav |"):
        rate, found = kaldiio.load_mat(name)
        assert rate == 8000 and same(found, samples)


def test_a_wave_that_is_cut_short_is_left_out_if_allowed(tmp_path: Path) -> None:
    waves = {key: (16000, np.arange(5000, dtype=np.int16)) for key in "ab"}
    kaldiio.save_ark(f"{tmp_path}/a.ark", waves, scp=f"{tmp_path}/a.scp")
    whole = (tmp_path / "a.ark").read_bytes()
    for cut in (1000, 1001):
        (tmp_path / "a.ark").write_bytes(whole[:-cut])
        with pytest.raises(kaldiio.DataError, match=f"{cut} bytes are missing .*key b"):
            dict(kaldiio.load_scp_sequential(f"{tmp_path}/a.scp"))
        for specifier in (f"ark,p:{tmp_path}/a.ark", f"scp,p:{tmp_path}/a.scp"):
            assert [key for key, _ in kaldiio.ReadHelper(specifier)] == ["a"]


def test_rates_are_rounded() -> None:
    samples = np.arange(5, dtype=np.int16)
    for rate, rounded in ((16000.0, 16000), (np.float32(8000.6), 8001), (np.int64(44100), 44100)):
        out = io.BytesIO()
        kaldiio.save_ark(out, {"a": (rate, samples)})
        [(_, (found, array))] = kaldiio.load_ark(io.BytesIO(out.getvalue()))
        assert found == rounded and same(array, samples)
    for wrong in (0, -1, 0.2, float("nan")):
        with pytest.raises(ValueError):
            kaldiio.save_ark(io.BytesIO(), {"a": (wrong, samples)})
    with pytest.raises(TypeError):
        kaldiio.save_ark(io.BytesIO(), {"a": ("16000", samples)})
    with pytest.raises(ValueError, match="channels"):
        kaldiio.save_ark(io.BytesIO(), {"a": (16000, np.zeros((5, 0), np.int16))})


def test_segments(tmp_path: Path) -> None:
    samples = np.arange(100, dtype=np.int16)
    wavio.write_wav(str(tmp_path / "w.wav"), 10, samples)
    (tmp_path / "wav.scp").write_text(f"w {tmp_path}/w.wav\nv cat {tmp_path}/w.wav |\n")
    (tmp_path / "segments").write_text("a w 1.0 2.5\nb v 9 -1\nc w 0 0.3\n")
    table = kaldiio.load_scp(tmp_path / "wav.scp", segments=tmp_path / "segments")
    expected = {"a": samples[10:25], "b": samples[90:], "c": samples[:3]}
    for found in (table, dict(kaldiio.load_scp_sequential(tmp_path / "wav.scp", segments=tmp_path / "segments"))):
        assert list(found) == list(expected)
        assert all(found[key][0] == 10 and same(found[key][1], expected[key]) for key in expected)
    (tmp_path / "segments").write_text("a x 1.0 2.5\n")
    with pytest.raises(RuntimeError, match="Not found"):
        kaldiio.load_scp(tmp_path / "wav.scp", segments=tmp_path / "segments")


def test_numpy_arrays(tmp_path: Path) -> None:
    value = np.arange(24, dtype=np.int64).reshape(2, 3, 4)
    kaldiio.save_ark(f"{tmp_path}/a.ark", {"a": value}, scp=f"{tmp_path}/a.scp", write_function="numpy")
    assert same(kaldiio.load_scp(f"{tmp_path}/a.scp")["a"], value)
    with gzip.open(tmp_path / "a.ark.gz", "wb") as file:
        file.write((tmp_path / "a.ark").read_bytes())
    with gzip.open(tmp_path / "a.ark.gz", "rb") as file:
        assert same(dict(kaldiio.load_ark(file))["a"], value)


def test_what_is_refused(tmp_path: Path) -> None:
    for wrong in (np.int64([[1]]), np.float16([1]), np.array(["a"])):
        with pytest.raises(ValueError):
            kaldiio.save_mat(io.BytesIO(), wrong)
    for wrong in ([1.0], np.zeros((1, 1, 1), np.float32), np.zeros((1, 1), np.int32)):
        with pytest.raises(AssertionError):
            kaldiio.save_mat(io.BytesIO(), wrong)
    with pytest.raises(ValueError):
        kaldiio.save_mat(io.BytesIO(), MATRIX[0], compression_method=2)
    for method in (8, 0, False):
        with pytest.raises(ValueError, match="Unknown compression_method"):
            kaldiio.save_mat(io.BytesIO(), MATRIX, compression_method=method)
    with pytest.raises(TypeError, match="binary mode"):
        list(kaldiio.load_ark(ReadText("a 1 2\n")))
    for name in ("x", "t:x", "ark,q:x", "ark,scp:x", "ark,ark:x"):
        with pytest.raises(ValueError):
            kaldiio.parse_specifier(name)
    with pytest.raises(ValueError):
        kaldiio.WriteHelper("scp:x")
    with pytest.raises(RuntimeError):
        kaldiio.ReadHelper("ark,scp:a,b")
    with pytest.warns(UserWarning, match="cs option"):
        kaldiio.WriteHelper(f"ark,cs:{tmp_path}/a.ark").close()


class ReadText:
    def __init__(self, text: str) -> None:
        self.text = text

    def read(self, size: int = -1) -> str:
        return self.text[:size]


WRITE = """
import io
a = np.arange(24, dtype=np.float32).reshape(8, 3) / 7
arrays = {"m": a, "d": a.astype(float), "v": a[0], "w": a[0].astype(float), "t": a.T, "e": a[:0],
          "i": np.array([1, -5], np.int32)}
"""
CASES = {
    "binary": WRITE + 'k.save_ark("a.ark", arrays, scp="a.scp"); result = open("a.ark", "rb").read()',
    "script": 'result = open("a.scp").read()',
    "big": WRITE + 'k.save_ark("b.ark", arrays, endian=">"); result = open("b.ark", "rb").read()',
    "text": WRITE + 'k.save_ark("t.ark", arrays, text=True); result = open("t.ark", "rb").read()',
    # The original cannot read the empty matrix that it wrote, nor short lines at the end of a file.
    "read text": WRITE
    + 'del arrays["e"]; arrays["z"] = arrays["m"]; k.save_ark("u.ark", arrays, text=True)\n'
    + 'result = dict(k.load_ark("u.ark"))',
    "waves": 'k.save_ark("w.ark", {"w": (8000, np.int16([[1, 2]]))}); result = open("w.ark", "rb").read()',
    "read waves": 'result = dict(k.load_ark("w.ark"))',
    "empty wave": 'waves = {"a": (16000, np.zeros(0, "i2")), "b": (8000, np.arange(5, dtype="i2"))}\n'
    'k.save_ark("v.ark", waves, scp="v.scp"); result = (open("v.ark", "rb").read(), open("v.scp").read())',
    "read empty wave": 'result = list(k.load_ark("v.ark"))',
    "script of empty wave": 'result = dict(k.load_scp("v.scp"))',
    "script of empty wave, open": 'result = dict(k.load_scp("v.scp", max_cache_fd=1))',
    "sequential empty wave": 'result = list(k.load_scp_sequential("v.scp"))',
    # An even number of bytes less makes a shorter wave of it in the original.
    "cut wave": 'open("c", "wb").write(open("v.ark", "rb").read()[:-3])\n'
    'result = list(k.load_ark("c"))',
    "cut wave, p": 'result = list(k.ReadHelper("ark,p:c"))',
    "no size": 'data = bytearray(open("v.ark", "rb").read()[46:]); data[6:10] = data[42:46] = b"\\xff" * 4\n'
    'open("c", "wb").write(data); result = list(k.load_ark("c"))',
    "rate": 'k.save_ark("w.ark", {"w": (np.float32(8000.6), np.int16([1]))})\n'
    'result = open("w.ark", "rb").read()',
    "rate of text": 'result = k.save_ark("w.ark", {"w": ("8000", np.int16([1]))})',
    "numpy": 'k.save_ark("n.ark", {"a": np.arange(3)}, write_function="numpy"); result = open("n.ark", "rb").read()',
    "pickle": 'k.save_ark("p.ark", {"a": [1, "x"]}, write_function="pickle"); result = dict(k.load_ark("p.ark"))',
    "read": 'result = dict(k.load_ark("a.ark"))',
    "script read": 'result = dict(k.load_scp("a.scp"))',
    "sequential": 'result = list(k.load_scp_sequential("a.scp"))',
    "range": 'result = k.load_mat("a.ark:2[2:3,0:1]")',
    "range beyond": 'result = k.load_mat("a.ark:2[6:20]")',
    "columns": 'result = k.load_mat("a.ark:2[,1:1]")',
    "steps": 'result = k.load_mat("a.ark:2[0:6:2]")',
    "size": 'result = k.save_mat("m", np.zeros((3, 2)))',
    "append": 'k.save_ark("a.ark", {"z": np.zeros(2)}, scp="a.scp", append=True); result = open("a.scp").read()',
    "no file": 'result = k.load_mat("none")',
    "no script": 'result = k.load_scp("none")',
    "no archive": 'result = list(k.load_ark("none"))',
    "no key": 'result = k.load_scp("a.scp")["none"]',
    "bad line": 'open("x", "w").write("a\\n"); result = k.load_scp("x")',
    "int64": 'result = k.save_mat("m", np.zeros((2, 2), "i8"))',
    "integers": WRITE + 'f = io.BytesIO(); k.save_mat(f, arrays["i"]); f.seek(0)\n'
    "result = k.matio.read_int32vector(f, return_size=True)",
    "floats": WRITE + 'f = io.BytesIO(); k.save_mat(f, a); f.seek(0)\n'
    "result = k.matio.read_matrix_or_vector(f, return_size=True)",
    "text of one": 'import io; f = io.BytesIO(b" [ 1.0 2.0 ]\\n"); result = k.matio.read_ascii_mat(f, return_size=True)',
    "headers": WRITE + "h = k.compression_header\n"
    "result = []\nfor method in (3, 4, 5, 6, 7):\n"
    "    g = h.GlobalHeader.compute(a, method); f = io.BytesIO(); size = g.write(f)\n"
    "    result.append((g.type, g.c, g.rows, g.cols, g.endian, g.size, size, f.getvalue(), g.float_to_uint(a).dtype))",
    "headers of columns": WRITE + "h = k.compression_header; g = h.GlobalHeader.compute(a, 2)\n"
    "c = h.PerColHeader.compute(a, g); f = io.BytesIO()\n"
    "result = (c.write(f, g), c.size, len(f.getvalue()), c.p0.shape, c.p0.dtype, c.endian, c.float_to_char(a.T).dtype,\n"
    "  c.char_to_float(c.float_to_char(a.T)).shape)",
    "method": 'result = k.save_mat("m", np.zeros((2, 2)), compression_method=9)',
    "method 0": 'result = k.save_mat("m", np.zeros((2, 2)), compression_method=0)',
    "vector": 'result = k.save_mat("m", np.zeros(2), compression_method=2)',
    "function": 'result = k.save_ark("m", {"a": 1}, write_function="none")',
    "key": 'result = k.save_ark("m", {1: np.zeros(2)})',
    "cut": 'open("c", "wb").write(b"a " + open("a.ark", "rb").read()[2:30]); result = list(k.load_ark("c"))',
    "unknown": 'open("c", "wb").write(b"a \\0BXX x"); result = list(k.load_ark("c"))',
    "text of others": 'others = {"a": np.array([True, False]), "b": np.longdouble([1, 0.1]),\n'
    '"c": np.ones((2, 1), bool), "d": np.array([True, 2.5], object), "e": np.array(["a"]),\n'
    '"f": np.array(["2020-01-01"], "M8[D]")}\n'
    'k.save_ark("o", others, text=True); result = open("o", "rb").read()',
    "text of a matrix": 'result = k.save_ark("o", {"a": np.matrix([[1.76, 0.4]])}, text=True)',
    "text of nothing": 'open("c", "wb").write(b"a  [ ]\\nb 1 2\\n"); result = list(k.load_ark("c"))',
    "lines of a pipe": 'result = [line for line in k.open_like_kaldi("echo hi; echo ho |", "r")]',
    "all of a pipe": 'result = k.open_like_kaldi("echo hi |", "rb").read()',
    "word": 'open("c", "wb").write(b"a word word\\n"); result = list(k.load_ark("c"))',
    "bracket": 'open("c", "wb").write(b"a  [ 1.0 2.0\\n"); result = list(k.load_ark("c"))',
    "closed": 'w = k.WriteHelper("ark:h.ark"); w.close(); result = w("a", np.zeros(2))',
    "specifier": 'result = dict(k.parse_specifier("scp,t,ark:a,b"))',
}


def test_beside_the_original(tmp_path: Path) -> None:
    expected = run_cases("kaldiio", CASES, tmp_path / "theirs")
    found = run_cases("seqfeed.compat.kaldiio", CASES, tmp_path / "ours")
    for name, (how, what) in expected.items():
        assert found[name][0] == how, (name, found[name], what)
        if how == "gives":
            assert alike(found[name][1], what), (name, found[name][1], what)
        else:
            assert what[0] in found[name][1], (name, found[name][1], what)


def alike(ours: Any, theirs: Any) -> bool:
    """As ``same``, whatever the containers."""
    if isinstance(theirs, dict):
        return list(ours) == list(theirs) and all(alike(ours[key], theirs[key]) for key in theirs)
    if isinstance(theirs, (list, tuple)):
        return (
            type(ours) is type(theirs)
            and len(ours) == len(theirs)
            and all(alike(*pair) for pair in zip(ours, theirs))
        )
    return same(ours, theirs)


def test_compression_beside_the_original(tmp_path: Path) -> None:
    """The original's codes differ by its rounding; values must be as near as one code is wide."""
    cases = {
        f"{method}": "a = np.random.default_rng(3).random((30, 4)).astype(np.float32)\n"
        f'k.save_mat("c{method}", a, compression_method={method}); result = (a, k.load_mat("c{method}"))'
        for method in (1, 2, 3, 5, 7)
    }
    expected = run_cases("kaldiio", cases, tmp_path / "theirs")
    found = run_cases("seqfeed.compat.kaldiio", cases, tmp_path / "ours")
    for name, (_, (matrix, theirs)) in expected.items():
        _, ours = found[name][1]
        assert ours.dtype == theirs.dtype == np.float32 and ours.shape == theirs.shape
        assert np.abs(ours - theirs).max() < 0.02 and np.abs(ours - matrix).max() < 0.02
        # Each reads what the other wrote, to the same values.
        read = f'result = k.load_mat("c{name}")'
        again = run_cases("seqfeed.compat.kaldiio", {"a": read}, tmp_path / "theirs")["a"][1]
        assert np.allclose(again, theirs, atol=1e-6)


# What stands in archives by Kaldi's rules: white space before keys, tabs behind them, empty lines.
KEYS: list[tuple[bytes, list[tuple[str, list[float]]]]] = [
    (b"k\t[ 1.5 2 ]\n", [("k", [1.5, 2])]),
    (b"k 1 2\n\nl 3\n", [("k", [1, 2]), ("l", [3])]),
    (b"\n \t k 1 2\n  l\t3\n\n", [("k", [1, 2]), ("l", [3])]),
    (b"k\nl 3\n", [("k", []), ("l", [3])]),
    (b"k [ 1 2 ]\r\nl 3\r\n", [("k", [1, 2]), ("l", [3])]),
    (b"\xe4 1\n", [("\udce4", [1])]),
    (b" \n\n", []),
]


@pytest.mark.parametrize(("text", "expected"), KEYS)
def test_keys_are_found_as_kaldi_finds_them(
    tmp_path: Path, text: bytes, expected: list[tuple[str, list[float]]]
) -> None:
    (tmp_path / "a.ark").write_bytes(text)
    with open(tmp_path / "a.ark", "rb") as file, open(tmp_path / "a.ark", "rb", buffering=0) as raw:
        for source in (str(tmp_path / "a.ark"), file, raw, io.BytesIO(text), ReadOnly(text)):
            assert [(key, array.tolist()) for key, array in kaldiio.load_ark(source)] == expected
    assert [key for key, _ in kaldi.SequentialReader(f"ark:{tmp_path}/a.ark")] == [key for key, _ in expected]


@pytest.mark.parametrize("text", [b"k", b"a 1\nk", b"k\r1\n", b"k\v1\n"])
def test_behind_a_key_stands_a_blank(text: bytes) -> None:
    for source in (io.BytesIO(text), io.BufferedReader(io.BytesIO(text))):  # type: ignore[arg-type]
        with pytest.raises(kaldiio.DataError, match="key k"):
            list(kaldiio.load_ark(source))


def test_tokens_are_those_of_kaldi() -> None:
    file = io.BytesIO(b"\n a\tb c\n")
    assert [matio.read_token(file) for _ in range(4)] == ["a", "b", "c", None]


def test_what_cannot_be_written_leaves_nothing(tmp_path: Path) -> None:
    """Neither half an entry nor a key that nobody can read."""
    wrong: list[tuple[Any, Any, type[Exception]]] = [
        ("", MATRIX, ValueError),
        ("a b", MATRIX, ValueError),
        ("a\tb", MATRIX, ValueError),
        ("a\n", MATRIX, ValueError),
        ("a\x7f", MATRIX, ValueError),
        (5, MATRIX, TypeError),
        ("b", np.array(["text"]), ValueError),
        ("b", np.array([1 << 40]), OverflowError),
        ("b", np.zeros((2, 2, 2), np.float32), AssertionError),
        ("b", [[1.0]], ValueError),
        ("b", (8000, MATRIX), ValueError),
        ("b", None, AssertionError),
    ]
    ark, scp = tmp_path / "a.ark", tmp_path / "a.scp"
    for options in ("", "t,"):
        with kaldiio.WriteHelper(f"ark,{options}scp:{ark},{scp}") as writer:
            writer("first", MATRIX)
            for key, value, kind in wrong:
                if options and kind is OverflowError or (options and key == "b" and kind is ValueError):
                    continue
                with pytest.raises(kind):
                    writer(key, value)
            writer("last", MATRIX)
        assert [key for key, _ in kaldiio.load_ark(str(ark))] == ["first", "last"]
        assert all(np.allclose(value, MATRIX) for value in kaldiio.load_scp(str(scp)).values())
    # Of several, those before the one that failed are in the script file too.
    with pytest.raises(ValueError):
        kaldiio.save_ark(str(ark), {"a": MATRIX, "b": np.array(["x"])}, scp=str(scp))
    assert list(kaldiio.load_scp(str(scp))) == ["a"] == [key for key, _ in kaldiio.load_ark(str(ark))]
    with pytest.raises(OSError):
        kaldiio.save_ark(f"{tmp_path}/none/a.ark", {"a": MATRIX}, scp=str(scp))
    assert list(kaldiio.load_scp(str(scp))) == ["a"]


def test_integers_of_other_sizes_are_those_of_kaldi(tmp_path: Path) -> None:
    """As ``seqfeed.kaldi`` writes them; the original has no type for them."""
    for dtype in ("i8", "u8", "i2", "u1", "u4"):
        ours, native = io.BytesIO(), io.BytesIO()
        assert kaldiio.save_mat(ours, np.array([3, 1, 2], dtype)) == 22
        kaldi.save(native, np.array([3, 1, 2], dtype))
        assert ours.getvalue() == native.getvalue()
    kaldiio.save_mat(ours := io.BytesIO(), np.zeros(0, np.int64))
    assert ours.getvalue() == b"\0B\4\0\0\0\0"


def test_names_that_are_no_text(tmp_path: Path) -> None:
    names = [tmp_path / f"o{letter}.ark" for letter in ("\udce4", "\udce5")]
    for number, name in enumerate(names):
        kaldiio.save_ark(name, {"k\udce4": np.int32([number])}, scp=tmp_path / "a.scp", append=number > 0)
    assert sorted(os.listdir(os.fsencode(tmp_path)))[1:] == [b"o\xe4.ark", b"o\xe5.ark"]
    assert (tmp_path / "a.scp").read_bytes().count(b"k\xe4 ") == 2
    found = kaldiio.load_scp_sequential(str(tmp_path / "a.scp"))
    assert [(key, value.tolist()) for key, value in found] == [("k\udce4", [0]), ("k\udce4", [1])]


def test_objects_one_by_one() -> None:
    """What others import out of ``kaldiio.matio``."""
    integers = np.array([1, 2], np.int32)
    for endian in "<>":
        out = io.BytesIO()
        kaldiio.save_mat(out, MATRIX, endian=endian)
        first = out.tell()
        kaldiio.save_mat(out, integers, endian=endian)
        kaldiio.save_mat(out, MATRIX, endian=endian, compression_method=2)
        kaldiio.save_mat(out, MATRIX[0], endian=endian)
        out.seek(0)
        array, size = matio.read_matrix_or_vector(out, endian=endian, return_size=True)
        assert same(array, MATRIX) and size == first
        assert matio.read_int32vector(out, endian=endian, return_size=True)[1] == 17
        assert matio.read_matrix_or_vector(out, endian).shape == (4, 3)
        assert same(matio.read_matrix_or_vector(ReadOnly(out.read()), endian), MATRIX[0])
    text = io.BytesIO(b" [\n 1.0 2\n 3 4 ]\n1 2 3\n")
    array, size = matio.read_ascii_mat(text, return_size=True)
    assert array.tolist() == [[1, 2], [3, 4]] and size == 17
    assert matio.read_ascii_mat(text).tolist() == [1, 2, 3]
    kaldiio.save_mat(floats := io.BytesIO(), MATRIX)
    kaldiio.save_mat(numbers := io.BytesIO(), integers)
    for read, data in (
        (matio.read_int32vector, floats.getvalue()),
        (matio.read_matrix_or_vector, numbers.getvalue()),
        (matio.read_matrix_or_vector, b"1 2\n"),
        (matio.read_matrix_or_vector, floats.getvalue()[:-1]),
        (matio.read_ascii_mat, b""),
    ):
        with pytest.raises(kaldiio.DataError):
            read(io.BytesIO(data))


@pytest.mark.parametrize("rows", [1, 2, 3, 4, 5, 30])
@pytest.mark.parametrize("method", range(1, 8))
def test_headers_of_compressed_matrices(method: int, rows: int) -> None:
    """They are those of the files that ``seqfeed.kaldi`` writes."""
    matrix = np.random.default_rng(rows).random((rows, 3)).astype(np.float32)
    out, made = io.BytesIO(), io.BytesIO()
    kaldi.save(out, matrix, compression=method)
    data = out.getvalue()[2:]
    header = compression_header.GlobalHeader.compute(matrix, method)
    assert header.write(made) == header.size == data.index(b" ") + 17
    token = len(header.type) + 1
    again = compression_header.GlobalHeader.read(io.BytesIO(data[token:]), header.type)
    assert (again.min_value, again.range, again.rows, again.cols) == (
        header.min_value,
        header.range,
        rows,
        3,
    )
    behind = data[header.size :]
    expected = kaldi.load(out.getvalue())
    if header.type == "CM":
        columns = compression_header.PerColHeader.compute(matrix, header)
        assert columns.write(made, header) == columns.size == 24
        codes = columns.float_to_char(matrix.T)
        found = columns.char_to_float(codes).T
        read = compression_header.PerColHeader.read(io.BytesIO(behind), header)
        assert all(np.array_equal(getattr(read, p), getattr(columns, p)) for p in ("p0", "p25", "p75", "p100"))
        made.write(codes.tobytes())
    else:
        codes = header.float_to_uint(matrix)
        found = header.uint_to_float(codes)
        made.write(codes.tobytes())
    assert made.getvalue() == data
    assert np.allclose(found, expected, rtol=1e-6, atol=1e-7)
