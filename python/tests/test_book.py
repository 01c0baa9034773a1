"""The Python in the pages of docs/ runs: ``python`` blocks as they are, ``pycon`` blocks with the
output they show."""

from __future__ import annotations

import doctest
import importlib
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
BLOCK = re.compile(r"^```(python|pycon)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FRAMEWORKS = ("torch", "jax", "pyarrow", "polars", "datasets")
PAGES = [page for page in sorted(DOCS.rglob("*.md")) if BLOCK.search(page.read_text())]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(DOCS)))
def test_page(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of a page run one after another, in a copy of examples/digits."""
    text = page.read_text()
    for name in FRAMEWORKS:
        if re.search(rf"^(import|from) {name}\b", text, re.MULTILINE):
            needed(name, page)
    digits = tmp_path / "digits"
    shutil.copytree(ROOT / "examples" / "digits", digits)
    monkeypatch.chdir(digits)
    names: dict[str, Any] = {"__name__": page.stem}
    for found in BLOCK.finditer(text):
        line = text.count("\n", 0, found.start(2))
        if found[1] == "pycon":
            sample = doctest.DocTestParser().get_doctest(found[2], names, page.name, str(page), line)
            runner = doctest.DocTestRunner(verbose=False)
            runner.run(sample, clear_globs=False)
            assert runner.summarize(verbose=False).failed == 0
            # What was imported and assigned: a doctest works on a copy.
            names.update(sample.globs)
        else:
            # Lines are counted as in the page.
            exec(compile("\n" * line + found[2], str(page), "exec"), names)


def needed(name: str, page: Path) -> None:
    try:
        importlib.import_module(name)
    except ImportError:
        pytest.skip(f"SKIPPED: {page.relative_to(ROOT)}: there is no {name}")


def test_tutorials_are_there() -> None:
    pages = {str(page.relative_to(DOCS)) for page in PAGES}
    users = {"cntk", "htk", "kaldi", "pdnn", "python", "pytorch"}
    assert {f"tutorials/{user}.md" for user in users} <= pages
