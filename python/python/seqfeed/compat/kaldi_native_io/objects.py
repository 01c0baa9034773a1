"""Objects, and single objects in files."""

from __future__ import annotations

import re
from enum import IntEnum
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np
import numpy.typing as npt

from seqfeed import compat, kaldi
from seqfeed.compat.kaldi_native_io._errors import KaldiError, kaldi_errors

_Self = TypeVar("_Self", bound="_Array[Any]")
_T = TypeVar("_T", bound=np.generic)


def load(rxfilename: str, object_type: str) -> Any:
    """One object of a type.

    :raises KaldiError: if it cannot be read
    """
    if not isinstance(rxfilename, str):
        raise TypeError(f"an rxfilename (str) is expected, not {type(rxfilename).__name__}")
    with kaldi_errors():
        return kaldi.load(rxfilename, object_type=object_type, allow_pipes=compat.ALLOW_PIPES)


class CompressionMethod(IntEnum):
    """The compression of a matrix."""

    kAutomaticMethod = 1
    """``kSpeechFeature`` for more than 8 rows, otherwise ``kTwoByteAuto``."""
    kSpeechFeature = 2
    """A byte a value, in three ranges between percentiles of the column."""
    kTwoByteAuto = 3
    """Two bytes a value, between the smallest and the largest."""
    kTwoByteSignedInteger = 4
    """Two bytes a value, whole numbers from -32768 to 32767."""
    kOneByteAuto = 5
    """A byte a value, between the smallest and the largest."""
    kOneByteUnsignedInteger = 6
    """A byte a value, whole numbers from 0 to 255."""
    kOneByteZeroOne = 7
    """A byte a value, from 0 to 1."""

    def __str__(self) -> str:
        return f"CompressionMethod.{self.name}"

    def __format__(self, spec: str) -> str:
        return format(str(self), spec)


class _Array(Generic[_T]):
    """An array with the original's interface: ``numpy()`` returns it."""

    _object_type: ClassVar[str]
    _dtype: ClassVar[np.dtype[Any]]
    _ndim: ClassVar[int]

    def __init__(self, array: npt.ArrayLike | None = None) -> None:
        if array is None:
            array = np.zeros((0,) * self._ndim, self._dtype)
        values: npt.NDArray[_T] = np.array(array, dtype=self._dtype, order="C")
        if values.ndim != self._ndim:
            raise KaldiError(
                f"an array of {self._ndim} dimensions is expected, not of {values.ndim}"
            )
        self._values = values

    def numpy(self) -> npt.NDArray[_T]:
        """The array itself, not a copy."""
        return self._values

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        if copy:
            return self._values.astype(dtype or self._values.dtype)
        return self._values if dtype is None else self._values.astype(dtype, copy=False)

    def __buffer__(self, flags: int) -> memoryview:
        return self._values.data

    @classmethod
    def read(cls: type[_Self], rxfilename: str) -> _Self:
        """Reads one from ``a.ark``, ``a.ark:12``, ``a.ark:12[0:9]`` (both ends included) or a pipe.

        :raises KaldiError: if it cannot be read
        """
        read = cls.__new__(cls)
        read._values = load(rxfilename, cls._object_type)
        return read

    def write(self, wxfilename: str, binary: bool) -> None:
        """Writes it to a file or pipe.

        :raises KaldiError: if it cannot be written
        """
        with kaldi_errors():
            kaldi.save(
                wxfilename,
                self._values,
                object_type=self._object_type,
                text=not binary,
                allow_pipes=compat.ALLOW_PIPES,
            )


class _Matrix(_Array[_T]):
    _ndim = 2

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        rows, cols = self._values.shape
        return rows, cols

    def __str__(self) -> str:
        """As text, with six digits; ``write`` gives all digits."""
        if len(self._values) == 0:
            return " [ ]\n"
        rows = ("".join(f"{value:g} " for value in row) for row in self._values.tolist())
        return " [" + "".join(f"\n  {row}" for row in rows) + "]\n"


class FloatMatrix(_Matrix[np.float32]):
    """A matrix of float32."""

    _object_type, _dtype = "float-matrix", np.dtype(np.float32)


class DoubleMatrix(_Matrix[np.float64]):
    """A matrix of float64."""

    _object_type, _dtype = "double-matrix", np.dtype(np.float64)


class FloatVector(_Array[np.float32]):
    """A vector of float32."""

    _object_type, _dtype, _ndim = "float-vector", np.dtype(np.float32), 1


class DoubleVector(_Array[np.float64]):
    """A vector of float64."""

    _object_type, _dtype, _ndim = "double-vector", np.dtype(np.float64), 1


class MatrixShape:
    """Rows and columns of a matrix."""

    def __init__(self, num_rows: int = 0, num_cols: int = 0) -> None:
        self._num_rows, self._num_cols = int(num_rows), int(num_cols)

    @property
    def num_rows(self) -> int:
        """Number of rows."""
        return self._num_rows

    @property
    def num_cols(self) -> int:
        """Number of columns."""
        return self._num_cols

    def __str__(self) -> str:
        return f"MatrixShape(num_rows={self.num_rows},num_cols={self.num_cols})"

    @staticmethod
    def read(rxfilename: str) -> MatrixShape:
        """Reads only the shape of a matrix in a file.

        :raises KaldiError: if it cannot be read
        """
        return MatrixShape(*load(rxfilename, "matrix-shape"))


