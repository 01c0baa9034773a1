"""Sizes that data or settings ask for have limits."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import pytest

import seqfeed

# Of each sequence.
FRAMES = 2


@pytest.fixture
def long_key(tmp_path: Path) -> str:
    """A script file whose second key has 70,000 bytes."""
    keys = ["a", "k" * 70_000]
    archive = tmp_path / "feats.ark"
    archive.write_text("".join(f"{key}  [\n  1 2\n  3 4 ]\n" for key in keys))
    places = [f"{key} {archive}:{at}" for key, at in zip(keys, [2, 18 + 70_001 + 1])]
    script = tmp_path / "feats.scp"
    script.write_text("\n".join(places) + "\n")
    return f"scp:{script}"


def test_lines_have_a_limit_that_is_an_option(long_key: str, tmp_path: Path) -> None:
    def feed(**options: Any) -> int:
        return sum(m.samples for m in seqfeed.Feed(long_key, batch_size=2, **options))

    def table(**options: Any) -> int:
        return sum(len(value) for value in seqfeed.open(long_key, **options).values())

    def corpus(**options: Any) -> int:
        return sum(len(value) for value in seqfeed.open({"features": long_key}, **options).values())

    def convert(**options: Any) -> int:
        report = seqfeed.convert(long_key, f"ark:{tmp_path / 'out.ark'}", **options)
        return FRAMES * int(report["sequences"])

    for read in (feed, table, corpus, convert):
        with pytest.raises(seqfeed.LimitError, match="65536") as caught:
            read()
        assert "`line_limit`" in str(caught.value.help)
        assert read(line_limit=80_000) == 2 * FRAMES
    with pytest.raises(seqfeed.UsageError, match="`line_limit`"):
        feed(line_limit=0)


def test_the_limit_of_lines_is_pickled(long_key: str) -> None:
    opened = seqfeed.open({"features": long_key}, line_limit=80_000)
    assert len(pickle.loads(pickle.dumps(opened))) == 2
