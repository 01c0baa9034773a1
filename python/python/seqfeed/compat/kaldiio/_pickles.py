"""Pickles that run nothing: a list has all objects that they may make."""

from __future__ import annotations

import pickle
from typing import Any

from seqfeed import compat
from seqfeed._errors import ForbiddenError
from seqfeed.compat.kaldiio._errors import wrong

_NUMPY = {"_reconstruct", "scalar", "_frombuffer", "ndarray", "dtype"}
_BUILTINS = {"set", "frozenset", "complex", "bytearray", "slice", "range"}


class _Unpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        """Allows only functions and classes for arrays and containers."""
        numpy = module == "numpy" or module.startswith(("numpy.core.", "numpy._core.", "numpy.dtypes"))
        allowed = (
            (numpy and (name in _NUMPY or name.endswith("DType")))
            or (module in ("builtins", "__builtin__") and name in _BUILTINS)
            or (module, name) in (("_codecs", "encode"), ("collections", "OrderedDict"))
        )
        if allowed or compat.ALLOW_PICKLES:
            return super().find_class(module, name)
        raise ForbiddenError(
            f"a pickle would make a {module}.{name}, which could run anything; if you trust the file, set "
            "seqfeed.compat.ALLOW_PICKLES = True"
        )


def load_pickle(fd: Any, options: dict[str, Any]) -> Any:
    """The object of a pickle.

    :raises seqfeed.ForbiddenError: if it is of a class that is not allowed
    :raises DataError: if it is damaged
    """
    try:
        return _Unpickler(fd, **options).load()
    except (pickle.UnpicklingError, EOFError, ValueError, AttributeError, IndexError, TypeError) as error:
        raise wrong(fd, f"a damaged pickle: {error}") from error
