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

Readers and ``load`` also take ``object_type="matrix-shape"`` and ``"wave-info"``. Then they read
only headers (``MatrixShape``, ``WaveInfo``), and skip the data.

A class may stand wherever a type is named. It has ``read``, which takes an ``ObjectReader``, and
``write``, which takes an object and an ``ObjectWriter``. Its tables are read and written like those
of Kaldi's types:

>>> class Segment:
...     def __init__(self, start, frames):
...         self.start, self.frames = start, frames
...     @classmethod
...     def read(cls, stream):
...         stream.expect_token("<Segment>")
...         return cls(stream.read_basic("int32"), stream.read_basic("int32"))
...     def write(self, stream):
...         stream.write_token("<Segment>")
...         stream.write_basic(self.start, "int32")
...         stream.write_basic(self.frames, "int32")

A class whose objects have no ``\\0B`` before their binary form has ``has_header = False``.

All arrays belong to the caller: they are writable, and later reads do not change them.

>>> import tempfile, numpy as np
>>> directory = tempfile.mkdtemp()
>>> with Writer(f"ark,scp:{directory}/a.ark,{directory}/a.scp") as writer:
...     writer["utt1"] = np.arange(6, dtype=np.float32).reshape(2, 3)
>>> for key, matrix in SequentialReader(f"scp:{directory}/a.scp"):
...     print(key, matrix.shape, matrix.dtype)
utt1 (2, 3) float32
>>> RandomAccessReader(f"ark:{directory}/a.ark").rows("utt1", 1)
array([[3., 4., 5.]], dtype=float32)
>>> with Writer(f"ark:{directory}/b.ark") as writer:
...     writer["word1"] = Segment(3, 12)
>>> next(SequentialReader(f"ark:{directory}/b.ark", object_type=Segment))[1].frames
12
"""

from seqfeed._seqfeed import (
    KaldiObject,
    ObjectReader,
    ObjectWriter,
    RandomAccessReader,
    SequentialReader,
    Writer,
    load,
    object_types,
    save,
)
from seqfeed._types import (
    HtkMatrix,
    MatrixShape,
    PackedMatrix,
    Rspecifier,
    RxFilename,
    Wave,
    WaveInfo,
    Wspecifier,
    WxFilename,
)

__all__ = [
    "HtkMatrix",
    "KaldiObject",
    "MatrixShape",
    "ObjectReader",
    "ObjectWriter",
    "PackedMatrix",
    "RandomAccessReader",
    "Rspecifier",
    "RxFilename",
    "SequentialReader",
    "Wave",
    "WaveInfo",
    "Writer",
    "Wspecifier",
    "WxFilename",
    "load",
    "object_types",
    "save",
]
