"""Readers and writers by specifiers: kaldiio's module of the same name."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

from seqfeed.compat.kaldiio.matio import load_ark, load_lines, load_scp_sequential, save_ark
from seqfeed.compat.kaldiio.utils import open_like_kaldi, parse_specifier


def _warn_of_others(options: dict[str, Any], known: tuple[str, ...]) -> None:
    for name, given in options.items():
        if given and name not in known:
            warnings.warn(f"{name} option is given, but currently it never affects", stacklevel=3)


class WriteHelper:
    """Writes a table: ``writer(key, array)`` or ``writer[key] = array``.

    Options of the wspecifier: ``t`` (text), ``f`` (flush after each object).

    :raises ValueError: if it is not a wspecifier, or has no archive
    """

    def __init__(
        self,
        wspecifier: str,
        compression_method: int | None = None,
        write_function: str | None = None,
    ) -> None:
        self.initialized = False
        self.closed = False
        self.compression_method = compression_method
        self.write_function = write_function
        found = parse_specifier(wspecifier)
        if found["ark"] is None:
            raise ValueError(
                "Writing only in a scp file is not supported. Please specify a ark file with a scp file."
            )
        _warn_of_others(found, ("scp", "ark", "t", "f"))
        self.text: bool = found["t"]
        self.flush: bool = found["f"]
        self.fark = open_like_kaldi(found["ark"], "wb")
        self.fscp = open_like_kaldi(found["scp"], "w") if found["scp"] is not None else None
        self.initialized = True

    def __call__(self, key: str, array: Any) -> None:
        if self.closed:
            raise RuntimeError("WriteHelper has been already closed")
        save_ark(
            self.fark,
            {key: array},
            scp=self.fscp,
            text=self.text,
            compression_method=self.compression_method,
            write_function=self.write_function,
        )
        if self.flush:
            self.fark.flush()
            if self.fscp is not None:
                self.fscp.flush()

    def __setitem__(self, key: str, value: Any) -> None:
        self(key, value)

    def __enter__(self) -> WriteHelper:
        return self

    def __exit__(self, *_exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the files."""
        if self.initialized and not self.closed:
            self.closed = True
            self.fark.close()
            if self.fscp is not None:
                self.fscp.close()


class ReadHelper:
    """Reads a table: an iterable of pairs of key and array.

    Options of the rspecifier: ``p`` (entries of a script file that cannot be read are left out; a
    damaged archive ends at the damage).

    :raises ValueError: if it is not an rspecifier
    """

    def __init__(self, wspecifier: str, segments: Any = None) -> None:
        self.initialized = False
        self.closed = False
        self.segments = segments
        found = parse_specifier(wspecifier)
        if found["scp"] is not None and found["ark"] is not None:
            raise RuntimeError("Specify one of scp or ark in rspecifier")
        _warn_of_others(found, ("scp", "ark", "p"))
        self.permissive: bool = found["p"]
        self.scp: Any = found["scp"] or False
        self.file: Any = None
        self.generator: Iterator[tuple[str, Any]] | None = None
        if not self.scp:
            if segments is not None:
                raise ValueError('Not supporting "segments" argument with ark file')
            self.file = open_like_kaldi(found["ark"], "rb")
        elif segments is None and self.permissive:
            self.generator = load_lines(self.scp, skip=True)
        else:
            self.generator = load_scp_sequential(self.scp, segments=segments)
        self.initialized = True

    def __iter__(self) -> Iterator[tuple[str, Any]]:
        if self.generator is not None:
            yield from self._until_an_error(self.generator)
            return
        with self.file as fd:
            yield from self._until_an_error(load_ark(fd))
        self.closed = True

    def _until_an_error(self, pairs: Iterator[tuple[str, Any]]) -> Iterator[tuple[str, Any]]:
        while True:
            try:
                pair = next(pairs)
            except StopIteration:
                return
            except Exception:
                if self.permissive:
                    return
                raise
            yield pair

    def __enter__(self) -> ReadHelper:
        return self

    def __exit__(self, *_exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the archive."""
        if self.initialized and self.file is not None and not self.closed:
            self.closed = True
            self.file.close()
