"""Reads keys and objects at the position of a file object."""

from __future__ import annotations

import importlib
import re
import struct
from collections.abc import Callable
from io import BytesIO
from typing import Any

import numpy as np
import numpy.typing as npt

from seqfeed import kaldi
from seqfeed._errors import FormatError
from seqfeed.compat.kaldiio._bytes import Counted, read_array, read_bytes, read_exact, read_line
from seqfeed.compat.kaldiio._compressed import swapped
from seqfeed.compat.kaldiio._errors import of_key, wrong
from seqfeed.compat.kaldiio._pickles import load_pickle
from seqfeed.compat.kaldiio.utils import default_encoding
from seqfeed.compat.kaldiio.wavio import read_wav_behind

_Array = npt.NDArray[Any]

_INTEGERS = re.compile(rb"[\s\d+-]*\Z")
_FULL = {"FM": 4, "DM": 8, "FV": 4, "DV": 8}
_COMPRESSED = {"CM": 1, "CM2": 2, "CM3": 1}
_SPACES = {b" ", b"\t", b"\n", b"\v", b"\f", b"\r"}
_WORD = re.compile(rb"[ \t\n\v\f\r]*([^ \t\n\v\f\r]+)([ \t\n\v\f\r])")
_TAGS = (b"RIFF", b"fLaC", b"NPY", b"PKL", b"AUDIO")


def check_endian(endian: str) -> None:
    """Fails for an invalid byte order."""
    if endian not in ("<", ">"):
        raise AssertionError(f'endian is "<" or ">", not {endian!r}')


def read_token(fd: Any) -> str | None:
    """The key of the next entry, and the blank, tab or end of line after it; None at the end of the
    file."""
    entry = read_key(fd)
    return None if entry is None else entry[0]


def read_key(fd: Any) -> tuple[str, bytes] | None:
    """The key of the next entry by Kaldi's rules, and the part of its object that was read with it.

    White space before a key is skipped. One blank or tab after it is consumed. The end of a line
    belongs to the object.

    :raises DataError: if the key is cut short, or another kind of white space follows it
    """
    key, separator = _read_word(fd)
    if not key:
        return None
    name = key.decode(default_encoding, "surrogateescape")
    if separator in (b" ", b"\t"):
        return name, b""
    if separator == b"\n":
        return name, b"\n"
    what = repr(separator)[2:-1] if separator else "the end of the file"
    raise of_key(wrong(fd, f"behind a key stands a blank, not {what}"), name)


def _read_word(fd: Any) -> tuple[bytes, bytes]:
    """The next word and the one byte of white space after it; either is empty at the end."""
    peek = getattr(fd, "peek", None)
    if peek is not None:
        there = bytes(peek(256))
        match = _WORD.match(there)
        if match is not None:
            fd.read(match.end())
            return match[1], match[2]
    byte = read_bytes(fd, 1)
    while byte in _SPACES:
        byte = read_bytes(fd, 1)
    parts = []
    while byte and byte not in _SPACES:
        parts.append(byte)
        byte = read_bytes(fd, 1)
    return b"".join(parts), byte


def read_kaldi(
    fd: Any,
    endian: str = "<",
    audio_loader: str | Callable[..., Any] = "soundfile",
    load_kwargs: dict[str, Any] | None = None,
) -> Any:
    """Reads an object of any kind: an array, or rate and samples of a wave.

    :raises DataError: if it is damaged, or of an unknown kind
    """
    check_endian(endian)
    return read_object(fd, read_bytes(fd, 1), endian, audio_loader, load_kwargs)


