"""Objects of the program's own types in tables, and what stands inside of objects."""

from __future__ import annotations

import io
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import seqfeed
from seqfeed import kaldi


class Segment:
    """Where a word begins, how long it lasts, and what it looks like."""

    def __init__(self, start: int, frames: int, values: Any) -> None:
        self.start, self.frames, self.values = start, frames, values

    @classmethod
    def read(cls, stream: kaldi.ObjectReader) -> Segment:
        stream.expect_token("<Segment>")
        start, frames = stream.read_basic("int32"), stream.read_basic("int64")
        if start < 0:
            raise ArithmeticError(f"{start} is no beginning")
        return cls(start, frames, stream.read_object("float-matrix"))

    def write(self, stream: kaldi.ObjectWriter) -> None:
        stream.write_token("<Segment>")
        stream.write_basic(self.start, "int32")
        stream.write_basic(self.frames, "int64")
        stream.write_object(self.values)

    def __eq__(self, other: object) -> bool:
        assert isinstance(other, Segment)
        return (self.start, self.frames) == (other.start, other.frames) and np.array_equal(self.values, other.values)


class Line:
    """Text of one line, without a header."""

    has_header = False

    @staticmethod
    def read(stream: kaldi.ObjectReader) -> str:
        return stream.readline().decode().rstrip()

    @staticmethod
    def write(text: str, stream: kaldi.ObjectWriter) -> None:
        stream.write(text + "\n")


SEGMENTS = {f"w{number}": Segment(number, 1 << 40, np.full((2, 3), number, np.float32)) for number in range(4)}


@pytest.mark.parametrize("options", ["", "t,"])
def test_tables_of_own_types(tmp_path: Path, options: str) -> None:
    with kaldi.Writer(f"ark,{options}scp:{tmp_path}/a.ark,{tmp_path}/a.scp") as writer:
        for key, segment in SEGMENTS.items():
            writer[key] = segment
    data = (tmp_path / "a.ark").read_bytes()
    assert data.startswith(b"w0 <Segment> 0 1099511627776 " if options else b"w0 \0B<Segment> \4\0\0\0\0\10")
    for source in (f"ark:{tmp_path}/a.ark", f"scp:{tmp_path}/a.scp"):
        reader = kaldi.SequentialReader(source, object_type=Segment)
        first = next(reader)
        copy = pickle.loads(pickle.dumps(reader))
        assert [first, *reader] == list(SEGMENTS.items()) and list(copy) == list(SEGMENTS.items())[1:]
        random = kaldi.RandomAccessReader(source, object_type=Segment)
        assert random["w3"] == SEGMENTS["w3"] and random["w1"] == SEGMENTS["w1"] and "w4" not in random
        with seqfeed.open(source, object_type=Segment) as table:
            assert len(table) == 4 and table["w2"] == SEGMENTS["w2"] and dict(table) == SEGMENTS
    with open(tmp_path / "a.ark", "rb") as file:
        assert dict(kaldi.SequentialReader(file, object_type=Segment)) == SEGMENTS
    assert kaldi.load(f"{tmp_path}/a.ark:3", object_type=Segment) == SEGMENTS["w0"]
    with pytest.raises(seqfeed.Error, match="range"):
        kaldi.load(f"{tmp_path}/a.ark:3[0:1]", object_type=Segment)


def test_a_class_of_functions_without_a_header(tmp_path: Path) -> None:
    texts = {"a": "one two", "b": "", "c": "three"}
    with kaldi.Writer(f"ark:{tmp_path}/a.ark", object_type=Line) as writer:
        for key, text in texts.items():
            writer[key] = text
    assert (tmp_path / "a.ark").read_bytes() == b"a one two\nb \nc three\n"
    assert dict(kaldi.SequentialReader(f"ark:{tmp_path}/a.ark", object_type=Line)) == texts
    assert kaldi.RandomAccessReader(f"ark:{tmp_path}/a.ark", object_type=Line)["c"] == "three"


def test_what_a_class_raises_is_raised(tmp_path: Path) -> None:
    with kaldi.Writer(f"ark:{tmp_path}/a.ark") as writer:
        writer["a"] = SEGMENTS["w1"]
        writer["bad"] = Segment(-5, 1, np.ones((1, 1), np.float32))
    reader = kaldi.SequentialReader(f"ark:{tmp_path}/a.ark", object_type=Segment)
    assert next(reader)[0] == "a"
    with pytest.raises(ArithmeticError, match="-5 is no beginning") as caught:
        next(reader)
    notes = getattr(caught.value, "__notes__", ["bad"])
    assert "bad" in notes[0]
    with pytest.raises(ArithmeticError):
        kaldi.RandomAccessReader(f"ark:{tmp_path}/a.ark", object_type=Segment)["bad"]
    # What the stream itself finds is an error of the data, which the option `p` passes over.
    (tmp_path / "c.ark").write_text("a <Segment> 1 2  [\n  1 ]\nc <Other> 1\n")
    with pytest.raises(seqfeed.FormatError, match="<Segment>"):
        list(kaldi.SequentialReader(f"ark:{tmp_path}/c.ark", object_type=Segment))
    assert len(list(kaldi.SequentialReader(f"ark,p:{tmp_path}/c.ark", object_type=Segment))) == 1
    with pytest.raises(seqfeed.UsageError, match="bg"):
        next(kaldi.SequentialReader(f"ark,bg:{tmp_path}/a.ark", object_type=Segment))


