"""``transform=``: a function of the caller's that changes minibatches."""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import seqfeed


def negated(minibatch: seqfeed.Minibatch) -> None:
    minibatch["features"][:] *= -1


def halved(minibatch: seqfeed.Minibatch) -> dict[str, Any]:
    """Of other shapes and types, and backwards in memory."""
    return {"features": minibatch["features"][:, ::-2], "labels": minibatch["labels"].astype(np.int64)}


def feed(corpus: Any, transform: Callable[..., Any] | None, **options: Any) -> seqfeed.Feed:
    streams = {"features": f"scp:{corpus['feats.scp']}", "labels": f"ark:{corpus['ali.ark']}"}
    return seqfeed.Feed(streams, batch_size=16, seed=5, transform=transform, **options)


def features(minibatches: seqfeed.Feed) -> list[Any]:
    return [np.array(minibatch["features"]) for minibatch in minibatches]


def same(one: list[Any], other: list[Any]) -> bool:
    return len(one) == len(other) and all(np.array_equal(a, b) for a, b in zip(one, other))


def test_it_changes_arrays_or_returns_others(corpus: Any) -> None:
    plain = features(feed(corpus, None))
    assert same(features(feed(corpus, negated)), [-array for array in plain])
    for minibatch, before in zip(feed(corpus, halved), plain):
        assert np.array_equal(minibatch["features"], before[:, ::-2])
        assert minibatch["features"].flags.c_contiguous
        assert minibatch["labels"].dtype == np.int64


def test_arrays_that_cannot_be_written_to_are_copied(corpus: Any) -> None:
    fixed = np.zeros((2, 3), np.float32)
    fixed.flags.writeable = False
    minibatch = next(feed(corpus, lambda _: {"features": fixed}))
    assert minibatch["features"].flags.writeable


def test_it_is_called_in_order_with_any_number_of_threads(corpus: Any) -> None:
    called: list[int] = []

    def count(minibatch: seqfeed.Minibatch) -> None:
        called.append(minibatch.index)
        minibatch["features"][:] += len(called)

    values = []
    for threads in (1, 4):
        called.clear()
        values.append(features(feed(corpus, count, threads=threads)))
        assert called == list(range(len(values[-1])))
    assert same(*values)


def test_a_state_goes_on_with_the_same_values(corpus: Any) -> None:
    def noise(minibatch: seqfeed.Minibatch) -> None:
        random = np.random.default_rng(minibatch.index)
        minibatch["features"][:] += random.normal(size=minibatch["features"].shape)

    whole = features(feed(corpus, noise))
    first = feed(corpus, noise)
    next(first), next(first)
    rest = feed(corpus, noise)
    rest.load_state_dict(first.state_dict())
    assert same(features(rest), whole[2:])


def test_parts_and_copies_of_a_feed_have_it(corpus: Any) -> None:
    whole = features(feed(corpus, negated))
    assert same(features(feed(corpus, negated).one_sweep(0)), whole)
    assert same(features(pickle.loads(pickle.dumps(feed(corpus, negated)))), whole)


def test_its_result_goes_into_buffers(corpus: Any) -> None:
    buffer = np.empty(1000, np.float32)
    minibatch = feed(corpus, negated).next_into({"features": buffer})
    assert minibatch is not None
    (expected, *_) = features(feed(corpus, negated))
    assert np.array_equal(buffer[: expected.size].reshape(expected.shape), expected)
    assert np.shares_memory(minibatch["features"], buffer)


def test_its_time_is_reported_apart(corpus: Any) -> None:
    seen: list[seqfeed.Progress] = []
    list(feed(corpus, lambda _: time.sleep(0.01), progress=seen.append))
    assert 0.01 * seen[-1].minibatches <= seen[-1].transform_seconds <= seen[-1].seconds
    list(feed(corpus, None, progress=seen.append))
    assert seen[-1].transform_seconds == 0


def test_an_error_names_it_and_the_minibatch_can_come_again(corpus: Any) -> None:
    def fragile(minibatch: seqfeed.Minibatch) -> None:
        if minibatch.index == 2:
            raise ZeroDivisionError("no frames")

    failed = feed(corpus, fragile)
    next(failed), next(failed)
    with pytest.raises(ZeroDivisionError, match="no frames") as raised:
        next(failed)
    if hasattr(raised.value, "__notes__"):
        (note,) = raised.value.__notes__
        assert note.endswith("fragile of minibatch 2")
    again = feed(corpus, None)
    again.load_state_dict(failed.state_dict())
    assert next(again).index == 2


def test_an_end_in_it_is_no_end_of_the_feed(corpus: Any) -> None:
    with pytest.raises(RuntimeError, match="StopIteration in the transform .* of minibatch 0"):
        list(feed(corpus, lambda _: next(iter([]))))


@pytest.mark.parametrize(
    ("result", "message"),
    [
        ([1], "expected a dictionary of arrays or None, found list"),
        ({"features": [1.0]}, "expected ndarray for stream features, found list"),
    ],
)
def test_wrong_results_are_refused(corpus: Any, result: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        next(feed(corpus, lambda _: result))


def test_unknown_streams_are_refused(corpus: Any) -> None:
    with pytest.raises(KeyError, match="words"):
        next(feed(corpus, lambda _: {"words": np.zeros(3)}))


def test_what_is_no_function_is_refused(corpus: Any) -> None:
    wrong: Any = "noise"
    with pytest.raises(TypeError, match="`transforms` names those of the library"):
        feed(corpus, wrong)


def test_tables_have_no_minibatches_to_change(corpus: Any) -> None:
    options: Any = {"transform": negated}
    with pytest.raises(TypeError, match="a table has none: give it to a feed"):
        seqfeed.open(f"scp:{corpus['feats.scp']}", **options)