def read_object(
    fd: Any,
    start: bytes,
    endian: str,
    audio_loader: str | Callable[..., Any] = "soundfile",
    load_kwargs: dict[str, Any] | None = None,
) -> Any:
    """As ``read_kaldi``, after its first byte has been read."""
    options = load_kwargs or {}
    if start == b"\0":
        if read_bytes(fd, 1) != b"B":
            raise wrong(fd, 'no "B" behind the zero of a binary object')
        return _read_binary(fd, endian)
    for tag in _TAGS:
        if start == tag[:1]:
            start += read_bytes(fd, len(tag) - 1)
            if start != tag:
                break
            return _read_tagged(fd, tag, audio_loader, options)
    return _read_text(fd, start)


def read_matrix_or_vector(fd: Any, endian: str = "<", return_size: bool = False) -> Any:
    """Reads a matrix or vector of floats in binary, also a compressed one.

    With ``return_size``, the array and the number of bytes.

    :raises DataError: if it is not one, or damaged
    """
    return _sized(fd, return_size, lambda fd: _floats(_binary(fd, endian), fd))


def read_int32vector(fd: Any, endian: str = "<", return_size: bool = False) -> Any:
    """Reads a vector of int32 in binary.

    With ``return_size``, the array and the number of bytes.

    :raises DataError: if it is not one, or damaged
    """
    return _sized(fd, return_size, lambda fd: _integers(_binary(fd, endian), fd))


def read_ascii_mat(fd: Any, return_size: bool = False) -> Any:
    """Reads a matrix or vector as text.

    With ``return_size``, the array and the number of bytes.

    :raises DataError: if it is not one, or damaged
    """
    return _sized(fd, return_size, lambda fd: _read_text(fd, read_bytes(fd, 1)))


def _sized(fd: Any, return_size: bool, read: Callable[[Any], _Array]) -> Any:
    counted = Counted(fd)
    array = read(counted)
    return (array, counted.count) if return_size else array


def _binary(fd: Any, endian: str) -> _Array:
    check_endian(endian)
    if read_bytes(fd, 2) != b"\0B":
        raise wrong(fd, "no binary object: it begins with a zero and a B")
    return _read_binary(fd, endian)


def _floats(array: _Array, fd: Any) -> _Array:
    if array.dtype.kind != "f":
        raise wrong(fd, "a matrix or vector of floats is expected, not one of integers")
    return array


def _integers(array: _Array, fd: Any) -> _Array:
    if array.dtype.kind != "i":
        raise wrong(fd, "a vector of int32 is expected, not floats")
    return array


def _read_tagged(
    fd: Any, tag: bytes, audio_loader: str | Callable[..., Any], options: dict[str, Any]
) -> Any:
    if tag == b"RIFF":
        return read_wav_behind(fd)
    if tag == b"PKL":
        return load_pickle(fd, options)
    if tag == b"NPY":
        data = BytesIO(_read_counted(fd))
        try:
            return np.load(data, **options)
        except (ValueError, EOFError) as error:
            raise wrong(fd, f"no array of numpy: {error}") from error
    if tag == b"fLaC":
        return _audio(audio_loader, BytesIO(tag + fd.read()), options)
    return _audio(audio_loader, BytesIO(_read_counted(fd)), options)


def _read_counted(fd: Any) -> bytes:
    """The bytes after their length. A byte before gives the number of bytes of the length."""
    width = read_exact(fd, 1, "a length")[0]
    return read_exact(fd, int.from_bytes(read_exact(fd, width, "a length"), "little"), "the data")


def _audio(loader: str | Callable[..., Any], data: BytesIO, options: dict[str, Any]) -> Any:
    if loader == "soundfile":
        loader = importlib.import_module("soundfile").read
    if not callable(loader):
        raise ValueError(f"Not supported: audio_loader={loader}")
    first, second = loader(data, **options)
    if isinstance(first, np.ndarray):
        first, second = second, first
    if isinstance(first, int) and isinstance(second, np.ndarray):
        return first, second
    raise RuntimeError(
        f"Got unexpected type from audio_loader: ({type(first)}, {type(second)})"
    )


