"""One description gives the same minibatches on the command line, from the feed, and through
each adapter."""

from __future__ import annotations

import importlib
import json
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

SOURCE = "examples/digits/train.toml"
FRAMES = {"batch_size": 200, "seed": 9}
SEQUENCES = {"unit": "sequence", "batch_size": 7, "batch_unit": "sequences", "seed": 9, "context": "1:2"}
FIELDS = ["utterances", "starts", "rows"]


def by_torch(options: dict[str, Any], rank: int, ranks: int) -> Iterator[dict[str, Any]]:
    from seqfeed.torch import Loader

    yield from Loader(SOURCE, fields=FIELDS, rank=rank, ranks=ranks, **options)


def by_torch_workers(options: dict[str, Any], rank: int, ranks: int) -> Iterator[dict[str, Any]]:
    from torch.utils.data import DataLoader

    from seqfeed.torch import Dataset

    dataset = Dataset(SOURCE, fields=FIELDS, rank=rank, ranks=ranks, **options)
    yield from DataLoader(dataset, batch_size=None, num_workers=2)


def by_jax(options: dict[str, Any], rank: int, ranks: int) -> Iterator[dict[str, Any]]:
    from seqfeed.jax import Loader

    yield from Loader(SOURCE, fields=FIELDS, rank=rank, ranks=ranks, **options)


def by_datasets(options: dict[str, Any], rank: int, ranks: int) -> Iterator[dict[str, Any]]:
    from datasets.distributed import split_dataset_by_node

    from seqfeed.huggingface import minibatches

    yield from split_dataset_by_node(minibatches(SOURCE, fields=FIELDS, **options), rank, ranks)


@pytest.mark.parametrize("ranks", [1, 2])
@pytest.mark.parametrize("options", [FRAMES, SEQUENCES], ids=["frames", "sequences"])
@pytest.mark.parametrize(
    ("adapter", "needs"),
    [(by_torch, "torch"), (by_torch_workers, "torch"), (by_jax, "jax"), (by_datasets, "datasets")],
)
def test_the_same_as_on_the_command_line(
    cli: Path,
    adapter: Callable[[dict[str, Any], int, int], Iterator[dict[str, Any]]],
    needs: str,
    options: dict[str, Any],
    ranks: int,
) -> None:
    pytest.importorskip(needs, reason=f"SKIPPED: there is no {needs}")
    importlib.import_module(needs)
    rank = ranks - 1
    given = options | {"sweeps": 1, "rank": rank, "ranks": ranks}
    flags = [str(word) for key, value in given.items() for word in (f"--{key.replace('_', '-')}", value)]
    command = [cli, "feed", SOURCE, *flags, "--dump", "jsonl"]
    done = subprocess.run(command, check=True, capture_output=True)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(lines) > 3
    for line, batch in zip(lines, adapter(options, rank, ranks), strict=True):
        assert list(batch["utterances"]) == line["keys"]
        assert batch["starts"].tolist() == line["starts"]
        for name, stream in line["streams"].items():
            rows = np.asarray(batch["rows"][name])
            assert rows[:, 1].tolist() == stream["lengths"]
            places = [row for first, count in rows.tolist() for row in range(first, first + count)]
            flat = np.asarray(batch[name]).reshape(-1, stream["dim"])[places]
            assert np.array_equal(flat, np.array(stream["data"], flat.dtype).reshape(flat.shape))
