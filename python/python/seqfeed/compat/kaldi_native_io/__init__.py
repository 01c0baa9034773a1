"""A drop-in for kaldi_native_io 1.23: ``import seqfeed.compat.kaldi_native_io as kaldi_native_io``.

>>> import tempfile, numpy as np
>>> import seqfeed.compat.kaldi_native_io as kaldi_native_io
>>> directory = tempfile.mkdtemp()
>>> target = f"ark,scp:{directory}/a.ark,{directory}/a.scp"
>>> with kaldi_native_io.Int32VectorWriter(target) as writer:
...     writer["utt1"] = [1, 2, 3]
>>> with kaldi_native_io.SequentialInt32VectorReader(f"scp:{directory}/a.scp") as reader:
...     for key, value in reader:
...         print(key, value)
utt1 [1, 2, 3]

Differences from the original:

- Arrays belong to the caller: the next read does not change them, they outlive their reader, and
  they are stored in rows.
- Errors are ``KaldiError``, a ``RuntimeError`` as in the original, and a ``seqfeed.Error`` with
  file, key and cure. Nothing is printed.
- A damaged archive is an error. In the original, it ends at the damage (with ``p``, here too).
- Each value is whole in the files as soon as it has been written, so ``flush`` has nothing to do.
  A value that cannot be written leaves nothing; the original leaves its key.
- Tables may be read in a forked process; readers know compressed files (gz, bz2) by their content.
- Integers must be whole: ``float32(2)`` is written as one, as in the original. ``float32(2.5)``,
  which the original truncates, is a ``TypeError``.
- Shapes of matrices and headers of waves can also be read from archives and pipes.
- Pipes can be forbidden: see ``seqfeed.compat.ALLOW_PIPES``.

If you can use arrays of integers instead of lists, ``seqfeed.kaldi.SequentialReader`` reads them
faster.
"""

from seqfeed.compat.kaldi_native_io._errors import KaldiError
from seqfeed.compat.kaldi_native_io.objects import (
    CompressionMethod,
    DoubleMatrix,
    DoubleVector,
    FloatMatrix,
    FloatVector,
    HtkHeader,
    MatrixShape,
    WaveData,
    WaveInfo,
    read_blob,
    read_int8_vector,
    read_int32_vector,
    read_wave,
    read_wave_info,
)
from seqfeed.compat.kaldi_native_io.table_types import *  # noqa: F403
from seqfeed.compat.kaldi_native_io.table_types import __all__ as _tables

__version__ = "1.23.0"

__all__ = [
    "CompressionMethod",
    "DoubleMatrix",
    "DoubleVector",
    "FloatMatrix",
    "FloatVector",
    "HtkHeader",
    "KaldiError",
    "MatrixShape",
    "WaveData",
    "WaveInfo",
    "read_blob",
    "read_int32_vector",
    "read_int8_vector",
    "read_wave",
    "read_wave_info",
]
__all__ += _tables
