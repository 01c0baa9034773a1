"""Transforms, as keywords and in sections of a corpus."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import seqfeed
from seqfeed import kaldi


@pytest.fixture
def tables(tmp_path: Path) -> dict[str, Any]:
    names = [tmp_path / "feats.ark", tmp_path / "ali.ark"]
    with kaldi.Writer(names[0]) as features, kaldi.Writer(names[1]) as labels:
        for frames in range(3, 9):
            rows = np.arange(2 * frames, dtype=np.float32).reshape(frames, 2)
            features.write(f"utt{frames}", rows)
            labels.write(f"utt{frames}", np.arange(frames, dtype=np.int32))
    return {"features": f"ark:{names[0]}", "labels": f"ark:{names[1]}"}


def test_lengths_and_values(tables: dict[str, Any]) -> None:
    for transforms in ("subsample,n=3", [{"name": "subsample", "n": 3}]):
        options: dict[str, Any] = {"unit": "sequence", "layout": "concatenated"}
        feed = seqfeed.Feed(**tables, transforms=transforms, order="sequential", **options)
        (minibatch,) = feed
        assert minibatch.lengths.tolist() == [1, 2, 2, 2, 3, 3]
        assert minibatch["features"][1:3].tolist() == [[0, 1], [6, 7]]
        assert minibatch["labels"][-3:].tolist() == [0, 3, 6]


def test_values_are_random_by_sweep_and_stay_with_a_state(tables: dict[str, Any]) -> None:
    features = {"source": tables["features"], "transforms": ["noise,deviation=0.1"]}

    def feed() -> seqfeed.Feed:
        return seqfeed.Feed(streams={"features": features}, batch_size=9, sweeps=2, seed=4)

    minibatches = list(feed())
    values = [np.array(minibatch["features"]) for minibatch in minibatches]
    again = feed()
    again.load_state_dict(minibatches[1].state_dict())
    rest = [np.array(minibatch["features"]) for minibatch in again]
    assert len(rest) == len(values) - 2
    assert all(np.array_equal(a, b) for a, b in zip(rest, values[2:]))
    frames = sum(range(3, 9))
    assert len(np.unique(np.concatenate(values))) == 2 * 2 * frames, "others in each sweep"


def test_unknown_transforms_are_named(tables: dict[str, Any]) -> None:
    with pytest.raises(seqfeed.UsageError, match="no transform called blur"):
        seqfeed.Feed(**tables, transforms="blur")


def test_types_that_only_feeds_deliver(tables: dict[str, Any]) -> None:
    streams = {
        "features": {"source": tables["features"], "dtype": "float16"},
        "labels": {"source": tables["labels"], "kind": "label", "dtype": "int64"},
    }
    feed = seqfeed.Feed(streams=streams, order="sequential", unit="sequence", label_padding=-1)
    assert [stream.dtype for stream in feed.streams.values()] == ["float16", "int64"]
    minibatch = next(feed)
    features, labels = minibatch["features"], minibatch["labels"]
    assert (features.dtype, labels.dtype) == (np.float16, np.int64)
    assert features[0, :3].tolist() == [[0, 1], [2, 3], [4, 5]]
    assert labels[0].tolist() == [0, 1, 2, -1, -1, -1, -1, -1]


def test_bfloat16_without_a_type_of_numpy(tables: dict[str, Any]) -> None:
    streams = {"features": {"source": tables["features"], "dtype": "bfloat16"}}
    (minibatch,) = seqfeed.Feed(streams=streams, order="sequential", sweeps=1)
    bits = minibatch["features"].view(np.uint16).astype(np.uint32) << 16
    assert bits.view(np.float32)[:2].tolist() == [[0, 1], [2, 3]]


def test_statistics_in_an_npz(tables: dict[str, Any], tmp_path: Path) -> None:
    count, total, squares = 4, np.array([4.0, 8.0]), np.array([20.0, 17.0])
    np.savez(tmp_path / "stats.npz", count=count, sum=total, sum_square=squares)
    stats = {"mean_stat": total.tolist(), "var_stat": squares.tolist(), "frame_num": count}
    (tmp_path / "stats.json").write_text(json.dumps(stats))

    def values(file: str) -> list[Any]:
        transform = {"name": "cmvn", "stats": str(tmp_path / file), "norm-vars": True}
        feed = seqfeed.Feed(**tables, transforms=[transform], order="sequential", sweeps=1)
        return [minibatch["features"].tolist() for minibatch in feed]

    assert values("stats.npz") == values("stats.json")
    # Means 1 and 2, variances 4 and 0.25.
    assert values("stats.npz")[0][0] == pytest.approx([-0.5, -2.0])
