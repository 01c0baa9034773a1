"""The examples in docstrings and stubs run."""

from __future__ import annotations

import ast
import doctest
import importlib
from pathlib import Path

import pytest

import seqfeed
from seqfeed import _types, kaldi
from seqfeed.compat import kaldi_native_io, kaldiio
from seqfeed.compat.kaldiio import matio, utils

PACKAGE = Path(seqfeed.__file__).parent


MODULES = [seqfeed, _types, kaldi, kaldiio, matio, utils, kaldi_native_io]


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_modules(module: object) -> None:
    run(module)


@pytest.mark.parametrize(
    ("name", "needs"),
    [
        ("torch", "torch"),
        ("jax", "jax"),
        ("arrow", "pyarrow"),
        ("huggingface", "datasets"),
    ],
)
def test_adapters(name: str, needs: str) -> None:
    pytest.importorskip(needs, reason=f"SKIPPED: the examples of seqfeed.{name}: there is no {needs}")
    run(importlib.import_module(f"seqfeed.{name}"))


def run(module: object) -> None:
    results = doctest.testmod(module, verbose=False)  # type: ignore[arg-type]
    assert results.failed == 0 and results.attempted > 0


def test_stubs() -> None:
    """The docstrings of the compiled part stand in its stubs."""
    tree = ast.parse((PACKAGE / "_seqfeed.pyi").read_text())
    parser, runner = doctest.DocTestParser(), doctest.DocTestRunner()
    for node in ast.walk(tree):
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)) and (text := ast.get_docstring(node)):
            runner.run(parser.get_doctest(text, vars(seqfeed).copy(), node.name, None, None))
    assert runner.summarize(verbose=False).failed == 0 and runner.tries > 0
