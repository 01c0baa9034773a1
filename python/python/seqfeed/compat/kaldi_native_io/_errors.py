"""Converts the library's errors to the original's."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from seqfeed._errors import Error


class KaldiError(Error, RuntimeError):
    """An error of reading or writing. kaldi_native_io raises ``RuntimeError`` for all of them."""


class TextBlobError(KaldiError, ValueError):
    """A blob has no text form. For this alone the original raises ``ValueError``."""


def as_kaldi_error(error: Error) -> KaldiError:
    """The same error as a ``KaldiError``."""
    details = {name: getattr(error, name) for name in Error._details}
    return KaldiError(str(error), **details)


@contextmanager
def kaldi_errors() -> Iterator[None]:
    """Raises the library's errors as ``KaldiError``."""
    try:
        yield
    except Error as error:
        raise as_kaldi_error(error) from error