def _read_binary(fd: Any, endian: str) -> _Array:
    start = read_bytes(fd, 1)
    if start == b"\4":
        return _read_integers(fd, endian)
    token = start + read_bytes(fd, 2)
    if token[2:] != b" ":
        token += read_bytes(fd, 1)
    kind = token[:-1].decode("latin-1")
    if token[-1:] == b" " and kind in _COMPRESSED:
        return _read_compressed(fd, token, endian)
    if token[-1:] != b" " or kind not in _FULL:
        found = token.decode("latin-1").strip()
        raise wrong(
            fd,
            f'Unexpected format: "{found}". Now FM, FV, DM, DV, CM, CM2, CM3 are supported.',
            "seqfeed.kaldi reads all of Kaldi's types",
        )
    shape = [_read_size(fd, endian) for _ in kind[1:].replace("V", "1").replace("M", "12")]
    values = read_array(fd, np.dtype(f"{endian}f{_FULL[kind]}"), tuple(shape), "an array")
    return values.astype(values.dtype.newbyteorder("="), copy=False)


def _read_size(fd: Any, endian: str) -> int:
    tag, size = struct.unpack(f"{endian}bi", read_exact(fd, 5, "a header"))
    if tag != 4 or size < 0:
        raise wrong(fd, "a header without a size", f'or of the other order of bytes than "{endian}"?')
    return int(size)


def _read_integers(fd: Any, endian: str) -> _Array:
    (count,) = struct.unpack(f"{endian}i", read_exact(fd, 4, "a header"))
    tagged = np.dtype([("tag", "u1"), ("value", f"{endian}i4")])
    values = read_array(fd, tagged, (count,), "a vector")
    if not np.all(values["tag"] == 4):
        raise wrong(fd, "a vector of something else than int32")
    return values["value"].astype(np.int32)


def _read_compressed(fd: Any, token: bytes, endian: str) -> _Array:
    header = read_exact(fd, 16, "the header of a compressed matrix")
    rows, cols = struct.unpack(f"{endian}8xii", header)
    if rows < 0 or cols < 0:
        raise wrong(fd, "a header with a negative size")
    size = rows * cols * _COMPRESSED[token[:-1].decode()] + (8 * cols if token == b"CM " else 0)
    data = token + header + read_array(fd, np.dtype("u1"), (size,), "a compressed matrix").tobytes()
    return _parse(fd, b"\0B" + (data if endian == "<" else swapped(data)), "float-matrix")


def _parse(fd: Any, data: bytes, object_type: str) -> _Array:
    try:
        array: _Array = kaldi.load(data, object_type=object_type)
        return array
    except FormatError as error:
        raise wrong(fd, f"{error.reason} (in the object)", error.help) from error


def _read_text(fd: Any, start: bytes) -> _Array:
    line = start + (b"" if start.endswith(b"\n") else read_line(fd))
    if not line:
        raise wrong(fd, "there is no object", "the file ends")
    head, bracket, body = line.partition(b"[")
    if not bracket or head.strip():
        return _numbers(fd, line)
    lines = [body]
    while b"]" not in lines[-1]:
        lines.append(read_line(fd))
        if not lines[-1]:
            raise wrong(fd, "There are no corresponding bracket ']' with '['")
    body, _, behind = b"".join(lines).partition(b"]")
    if behind.strip():
        raise wrong(fd, 'something stands behind "]" in its line')
    if b"\n" not in body:
        # Without numbers that decide the type, floats: Kaldi writes integers without brackets.
        return _numbers(fd, body) if body.strip() else np.zeros(0, np.float32)
    return _parse(fd, b" [" + body + b"]\n", "float-matrix")


def _numbers(fd: Any, text: bytes) -> _Array:
    """The numbers of one line: int32 if all of them are integers, otherwise float32."""
    if _INTEGERS.match(text):
        return _parse(fd, text.strip() + b"\n", "int32-vector")
    return _parse(fd, b" [ " + text.strip() + b" ]\n", "float-vector")
