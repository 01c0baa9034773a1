"""The packages that the drop-ins stand for, where they are installed."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

# Every case is a function of the module and of numpy; what it gives, or the names of what it
# raises, is compared.
_RUN = """
import pickle, sys, warnings
warnings.simplefilter("ignore")
import numpy as np
import {package} as package
cases, found = pickle.load(sys.stdin.buffer), {{}}
for name, code in cases.items():
    space = {{"k": package, "np": np}}
    try:
        exec(code, space)
        found[name] = ("gives", space["result"])
    except Exception as error:
        found[name] = ("raises", [kind.__name__ for kind in type(error).__mro__])
pickle.dump(found, open({out!r}, "wb"))
"""


def run_cases(package: str, cases: dict[str, str], directory: Path) -> dict[str, Any]:
    """What each case gives with a package, or a drop-in, in a directory; each sets ``result``."""
    directory.mkdir(exist_ok=True)
    ours = package.startswith("seqfeed.")
    python = sys.executable if ours else os.environ.get("SEQFEED_PEERS", sys.executable)
    out = directory / "found.pickle"
    code = _RUN.format(package=package, out=str(out))
    if not ours:
        check = subprocess.run([python, "-c", f"import {package}"], capture_output=True)
        if check.returncode != 0:
            pytest.skip(f"SKIPPED: there is no {package} in {python}; name a Python with it by SEQFEED_PEERS")
    subprocess.run(
        [python, "-c", code], input=pickle.dumps(cases), cwd=directory, capture_output=True, check=True
    )
    found: dict[str, Any] = pickle.loads(out.read_bytes())
    return found
