"""The headers of compressed matrices: kaldiio's module of the same name.

``seqfeed.kaldi`` compresses and reads whole matrices. These classes are for programs that look into
them.
"""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
import numpy.typing as npt

from seqfeed.compat.kaldiio._bytes import read_exact

__all__ = ["GlobalHeader", "PerColHeader"]

kAutomaticMethod = 1
kSpeechFeature = 2
kTwoByteAuto = 3
kTwoByteSignedInteger = 4
kOneByteAuto = 5
kOneByteUnsignedInteger = 6
kOneByteZeroOne = 7

_Floats = npt.NDArray[np.float32]

_TYPES = {
    kSpeechFeature: "CM",
    kTwoByteAuto: "CM2",
    kTwoByteSignedInteger: "CM2",
    kOneByteAuto: "CM3",
    kOneByteUnsignedInteger: "CM3",
    kOneByteZeroOne: "CM3",
}

# For methods whose range does not depend on the values: the smallest value and the range.
_RANGES = {
    kTwoByteSignedInteger: (-32768.0, 65535.0),
    kOneByteUnsignedInteger: (0.0, 255.0),
    kOneByteZeroOne: (0.0, 1.0),
}

# Kaldi's rounding, with 64 bits: a value midway between two codes gets the lower one.
_ROUNDING = 0.499


