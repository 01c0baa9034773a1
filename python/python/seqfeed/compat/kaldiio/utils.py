"""Files by Kaldi's names, specifiers, and mappings: kaldiio's module of the same name."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator, MutableMapping
from contextlib import contextmanager
from typing import Any

from seqfeed import compat
from seqfeed._errors import CommandError, ForbiddenError

default_encoding = "utf-8"

_Name = str | os.PathLike[str]

# Keys and names are bytes. If they are not UTF-8, they are kept in the form of Python's file names.
_ERRORS = "surrogateescape"


def _open(name: Any, mode: str, **options: Any) -> Any:
    """A file. Text has Kaldi's encoding, for any bytes."""
    if "b" in mode:
        return open(name, mode, **options)
    return open(name, mode, encoding=default_encoding, errors=_ERRORS, **options)


class _Pipe:
    """A file object of a command. Closing it waits for the command, and so does deleting it."""

    _process: subprocess.Popen[bytes]
    _command: str

    def close(self: Any) -> None:
        """Ends the command.

        :raises seqfeed.CommandError: if it failed, except because nobody reads its output
        """
        if self.closed:
            return
        try:
            super().close()  # type: ignore[misc]
        except BrokenPipeError:
            pass  # the command has ended already; how, is said below
        code = self._process.wait()
        if code not in (0, -signal.SIGPIPE, 128 + signal.SIGPIPE):
            how = f"ended with {code}" if code > 0 else f"was killed by signal {-code}"
            raise CommandError(f"the command `{self._command}` {how}", path=self._command)

    def __exit__(self, kind: Any, *_exception: object) -> None:
        try:
            self.close()
        except CommandError:
            # It may be the cause of the first error, but that one has been raised already.
            if kind is None or not issubclass(kind, Exception):
                raise


class _PipeReader(_Pipe, io.BufferedReader):
    pass


class _PipeWriter(_Pipe, io.BufferedWriter):
    pass


class _PipeText(_Pipe, io.TextIOWrapper):
    pass


