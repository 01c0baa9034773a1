"""The exceptions: one base, and a subclass for each kind, which is also one of Python's own."""

from __future__ import annotations

import difflib
import sys
import warnings
from typing import Any


class DataWarning(UserWarning):
    """A fact about the data that stops nothing: sequences that were skipped, settings without
    effect."""


class Error(Exception):
    """An error of seqfeed: something that it refuses or cannot do.

    ``str(error)`` is one line: the place, what happened, and the cure.
    """

    reason: str
    """What happened, without the place and the cure."""
    key: str | None
    """The key of the sequence."""
    path: str | None
    """The file, by the name by which it was opened."""
    offset: int | None
    """Bytes before the place in the file."""
    line: int | None
    """The line, from 1."""
    column: int | None
    """The byte in the line, from 1."""
    help: str | None
    """The cure, if known."""

    _details = ("reason", "key", "path", "offset", "line", "column", "help")

    def __init__(self, message: str = "", **details: Any) -> None:
        super().__init__(message)
        self._message = message
        details.setdefault("reason", message)
        for name in self._details:
            setattr(self, name, details.get(name))
        if isinstance(self, OSError):
            setattr(self, "errno", details.get("errno"))
            setattr(self, "filename", self.path)

    def __str__(self) -> str:
        return self._message

    def __reduce__(self) -> tuple[Any, ...]:
        details = {name: getattr(self, name) for name in self._details}
        details["errno"] = getattr(self, "errno", None)
        return _remake, (type(self), self._message, details)


def _remake(kind: type[Error], message: str, details: dict[str, Any]) -> Error:
    return kind(message, **details)


class IoError(Error, OSError):
    """The operating system refused."""


class NotFoundError(IoError, FileNotFoundError):
    """A file is missing."""


class AccessError(IoError, PermissionError):
    """A file may not be opened."""


class FormatError(Error, ValueError):
    """A file is wrong."""


class CommandError(Error, OSError):
    """The command of a pipe failed."""


class CorpusError(Error, ValueError):
    """The sources of a corpus do not fit together."""


class UsageError(Error, ValueError):
    """The request is wrong or contradicts itself."""


class ForbiddenError(Error, PermissionError):
    """Not allowed by the caller: a pipe without ``allow_pipes=True``."""


class LimitError(Error, MemoryError):
    """More than the caller allowed."""


class MissingKeyError(Error, KeyError):
    """A key is not in the table."""


def warn(message: str) -> None:
    """Warns of data at the line of the program that called the package."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "seqfeed":
        level, frame = level + 1, frame.f_back
    warnings.warn(message, DataWarning, stacklevel=level)


def no_stream(name: object, streams: list[str]) -> MissingKeyError:
    """The error for a stream that a minibatch does not have."""
    reason = f"there is no stream {name!r}"
    near = difflib.get_close_matches(str(name), streams, 1)
    help = f"did you mean {near[0]!r}?" if near else f"the streams are {', '.join(map(repr, streams))}"
    return MissingKeyError(f"{reason} ({help})", reason=reason, key=str(name), help=help)


def no_option(name: str, help: str | None, own: list[str]) -> UsageError:
    """The error for an unknown option. The cure is the one for a key of a description, spelled with
    a dash, unless one of the caller's ``own`` options is similar."""
    reason = f"there is no option `{name}`"
    near = difflib.get_close_matches(name, own, 1)
    if near:
        help = f"did you mean `{near[0]}`?"
    elif help is not None:
        help = help.replace("-", "_").replace("the options are", "there are")
    return UsageError(reason if help is None else f"{reason} ({help})", reason=reason, help=help)
