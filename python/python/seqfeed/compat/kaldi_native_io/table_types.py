"""The readers and writers of each type."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping, Sequence
from io import BytesIO
from typing import Any

import numpy as np
import numpy.typing as npt

from seqfeed import kaldi
from seqfeed.compat.kaldi_native_io._errors import TextBlobError, kaldi_errors
from seqfeed.compat.kaldi_native_io._tables import (
    RandomAccessTableReader,
    SequentialTableReader,
    TableWriter,
)
from seqfeed.compat.kaldi_native_io.objects import (
    CompressionMethod,
    HtkHeader,
    MatrixShape,
    WaveData,
    WaveInfo,
    wave_data,
)

__all__ = [
    "BlobWriter",
    "BoolWriter",
    "CompressedMatrixWriter",
    "DoubleMatrixWriter",
    "DoubleVectorWriter",
    "DoubleWriter",
    "FloatMatrixWriter",
    "FloatPairVectorWriter",
    "FloatVectorWriter",
    "FloatWriter",
    "GaussPostWriter",
    "HtkMatrixWriter",
    "Int32PairVectorWriter",
    "Int32VectorVectorWriter",
    "Int32VectorWriter",
    "Int32Writer",
    "Int8VectorWriter",
    "PosteriorWriter",
    "RandomAccessBlobReader",
    "RandomAccessBoolReader",
    "RandomAccessDoubleMatrixReader",
    "RandomAccessDoubleReader",
    "RandomAccessDoubleVectorReader",
    "RandomAccessFloatMatrixReader",
    "RandomAccessFloatPairVectorReader",
    "RandomAccessFloatReader",
    "RandomAccessFloatVectorReader",
    "RandomAccessGaussPostReader",
    "RandomAccessHtkMatrixReader",
    "RandomAccessInt32PairVectorReader",
    "RandomAccessInt32Reader",
    "RandomAccessInt32VectorReader",
    "RandomAccessInt32VectorVectorReader",
    "RandomAccessInt8VectorReader",
    "RandomAccessMatrixShapeReader",
    "RandomAccessPosteriorReader",
    "RandomAccessTokenReader",
    "RandomAccessTokenVectorReader",
    "RandomAccessWaveInfoReader",
    "RandomAccessWaveReader",
    "SequentialBlobReader",
    "SequentialBoolReader",
    "SequentialDoubleMatrixReader",
    "SequentialDoubleReader",
    "SequentialDoubleVectorReader",
    "SequentialFloatMatrixReader",
    "SequentialFloatPairVectorReader",
    "SequentialFloatReader",
    "SequentialFloatVectorReader",
    "SequentialGaussPostReader",
    "SequentialHtkMatrixReader",
    "SequentialInt32PairVectorReader",
    "SequentialInt32Reader",
    "SequentialInt32VectorReader",
    "SequentialInt32VectorVectorReader",
    "SequentialInt8VectorReader",
    "SequentialMatrixShapeReader",
    "SequentialPosteriorReader",
    "SequentialTokenReader",
    "SequentialTokenVectorReader",
    "SequentialWaveInfoReader",
    "SequentialWaveReader",
    "TokenVectorWriter",
    "TokenWriter",
    "WaveWriter",
]

_Floats = npt.NDArray[np.float32]
_Doubles = npt.NDArray[np.float64]


class _Listed:
    def _convert(self, value: npt.NDArray[Any]) -> list[int]:
        found: list[int] = value.tolist()
        return found


class _Lists:
    def _convert(self, value: list[npt.NDArray[np.int32]]) -> list[list[int]]:
        return [row.tolist() for row in value]


class _Pairs:
    def _convert(self, value: npt.NDArray[Any]) -> list[tuple[Any, Any]]:
        return list(map(tuple, value.tolist()))


class _Htk:
    def _convert(self, value: kaldi.HtkMatrix) -> tuple[_Floats, HtkHeader]:
        rows, cols = value.matrix.shape
        return value.matrix, HtkHeader(rows, value.sample_period, 4 * cols, value.kind)


class _Waves:
    def _convert(self, value: kaldi.Wave) -> WaveData:
        return wave_data(value)


class _Infos:
    def _convert(self, value: kaldi.WaveInfo) -> WaveInfo:
        return WaveInfo(value)


class _Shapes:
    def _convert(self, value: kaldi.MatrixShape) -> MatrixShape:
        return MatrixShape(*value)


def _truth(value: Any) -> bool:
    """The truth value, as in the original. Text and lists, which are true by their lengths, are
    refused."""
    if value is None:
        return False
    if isinstance(value, str) or not hasattr(type(value), "__bool__"):
        raise TypeError(f"a boolean is expected, not {type(value).__name__}")
    try:
        return bool(value)
    except Exception as error:
        raise TypeError(f"a boolean is expected: {error}") from error


def _integer(value: Any) -> int:
    """Numbers of any type but Python's floats, if they are whole."""
    try:
        return operator.index(value)
    except TypeError:
        if isinstance(value, float) or not hasattr(value, "__int__") or np.ndim(value) != 0:
            raise
    try:
        whole = int(value)
    except (ValueError, OverflowError) as error:
        raise TypeError(f"an integer is expected: {error}") from error
    if whole != value:
        raise TypeError(f"an integer is expected, not {value}")
    return whole


