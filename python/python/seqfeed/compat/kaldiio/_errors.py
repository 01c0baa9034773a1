"""The exception for wrong data."""

from __future__ import annotations

from typing import Any

from seqfeed._errors import FormatError


class DataError(FormatError, RuntimeError):
    """A file is wrong. It is a ``ValueError`` and a ``RuntimeError``, since kaldiio raises one or
    the other."""


def wrong(fd: Any, reason: str, help: str | None = None) -> DataError:
    """The exception for a file object, with its name, and its position if it has one."""
    name = getattr(fd, "name", None)
    path = name if isinstance(name, str) else None
    offset = None
    try:
        offset = int(fd.tell())
    except Exception:  # a stream has no place
        pass
    place = "".join([path or "the stream", "" if offset is None else f" (before byte {offset})"])
    cure = "" if help is None else f"; {help}"
    return DataError(f"{place}: {reason}{cure}", reason=reason, path=path, offset=offset, help=help)


def of_key(error: DataError, key: str) -> DataError:
    """Adds the key."""
    if error.key is None:
        error.key = key
        error._message = f"{error._message} (key {key})"
    return error