class _Standard:
    """Standard input or output, which is never closed."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def close(self) -> None:
        if self._stream.writable():
            self._stream.flush()

    def __enter__(self) -> Any:
        return self._stream

    def __exit__(self, *_exception: object) -> None:
        self.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._stream)


def _pipe(command: str, mode: str) -> _PipeReader | _PipeWriter | _PipeText:
    if not compat.ALLOW_PIPES:
        raise ForbiddenError(
            f"the command `{command}` would be run by the shell, which is forbidden; if you trust where this "
            "name comes from, set seqfeed.compat.ALLOW_PIPES = True",
            path=command,
        )
    if mode not in ("r", "rb", "w", "wb"):
        raise TypeError(f"Unsupported mode == {mode}")
    reads = mode.startswith("r")
    # Unbuffered: it gets a buffer that knows the command.
    options: dict[str, Any] = {"stdout" if reads else "stdin": subprocess.PIPE}
    process = subprocess.Popen(command, shell=True, bufsize=0, **options)
    raw: Any = process.stdout if reads else process.stdin
    pipe: _PipeReader | _PipeWriter | _PipeText
    if "b" in mode:
        pipe = _PipeReader(raw) if reads else _PipeWriter(raw)
    else:
        buffer = io.BufferedReader(raw) if reads else io.BufferedWriter(raw)
        pipe = _PipeText(buffer, encoding=default_encoding, errors=_ERRORS)
    pipe._process, pipe._command = process, command
    return pipe


def open_like_kaldi(name: Any, mode: str = "r") -> Any:
    """Opens a path, ``-`` (standard input or output), ``command |`` or ``| command``.

    A file object is returned as it is; a text file object as its binary one, if the mode has a
    ``b``.

    :raises seqfeed.ForbiddenError: for a command, with ``seqfeed.compat.ALLOW_PIPES = False``
    """
    if isinstance(name, os.PathLike):
        return _open(name, mode)
    if not isinstance(name, str):
        return name.buffer if "b" in mode and isinstance(name, io.TextIOBase) else name  # type: ignore[attr-defined]
    stripped = name.strip()
    if stripped.endswith("|"):
        return _pipe(stripped[:-1], mode)
    if stripped.startswith("|"):
        return _pipe(stripped[1:], mode)
    if name == "-" and mode[:1] in ("r", "w", "a"):
        binary: Any = sys.stdin.buffer if mode.startswith("r") else sys.stdout.buffer
        if "b" in mode:
            return _Standard(binary)
        # It does not replace the text file: deleting it must not close the file.
        return _Standard(_open(binary.fileno(), mode, closefd=False))
    return _open(name, mode)


@contextmanager
def open_or_fd(fname: Any, mode: str) -> Iterator[Any]:
    """A path, opened and closed again, or a file object unchanged."""
    if isinstance(fname, (str, os.PathLike)):
        with _open(fname, mode) as file:
            yield file
    elif "b" in mode and isinstance(fname, io.TextIOBase):
        yield fname.buffer  # type: ignore[attr-defined]
    else:
        yield fname


def parse_specifier(specifier: str) -> dict[str, Any]:
    """Parses an rspecifier or wspecifier. Names are under ``ark`` and ``scp``; options are True or
    False.

    >>> found = parse_specifier("ark,t,scp:file.ark,file.scp")
    >>> found["ark"], found["scp"], found["t"], found["f"]
    ('file.ark', 'file.scp', True, False)

    :raises ValueError: if it is invalid
    """
    if ":" not in specifier:
        raise ValueError(
            "The output file must be specified with kaldi-specifier style, e.g. ark,scp:out.ark,out.scp, but "
            f"you gave as {specifier}"
        )
    head, names = specifier.split(":", 1)
    words = head.split(",")
    if "ark" not in words and "scp" not in words:
        raise ValueError(
            f"One of/both ark and scp is required: e.g. ark,scp:out.ark,out.scp: {specifier}"
        )
    files = [names]
    if "ark" in words and "scp" in words:
        files = names.split(",", 1)
        if len(files) != 2:
            raise ValueError(
                "You specified both ark and scp, but a file path is given: e.g. ark,scp:out.ark,out.scp: "
                f"{specifier}"
            )
    found: dict[str, Any] = {"ark": None, "scp": None}
    found.update(dict.fromkeys(("t", "o", "p", "f", "s", "cs"), False))
    for word in words:
        if word not in found:
            raise ValueError(f"Unknown option {word}({words})")
        if word not in ("ark", "scp"):
            found[word] = True
        elif found[word] is not None:
            raise ValueError(f"You specified {word} twice")
        else:
            found[word] = files.pop(0)
    return found


class LazyLoader(MutableMapping[str, Any]):
    """The result of ``load_scp``: the names of a script file by their keys, loaded on demand."""

    def __init__(self, loader: Callable[[str], Any]) -> None:
        self._dict: dict[str, str] = {}
        self._loader = loader

    def __repr__(self) -> str:
        return f"LazyLoader [{len(self)} keys]"

    def __getitem__(self, key: str) -> Any:
        name = self._dict[key]
        try:
            return self._loader(name)
        except Exception:
            warnings.warn(f'An error happend when loading "{name}"', stacklevel=2)
            raise

    def __setitem__(self, key: str, value: str) -> None:
        self._dict[key] = value

    def __delitem__(self, key: str) -> None:
        del self._dict[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._dict)

    def __len__(self) -> int:
        return len(self._dict)

    def __contains__(self, item: object) -> bool:
        return item in self._dict


class LimitedSizeDict(MutableMapping[Any, Any]):
    """The last items that were added, at most ``maxsize``. Items that are removed are closed, if
    possible."""

    def __init__(self, maxsize: int) -> None:
        self._maxsize = maxsize
        self.data: dict[Any, Any] = {}

    def __repr__(self) -> str:
        return repr(self.data)

    def __setitem__(self, key: Any, value: Any) -> None:
        if key not in self.data and len(self.data) >= self._maxsize > 0:
            old = self.data.pop(next(iter(self.data)))
            if hasattr(old, "close"):
                old.close()
        self.data[key] = value

    def __getitem__(self, key: Any) -> Any:
        return self.data[key]

    def __delitem__(self, key: Any) -> None:
        del self.data[key]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.data)

    def __len__(self) -> int:
        return len(self.data)


class MultiFileDescriptor:
    """Several file objects, read as one, from their current positions."""

    def __init__(self, *fds: Any) -> None:
        self.fds = fds
        self.init_pos = [fd.tell() for fd in fds] if self.seekable() else None

    def seekable(self) -> bool:
        """Whether all of them are."""
        return all(seekable(fd) for fd in self.fds)

    def _starts(self) -> list[Any]:
        if self.init_pos is None:
            raise OSError("the stream cannot be seeked")
        return self.init_pos

    def seek(self, offset: int, from_what: int = 0) -> None:
        """Goes back to the beginning. No other position is possible."""
        starts = self._starts()
        if offset != 0 or from_what != 0:
            raise NotImplementedError(f"offset={offset}, from_what={from_what}")
        for fd, start in zip(self.fds, starts):
            fd.seek(start)

    def tell(self) -> int:
        """Bytes (or characters) since the beginning."""
        return sum(fd.tell() - start for fd, start in zip(self.fds, self._starts()))

    def read(self, size: int = -1) -> Any:
        """The next ``size`` bytes, or all."""
        found = self.fds[0].read(size)
        for fd in self.fds[1:]:
            if 0 <= size <= len(found):
                break
            found += fd.read(-1 if size < 0 else size - len(found))
        return found

    def readline(self, size: int = -1) -> Any:
        """The next line, or a part of it."""
        found = self.fds[0].readline(size)
        for fd in self.fds[1:]:
            if found[-1:] in ("\n", b"\n") or 0 <= size <= len(found):
                break
            found += fd.readline(-1 if size < 0 else size - len(found))
        return found


def seekable(f: Any) -> bool:
    """Whether a file object can seek."""
    return bool(f.seekable()) if hasattr(f, "seekable") else False
