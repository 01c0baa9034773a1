"""Kaldi's tables and objects.

======================  ==========================================================================
Kaldi                   Python
======================  ==========================================================================
matrix                  float32 or float64 array of shape (rows, columns); compressed ones float32
vector                  float32 or float64 array of shape (n,)
vector of int32         int32 array of shape (n,)
vector of vectors       list of int32 arrays
vector of pairs         int32 or float32 array of shape (n, 2)
integer, float, bool    int, float, bool
token, vector of tokens str, list of str
posterior               list of frames, each a list of (number, float)
Gaussian posterior      list of frames, each a list of (number, float32 array)
sparse matrix, vector   ``seqfeed.Sparse``
packed matrix           ``PackedMatrix``
wave                    ``Wave``
HTK's features          ``HtkMatrix``
NumPy's array           array
FST, lattice, example   ``KaldiObject``
blob, vector of int8    bytes, int8 array (of ``kaldi_native_io``; by ``object_type`` only)
======================  ==========================================================================

Readers and ``load`` also take ``object_type="matrix-shape"`` and ``"wave-info"``: what headers say
(``MatrixShape``, ``WaveInfo``), the data being read over.

All arrays are the caller's own: writable, and not touched by later reads.

>>> import tempfile, numpy as np
>>> directory = tempfile.mkdtemp()
>>> with Writer(f"ark,scp:{directory}/a.ark,{directory}/a.scp") as writer:
...     writer["utt1"] = np.arange(6, dtype=np.float32).reshape(2, 3)
>>> for key, matrix in SequentialReader(f"scp:{directory}/a.scp"):
...     print(key, matrix.shape, matrix.dtype)
utt1 (2, 3) float32
>>> RandomAccessReader(f"ark:{directory}/a.ark").rows("utt1", 1)
array([[3., 4., 5.]], dtype=float32)
"""

from seqfeed._seqfeed import (
    KaldiObject,
    RandomAccessReader,
    SequentialReader,
    Writer,
    load,
    object_types,
    save,
)
from seqfeed._types import HtkMatrix, MatrixShape, PackedMatrix, Wave, WaveInfo

__all__ = [
    "HtkMatrix",
    "KaldiObject",
    "MatrixShape",
    "PackedMatrix",
    "RandomAccessReader",
    "SequentialReader",
    "Wave",
    "WaveInfo",
    "Writer",
    "load",
    "object_types",
    "save",
]