class HtkHeader:
    """The header of HTK's parameter files."""

    def __init__(
        self,
        num_samples: int = 0,
        sample_period: int = 0,
        sample_size: int = 0,
        sample_kind: int = 0,
    ) -> None:
        self.num_samples, self.sample_period = num_samples, sample_period
        self.sample_size, self.sample_kind = sample_size, sample_kind

    def _fields(self) -> tuple[int, ...]:
        return self.num_samples, self.sample_period, self.sample_size, self.sample_kind

    def __eq__(self, other: object) -> bool:
        return isinstance(other, HtkHeader) and self._fields() == other._fields()

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        names = ("num_samples", "sample_period", "sample_size", "sample_kind")
        fields = (f"{name}={value}" for name, value in zip(names, self._fields()))
        return "HtkHeader(" + ",\n          ".join(fields) + ")\n"


def _seconds(samples: int, rate: float) -> float:
    """In float32, as in the original."""
    return float(np.float32(samples) / np.float32(rate)) if rate else 0.0


class WaveData:
    """A waveform."""

    def __init__(self, sample_freq: float, data: npt.ArrayLike) -> None:
        """``data`` is of shape (samples,) or (channels, samples), in the range of 16-bit
        integers."""
        samples = np.asarray(data, np.float32)
        self._sample_freq = float(np.float32(sample_freq))
        self._data = FloatMatrix(samples[np.newaxis] if samples.ndim == 1 else samples)

    @property
    def sample_freq(self) -> float:
        """Samples a second."""
        return self._sample_freq

    @property
    def data(self) -> FloatMatrix:
        """The samples, of shape (channels, samples)."""
        return self._data

    @property
    def duration(self) -> float:
        """Length in seconds."""
        return _seconds(self._data.shape[1], self._sample_freq)

    def __str__(self) -> str:
        return (
            f"sample_freq: {self.sample_freq:g} Hz\nnum_channels: {self.data.shape[0]}\n"
            f"duration: {self.duration:g} s\n"
        )


def wave_data(wave: kaldi.Wave) -> WaveData:
    """Makes a wave without copying the samples."""
    made = WaveData.__new__(WaveData)
    made._sample_freq = wave.sample_rate
    made._data = FloatMatrix.__new__(FloatMatrix)
    made._data._values = wave.samples
    return made


class WaveInfo:
    """The header of a waveform."""

    def __init__(self, _info: kaldi.WaveInfo | None = None) -> None:
        self._info = _info or kaldi.WaveInfo(0.0, 0, 0, 0, False)

    @property
    def sample_freq(self) -> float:
        """Samples a second."""
        return self._info.sample_rate

    @property
    def sample_count(self) -> int:
        """Samples of each channel; -1 if they go on to the end of the stream."""
        return -1 if self._info.samples is None else self._info.samples

    @property
    def duration(self) -> float:
        """Length in seconds."""
        return _seconds(self.sample_count, self.sample_freq)

    @property
    def num_channels(self) -> int:
        """Number of channels."""
        return self._info.channels

    @property
    def block_align(self) -> int:
        """Bytes of a sample of all channels."""
        return self._info.block_align

    @property
    def data_bytes(self) -> int:
        """Bytes of the samples."""
        return self.sample_count * self.block_align

    @property
    def reverse_bytes(self) -> bool:
        """Whether numbers are big-endian."""
        return self._info.big_endian

    def __str__(self) -> str:
        return (
            f"sample_freq: {self.sample_freq:g}\nsample_count: {self.sample_count}\n"
            f"duration: {self.duration:g}\nnum_channels: {self.num_channels}\n"
            f"block_align: {self.block_align}\ndata_bytes: {self.data_bytes}\n"
            f"reverse_bytes: {int(self.reverse_bytes)}\n"
        )


def read_wave(rxfilename: str) -> WaveData:
    """Reads a waveform.

    :raises KaldiError: if it cannot be read
    """
    return wave_data(load(rxfilename, "wave"))


def read_wave_info(rxfilename: str) -> WaveInfo:
    """Reads the header of a waveform.

    :raises KaldiError: if it cannot be read
    """
    return WaveInfo(load(rxfilename, "wave-info"))


def read_int32_vector(rxfilename: str) -> list[int]:
    """Reads a vector of int32.

    :raises KaldiError: if it cannot be read
    """
    found: list[int] = load(rxfilename, "int32-vector").tolist()
    return found


def read_int8_vector(rxfilename: str) -> list[int]:
    """Reads a vector of int8.

    :raises KaldiError: if it cannot be read
    """
    found: list[int] = load(rxfilename, "int8-vector").tolist()
    return found


_TO_THE_END = re.compile(r"(.*)\[(\d+):-1\]\s*\Z", re.DOTALL)


def read_blob(rxfilename: str) -> bytes:
    """Reads bytes. For ``a.ark:12[2:5]`` only these (both ends included); with an end of -1 all
    from there on.

    :raises KaldiError: if they cannot be read
    """
    match = _TO_THE_END.match(rxfilename)
    if match is None:
        found: bytes = load(rxfilename, "blob")
        return found
    whole: bytes = load(match[1], "blob")
    if int(match[2]) >= len(whole):
        raise KaldiError(f"{match[1]}: Invalid start: {match[2]}: there are {len(whole)} bytes")
    return whole[int(match[2]) :]
