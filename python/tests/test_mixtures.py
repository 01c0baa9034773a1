"""Mixtures of corpora in Python, and `examples/mixture.py`: killed and resumed, it ends with the
same weights."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import seqfeed
from conftest import ROOT

SCRIPT = ROOT / "examples" / "mixture.py"


def mix(digits: Path, **keys: Any) -> dict[str, Any]:
    return {
        "test": {"corpus": digits / "test.toml", "weight": 1},
        "htk": {"corpus": digits / "htk.toml", "weight": 0.5},
        **keys,
    }


def test_a_mixture_is_a_feed_like_any_other(digits: Path) -> None:
    options: dict[str, Any] = {"unit": "sequence", "batch_unit": "sequences", "batch_size": 2}
    feed = seqfeed.Feed(mix=mix(digits, stop="first"), sweeps=1, **options)
    assert feed.delivered == {} and feed.utterances == 15
    keys = [key for batch in feed for key in batch.utterances]
    assert len(feed) == (len(keys) + 1) // 2
    of_htk = [key for key in keys if key.startswith("htk/")]
    assert len(of_htk) == 3 and len(keys) == 8
    assert feed.delivered["htk"] == {"units": 3, "samples": 478, "sweeps": 1}
    assert feed.delivered["test"]["units"] == 5
    # It goes on anywhere, and epochs go on where the one before ended.
    feed = seqfeed.Feed(mix=mix(digits, stop="first"), **options)
    epochs = [[list(batch.utterances) for batch in feed] for _ in range(3)]
    apart = [[list(batch.utterances) for batch in feed.one_sweep(n)] for n in range(3)]
    assert epochs == apart
    batches = iter(seqfeed.Feed(mix=mix(digits, stop="first"), **options))
    next(batches)
    state = next(batches).state_dict()
    rest = [list(batch.utterances) for batch in batches]
    feed.load_state_dict(state)
    assert [list(batch.utterances) for batch in feed] == rest
    with pytest.raises(TypeError, match="one sweep of a mixture"):
        pickle.dumps(feed.one_sweep(1))


def test_a_mixture_that_never_stops_ends_with_the_run(digits: Path) -> None:
    endless = mix(digits, stop="never")
    with pytest.raises(ValueError, match="limit the run by `samples`"):
        seqfeed.Feed(mix=endless, sweeps=1)
    feed = seqfeed.Feed(mix=endless, batch_size=100, samples=6000)
    assert sum(len(batch["labels"]) for batch in feed) == 6000
    assert feed.delivered["htk"] == {"units": 2000, "samples": 2000, "sweeps": 5}


def test_the_loader_of_torch_feeds_mixtures(digits: Path) -> None:
    pytest.importorskip("torch", reason="SKIPPED: mixtures in PyTorch: there is no PyTorch")
    from seqfeed.torch import Loader

    loader = Loader(mix=mix(digits, stop="first"), batch_size=100)
    batches = list(loader)
    assert len(batches) == len(loader) == 15
    assert batches[0]["features"].shape == (100, 40)


def run(work: Path) -> list[str]:
    return [sys.executable, "-u", str(SCRIPT), str(work)]


def test_killed_and_resumed(tmp_path: Path) -> None:
    whole = subprocess.Popen(run(tmp_path / "whole"), stdout=subprocess.PIPE, text=True)
    for after in (3, 5):
        process = subprocess.Popen(run(tmp_path / "killed"), stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        lines = [process.stdout.readline() for _ in range(after)]
        process.kill()
        process.wait(60)
        assert lines[-1].startswith("minibatch")
    saved = np.load(tmp_path / "killed" / "checkpoint.npz")
    assert json.loads(str(saved["state"]))["minibatch"] >= 160
    last = subprocess.run(run(tmp_path / "killed"), check=True, capture_output=True, text=True)
    result = whole.communicate(timeout=300)[0].splitlines()[-1]
    assert whole.returncode == 0 and last.stdout.splitlines()[-1] == result
    assert float(result.split()[0]) > 85
    expected, found = (np.load(tmp_path / run / "final.npz") for run in ("whole", "killed"))
    for name in expected:
        assert expected[name].tobytes() == found[name].tobytes(), name
