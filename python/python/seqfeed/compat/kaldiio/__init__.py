"""A drop-in for kaldiio 2.18: ``import seqfeed.compat.kaldiio as kaldiio``.

>>> import tempfile, numpy as np
>>> import seqfeed.compat.kaldiio as kaldiio
>>> directory = tempfile.mkdtemp()
>>> with kaldiio.WriteHelper(f"ark,scp:{directory}/a.ark,{directory}/a.scp") as writer:
...     writer("utt1", np.arange(6, dtype=np.float32).reshape(2, 3))
>>> table = kaldiio.load_scp(f"{directory}/a.scp")
>>> table["utt1"].shape
(2, 3)
>>> for key, matrix in kaldiio.load_ark(f"{directory}/a.ark"):
...     print(key, matrix.dtype)
utt1 float32

Differences from the original:

- Arrays are the caller's own: writable, in rows, in the machine's order of bytes (also with
  ``endian=">"``).
- A pickle in an archive makes arrays, numbers, text and containers only: see
  ``seqfeed.compat.ALLOW_PICKLES``. Pipes can be forbidden: see ``seqfeed.compat.ALLOW_PIPES``.
- Damaged or truncated data raise ``DataError``, a ``ValueError`` and a ``RuntimeError``, with file
  and key. Sizes are compared with the file before memory is taken.
- A command that fails raises ``seqfeed.CommandError``, an ``OSError``, when its output is closed.
- With ``p``, ``ReadHelper`` goes on after an entry of a script file that cannot be read; the
  original ends there.
- Keys follow Kaldi's rules. White space before a key is skipped, a tab may follow it. Writing an
  empty key, or one with white space or control characters, is a ``ValueError``. Keys and names
  that are not UTF-8 are kept in the form of Python's file names.
- An entry that cannot be written leaves nothing in the archive: all of it is made before its
  key is written.
- Integers of other sizes than 32 bits are written as vectors of int32 if they fit, otherwise they
  raise ``OverflowError``. The original refuses them.
- Text is read whatever its first number: ``1e-05``, ``nan``, integers before floats, empty
  vectors, short last lines of a file.
- Compressed matrices have the same bytes as Kaldi's, and their values are the same as Kaldi
  reads. The original's differ in the last bits.
- Files that leave the cache of ``max_cache_fd`` are closed.

As in the original, archives are written in place, so that they can be read while they grow (``f``,
``append``).
"""

from seqfeed.compat.kaldiio import compression_header, matio
from seqfeed.compat.kaldiio._errors import DataError
from seqfeed.compat.kaldiio.highlevel import ReadHelper, WriteHelper
from seqfeed.compat.kaldiio.matio import (
    load_ark,
    load_mat,
    load_scp,
    load_scp_sequential,
    load_wav_scp,
    save_ark,
    save_mat,
)
from seqfeed.compat.kaldiio.utils import open_like_kaldi, parse_specifier

__version__ = "2.18.1"

__all__ = [
    "DataError",
    "ReadHelper",
    "WriteHelper",
    "compression_header",
    "load_ark",
    "load_mat",
    "load_scp",
    "load_scp_sequential",
    "load_wav_scp",
    "matio",
    "open_like_kaldi",
    "parse_specifier",
    "save_ark",
    "save_mat",
]
