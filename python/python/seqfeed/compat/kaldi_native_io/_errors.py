"""The library's errors as the original's."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from seqfeed._errors import Error


class KaldiError(Error, RuntimeError):
    """Anything that cannot be read or written: kaldi_native_io raises ``RuntimeError`` for
    all of it."""


class TextBlobError(KaldiError, ValueError):
    """A blob has no form as text: the original raises ``ValueError`` for this alone."""


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