def _integers(values: Iterable[Any]) -> npt.NDArray[Any]:
    """Integers of any kind, booleans too, as an array."""
    if isinstance(values, (str, bytes, Mapping)):
        raise TypeError(f"integers are expected, not {type(values).__name__}")
    items = values if isinstance(values, np.ndarray) else list(values)
    try:
        array = np.asarray(items)
    except ValueError as error:
        raise TypeError(f"integers are expected: {error}") from error
    if array.size == 0:
        return np.zeros(0, np.int32)
    if array.ndim != 1:
        raise TypeError(f"integers in one dimension are expected, not {array.dtype} in {array.ndim}")
    if array.dtype.kind not in "iub":
        # One by one: their common type does not show the type of each.
        array = np.asarray([_integer(item) for item in items])
    return array.astype(np.int32) if array.dtype.kind == "b" else array


def _two_each(pairs: Iterable[Any]) -> list[tuple[Any, Any]]:
    """Pairs, from any kind of sequence, as tuples."""
    if isinstance(pairs, (str, bytes, Mapping)):
        raise TypeError(f"pairs are expected, not {type(pairs).__name__}")
    # Most are tuples already, and there are many.
    return [pair if type(pair) is tuple and len(pair) == 2 else _two(pair) for pair in pairs]


def _two(pair: Any) -> tuple[Any, Any]:
    try:
        first, second = pair
    except ValueError as error:
        raise TypeError(f"pairs are expected: {error}") from error
    return first, second


def _numbered(frame: Iterable[Any]) -> list[tuple[Any, Any]]:
    """As ``_two_each``, with an integer first."""
    pairs = _two_each(frame)
    return [pair if type(pair[0]) is int else (_integer(pair[0]), pair[1]) for pair in pairs]


def _checked(value: Any, dtypes: tuple[Any, ...], ndim: int) -> Any:
    """An array that must have the right type: as in the original, it is never converted."""
    if value.dtype not in dtypes or value.ndim != ndim:
        wanted = " or ".join(np.dtype(dtype).name for dtype in dtypes)
        raise AssertionError(
            f"an array of {wanted} in {ndim} dimensions is expected, not of {value.dtype} in {value.ndim}"
        )
    return value



class Int32Writer(TableWriter[int]):
    """Writes int32."""

    _object_type = "int32"

    def _convert(self, value: int) -> Any:
        return _integer(value)


class SequentialInt32Reader(SequentialTableReader[int]):
    """Reads int32."""

    _object_type = "int32"


class RandomAccessInt32Reader(RandomAccessTableReader[int]):
    """Reads int32, by keys."""

    _object_type = "int32"


class FloatWriter(TableWriter[float]):
    """Writes floats."""

    _object_type = "float"


class SequentialFloatReader(SequentialTableReader[float]):
    """Reads floats."""

    _object_type = "float"


class RandomAccessFloatReader(RandomAccessTableReader[float]):
    """Reads floats, by keys."""

    _object_type = "float"


class DoubleWriter(TableWriter[float]):
    """Writes doubles."""

    _object_type = "double"


class SequentialDoubleReader(SequentialTableReader[float]):
    """Reads doubles."""

    _object_type = "double"


class RandomAccessDoubleReader(RandomAccessTableReader[float]):
    """Reads doubles, by keys."""

    _object_type = "double"


