"""Drop-ins for the usual packages that read Kaldi's tables: only one import line changes.

.. code-block:: python

    import seqfeed.compat.kaldiio as kaldiio                  # for kaldiio 2.18
    import seqfeed.compat.kaldi_native_io as kaldi_native_io  # for kaldi_native_io 1.23

Names, arguments, results and exceptions are those of the originals, except for differences in their
own docstrings.

Two switches apply to both, and can be changed at any time:

``ALLOW_PIPES``
    Whether ``"sox a.wav -t wav - |"`` runs a command by the shell, as in the originals: True,
    unless the environment has ``SEQFEED_ALLOW_PIPES=0``. A forbidden pipe raises
    ``seqfeed.ForbiddenError``.
``ALLOW_PICKLES``
    Whether a pickle in an archive may make objects of any class, which runs whatever the file says:
    False, unless the environment has ``SEQFEED_ALLOW_PICKLES=1``. Arrays, numbers, text and
    containers of them are always read.
"""

from __future__ import annotations

import os

ALLOW_PIPES: bool = os.environ.get("SEQFEED_ALLOW_PIPES", "1") != "0"
ALLOW_PICKLES: bool = os.environ.get("SEQFEED_ALLOW_PICKLES", "0") == "1"
