"""`seqfeed.Feed`."""

from __future__ import annotations

import gc
import json
import pickle
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import seqfeed


def source(corpus: Any) -> dict[str, Any]:
    return {"features": f"scp:{corpus['feats.scp']}", "labels": f"ark:{corpus['ali.ark']}"}


def contents(minibatch: seqfeed.Minibatch) -> tuple[Any, ...]:
    arrays = {
        name: [part.tolist() for part in array[:3]]
        if isinstance(array, seqfeed.Sparse)
        else array.tolist()
        for name, array in minibatch.items()
    }
    return (minibatch.index, minibatch.sweep, minibatch.utterances, minibatch.starts.tolist(), arrays)


def test_a_minibatch(corpus: Any) -> None:
    feed = seqfeed.Feed(source(corpus), batch_size=16, context="1:2", seed=3)
    minibatches = list(feed)
    assert sum(m.samples for m in minibatches) == corpus.frames == feed.samples
    assert len(minibatches) == len(feed) == -(-corpus.frames // 16)
    assert [m.index for m in minibatches] == list(range(len(feed)))
    assert [m.end_of_sweep for m in minibatches] == [False] * (len(feed) - 1) + [True]
    for minibatch in minibatches:
        x, y = minibatch["features"], minibatch["labels"]
        assert x.shape == (minibatch.samples, 12) and x.dtype == np.float32
        assert y.shape == (minibatch.samples,) and y.dtype == np.int32
        assert x.flags.writeable and x.flags.c_contiguous
        assert set(minibatch) == {"features", "labels"} == set(dict(minibatch))
        assert len(minibatch) == 2 and "labels" in minibatch and "words" not in minibatch
        assert minibatch.layout == "frames" and minibatch.get("words") is None
        with pytest.raises(KeyError):
            minibatch["words"]
        for row, key, frame, label in zip(x, minibatch.utterances, minibatch.starts, y):
            features = corpus.features[key]
            places = np.clip(np.arange(frame - 1, frame + 3), 0, len(features) - 1)
            assert np.array_equal(row.reshape(4, 3), features[places])
            assert corpus.labels[key][frame] == label
    assert feed.streams["features"].dim == 12 and feed.utterances == 12


def test_packing_to_a_budget(corpus: Any) -> None:
    longest = max(map(len, corpus.features.values()))
    settings = {"unit": "sequence", "pack": 2 * longest}
    found = []
    for rank in range(2):
        feed = seqfeed.Feed(source(corpus), **settings, rank=rank, ranks=2)
        minibatches = list(feed)
        assert len(minibatches) == len(feed)
        for minibatch in minibatches:
            assert minibatch.layout == "concatenated" and minibatch.samples <= 2 * longest
            for (first, count), key in zip(minibatch.rows("labels"), minibatch.utterances):
                labels = minibatch["labels"][first : first + count]
                assert np.array_equal(labels, corpus.labels[key])
                found.append(key)
    assert sorted(found) == sorted(corpus.features)
    with pytest.raises(ValueError, match=f"pack = {longest - 1}"):
        list(seqfeed.Feed(source(corpus), **settings | {"pack": longest - 1}))


def test_sequences(corpus: Any) -> None:
    settings = {"unit": "sequence", "batch_size": 3, "batch_unit": "sequences"}
    feed = seqfeed.Feed(source(corpus), **settings)
    assert len(feed) == 4
    for minibatch in feed:
        assert minibatch.layout == "padded" and minibatch.sequences == 3
        x, y = minibatch["features"], minibatch["labels"]
        assert x.shape == (3, minibatch.lengths.max(), 3) and y.shape == x.shape[:2]
        for row, (key, length) in enumerate(zip(minibatch.utterances, minibatch.lengths)):
            assert np.array_equal(x[row, :length], corpus.features[key])
            assert np.array_equal(y[row, :length], corpus.labels[key])
            assert (y[row, length:] == -100).all() and (x[row, length:] == 0).all()
    for minibatch in seqfeed.Feed(source(corpus), **settings, layout="concatenated"):
        assert minibatch.offsets[-1] == len(minibatch["labels"])
        for (first, count), key in zip(minibatch.rows("labels"), minibatch.utterances):
            assert np.array_equal(minibatch["labels"][first : first + count], corpus.labels[key])
        with pytest.raises(KeyError):
            minibatch.rows("words")


def test_a_loop_is_a_sweep(corpus: Any) -> None:
    feed = seqfeed.Feed(source(corpus), batch_size=50)
    sweeps = [[contents(m) for m in feed] for _ in range(3)]
    assert [{entry[1] for entry in sweep} for sweep in sweeps] == [{0}, {1}, {2}]
    assert feed.sweep == 3
    whole = [contents(m) for m in seqfeed.Feed(source(corpus), batch_size=50, sweeps=3)]
    assert whole == sum(sweeps, [])
    limited = seqfeed.Feed(source(corpus), batch_size=50, sweeps=3)
    assert len(limited) == 3 * len(feed) == len(list(limited)) and list(limited) == []


def test_a_loop_goes_on_where_it_was_left(corpus: Any) -> None:
    expected = [contents(m) for m in seqfeed.Feed(source(corpus), batch_size=20)]
    feed = seqfeed.Feed(source(corpus), batch_size=20)
    found = []
    for minibatch in feed:
        found.append(contents(minibatch))
        if len(found) == 2:
            break
    assert found + [contents(m) for m in feed] == expected


@pytest.mark.parametrize(
    "settings",
    [
        {"batch_size": 16},
        {"batch_size": 16, "window": "corpus", "queue": 8, "threads": 3},
        {"unit": "sequence", "batch_size": 60, "batch_unit": "padded", "bucket": 6},
        {"batch_size": 7, "rank": 1, "ranks": 3},
    ],
)
def test_a_state_is_exact(corpus: Any, settings: dict[str, Any]) -> None:
    settings = settings | {"sweeps": 2, "seed": 5}
    expected = [contents(m) for m in seqfeed.Feed(source(corpus), **settings)]
    for stop in range(0, len(expected), 3):
        feed = seqfeed.Feed(source(corpus), **settings)
        states = [next(feed).state_dict() for _ in range(stop)]
        state = json.loads(json.dumps(feed.state_dict()))
        assert not states or state == states[-1]
        other = seqfeed.Feed(source(corpus), **settings)
        other.load_state_dict(state)
        assert [contents(m) for m in other] == expected[stop:]
        feed.load_state_dict(state)
        assert [contents(m) for m in feed] == expected[stop:]
    copy = pickle.loads(pickle.dumps(feed))
    assert list(copy) == []


def test_a_wrong_state_is_refused(corpus: Any) -> None:
    feed = seqfeed.Feed(source(corpus), batch_size=16)
    next(feed)
    state = feed.state_dict()
    with pytest.raises(seqfeed.Error):
        feed.load_state_dict(state | {"corpus": "0" * 16})
    with pytest.raises(seqfeed.FormatError):
        feed.load_state_dict({"version": 1})
    for wrong in (None, 3, "{}", [state]):
        with pytest.raises(TypeError):
            feed.load_state_dict(wrong)  # type: ignore[arg-type]
    assert feed.state_dict() == state


def test_ranks_share_a_sweep(corpus: Any) -> None:
    seen = []
    for rank in range(3):
        for minibatch in seqfeed.Feed(source(corpus), batch_size=8, rank=rank, ranks=3):
            seen += zip(minibatch.utterances, minibatch.starts.tolist())
    assert len(seen) == len(set(seen)) == corpus.frames


@pytest.mark.parametrize(
    "arguments",
    [
        ["examples/digits/train.toml", "--sweeps", "1"],
        ["examples/digits/train.toml", "--sweeps", "2", "--rank", "1", "--ranks", "2", "--seed", "9"],
        ["examples/digits/train.ctf"],
        ["examples/digits/train.cntk#Train.reader", "--batch-size", "100"],
        ["examples/digits/train.pfile,context=5,ignore-label=0,random=True", "--batch-size", "64"],
        ["examples/digits/train.pickle", "--batch-size", "64"],
    ],
)
def test_the_same_as_on_the_command_line(cli: Path, arguments: list[str]) -> None:
    done = subprocess.run(
        [cli, "feed", *arguments, "--dump", "jsonl"], check=True, capture_output=True
    )
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(lines) > 1
    options = dict(zip(arguments[1::2], arguments[2::2]))
    feed = seqfeed.Feed(
        arguments[0],
        **{key[2:].replace("-", "_"): int(value) for key, value in options.items()},
    )
    count = 0
    for line, minibatch in zip(lines, feed, strict=True):
        assert minibatch.utterances == line["keys"] and minibatch.starts.tolist() == line["starts"]
        assert (minibatch.index, minibatch.sweep) == (line["index"], line["sweep"])
        assert minibatch.samples == line["samples"]
        assert minibatch.end_of_sweep == line["end_of_sweep"]
        for name, stream in line["streams"].items():
            compare(minibatch, name, stream)
            count += 1
    assert count >= len(lines)


def compare(minibatch: seqfeed.Minibatch, name: str, stream: dict[str, Any]) -> None:
    array, rows = minibatch[name], minibatch.rows(name)
    assert rows[:, 1].tolist() == stream["lengths"]
    numbers = [row for first, count in rows.tolist() for row in range(first, first + count)]
    if isinstance(array, seqfeed.Sparse):
        ends = array.indptr.tolist()
        found = [
            [
                [index, value]
                for index, value in zip(
                    array.indices[ends[row] : ends[row + 1]].tolist(),
                    array.data[ends[row] : ends[row + 1]].tolist(),
                )
            ]
            for row in numbers
        ]
        assert found == stream["data"]
        return
    flat = array.reshape(-1, stream["dim"])[numbers]
    assert np.array_equal(flat, np.array(stream["data"], array.dtype).reshape(flat.shape))


def test_arrays_outlive_their_feed(corpus: Any) -> None:
    """And are not written to by later minibatches, though memory is used again."""
    kept, copies = [], []
    feed = seqfeed.Feed(source(corpus), batch_size=4, queue=1, threads=1)
    for number, minibatch in enumerate(feed):
        if number % 2:
            kept.append(minibatch["features"])
            copies.append(minibatch["features"].copy())
        minibatch["labels"][:] = 99
    del minibatch
    feed.close()
    del feed
    gc.collect()
    assert len(kept) > 5
    for array, copy in zip(kept, copies):
        assert np.array_equal(array, copy)


def test_memory_is_used_again(corpus: Any) -> None:
    feed = seqfeed.Feed(source(corpus), batch_size=8, sweeps=50)
    places = {minibatch["features"].ctypes.data for minibatch in feed}
    assert len(places) < 20 < 50 * corpus.frames // 8


def test_next_into(corpus: Any) -> None:
    expected = [contents(m) for m in seqfeed.Feed(source(corpus), batch_size=16)]
    feed = seqfeed.Feed(source(corpus), batch_size=16)
    buffers = {"features": np.empty((16, 3), np.float32), "labels": np.empty(16, np.int32)}
    found = []
    while (minibatch := feed.next_into(buffers)) is not None:
        for name, buffer in buffers.items():
            assert np.shares_memory(minibatch[name], buffer)
        found.append(contents(minibatch))
    assert found == expected
    for name, wrong in {
        "small": np.empty((2, 3), np.float32),
        "dtype": np.empty((16, 3), np.float64),
        "strided": np.empty((16, 6), np.float32)[:, ::2],
        "list": [0.0] * 48,
    }.items():
        with pytest.raises((TypeError, ValueError)):
            feed.next_into({"features": wrong})
    with pytest.raises(KeyError):
        feed.next_into({"words": np.empty(3)})
    with pytest.raises(TypeError):
        feed.next_into([1])  # type: ignore[arg-type]


def test_progress(corpus: Any) -> None:
    seen: list[seqfeed.Progress] = []
    feed = seqfeed.Feed(source(corpus), batch_size=16, progress=seen.append)
    list(feed)
    assert seen[-1].samples == seen[-1].total == corpus.frames
    assert seen[-1].minibatches == len(feed) and seen[0].minibatches == 1
    list(feed)
    assert seen[-1].minibatches == len(feed)

    def stop(progress: seqfeed.Progress) -> None:
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        list(seqfeed.Feed(source(corpus), progress=stop))


def test_an_end_of_all_kinds(corpus: Any) -> None:
    feed = seqfeed.Feed(source(corpus), batch_size=4)
    next(feed)
    feed.close()
    feed.close()
    for use in (lambda: next(feed), lambda: iter(feed), lambda: feed.load_state_dict({})):
        with pytest.raises(ValueError, match="closed"):
            use()
    with seqfeed.Feed(source(corpus), batch_size=4) as feed:
        next(feed)
    with pytest.raises(ValueError, match="closed"):
        next(feed)
    for _ in range(20):
        for minibatch in seqfeed.Feed(source(corpus), batch_size=4, sweeps=100):
            break
    gc.collect()


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"batch_size": 0}, ValueError),
        ({"batch_size": "many"}, ValueError),
        ({"batch_size": object()}, TypeError),
        ({"batch_size": 1 << 70}, OverflowError),
        ({"batchsize": 3}, ValueError),
        ({"unit": "word"}, ValueError),
        ({"rank": 3, "ranks": 2}, ValueError),
        ({"memory": "1 KB"}, MemoryError),
        ({"labels": "ark:/nowhere.ark"}, FileNotFoundError),
    ],
)
def test_wrong_settings(corpus: Any, options: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error) as caught:
        next(seqfeed.Feed(source(corpus) | options))
    assert isinstance(caught.value, (seqfeed.Error, TypeError, OverflowError))


