"""Converts objects to bytes, all of them before anything is written, and writes them."""

from __future__ import annotations

import importlib
import math
import pickle
import struct
from io import BytesIO
from typing import Any

import numpy as np
import numpy.typing as npt

from seqfeed import kaldi
from seqfeed.compat.kaldiio._compressed import swapped
from seqfeed.compat.kaldiio.wavio import write_wav

_Array = npt.NDArray[Any]

_LETTERS = {"float32": b"F", "float64": b"D"}


def array_bytes(array: _Array, endian: str = "<", compression_method: int | None = None) -> bytes:
    """An array in binary.

    :raises ValueError: for arrays that Kaldi has no type for
    :raises OverflowError: for integers that do not fit 32 bits
    """
    _check(array)
    if compression_method is None:
        return _full(array, endian)
    return _compressed(array, endian, compression_method)


def write_array(
    fd: Any, array: _Array, endian: str = "<", compression_method: int | None = None
) -> int:
    """Writes an array in binary. Returns the number of bytes.

    :raises ValueError: for arrays that Kaldi has no type for
    :raises OverflowError: for integers that do not fit 32 bits
    """
    return _written(fd, array_bytes(array, endian, compression_method))


def _written(fd: Any, data: bytes) -> int:
    fd.write(data)
    return len(data)


def _check(array: Any) -> None:
    if not isinstance(array, np.ndarray):
        raise AssertionError(f"an array of numpy is expected, not {type(array)}")


def _compressed(array: _Array, endian: str, method: int) -> bytes:
    if array.ndim != 2:
        raise ValueError(f"array must be matrix if compression_method is not None: {array.ndim}")
    if method not in range(1, 8):
        raise ValueError(f"Unknown compression_method: {method}")
    if array.dtype != np.float64:
        array = array.astype(np.float32, copy=False)
    out = BytesIO()
    kaldi.save(out, array, compression=int(method))
    data = out.getvalue()
    return data if endian == "<" else b"\0B" + swapped(data[2:])


def _full(array: _Array, endian: str) -> bytes:
    if array.dtype == np.int32 or (array.dtype.kind in "iu" and array.ndim == 1):
        if array.ndim != 1:
            raise AssertionError(f"integers in one dimension are expected, not in {array.ndim}")
        if array.size and not _fits(array):
            raise OverflowError("an integer does not fit 32 bits, which Kaldi's vectors of integers have")
        tagged = np.empty(len(array), np.dtype([("tag", "u1"), ("value", f"{endian}i4")]))
        tagged["tag"], tagged["value"] = 4, array
        return b"\0B" + struct.pack(f"{endian}bi", 4, len(array)) + tagged.tobytes()
    letter = _LETTERS.get(array.dtype.name)
    if letter is None:
        raise ValueError(f"Unsupported array type: {array.dtype}")
    if array.ndim not in (1, 2):
        raise AssertionError(f"an array of 1 or 2 dimensions is expected, not of {array.ndim}")
    header = b"\0B" + letter + (b"M " if array.ndim == 2 else b"V ")
    header += b"".join(struct.pack(f"{endian}bi", 4, size) for size in array.shape)
    return header + array.astype(f"{endian}f{array.dtype.itemsize}", copy=False).tobytes()


def _fits(integers: _Array) -> bool:
    known = np.iinfo(np.int32)
    return known.min <= int(integers.min()) and int(integers.max()) <= known.max


def write_array_ascii(fd: Any, array: _Array, digit: str | None = ".12g") -> int:
    """Writes an array as text. Returns the number of bytes. Without ``digit``, all digits are
    written.

    :raises TypeError: for an ``np.matrix``, whose rows are matrices and not numbers, and for masked
    values
    """
    return _written(fd, array_text(array, digit))


def array_text(array: _Array, digit: str | None = None) -> bytes:
    """An array as text. Without ``digit``, with all digits.

    :raises TypeError: for an ``np.matrix``, whose rows are matrices and not numbers, and for masked
    values
    """
    _check(array)
    if array.ndim not in (1, 2):
        raise AssertionError(f"an array of 1 or 2 dimensions is expected, not of {array.ndim}")
    # "<": the shortest text that reads back as the same number; booleans as 1 and 0.
    form = "<" if digit is None else digit

    def row(values: _Array) -> str:
        items: Any = values.tolist() if values.dtype.kind in "biuf" else values
        return "".join(format(item, form) + " " for item in items)

    text = " [ " + row(array) if array.ndim == 1 else " [" + "".join("\n  " + row(one) for one in array)
    return (text + "]\n").encode()


def bytes_by(function: str, data: Any, options: dict[str, Any]) -> bytes:
    """The bytes of any object, by one of the functions with tags of their own."""
    function = function.lower()
    out = BytesIO()
    if function == "pickle":
        pickle.dump(data, out, **options)
        return b"PKL" + out.getvalue()
    if function == "numpy":
        np.save(out, data, **options)
        return b"NPY" + _counted(out.getvalue())
    if function == "soundfile":
        rate, samples = _rate_first(data)
        soundfile = importlib.import_module("soundfile")
        soundfile.write(out, samples, rate, **{"format": "wav", **options})
        return b"AUDIO" + _counted(out.getvalue())
    raise RuntimeError(f"Not supported: write_function={function}")


def _counted(data: bytes) -> bytes:
    width = math.ceil(len(data).bit_length() / 8)
    return bytes([width]) + len(data).to_bytes(width, "little") + data


def _rate_first(data: Any) -> tuple[int, _Array]:
    if not isinstance(data, (list, tuple)):
        raise TypeError(f"Expected list or tuple type, but got {type(data)}")
    if len(data) != 2:
        raise ValueError(f"Expected length=2, bot got {len(data)}")
    first, second = data
    if isinstance(first, np.ndarray):
        first, second = second, first
    if isinstance(first, int) and isinstance(second, np.ndarray):
        return first, second
    raise ValueError(
        "Expected Tuple[int, np.ndarray] or Tuple[np.ndarray, int]: "
        f"but got Tuple[{type(data[0])}, {type(data[1])}]"
    )


def any_bytes(data: Any, text: bool, endian: str, compression_method: int | None) -> bytes:
    """An array, or rate and samples of a wave."""
    if isinstance(data, (list, tuple)):
        rate, samples = data
        out = BytesIO()
        write_wav(out, rate, samples)
        return out.getvalue()
    if text:
        return array_text(data)
    return array_bytes(data, endian, compression_method)