def test_streams_end_with_the_call(tmp_path: Path) -> None:
    kept: list[kaldi.ObjectReader] = []

    class Keeper:
        @staticmethod
        def read(stream: kaldi.ObjectReader) -> int:
            kept.append(stream)
            return int(stream.read_basic("int32"))

    with kaldi.Writer(f"ark:{tmp_path}/a.ark", object_type="int32") as writer:
        writer["a"], writer["b"] = 1, 2
    assert dict(kaldi.SequentialReader(f"ark:{tmp_path}/a.ark", object_type=Keeper)) == {"a": 1, "b": 2}
    with pytest.raises(ValueError, match="closed"):
        kept[0].read()
    for wrong in (5, Segment(1, 2, 3), "no-type"):
        with pytest.raises((TypeError, seqfeed.UsageError)):
            kaldi.SequentialReader(f"ark:{tmp_path}/a.ark", object_type=wrong)  # type: ignore[arg-type]
    with pytest.raises(AttributeError):
        kaldi.save(tmp_path / "x", 5, object_type=Keeper)


@pytest.mark.parametrize("text", [False, True])
def test_several_objects_behind_one_header(tmp_path: Path, text: bool) -> None:
    values = {"int8": -3, "int16": 300, "int32": -7, "int64": 1 << 40, "uint8": 200, "uint16": 60000}
    values |= {"uint32": 1 << 31, "uint64": 1 << 63, "bool": True}
    with kaldi.ObjectWriter(tmp_path / "model", text=text) as out:
        assert out.binary is not text
        out.write_token("<Model>")
        for kind, value in values.items():
            out.write_basic(value, kind)
        out.write_basic(0.5, "float")
        out.write_basic(0.1, "double")
        out.write_object(np.ones((2, 2), np.float32))
        out.write_object(np.arange(3), "int32-vector")
        out.write_object(np.zeros(2), "double-vector")
        assert not (tmp_path / "model").exists()
    data = (tmp_path / "model").read_bytes()
    assert data.startswith(b"<Model> -3 300 -7 " if text else b"\0B<Model> \1\xfd\2") and data.count(b"\0B") == (not text)
    for source in (tmp_path / "model", f"cat {tmp_path}/model |", data, io.BytesIO(data)):
        with kaldi.ObjectReader(source, allow_pipes=True) as stream:
            assert stream.binary is not text and not stream.at_end()
            assert stream.peek_token() == "M" and stream.read_token() == "<Model>"
            assert {kind: stream.read_basic(kind) for kind in values} == values
            assert stream.read_basic("float") == 0.5 and stream.read_basic("double") == 0.1
            assert stream.read_object("float-matrix").shape == (2, 2)
            assert stream.read_object("int32-vector").tolist() == [0, 1, 2]
            vector = stream.read_object("double-vector")
            assert vector.tolist() == [0, 0] and vector.dtype == np.float64
            assert stream.at_end() and stream.peek_token() is None
        with pytest.raises(ValueError, match="closed"):
            stream.read_token()


def test_wrong_streams(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError), kaldi.ObjectWriter(tmp_path / "x") as out:
        out.write_token("<A>")
        raise RuntimeError
    assert not (tmp_path / "x").exists()
    with kaldi.ObjectWriter(tmp_path / "x") as out:
        for token in ("", "a b", "a\n"):
            with pytest.raises(seqfeed.UsageError, match="token"):
                out.write_token(token)
        with pytest.raises(seqfeed.UsageError, match="basic type"):
            out.write_basic(1, "float-matrix")
        with pytest.raises(OverflowError):
            out.write_basic(300, "int8")
        with pytest.raises(TypeError):
            out.write(5)  # type: ignore[arg-type]
        assert out.write("ab\n") == 3 and out.write(bytearray(b"c")) == 1
    stream = kaldi.ObjectReader(tmp_path / "x")
    assert stream.position == 2 and stream.readline() == b"ab\n" and stream.read(5) == b"c" == stream.read(0) + b"c"
    assert stream.read() == b"" == stream.readline() and stream.position == 6
    with pytest.raises(seqfeed.FormatError):
        kaldi.ObjectReader(b"ab").expect_token("<A>")
    with pytest.raises(seqfeed.CommandError):
        with kaldi.ObjectReader("echo 5; false |", allow_pipes=True) as stream:
            assert stream.read_basic("int32") == 5 and stream.at_end()
    with pytest.raises(seqfeed.ForbiddenError):
        kaldi.ObjectReader("echo 5 |")
    for wrong in (5, None):
        with pytest.raises(TypeError):
            kaldi.ObjectReader(wrong)  # type: ignore[arg-type]
        with pytest.raises(TypeError):
            kaldi.ObjectWriter(wrong)  # type: ignore[arg-type]
