"""Runs the originals' own tests against the drop-ins:
``python originals.py DIRECTORY [pytest's arguments]``.

DIRECTORY holds unpacked sources of kaldiio or kaldi_native_io, or of both, as
``pip download --no-binary :all:`` gets them. ``import kaldiio`` and ``import kaldi_native_io`` in
these tests then mean the drop-ins.
"""

from __future__ import annotations

import importlib
import os
import sys
import tempfile
from pathlib import Path

import pytest

MODULES = {
    "kaldiio": ("compression_header", "matio", "highlevel", "utils", "wavio"),
    "kaldi_native_io": ("table_types",),
}


def main(directory: Path, arguments: list[str]) -> int:
    for name, parts in MODULES.items():
        sys.modules[name] = importlib.import_module(f"seqfeed.compat.{name}")
        for part in parts:
            sys.modules[f"{name}.{part}"] = importlib.import_module(f"seqfeed.compat.{name}.{part}")
    tests = [
        path.resolve()
        for path in sorted(directory.rglob("test_*.py"))
        if any(f"import {name}" in path.read_text() or f"from {name}" in path.read_text() for name in MODULES)
    ]
    if not tests:
        print(f"there are no tests in {directory}", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as scratch:
        # They write where they stand.
        os.chdir(scratch)
        options = ["-p", "no:cacheprovider", "--import-mode=importlib", "-rs", "-c", os.devnull]
        return int(pytest.main([*options, f"--rootdir={scratch}", *map(str, tests), *arguments]))


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:]))
