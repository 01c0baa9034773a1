"""`seqfeed.huggingface`."""

from __future__ import annotations

from inspect import signature
from typing import Any

import numpy as np
import pytest

datasets = pytest.importorskip(
    "datasets", reason="SKIPPED: the tests of seqfeed.huggingface: there is no datasets"
)

import seqfeed  # noqa: E402
from seqfeed.huggingface import minibatches, sequences  # noqa: E402

from test_feed import source  # noqa: E402


def contents(row: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(value.tolist() if isinstance(value, np.ndarray) else value for value in row.values())


def test_sequences(corpus: Any) -> None:
    rows = list(sequences(source(corpus)))
    assert [row["key"] for row in rows] == list(corpus.features)
    for row in rows:
        assert np.array_equal(row["features"], corpus.features[row["key"]])
        assert np.array_equal(row["labels"], corpus.labels[row["key"]])
    shuffled = [row["key"] for row in sequences(source(corpus), shuffle=True, seed=1)]
    assert shuffled != list(corpus.features) and sorted(shuffled) == list(corpus.features)


def test_minibatches(corpus: Any) -> None:
    wanted = [
        (m["features"].tolist(), m["labels"].tolist()) for m in seqfeed.Feed(source(corpus), batch_size=9)
    ]
    dataset = minibatches(source(corpus), batch_size=9)
    assert [contents(row) for row in dataset] == wanted
    assert [contents(row) for row in dataset] == wanted
    dataset.set_epoch(1)
    other = [contents(row) for row in dataset]
    assert other != wanted and sum(len(row[1]) for row in other) == corpus.frames
    taken = dataset.map(lambda row: {"frames": len(row["labels"])}).take(2)
    assert [row["frames"] for row in taken] == [9, 9]


def test_nodes_share_a_sweep(corpus: Any) -> None:
    from datasets.distributed import split_dataset_by_node

    seen: list[tuple[str, int]] = []
    for rank in range(3):
        dataset = minibatches(source(corpus), batch_size=9, fields=["utterances", "starts"])
        for row in split_dataset_by_node(dataset, rank=rank, world_size=3):
            seen += zip(row["utterances"], row["starts"].tolist())
    assert len(seen) == len(set(seen)) == corpus.frames


def test_a_state_is_exact(corpus: Any) -> None:
    whole = [contents(row) for row in minibatches(source(corpus), batch_size=9)]
    dataset = minibatches(source(corpus), batch_size=9)
    for number, row in enumerate(dataset):
        if number == 3:
            break
    state = dataset.state_dict()
    other = minibatches(source(corpus), batch_size=9)
    other.load_state_dict(state)
    assert [contents(row) for row in other] == whole[4:]


@pytest.mark.parametrize("workers", [0, 2, 3])
def test_workers_share_a_sweep(corpus: Any, workers: int) -> None:
    data = pytest.importorskip("torch.utils.data", reason="SKIPPED: there is no PyTorch")
    dataset = minibatches(source(corpus), batch_size=9, fields=["utterances", "starts"])
    loader = data.DataLoader(dataset.with_format("torch"), batch_size=None, num_workers=workers)
    seen = [place for row in loader for place in zip(row["utterances"], row["starts"].tolist())]
    assert len(seen) == len(set(seen)) == corpus.frames


def test_shuffle(corpus: Any) -> None:
    """The buffer of `datasets`, over another order of the feed: the same one for a seed."""

    def keys(**options: Any) -> list[str]:
        return [row["key"] for row in sequences(source(corpus)).shuffle(**options)]

    order = keys(seed=1)
    assert order != list(corpus.features) and sorted(order) == list(corpus.features)
    assert order == keys(seed=1) != keys(seed=2)
    assert order == keys(generator=np.random.default_rng(1)) == keys(seed=1, buffer_size=1000)
    assert sorted(keys(seed=1, buffer_size=3)) == sorted(order) and keys(seed=1, buffer_size=3) != order
    mapped = sequences(source(corpus)).map(lambda row: {"name": row["key"]})
    assert sorted(row["name"] for row in mapped.shuffle(seed=1)) == sorted(order)
    dataset = sequences(source(corpus)).shuffle(seed=1)
    dataset.set_epoch(1)
    other = [row["key"] for row in dataset]
    assert other != order and sorted(other) == sorted(order)


def test_shuffled_minibatches(corpus: Any) -> None:
    fields = ["utterances", "starts"]

    def places(dataset: Any) -> list[tuple[str, int]]:
        return [place for row in dataset for place in zip(row["utterances"], row["starts"].tolist())]

    for options in ({}, {"partial": "drop"}):
        whole = places(minibatches(source(corpus), batch_size=9, fields=fields, **options))
        dataset = minibatches(source(corpus), batch_size=9, fields=fields, **options).shuffle(seed=3)
        found = places(dataset)
        assert len(found) == len(set(found)) == len(whole) and found != whole
    from datasets.distributed import split_dataset_by_node

    found = []
    for rank in range(3):
        dataset = minibatches(source(corpus), batch_size=9, fields=fields).shuffle(seed=3, buffer_size=2)
        found += places(split_dataset_by_node(dataset, rank=rank, world_size=3))
    assert len(found) == len(set(found)) == corpus.frames


def test_a_shuffle_runs_one_feed(corpus: Any) -> None:
    """The parts that `datasets` would merge are one order: it takes no ten feeds to have it."""
    from seqfeed import huggingface
    from seqfeed._fields import Fields

    feed = seqfeed.Feed(source(corpus), batch_size=9)
    begun = []

    class Counted:
        streams = feed.streams

        def one_sweep(self, *given: Any) -> Any:
            begun.append(given)
            return feed.one_sweep(*given)

    convert = huggingface._AsDictionary(Fields(feed, None))
    dataset = huggingface._dataset(Counted(), convert)  # type: ignore[arg-type]
    rows = [contents(row) for row in dataset.shuffle(seed=1)]
    assert len(begun) == 1 and len(rows) == len(feed)
    if "max_buffer_input_shards" in signature(datasets.IterableDataset.shuffle).parameters:
        shuffled = dataset.shuffle(seed=1, max_buffer_input_shards=4)
        assert [contents(row) for row in shuffled] == rows and len(begun) == 1 + 4


@pytest.mark.parametrize(("workers", "method"), [(1, "spawn"), (3, "fork")])
def test_workers_shuffle_their_shares(corpus: Any, workers: int, method: str) -> None:
    data = pytest.importorskip("torch.utils.data", reason="SKIPPED: there is no PyTorch")
    dataset = minibatches(source(corpus), batch_size=9, fields=["utterances", "starts"]).shuffle(seed=1)
    options = {"num_workers": workers, "multiprocessing_context": method}
    loader = data.DataLoader(dataset.with_format("torch"), batch_size=None, **options)
    seen = [place for row in loader for place in zip(row["utterances"], row["starts"].tolist())]
    assert len(seen) == len(set(seen)) == corpus.frames
