"""The base of all readers and writers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, ClassVar, Generic, TypeVar

from seqfeed import compat, kaldi
from seqfeed._errors import Error
from seqfeed.compat.kaldi_native_io._errors import KaldiError, as_kaldi_error, kaldi_errors

T = TypeVar("T")
Impl = TypeVar("Impl")


def _specifier(specifier: str) -> str:
    if not isinstance(specifier, str):
        raise TypeError(f"a specifier (str) is expected, not {type(specifier).__name__}")
    head, colon, _ = specifier.partition(":")
    if not colon or not {"ark", "scp"} & set(head.split(",")):
        raise KaldiError(
            f'"{specifier}" is no rspecifier or wspecifier; they begin with "ark:" or "scp:"'
        )
    return specifier


class _Table(Generic[Impl]):
    """An object that is opened and closed, and used in a ``with`` statement."""

    _kind: ClassVar[str]
    _object_type: ClassVar[str | type]
    _impl: Impl | None = None

    def _opened(
        self, implementation: Callable[..., Impl], specifier: str, **options: Any
    ) -> Impl:
        options.update(object_type=self._object_type, allow_pipes=compat.ALLOW_PIPES)
        with kaldi_errors():
            return implementation(_specifier(specifier), **options)

    @property
    def is_open(self) -> bool:
        """Whether it is open."""
        return self._impl is not None

    def _open_one(self) -> Impl:
        if self._impl is None:
            raise KaldiError(f"Trying to use empty {self._kind}: it is closed")
        return self._impl

    def close(self) -> None:
        """Closes it."""
        raise NotImplementedError

    def __enter__(self: _Self) -> _Self:
        return self

    def __exit__(self, *_exception: Any) -> None:
        self.close()

    def __del__(self) -> None:
        self.close()


class TableWriter(_Table[kaldi.Writer], Generic[T]):
    """Writes a table: ``writer.write(key, value)`` or ``writer[key] = value``.

    Its files are there from the beginning, and each value is whole in them as soon as it has been
    written.
    """

    _kind = "TableWriter"

    def __init__(self, wspecifier: str) -> None:
        self.open(wspecifier)

    def open(self, wspecifier: str) -> None:
        """Begins a table.

        :raises KaldiError: if its files cannot be written
        """
        self.close()
        self._impl = self._opened(kaldi.Writer, wspecifier, in_place=True)
        self._is_text = "t" in wspecifier.partition(":")[0].split(",")

    def _convert(self, value: T) -> Any:
        return value

    def write(self, key: str, value: T) -> None:
        """Writes a value.

        :raises KaldiError: if the key is invalid, or the value cannot be written
        :raises TypeError: if the value is of another type
        """
        self._put(key, self._convert(value))

    def _put(self, key: str, value: Any) -> None:
        writer = self._open_one()
        try:
            writer.write(key, value)
        except Error as error:
            raise as_kaldi_error(error) from error
        except OverflowError as error:
            raise TypeError(str(error)) from error

    def __setitem__(self, key: str, value: T) -> None:
        self.write(key, value)

    def flush(self) -> None:
        """Passes the written bytes on.

        :raises KaldiError: if they cannot be written
        """
        writer = self._open_one()
        with kaldi_errors():
            writer.flush()

    def close(self) -> None:
        """Ends the table.

        :raises KaldiError: if they cannot be written
        """
        writer, self._impl = self._impl, None
        if writer is not None:
            with kaldi_errors():
                writer.close()


class SequentialTableReader(_Table[kaldi.SequentialReader], Generic[T]):
    """Reads a table from its first object to its last: iterate over it, or use ``key``, ``value``,
    ``next``."""

    _kind = "SequentialTableReader"
    _key: str | None = None
    _value: Any = None
    _error: KaldiError | None = None
    _is_unread: bool = False

    def __init__(self, rspecifier: str) -> None:
        self.open(rspecifier)

    def open(self, rspecifier: str) -> None:
        """Begins a table, at its first object.

        :raises KaldiError: if it cannot be read
        """
        self.close()
        self._impl = self._opened(kaldi.SequentialReader, rspecifier)
        self._is_script = "scp" in rspecifier.partition(":")[0].split(",")
        try:
            self._step(self._impl)
        except KaldiError:
            self._impl = None
            raise

    def _step(self, reader: kaldi.SequentialReader) -> None:
        self._key = self._value = self._error = None
        self._is_unread = False
        try:
            self._key = reader.next_key()
            if self._key is not None:
                # As in the original: objects of archives are read at once, entries of script files
                # on demand.
                self._is_unread = self._is_script
                if not self._is_script:
                    self._value = reader.value()
        except Error as error:
            self._key = None
            raise as_kaldi_error(error) from error

    def _convert(self, value: Any) -> T:
        found: T = value
        return found

    @property
    def done(self) -> bool:
        """Whether it is after the last object."""
        self._open_one()
        return self._key is None

    @property
    def key(self) -> str:
        """The key of the current object."""
        if self.done or self._key is None:
            raise KaldiError("Key() called on TableReader object at the wrong time: it is at the end")
        return self._key

    @property
    def value(self) -> T:
        """The current object, which belongs to the caller. Asking again returns the same one.

        :raises KaldiError: if it cannot be loaded
        """
        if self.done:
            raise KaldiError("Value() called on TableReader object at the wrong time: it is at the end")
        if self._is_unread:
            self._is_unread = False
            try:
                self._value = self._open_one().value()
            except Error as error:
                self._error = as_kaldi_error(error)
        if self._error is not None:
            raise self._error
        if self._value is None:
            raise KaldiError("Value() called on TableReader object at the wrong time: it was freed")
        return self._convert(self._value)

    def free_current(self) -> None:
        """Releases the object."""
        self._open_one()
        self._value, self._is_unread = None, False

    def next(self) -> None:
        """Goes to the next object.

        :raises KaldiError: if the archive is damaged
        """
        if self.done:
            raise KaldiError("Next() called wrongly: it is at the end")
        self._step(self._open_one())

    def close(self) -> None:
        """Ends reading."""
        reader, self._impl = self._impl, None
        self._key = self._value = self._error = None
        if reader is not None:
            reader.close()

    def __iter__(self) -> Iterator[tuple[str, T]]:
        while not self.done:
            yield self.key, self.value
            self.next()


class RandomAccessTableReader(_Table[kaldi.RandomAccessReader], Generic[T]):
    """Reads objects of a table by their keys: ``key in reader``, ``reader[key]``."""

    _kind = "RandomAccessTableReader"

    def __init__(self, rspecifier: str) -> None:
        self.open(rspecifier)

    def open(self, rspecifier: str) -> None:
        """Opens a table.

        :raises KaldiError: if it cannot be read
        """
        self.close()
        self._impl = self._opened(kaldi.RandomAccessReader, rspecifier)

    def _convert(self, value: Any) -> T:
        found: T = value
        return found

    def __contains__(self, key: str) -> bool:
        with kaldi_errors():
            return key in self._open_one()

    def __getitem__(self, key: str) -> T:
        """The object of a key, which belongs to the caller.

        :raises KaldiError: if there is none, or it cannot be loaded
        """
        with kaldi_errors():
            return self._convert(self._open_one()[key])

    def close(self) -> None:
        """Closes it."""
        reader, self._impl = self._impl, None
        if reader is not None:
            reader.close()


_Self = TypeVar("_Self", bound=_Table[Any])
