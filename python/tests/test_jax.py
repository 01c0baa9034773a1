"""`seqfeed.jax`."""

from __future__ import annotations

import json
from typing import Any

import pytest

jax = pytest.importorskip("jax", reason="SKIPPED: the tests of seqfeed.jax: there is no JAX")

import seqfeed  # noqa: E402
from seqfeed.jax import Loader  # noqa: E402

from test_feed import source  # noqa: E402


def contents(batch: dict[str, Any]) -> tuple[Any, ...]:
    return batch["utterances"], batch["features"].tolist(), batch["labels"].tolist()


def expected(corpus: Any) -> list[tuple[Any, ...]]:
    feed = seqfeed.Feed(source(corpus), batch_size=9, sweeps=2)
    return [(m.utterances, m["features"].tolist(), m["labels"].tolist()) for m in feed]


def test_the_minibatches_of_the_feed(corpus: Any) -> None:
    loader = Loader(source(corpus), batch_size=9, fields=["utterances"])
    batches, states = [], [loader.state_dict()]
    for _ in range(2):
        for batch in loader:
            assert isinstance(batch["features"], jax.Array)
            batches.append(contents(batch))
            states.append(json.loads(json.dumps(loader.state_dict())))
    wanted = expected(corpus)
    assert batches == wanted and 2 * len(loader) == len(wanted)
    for stop in range(0, len(wanted) + 1, 4):
        loader.load_state_dict(states[stop])
        rest = [contents(batch) for _ in range(loader.epoch, 2) for batch in loader]
        assert rest == wanted[stop:]


def test_arrays_stay_what_they_are(corpus: Any) -> None:
    """Memory that JAX still looks at is not used again."""
    kept = [(b["features"], b["features"].tolist()) for b in Loader(source(corpus), batch_size=4)]
    assert all(array.tolist() == values for array, values in kept)


def test_devices_and_sequences(corpus: Any) -> None:
    device = jax.devices()[0]
    options = {"unit": "sequence", "batch_size": 3, "batch_unit": "sequences", "partial": "drop"}
    for batch in Loader(source(corpus), device=device, ahead=1, **options):
        assert batch["features"].devices() == {device} and set(batch) == {"features", "labels", "lengths"}
        total = jax.numpy.where(batch["labels"] != -100, 1, 0).sum()
        assert total == batch["lengths"].sum()
    with pytest.raises(ValueError, match="ahead"):
        Loader(source(corpus), ahead=0)


def test_one_loop_at_a_time(corpus: Any) -> None:
    loader = Loader(source(corpus), batch_size=9, fields=["utterances"])
    first = iter(loader)
    next(first)
    second = [contents(batch) for batch in loader]
    with pytest.raises(RuntimeError, match="another loop over this Loader has begun"):
        next(first)
    wanted = expected(corpus)
    assert second == wanted[len(loader) :]
    for _ in loader:
        break
    assert len(list(loader)) == len(loader)
