"""Waves of 8 and 16 bits: kaldiio's module of the same name."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
import numpy.typing as npt

from seqfeed.compat.kaldiio._bytes import read_bytes, read_exact
from seqfeed.compat.kaldiio._errors import wrong
from seqfeed.compat.kaldiio.utils import open_or_fd

_Wave = tuple[int, npt.NDArray[Any]]

_PCM, _EXTENSIBLE = 1, 0xFFFE

# Sizes from programs that write to a pipe and do not know the size: the largest number of 32 bits,
# with or without a sign, or somewhat less (SoX: 0x7ffff000, down to a whole sample).
_UNKNOWN = (range(0x7FFF0000, 0x80000001), range(0xFFFF0000, 0x100000000))


def read_wav(fd: Any, return_size: bool = False) -> Any:
    """Reads a wave: rate and samples, uint8 or int16, of shape (samples,) or (samples, channels).

    With ``return_size``, these two and the number of bytes.

    :raises DataError: if it is not a wave, cut short, or not of 8 or 16 bits
    """
    with open_or_fd(fd, "rb") as file:
        if read_bytes(file, 4) != b"RIFF":
            raise wrong(file, "not a WAVE file")
        wave = read_wav_behind(file)
    return (wave, 44 + wave[1].nbytes) if return_size else wave


def read_wav_behind(fd: Any) -> _Wave:
    """As ``read_wav``, after the first four bytes."""
    whole, form = struct.unpack("<I4s", read_exact(fd, 8, "the header of a wave"))
    if form != b"WAVE":
        raise wrong(fd, "not a WAVE file")
    layout: tuple[int, int, np.dtype[Any]] | None = None
    while True:
        name, size = struct.unpack("<4sI", read_exact(fd, 8, "the header of a wave"))
        if name == b"data":
            break
        chunk = read_exact(fd, size, "a chunk of a wave")
        if size % 2 == 1:
            read_bytes(fd, 1)
        if name == b"fmt ":
            layout = _layout(fd, chunk)
    if layout is None:
        raise wrong(fd, "a wave without a fmt chunk before its samples")
    rate, channels, dtype = layout
    width = channels * dtype.itemsize
    # With a size of 0, the wave is empty, and another object may follow, unless the size of the
    # whole is unknown too.
    if _is_unknown(size) or (size == 0 and (whole == 0 or _is_unknown(whole))):
        data = fd.read()
        if len(data) % width != 0:
            raise wrong(fd, "the samples of a wave end inside one of them", "the stream is cut short")
    else:
        data = read_exact(fd, size, "the samples of a wave")
    samples = np.frombuffer(bytearray(data), dtype, len(data) // width * channels)
    samples = samples.astype(dtype.newbyteorder("="), copy=False)
    return rate, samples.reshape(-1, channels) if channels > 1 else samples


def _is_unknown(size: int) -> bool:
    return any(size in sizes for sizes in _UNKNOWN)


def _layout(fd: Any, chunk: bytes) -> tuple[int, int, np.dtype[Any]]:
    if len(chunk) < 16:
        raise wrong(fd, "a fmt chunk that is too short")
    kind, channels, rate, _, _, bits = struct.unpack("<HHIIHH", chunk[:16])
    if kind == _EXTENSIBLE and len(chunk) >= 26:
        kind = struct.unpack("<H", chunk[24:26])[0]
    if kind != _PCM or bits not in (8, 16):
        raise wrong(
            fd,
            f"a wave of format {kind} with {bits} bits; PCM of 8 and 16 bits is read here",
            "seqfeed.kaldi.load reads other formats",
        )
    if channels == 0:
        raise wrong(fd, "a wave without channels")
    return rate, channels, np.dtype("u1" if bits == 8 else "<i2")


def write_wav(fd: Any, rate: float, array: npt.NDArray[Any]) -> int:
    """Writes samples, uint8 or int16, of shape (samples,) or (samples, channels). Returns the
    number of bytes.

    The rate is rounded to a whole number.

    :raises ValueError: for other arrays, and rates below 1
    """
    if array.dtype not in (np.uint8, np.int16):
        raise ValueError(f"Not Supported dtype {array.dtype}")
    if array.ndim not in (1, 2):
        raise ValueError(f"Not Supported dimension: 0 or 1, but got {array.ndim}")
    channels = array.shape[1] if array.ndim == 2 else 1
    if channels == 0:
        raise ValueError("bad # of channels: there is none")
    rate = int(round(rate))
    if rate < 1:
        raise ValueError(f"bad frame rate: {rate}")
    width = array.dtype.itemsize
    data = array.astype("<i2", copy=False).tobytes() if width == 2 else array.tobytes()
    header = struct.pack(
        "<4sI4s4sIHHIIHH4sI",
        *(b"RIFF", 36 + len(data), b"WAVE"),
        *(b"fmt ", 16, _PCM, channels, rate, rate * channels * width, channels * width, 8 * width),
        *(b"data", len(data)),
    )
    with open_or_fd(fd, "wb") as file:
        file.write(header + data)
    return len(header) + len(data)