class BoolWriter(TableWriter[bool]):
    """Writes booleans."""

    _object_type = "bool"

    def _convert(self, value: bool) -> Any:
        return _truth(value)


class SequentialBoolReader(SequentialTableReader[bool]):
    """Reads booleans."""

    _object_type = "bool"


class RandomAccessBoolReader(RandomAccessTableReader[bool]):
    """Reads booleans, by keys."""

    _object_type = "bool"


class TokenWriter(TableWriter[str]):
    """Writes words."""

    _object_type = "token"


class SequentialTokenReader(SequentialTableReader[str]):
    """Reads words."""

    _object_type = "token"


class RandomAccessTokenReader(RandomAccessTableReader[str]):
    """Reads words, by keys."""

    _object_type = "token"


class _Words:
    """Words in the original's form: without Kaldi's blank after the last one."""

    has_header = False

    @staticmethod
    def write(words: Sequence[str], stream: kaldi.ObjectWriter) -> None:
        out = BytesIO()
        kaldi.save(out, words, object_type="token-vector")
        stream.write(out.getvalue().rstrip() + b"\n")


class TokenVectorWriter(TableWriter[Sequence[str]]):
    """Writes lists of words."""

    _object_type = _Words

    def _convert(self, value: Sequence[str]) -> Any:
        if isinstance(value, (str, bytes, Mapping)):
            raise TypeError(f"words are expected, not {type(value).__name__}")
        return list(value)


class SequentialTokenVectorReader(SequentialTableReader[list[str]]):
    """Reads lists of words."""

    _object_type = "token-vector"


class RandomAccessTokenVectorReader(RandomAccessTableReader[list[str]]):
    """Reads lists of words, by keys."""

    _object_type = "token-vector"


class BlobWriter(TableWriter[bytes]):
    """Writes bytes."""

    _object_type = "blob"

    def write(self, key: str, value: bytes) -> None:
        """Writes bytes.

        :raises ValueError: if the table is in text mode
        :raises KaldiError: if the key is invalid, or they cannot be written
        """
        if self._is_text and isinstance(value, bytes):
            raise TextBlobError("Only support binary mode for bytes: leave out the option `t`")
        super().write(key, value)


class SequentialBlobReader(SequentialTableReader[bytes]):
    """Reads bytes."""

    _object_type = "blob"


class RandomAccessBlobReader(RandomAccessTableReader[bytes]):
    """Reads bytes, by keys."""

    _object_type = "blob"


class PosteriorWriter(TableWriter[Sequence[Sequence[tuple[int, float]]]]):
    """Writes posteriors: a list of (number, probability) a frame."""

    _object_type = "posterior"

    def _convert(self, value: Sequence[Sequence[tuple[int, float]]]) -> Any:
        return [_numbered(frame) for frame in value]


class SequentialPosteriorReader(SequentialTableReader[list[list[tuple[int, float]]]]):
    """Reads posteriors: a list of (number, probability) a frame."""

    _object_type = "posterior"


class RandomAccessPosteriorReader(RandomAccessTableReader[list[list[tuple[int, float]]]]):
    """Reads posteriors: a list of (number, probability) a frame, by keys."""

    _object_type = "posterior"


class Int32VectorWriter(TableWriter[Sequence[int]]):
    """Writes vectors of int32."""

    _object_type = "int32-vector"

    def _convert(self, value: Sequence[int]) -> Any:
        return _integers(value)


class SequentialInt32VectorReader(_Listed, SequentialTableReader[list[int]]):
    """Reads vectors of int32."""

    _object_type = "int32-vector"


class RandomAccessInt32VectorReader(_Listed, RandomAccessTableReader[list[int]]):
    """Reads vectors of int32, by keys."""

    _object_type = "int32-vector"


class Int8VectorWriter(TableWriter[Sequence[int]]):
    """Writes vectors of int8."""

    _object_type = "int8-vector"

    def _convert(self, value: Sequence[int]) -> Any:
        return _integers(value)


class SequentialInt8VectorReader(_Listed, SequentialTableReader[list[int]]):
    """Reads vectors of int8."""

    _object_type = "int8-vector"


class RandomAccessInt8VectorReader(_Listed, RandomAccessTableReader[list[int]]):
    """Reads vectors of int8, by keys."""

    _object_type = "int8-vector"


