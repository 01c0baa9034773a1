"""Bytes from any file object that has ``read``."""

from __future__ import annotations

import math
import os
import stat
from typing import Any

import numpy as np
import numpy.typing as npt

from seqfeed.compat.kaldiio._errors import wrong

# Beyond this size, memory is taken only if the bytes are known to exist, or as they come.
_STEP = 1 << 24

_CUT = "the file is cut short, or a size in it is damaged"


def read_bytes(fd: Any, size: int) -> bytes:
    """The next ``size`` bytes; fewer only at the end. Pipes may return them in parts."""
    data: bytes = fd.read(size)
    if not isinstance(data, (bytes, bytearray)):
        raise TypeError(f"read() gave {type(data).__name__}, not bytes: is the file opened in binary mode?")
    while len(data) < size:
        more = fd.read(size - len(data))
        if not more:
            break
        data += more
    return data


def read_upto(fd: Any, size: int) -> bytes:
    """The next ``size`` bytes, or as many as there are. Takes memory only for existing bytes."""
    if size <= _STEP:
        return read_bytes(fd, size)
    parts = []
    while size > 0:
        part = read_bytes(fd, min(size, _STEP))
        if not part:
            break
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def read_exact(fd: Any, size: int, inside: str) -> bytes:
    """The next ``size`` bytes.

    :raises DataError: if there are fewer
    """
    data = read_upto(fd, size)
    if len(data) < size:
        raise wrong(fd, f"{size - len(data)} bytes are missing inside {inside}", _CUT)
    return data


def read_array(fd: Any, dtype: np.dtype[Any], shape: tuple[int, ...], inside: str) -> npt.NDArray[Any]:
    """The next values, in memory of their own.

    :raises DataError: if there are fewer
    """
    size = math.prod(shape) * dtype.itemsize
    left = _left(fd) if size > _STEP else size
    if min(shape) < 0 or (left is not None and size > left):
        raise wrong(fd, f"{inside} of {shape} values is larger than the file", _CUT)
    if left is None:
        return np.frombuffer(bytearray(read_exact(fd, size, inside)), dtype).reshape(shape)
    array = np.empty(shape, dtype)
    if size:
        _fill(fd, array.reshape(-1).view(np.uint8).data, inside)
    return array


def _fill(fd: Any, buffer: memoryview, inside: str) -> None:
    if not hasattr(fd, "readinto"):
        buffer[:] = read_exact(fd, len(buffer), inside)
        return
    done = 0
    while done < len(buffer):
        more = fd.readinto(buffer[done:])
        if not more:
            raise wrong(fd, f"{len(buffer) - done} bytes are missing inside {inside}", _CUT)
        done += more


def _left(fd: Any) -> int | None:
    """Bytes to the end of a regular file; None for anything else."""
    try:
        status = os.fstat(fd.fileno())
        if stat.S_ISREG(status.st_mode):
            return status.st_size - int(fd.tell())
    except (AttributeError, OSError, ValueError):
        pass
    return None


def read_line(fd: Any) -> bytes:
    """The next line with its end; empty at the end of the file."""
    if hasattr(fd, "readline"):
        line: bytes = fd.readline()
        return line
    line = b""
    while not line.endswith(b"\n"):
        byte = fd.read(1)
        if not byte:
            break
        line += byte
    return line


class Counted:
    """A file object that counts the bytes that are read."""

    def __init__(self, fd: Any) -> None:
        self._fd = fd
        self.count = 0

    def read(self, size: int = -1) -> Any:
        """The next ``size`` bytes at most."""
        return self._counted(self._fd.read(size))

    def readline(self) -> Any:
        """The next line with its end."""
        return self._counted(read_line(self._fd))

    def _counted(self, data: Any) -> Any:
        self.count += len(data)
        return data

    def tell(self) -> int:
        """The position of the file object."""
        return int(self._fd.tell())

    @property
    def name(self) -> Any:
        """The name of the file object."""
        return self._fd.name