class GlobalHeader:
    """The header of a whole matrix: its format, smallest value, range and shape.

    ``type`` is ``CM`` (a byte a value, between percentiles of its column), ``CM2`` (two bytes) or
    ``CM3`` (one).
    """

    def __init__(
        self, type: str, min_value: float, range: float, rows: int, cols: int, endian: str = "<"
    ) -> None:
        if type not in ("CM", "CM2", "CM3"):
            raise ValueError(f"Unknown type: {type}")
        self.type = type
        self.c = 255.0 if type == "CM3" else 65535.0
        self.min_value, self.range = min_value, range
        self.rows, self.cols = rows, cols
        self.endian = endian

    @property
    def size(self) -> int:
        """Its bytes in a file, with its token."""
        return 17 + len(self.type)

    @staticmethod
    def read(fd: Any, type: str = "CM", endian: str = "<") -> GlobalHeader:
        """Reads a header after its token.

        :raises DataError: if the file is cut short
        """
        data = read_exact(fd, 16, "the header of a compressed matrix")
        min_value, range, rows, cols = struct.unpack(f"{endian}ffii", data)
        return GlobalHeader(type, min_value, range, rows, cols, endian)

    def write(self, fd: Any, endian: str | None = None) -> int:
        """Writes token and header. Returns the number of bytes."""
        numbers = (self.min_value, self.range, self.rows, self.cols)
        data = struct.pack(f"{endian or self.endian}ffii", *numbers)
        fd.write(self.type.encode() + b" " + data)
        return self.size

    @staticmethod
    def compute(
        array: npt.NDArray[Any], compression_method: int, endian: str = "<"
    ) -> GlobalHeader:
        """The header for a matrix.

        :raises ValueError: for other arrays, and unknown methods
        """
        if array.ndim != 2 or array.size == 0:
            raise ValueError(f"a matrix with values is expected, not an array of shape {array.shape}")
        if compression_method == kAutomaticMethod:
            compression_method = kSpeechFeature if len(array) > 8 else kTwoByteAuto
        if compression_method not in _TYPES:
            raise ValueError(f"Unknown compression_method: {compression_method}")
        kind, (rows, cols) = _TYPES[compression_method], array.shape
        if compression_method in _RANGES:
            return GlobalHeader(kind, *_RANGES[compression_method], rows, cols, endian)
        smallest, largest = np.float32(array.min()), np.float32(array.max())
        if smallest == largest:
            largest = smallest + (1 + abs(smallest))
        # Both as numbers of 32 bits, as in the file.
        least: Any = smallest
        return GlobalHeader(kind, least, largest - least, rows, cols, endian)

    def float_to_uint(self, array: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Values as codes between the smallest value and the largest."""
        part = np.clip((np.asarray(array, np.float32) - self.min_value) / self.range, 0, 1)
        codes: npt.NDArray[Any] = (part * self.c).astype(np.float64) + _ROUNDING
        return codes.astype(np.uint8 if self.type == "CM3" else np.uint16)

    def uint_to_float(self, array: npt.NDArray[Any]) -> _Floats:
        """Codes as values."""
        step = np.float32(self.range) * np.float32(1 / self.c)
        return np.asarray(array, np.float32) * step + np.float32(self.min_value)


class PerColHeader:
    """The headers of the columns of a ``CM`` matrix: their smallest values, quartiles and largest
    values.

    Each is an array of shape (columns, 1).
    """

    def __init__(self, p0: _Floats, p25: _Floats, p75: _Floats, p100: _Floats, endian: str = "<") -> None:
        self.p0, self.p25, self.p75, self.p100 = p0, p25, p75, p100
        self.endian = endian

    @property
    def size(self) -> int:
        """Their bytes in a file."""
        return 8 * len(self.p0)

    @staticmethod
    def read(fd: Any, global_header: GlobalHeader) -> PerColHeader:
        """Reads the headers of all columns, after the header of the whole matrix.

        :raises DataError: if the file is cut short
        """
        data = read_exact(fd, 8 * global_header.cols, "the headers of the columns")
        codes = np.frombuffer(data, f"{global_header.endian}u2").reshape(-1, 4)
        return PerColHeader._of_codes(codes, global_header)

    @staticmethod
    def _of_codes(codes: npt.NDArray[Any], global_header: GlobalHeader) -> PerColHeader:
        values = global_header.uint_to_float(codes)
        p0, p25, p75, p100 = np.split(values, 4, axis=1)
        return PerColHeader(p0, p25, p75, p100, global_header.endian)

    def write(self, fd: Any, global_header: GlobalHeader, endian: str | None = None) -> int:
        """Writes the headers of all columns. Returns the number of bytes."""
        values = np.concatenate([self.p0, self.p25, self.p75, self.p100], axis=1)
        codes = global_header.float_to_uint(values)
        fd.write(codes.astype(f"{endian or self.endian}u2").tobytes())
        return self.size

    @staticmethod
    def compute(array: npt.NDArray[Any], global_header: GlobalHeader) -> PerColHeader:
        """The headers for a matrix.

        :raises ValueError: if its shape differs from the header
        """
        rows = len(array)
        if array.shape != (global_header.rows, global_header.cols):
            raise ValueError(
                f"the header is of shape {(global_header.rows, global_header.cols)}, the matrix of {array.shape}"
            )
        ordered = np.sort(np.asarray(array, np.float32), axis=0)
        # With fewer rows than percentiles, each code is one above the previous one.
        places = [0, rows // 4, rows // 4 * 3, rows - 1] if rows >= 5 else list(range(rows))
        found = global_header.float_to_uint(ordered[places]).astype(np.int64)
        codes = np.empty((global_header.cols, 4), np.int64)
        for number in range(4):
            least = codes[:, number - 1] + 1 if number else np.zeros(global_header.cols, np.int64)
            code = np.maximum(found[number], least) if number < len(places) else least
            codes[:, number] = np.minimum(code, 65532 + number)
        return PerColHeader._of_codes(codes, global_header)

    def float_to_char(self, array: npt.NDArray[Any]) -> npt.NDArray[np.uint8]:
        """Values of shape (columns, rows) as codes between the percentiles."""
        values = np.asarray(array, np.float32)
        low = np.clip(_part(values, self.p0, self.p25, 64), 0, 64)
        middle = np.clip(64 + _part(values, self.p25, self.p75, 128), 64, 192)
        high = np.clip(192 + _part(values, self.p75, self.p100, 63), 192, 255)
        codes = np.where(values < self.p25, low, np.where(values < self.p75, middle, high))
        return codes.astype(np.uint8)

    def char_to_float(self, array: npt.NDArray[np.uint8]) -> _Floats:
        """Codes of shape (columns, rows) as values."""
        codes = np.asarray(array, np.float32)
        low = self.p0 + (self.p25 - self.p0) * codes * np.float32(1 / 64)
        middle = self.p25 + (self.p75 - self.p25) * (codes - 64) * np.float32(1 / 128)
        high = self.p75 + (self.p100 - self.p75) * (codes - 192) * np.float32(1 / 63)
        return np.where(codes <= 64, low, np.where(codes <= 192, middle, high)).astype(np.float32)


def _part(values: _Floats, start: _Floats, end: _Floats, codes: int) -> _Floats:
    """The number of codes, of ``count``, by which a value is behind the start, rounded."""
    return np.floor((values - start) / (end - start) * codes + np.float32(0.5))