class Int32VectorVectorWriter(TableWriter[Sequence[Sequence[int]]]):
    """Writes vectors of vectors of int32."""

    _object_type = "int32-vector-vector"

    def _convert(self, value: Sequence[Sequence[int]]) -> Any:
        return [_integers(row) for row in value]


class SequentialInt32VectorVectorReader(_Lists, SequentialTableReader[list[list[int]]]):
    """Reads vectors of vectors of int32."""

    _object_type = "int32-vector-vector"


class RandomAccessInt32VectorVectorReader(_Lists, RandomAccessTableReader[list[list[int]]]):
    """Reads vectors of vectors of int32, by keys."""

    _object_type = "int32-vector-vector"


class Int32PairVectorWriter(TableWriter[Sequence[tuple[int, int]]]):
    """Writes vectors of pairs of int32."""

    _object_type = "int32-pair-vector"

    def _convert(self, value: Sequence[tuple[int, int]]) -> Any:
        return _integers(number for pair in _two_each(value) for number in pair).reshape(-1, 2)


class SequentialInt32PairVectorReader(_Pairs, SequentialTableReader[list[tuple[int, int]]]):
    """Reads vectors of pairs of int32."""

    _object_type = "int32-pair-vector"


class RandomAccessInt32PairVectorReader(_Pairs, RandomAccessTableReader[list[tuple[int, int]]]):
    """Reads vectors of pairs of int32, by keys."""

    _object_type = "int32-pair-vector"


class FloatPairVectorWriter(TableWriter[Sequence[tuple[float, float]]]):
    """Writes vectors of pairs of floats."""

    _object_type = "float-pair-vector"

    def _convert(self, value: Sequence[tuple[float, float]]) -> Any:
        return _two_each(value)


class SequentialFloatPairVectorReader(_Pairs, SequentialTableReader[list[tuple[float, float]]]):
    """Reads vectors of pairs of floats."""

    _object_type = "float-pair-vector"


class RandomAccessFloatPairVectorReader(_Pairs, RandomAccessTableReader[list[tuple[float, float]]]):
    """Reads vectors of pairs of floats, by keys."""

    _object_type = "float-pair-vector"


class FloatVectorWriter(TableWriter[_Floats]):
    """Writes float32 arrays of shape (n,)."""

    _object_type = "float-vector"

    def _convert(self, value: _Floats) -> Any:
        return _checked(value, (np.float32,), 1)


class SequentialFloatVectorReader(SequentialTableReader[_Floats]):
    """Reads float32 arrays of shape (n,)."""

    _object_type = "float-vector"


class RandomAccessFloatVectorReader(RandomAccessTableReader[_Floats]):
    """Reads float32 arrays of shape (n,), by keys."""

    _object_type = "float-vector"


class DoubleVectorWriter(TableWriter[_Doubles]):
    """Writes float64 arrays of shape (n,)."""

    _object_type = "double-vector"

    def _convert(self, value: _Doubles) -> Any:
        return _checked(value, (np.float64,), 1)


class SequentialDoubleVectorReader(SequentialTableReader[_Doubles]):
    """Reads float64 arrays of shape (n,)."""

    _object_type = "double-vector"


class RandomAccessDoubleVectorReader(RandomAccessTableReader[_Doubles]):
    """Reads float64 arrays of shape (n,), by keys."""

    _object_type = "double-vector"


class FloatMatrixWriter(TableWriter[_Floats]):
    """Writes float32 arrays of shape (rows, columns)."""

    _object_type = "float-matrix"

    def _convert(self, value: _Floats) -> Any:
        return _checked(value, (np.float32,), 2)


class SequentialFloatMatrixReader(SequentialTableReader[_Floats]):
    """Reads float32 arrays of shape (rows, columns)."""

    _object_type = "float-matrix"


class RandomAccessFloatMatrixReader(RandomAccessTableReader[_Floats]):
    """Reads float32 arrays of shape (rows, columns), by keys."""

    _object_type = "float-matrix"


class DoubleMatrixWriter(TableWriter[_Doubles]):
    """Writes float64 arrays of shape (rows, columns)."""

    _object_type = "double-matrix"

    def _convert(self, value: _Doubles) -> Any:
        return _checked(value, (np.float64,), 2)