def test_damaged_data_end_the_feed(corpus: Any) -> None:
    path = Path(corpus["feats.ark"])
    feed = seqfeed.Feed(source(corpus), batch_size=4)
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(seqfeed.Error) as caught:
        list(feed)
    assert caught.value.path is not None


def test_an_iterator_that_has_ended_stays_so(corpus: Any) -> None:
    feed = seqfeed.Feed(source(corpus), batch_size=8)
    loop = iter(feed)
    assert [minibatch.sweep for minibatch in loop] == [0] * len(feed)
    assert next(loop, None) is None and next(loop, None) is None
    assert [minibatch.sweep for minibatch in feed] == [1] * len(feed)
    # As with all that is its own iterator: the inner loop takes what is left.
    assert len([1 for _ in feed for _ in feed]) == len(feed) - 1


def test_what_has_no_effect_or_no_end(corpus: Any) -> None:
    with pytest.warns(seqfeed.DataWarning, match="state_dict"):
        seqfeed.Feed(source(corpus), state="here.json")
    for queue in (10**9, 2**62):
        with pytest.raises(seqfeed.UsageError, match="65536"):
            seqfeed.Feed(source(corpus), queue=queue)
    for options, named in [({"rank": -1}, "`rank`"), ({"context": -1.5}, "`context`"), ({"order": "x"}, "`order`")]:
        with pytest.raises(seqfeed.UsageError, match=named):
            seqfeed.Feed(source(corpus), **options)


def test_a_state_of_another_rank(corpus: Any) -> None:
    def feed(rank: int, ranks: int) -> seqfeed.Feed:
        return seqfeed.Feed(source(corpus), batch_size=8, preset="cntk", rank=rank, ranks=ranks)

    first = feed(0, 2)
    next(first)
    state = first.state_dict()
    feed(0, 2).load_state_dict(state)
    for rank, ranks in [(1, 2), (0, 1), (0, 3)]:
        with pytest.raises(seqfeed.UsageError, match="another corpus or order"):
            feed(rank, ranks).load_state_dict(state)
