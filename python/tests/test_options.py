"""Options as keywords: typed, documented, in sections too."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import seqfeed

from test_feed import contents, source

CONFIGURATION = Path(__file__).parents[1] / "pyproject.toml"


def keywords() -> set[str]:
    names = set(seqfeed.FeedOptions.__annotations__)
    assert {"batch_size", "features", "streams", "chunk_size"} <= names
    return names


def test_help_lists_every_option() -> None:
    lines = (seqfeed.Feed.__doc__ or "").splitlines()
    for name in keywords() - {"streams", "inputs", "mix"}:
        at = lines.index(name)
        assert lines[at + 1].startswith("    ") and lines[at + 1].endswith("."), name


def test_type_checkers_know_the_options() -> None:
    mypy = pytest.importorskip("mypy.api", reason="SKIPPED: types of options: there is no mypy")
    for call, said in [
        ("Feed('x', batchsize=4)", "batchsize"),
        ("Feed('x', batch_size='many')", "batch_size"),
        ("Feed('x', order='random')", "order"),
        ("open('x', batch_size=4)", "batch_size"),
        ("convert('x', 'y', lables='z')", "lables"),
        ("Feed('x', batch_size=4, order='shuffle', context=(5, 3), labels=['y'])", None),
        ("torch.Loader('x', batchsize=4)", "batchsize"),
        ("torch.Dataset('x', order='random')", "order"),
        ("torch.Dataset('x', rank=1, ranks=2, threads=3, allow_pipes=True)", None),
        ("jax.Loader('x', rank='1')", "rank"),
        ("huggingface.minibatches('x', batchsize=4)", "batchsize"),
        ("huggingface.sequences('x', context='5:3', overrides={'a': 1})", None),
        ("arrow.table('x', lables='z')", "lables"),
        ("arrow.batches('x', batch_size=4)", "batch_size"),
    ]:
        module = f"seqfeed.{call.partition('(')[0]}".rpartition(".")[0]
        program = f"import {module}\nseqfeed.{call}"
        out, _, code = mypy.run(["--config-file", str(CONFIGURATION), "-c", program])
        assert (code == 0) == (said is None) and (said or "Success") in out, out


def test_numbers_of_numpy_are_numbers(corpus: Any) -> None:
    common: dict[str, Any] = {"unit": "sequence", "window": "corpus", "sweeps": 1}
    expected = [
        contents(m) for m in seqfeed.Feed(source(corpus), batch_size=16, buckets=[2, 5], **common)
    ]
    assert len(expected) > 3
    for buckets in ((2, 5), np.array([2, 5]), [np.int32(2), np.uint8(5)]):
        feed = seqfeed.Feed(source(corpus), batch_size=np.int64(16), buckets=buckets, **common)
        assert [contents(m) for m in feed] == expected
    with pytest.raises(seqfeed.UsageError, match="a list of lengths"):
        seqfeed.Feed(source(corpus), buckets=np.array([2.5]), **common)
    with pytest.raises(seqfeed.UsageError, match="batch"):
        seqfeed.Feed(source(corpus), batch_size=np.array([16]), **common)


def test_sections_and_keywords_mean_the_same(corpus: Any) -> None:
    expected = [contents(m) for m in seqfeed.Feed(source(corpus), batch_size=16, seed=3, context=1)]
    names = source(corpus)
    sections: dict[str, Any] = {
        "streams": {
            "features": {"source": names["features"], "context": 1},
            "labels": {"source": names["labels"], "kind": "label"},
        },
        "feed": {"batch-size": 16, "seed": 3},
    }
    assert [contents(m) for m in seqfeed.Feed(sections)] == expected
    sections["feed"] = {"batch_size": 99}
    assert [contents(m) for m in seqfeed.Feed(sections, batch_size=16, seed=3)] == expected
    sections["feed"] = {"ranks": 2}
    with pytest.raises(seqfeed.UsageError, match=r"stands in \[ranks\]"):
        seqfeed.Feed(sections)


def test_options_of_a_feed_are_refused_where_nothing_is_fed(corpus: Any) -> None:
    with pytest.raises(seqfeed.UsageError, match="it is for seqfeed.Feed"):
        seqfeed.open(source(corpus), batch_size=3)  # type: ignore[call-arg]