class CompressedMatrixWriter(TableWriter[Any]):
    """Writes compressed matrices, of arrays of float32 or float64."""

    _object_type = "compressed-matrix"

    def write(
        self,
        key: str,
        value: npt.NDArray[Any],
        method: CompressionMethod = CompressionMethod.kAutomaticMethod,
    ) -> None:
        """Writes a matrix.

        :raises KaldiError: if the key is invalid, or it cannot be compressed
        """
        matrix = _checked(value, (np.float32, np.float64), 2)
        out = BytesIO()
        with kaldi_errors():
            kaldi.save(out, matrix, compression=int(method))
        compressed = kaldi.KaldiObject.from_bytes("compressed-matrix", out.getvalue())
        self._put(key, compressed)

    def __setitem__(
        self, key: str, value: npt.NDArray[Any] | tuple[npt.NDArray[Any], CompressionMethod]
    ) -> None:
        """Writes a matrix, or the matrix of a pair of matrix and method."""
        if isinstance(value, tuple):
            self.write(key, *value)
        else:
            self.write(key, value)


class SequentialDoubleMatrixReader(SequentialTableReader[_Doubles]):
    """Reads float64 arrays of shape (rows, columns)."""

    _object_type = "double-matrix"


class RandomAccessDoubleMatrixReader(RandomAccessTableReader[_Doubles]):
    """Reads float64 arrays of shape (rows, columns), by keys."""

    _object_type = "double-matrix"


class HtkMatrixWriter(TableWriter[tuple[_Floats, HtkHeader]]):
    """Writes HTK's features: array and header."""

    _object_type = "htk-matrix"

    def _convert(self, value: tuple[_Floats, HtkHeader]) -> Any:
        if not isinstance(value, tuple):
            raise AssertionError("a tuple of array and header is expected")
        matrix, header = value
        matrix = _checked(matrix, (np.float32,), 2)
        return kaldi.HtkMatrix(matrix, header.sample_period, header.sample_kind)


class SequentialHtkMatrixReader(_Htk, SequentialTableReader[tuple[_Floats, HtkHeader]]):
    """Reads HTK's features: array and header."""

    _object_type = "htk-matrix"


class RandomAccessHtkMatrixReader(_Htk, RandomAccessTableReader[tuple[_Floats, HtkHeader]]):
    """Reads HTK's features: array and header, by keys."""

    _object_type = "htk-matrix"


class GaussPostWriter(TableWriter[Sequence[Sequence[tuple[int, _Floats]]]]):
    """Writes posteriors of Gaussians: a list of (number, float32 array) a frame."""

    _object_type = "gauss-posterior"

    def _convert(self, value: Sequence[Sequence[tuple[int, _Floats]]]) -> Any:
        return [_numbered(frame) for frame in value]


class SequentialGaussPostReader(SequentialTableReader[list[list[tuple[int, _Floats]]]]):
    """Reads posteriors of Gaussians: a list of (number, float32 array) a frame."""

    _object_type = "gauss-posterior"


class RandomAccessGaussPostReader(RandomAccessTableReader[list[list[tuple[int, _Floats]]]]):
    """Reads posteriors of Gaussians: a list of (number, float32 array) a frame, by keys."""

    _object_type = "gauss-posterior"


class WaveWriter(TableWriter[WaveData]):
    """Writes waveforms."""

    _object_type = "wave"

    def _convert(self, value: WaveData) -> Any:
        if not isinstance(value, WaveData):
            raise TypeError(f"WaveData is expected, not {type(value).__name__}")
        return kaldi.Wave(value.sample_freq, value.data.numpy())


class SequentialWaveReader(_Waves, SequentialTableReader[WaveData]):
    """Reads waveforms."""

    _object_type = "wave"


class RandomAccessWaveReader(_Waves, RandomAccessTableReader[WaveData]):
    """Reads waveforms, by keys."""

    _object_type = "wave"


class SequentialWaveInfoReader(_Infos, SequentialTableReader[WaveInfo]):
    """Reads headers of waveforms."""

    _object_type = "wave-info"


class RandomAccessWaveInfoReader(_Infos, RandomAccessTableReader[WaveInfo]):
    """Reads headers of waveforms, by keys."""

    _object_type = "wave-info"


class SequentialMatrixShapeReader(_Shapes, SequentialTableReader[MatrixShape]):
    """Reads shapes of matrices."""

    _object_type = "matrix-shape"


class RandomAccessMatrixShapeReader(_Shapes, RandomAccessTableReader[MatrixShape]):
    """Reads shapes of matrices, by keys."""

    _object_type = "matrix-shape"
