"""Archives and script files: kaldiio's module of the same name."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Iterator, Mapping, MutableMapping
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from seqfeed.compat.kaldiio._bytes import read_bytes
from seqfeed.compat.kaldiio._errors import DataError, of_key
from seqfeed.compat.kaldiio._read import (
    check_endian,
    read_ascii_mat,
    read_int32vector,
    read_kaldi,
    read_key,
    read_matrix_or_vector,
    read_object,
    read_token,
)
from seqfeed.compat.kaldiio._write import any_bytes, bytes_by, write_array, write_array_ascii
from seqfeed.compat.kaldiio.utils import (
    LazyLoader,
    LimitedSizeDict,
    default_encoding,
    open_like_kaldi,
    open_or_fd,
)

__all__ = [
    "SegmentsExtractor",
    "load_ark",
    "load_mat",
    "load_scp",
    "load_scp_sequential",
    "load_wav_scp",
    "read_ascii_mat",
    "read_int32vector",
    "read_kaldi",
    "read_matrix_or_vector",
    "read_token",
    "save_ark",
    "save_mat",
    "write_array",
    "write_array_ascii",
]

# White space and control characters. Bytes of other alphabets are allowed.
_NO_KEY = re.compile(rb"[\0- \x7f]")

_Slices = tuple[slice, ...]


def load_ark(fname: Any, endian: str = "<") -> Iterator[tuple[str, Any]]:
    """The objects of an archive (a path or a binary file object), one after another,
    with their keys.

    :raises DataError: if one is damaged
    """
    check_endian(endian)
    with open_or_fd(fname, "rb") as fd:
        while (entry := read_key(fd)) is not None:
            key, start = entry
            try:
                value = read_object(fd, start or read_bytes(fd, 1), endian)
            except DataError as error:
                raise of_key(error, key)
            yield key, value


def load_mat(ark_name: str, endian: str = "<", fd_dict: Any = None) -> Any:
    """One object: of ``a.ark``, ``a.ark:12``, ``a.ark:12[0:9]`` (both ends included), ``command
    |``, ``-``.

    ``fd_dict`` keeps files open, by their names.

    :raises DataError: if it is damaged
    """
    check_endian(endian)
    if fd_dict is not None and not isinstance(fd_dict, Mapping):
        raise RuntimeError(f"fd_dict must be dict or None, bot got {type(fd_dict)}")
    ark, offset, slices = _parse_arkpath(os.fspath(ark_name))
    if not isinstance(fd_dict, MutableMapping) or ark == "-" or _is_pipe(ark):
        with open_like_kaldi(ark, "rb") as fd:
            return _load_mat(fd, offset, slices, endian)
    if ark not in fd_dict:
        fd_dict[ark] = open_like_kaldi(ark, "rb")
    fd = fd_dict[ark]
    # Unlike a file that was opened now, it keeps its last position.
    return _load_mat(fd, offset or 0, slices, endian)


def _load_mat(
    fd: Any, offset: int | None, slices: _Slices | None = None, endian: str = "<"
) -> Any:
    if offset is not None:
        fd.seek(offset)
    found = read_kaldi(fd, endian)
    if slices is None:
        return found
    if isinstance(found, tuple):
        return found[0], _part(found[1], slices)
    return _part(found, slices)


def _part(array: npt.NDArray[Any], slices: _Slices) -> npt.NDArray[Any]:
    """A copy, so that a part does not keep the whole in memory."""
    return np.array(array[slices])


def _is_pipe(name: str) -> bool:
    name = name.strip()
    return name.startswith("|") or name.endswith("|")


def _parse_arkpath(ark_name: str) -> tuple[str, int | None, _Slices | None]:
    """Name, offset and slices.

    >>> _parse_arkpath("a.ark:12[3:4]")
    ('a.ark', 12, (slice(3, 5, None),))
    >>> _parse_arkpath('cat "fo:o.ark" |')
    ('cat "fo:o.ark" |', None, None)
    """
    if not ark_name.strip():
        raise ValueError("a name is expected, not an empty one")
    if _is_pipe(ark_name):
        return ark_name, None, None
    slices = None
    name, bracket, inside = ark_name.rstrip().partition("[")
    if bracket and inside.endswith("]"):
        try:
            slices = _convert_to_slice(inside[:-1].strip())
            ark_name = name
        except ValueError:
            pass  # a name with brackets
    name, _, offset = ark_name.rpartition(":")
    try:
        return (name, int(offset), slices) if name else (ark_name, None, slices)
    except ValueError:
        return ark_name, None, slices


def _convert_to_slice(string: str) -> _Slices:
    """Converts the text in the brackets of a name to slices.

    >>> _convert_to_slice(",6:10")
    (slice(None, None, None), slice(6, 11, None))
    """
    slices = []
    for part in string.split(","):
        if part in ("", ":"):
            slices.append(slice(None))
            continue
        try:
            numbers = [int(number) for number in part.split(":")]
        except ValueError:
            raise ValueError(f"Format error: {string}") from None
        if len(numbers) > 3:
            raise ValueError(f"Too many : {string}")
        first, last = numbers[0], numbers[min(1, len(numbers) - 1)]
        slices.append(slice(first, last + 1, *numbers[2:]))
    return tuple(slices)


def _script_lines(fname: Any, separator: str | None) -> Iterator[tuple[str, str]]:
    with open_like_kaldi(fname, "r") as fd:
        for line in fd:
            fields = line.split(separator, 1)
            if len(fields) != 2:
                raise ValueError(f"Invalid line is found:\n>   {line}")
            yield fields[0], fields[1].rstrip()


def load_scp(
    fname: Any,
    endian: str = "<",
    separator: str | None = None,
    segments: Any = None,
    max_cache_fd: int = 0,
) -> Any:
    """The objects of a script file (a path or a text file object) by their keys. ``[]`` loads them.

    With ``segments``, the parts of waves that this file names. ``max_cache_fd`` archives stay open.

    :raises ValueError: for a line without a key and a name
    """
    check_endian(endian)
    if segments is not None:
        if max_cache_fd != 0:
            raise ValueError("max_cache_fd is not supported for segments mode")
        return SegmentsExtractor(fname, separator=separator, segments=segments)
    files = LimitedSizeDict(max_cache_fd) if max_cache_fd != 0 else None
    loader = LazyLoader(partial(load_mat, endian=endian, fd_dict=files))
    loader._dict.update(_script_lines(fname, separator))
    return loader


def load_scp_sequential(
    fname: Any, endian: str = "<", separator: str | None = None, segments: Any = None
) -> Iterator[tuple[str, Any]]:
    """The objects of a script file, one after another, with their keys.

    :raises DataError: if one is damaged
    """
    check_endian(endian)
    if segments is not None:
        return SegmentsExtractor(fname, separator=separator, segments=segments).generator()
    return load_lines(fname, endian, separator, skip=False)


def load_lines(
    fname: Any, endian: str = "<", separator: str | None = None, skip: bool = False
) -> Iterator[tuple[str, Any]]:
    """As ``load_scp_sequential``. ``skip`` leaves out objects that cannot be loaded."""
    last: str | None = None
    fd: Any = None
    try:
        for key, name in _script_lines(fname, separator):
            try:
                ark, offset, slices = _parse_arkpath(name)
                if ark != last or offset is None:
                    if fd is not None:
                        fd.close()
                    last, fd = None, None
                    fd = open_like_kaldi(ark, "rb")
                    last = ark
                value = _load_mat(fd, offset, slices, endian)
                if _is_pipe(ark):
                    # Closed now, so that a failed command is known before its output is used.
                    last, command, fd = None, fd, None
                    command.close()
            except DataError as error:
                of_key(error, key)
                if not skip:
                    raise
                continue
            except (OSError, ValueError, RuntimeError):
                if not skip:
                    raise
                continue
            yield key, value
    finally:
        if fd is not None:
            fd.close()


def load_wav_scp(fname: Any, segments: Any = None, separator: str | None = None) -> Any:
    """Deprecated: ``load_scp``."""
    warnings.warn("Use load_scp instead of load_wav_scp", DeprecationWarning, stacklevel=2)
    return load_scp(fname, separator=separator, segments=segments)


class SegmentsExtractor(Mapping[str, Any]):
    """The parts of waves in a file of segments: rate and samples by key.

    Its lines are ``<segment> <recording> <start> <end>``, in seconds. An end of -1 is the end of
    the recording.
    """

    def __init__(self, fname: Any, segments: Any = None, separator: str | None = None) -> None:
        self.wav_scp = fname
        self.wav_loader = load_scp(fname, separator=separator)
        self.segments = segments
        self._segments_dict: dict[str, tuple[str, float, float]] = {}
        with open_or_fd(segments, "r") as lines:
            for line in lines:
                fields = line.rstrip().split(separator)
                if len(fields) != 4:
                    raise RuntimeError(f"Format is invalid: {line}")
                key, recording, start, end = fields
                self._segments_dict[key] = (recording, float(start), float(end))
                if recording not in self.wav_loader:
                    raise RuntimeError(f'Not found "{recording}" in {fname}')

    def generator(self) -> Iterator[tuple[str, Any]]:
        """All segments. A recording is kept while segments of it come."""
        left: dict[str, int] = {}
        for recording, _, _ in self._segments_dict.values():
            left[recording] = left.get(recording, 0) + 1
        kept: dict[str, Any] = {}
        for key, (recording, start, end) in self._segments_dict.items():
            if recording not in kept:
                kept[recording] = self.wav_loader[recording]
            wave = kept[recording]
            left[recording] -= 1
            if left[recording] == 0:
                del kept[recording]
            yield key, self._cut(wave, start, end)

    def __iter__(self) -> Iterator[str]:
        return iter(self._segments_dict)

    def __contains__(self, item: object) -> bool:
        return item in self._segments_dict

    def __len__(self) -> int:
        return len(self._segments_dict)

    def __getitem__(self, key: str) -> Any:
        recording, start, end = self._segments_dict[key]
        return self._cut(self.wav_loader[recording], start, end)

    def _cut(self, wave: Any, start: float, end: float) -> tuple[int, npt.NDArray[Any]]:
        if not isinstance(wave, tuple):
            raise RuntimeError(f"{self.wav_scp} is not wav.scp?")
        rate, samples = wave
        stop = None if end == -1 else int(end * rate)
        return rate, np.array(samples[int(start * rate) : stop])


def save_ark(
    ark: Any,
    array_dict: Mapping[str, Any],
    scp: Any = None,
    append: bool = False,
    text: bool = False,
    endian: str = "<",
    compression_method: int | None = None,
    write_function: str | None = None,
    write_kwargs: dict[str, Any] | None = None,
) -> None:
    """Writes an archive, and optionally a script file: arrays, or (rate, samples) of waves.

    ``ark`` is a path or a binary file object, ``scp`` a path or a text file object.
    ``write_function`` is ``soundfile``, ``pickle`` or ``numpy``: forms that only kaldiio reads.

    :raises ValueError: for arrays that Kaldi has no type for, and keys that Kaldi could not read
    :raises TypeError: if positions in the archive cannot be known for the script file
    """
    check_endian(endian)
    name = os.fspath(ark) if isinstance(ark, (str, os.PathLike)) else None
    if scp is not None and name is None:
        try:
            ark.tell()
        except Exception as error:
            raise TypeError(
                "scp file can be created only if the output ark file is a file or a seekable file descriptor."
            ) from error
        name = ark.name
    lines: list[str] = []
    with open_or_fd(ark, "ab" if append else "wb") as fd:
        place = fd.tell() if scp is not None else 0
        try:
            for key, data in array_dict.items():
                # A whole entry is made before any of it is written, so a value that cannot be
                # written leaves no trace.
                head = _checked_key(key)
                if write_function is None:
                    value = any_bytes(data, text, endian, compression_method)
                else:
                    value = bytes_by(write_function, data, write_kwargs or {})
                fd.write(head + value)
                lines.append(f"{key} {name}:{place + len(head)}\n")
                place += len(head) + len(value)
        finally:
            # For all entries that have been written, even if a later one failed.
            if scp is not None:
                with open_or_fd(scp, "a" if append else "w") as script:
                    script.write("".join(lines))


def _checked_key(key: str) -> bytes:
    """A key with its blank.

    :raises ValueError: if Kaldi could not read it, since a blank ends a key
    """
    head = (key + " ").encode(default_encoding, "surrogateescape")
    if len(head) == 1 or _NO_KEY.search(head, 0, len(head) - 1):
        raise ValueError(
            f"{key!r} is no key: it has one character at least, and neither white space nor control characters"
        )
    return head


def save_mat(
    fname: Any, array: npt.NDArray[Any], endian: str = "<", compression_method: int | None = None
) -> int:
    """Writes one array in binary to a path or a binary file object. Returns the number of bytes.

    :raises ValueError: for arrays that Kaldi has no type for
    """
    check_endian(endian)
    with open_or_fd(fname, "wb") as fd:
        return write_array(fd, array, endian, compression_method)
