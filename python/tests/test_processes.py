"""Threads, forks, spawned processes, signals, memory."""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import seqfeed
from seqfeed import kaldi

from test_feed import contents, source


def in_child(work: Callable[[], Any], seconds: float = 20) -> Any:
    """What work gives in a forked child; fails where that hangs."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        import pickle

        try:
            result = pickle.dumps(work())
        except BaseException as error:  # noqa: BLE001
            result = pickle.dumps(repr(error))
        with os.fdopen(writer, "wb") as pipe:
            pipe.write(result)
        os._exit(0)
    os.close(writer)
    until = time.monotonic() + seconds
    while os.waitpid(child, os.WNOHANG) == (0, 0):
        if time.monotonic() > until:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            pytest.fail("the child hangs")
        time.sleep(0.01)
    import pickle

    with os.fdopen(reader, "rb") as pipe:
        return pickle.loads(pipe.read())


def test_tables_and_readers_after_a_fork(corpus: Any) -> None:
    table = seqfeed.open(corpus["feats.ark"])
    joined = seqfeed.open(source(corpus))
    sequential = kaldi.SequentialReader(corpus["feats.ark"])
    random = kaldi.RandomAccessReader(corpus["feats.ark"])
    walk, other = iter(table), iter(joined)
    for iterator in (sequential, walk, other):
        next(iterator), next(iterator)
    table["utt005"], random["utt005"], joined["utt005"]
    rest = [f"utt{number:03}" for number in range(2, 12)]

    def work() -> Any:
        return (
            [[key for key, _ in iterator] for iterator in (sequential, walk, other)],
            table["utt003"],
            random["utt003"],
            joined["utt003"]["features"],
            len(table),
        )

    for _ in range(2):
        keys, *values, count = in_child(work)
        assert keys == [rest, rest, rest] and count == 12
        assert all(np.array_equal(value, corpus.features["utt003"]) for value in values)
    # The parent's position did not move.
    assert [key for key, _ in sequential] == rest


def test_a_feed_after_a_fork(corpus: Any) -> None:
    expected = [contents(m) for m in seqfeed.Feed(source(corpus), batch_size=8)]
    feed = seqfeed.Feed(source(corpus), batch_size=8)
    first = [contents(next(feed)) for _ in range(3)]
    kept = next(feed)

    def work() -> Any:
        nonlocal kept
        kept = None  # given back to a feed that is not there
        gc.collect()
        return [contents(m) for m in feed]

    assert in_child(work) == expected[4:]
    assert first + [contents(kept)] + [contents(m) for m in feed] == expected
    unused = seqfeed.Feed(source(corpus), batch_size=8)
    assert in_child(lambda: [contents(m) for m in unused]) == expected
    with kaldi.Writer(corpus["new.ark"]) as writer:
        writer["a"] = [1]
        assert "forked" in in_child(lambda: writer.write("b", [2]))
    assert len(seqfeed.open(corpus["new.ark"])) == 1


def test_forks_while_threads_read(corpus: Any) -> None:
    """Locks that other threads hold while this one forks do not hang the child."""
    table, joined = seqfeed.open(corpus["feats.ark"]), seqfeed.open(source(corpus))
    random = kaldi.RandomAccessReader(corpus["feats.ark"])
    feed = seqfeed.Feed(source(corpus), batch_size=2, sweeps=1_000_000)
    done = threading.Event()

    def busy() -> None:
        while not done.is_set():
            table["utt004"], joined["utt004"], random["utt004"], next(feed)

    threads = [threading.Thread(target=busy) for _ in range(3)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(10):
            keys = in_child(
                lambda: (table["utt001"], joined["utt001"], random["utt001"], next(feed).index)
            )
            assert len(keys) == 4 and isinstance(keys[3], int)
    finally:
        done.set()
        for thread in threads:
            thread.join()


def run_in_spawned(table: seqfeed.Table, feed: seqfeed.Feed, queue: Any) -> None:
    queue.put((list(table.keys()), [contents(m) for m in feed]))


def test_spawned_processes(corpus: Any) -> None:
    table, feed = seqfeed.open(source(corpus)), seqfeed.Feed(source(corpus), batch_size=8)
    next(feed)
    context = multiprocessing.get_context("spawn")
    queue = context.Queue()
    process = context.Process(target=run_in_spawned, args=(table, feed, queue))
    process.start()
    keys, minibatches = queue.get(timeout=60)
    process.join(60)
    assert keys == list(corpus.features) and minibatches == [contents(m) for m in feed]


def test_many_threads_on_one_object(corpus: Any) -> None:
    table = seqfeed.open(corpus["feats.ark"])
    joined = seqfeed.open(source(corpus))
    random = kaldi.RandomAccessReader(corpus["feats.scp"])
    sequential = kaldi.SequentialReader(corpus["feats.scp"])
    feed = seqfeed.Feed(source(corpus), batch_size=3, sweeps=20)
    found: list[tuple[str, np.ndarray]] = []
    indices: list[int] = []
    failures: list[BaseException] = []

    def work(seed: int) -> None:
        try:
            choice = np.random.default_rng(seed)
            for _ in range(200):
                key = f"utt{choice.integers(12):03}"
                for value in (table[key], random[key], joined[key]["features"]):
                    assert np.array_equal(value, corpus.features[key])
            found.extend(sequential)
            indices.extend(minibatch.index for minibatch in feed)
        except BaseException as error:  # noqa: BLE001
            failures.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert sorted(key for key, _ in found) == list(corpus.features)
    assert sorted(indices) == list(range(20 * -(-corpus.frames // 3)))


def test_closed_by_another_thread(corpus: Any) -> None:
    for _ in range(10):
        feed = seqfeed.Feed(source(corpus), batch_size=2, sweeps=1_000_000)
        sequential = kaldi.SequentialReader(corpus["feats.scp"])
        ended: list[str] = []

        def work() -> None:
            try:
                for _ in feed:
                    pass
            except ValueError as error:
                ended.append(str(error))

        thread = threading.Thread(target=work)
        thread.start()
        time.sleep(0.01)
        feed.close()
        sequential.close()
        thread.join(20)
        assert not thread.is_alive() and "closed" in ended[0]


def test_other_threads_run_while_a_feed_waits(corpus: Any, tmp_path: Path) -> None:
    """A pipe that gives nothing: the interpreter is free, and Ctrl-C works at once."""
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    program = f"""
import sys, threading, time
import seqfeed
ticks = []
def tick():
    while True:
        time.sleep(0.01)
        ticks.append(1)
threading.Thread(target=tick, daemon=True).start()
def say():
    while len(ticks) < 20:
        time.sleep(0.01)
    print("ready", flush=True)
threading.Thread(target=say, daemon=True).start()
try:
    seqfeed.Feed("ark:{fifo}")
except KeyboardInterrupt:
    print("interrupted", flush=True)
    import os
    os._exit(0)
"""
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    keep_open = os.open(fifo, os.O_RDWR)
    assert process.stdout.readline() == "ready\n"
    started = time.monotonic()
    process.send_signal(signal.SIGINT)
    assert process.stdout.readline() == "interrupted\n"
    assert time.monotonic() - started < 5
    os.close(keep_open)
    process.wait(20)


def test_ctrl_c_in_a_loop(corpus: Any) -> None:
    feed = seqfeed.Feed(source(corpus), batch_size=2, sweeps=10_000_000)
    timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        for _ in feed:
            pass
    index = next(feed).index
    assert next(feed).index == index + 1


def open_files() -> int:
    return len(os.listdir("/proc/self/fd"))


def running() -> int:
    """Threads of any language."""
    return len(os.listdir("/proc/self/task"))


def resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="SKIPPED: no /proc")
def test_nothing_leaks(corpus: Any) -> None:
    def use() -> None:
        feed = seqfeed.Feed(source(corpus), batch_size=8)
        for minibatch in feed:
            minibatch.utterances, minibatch.lengths, minibatch.state_dict()
        next(iter(seqfeed.open(source(corpus))))
        next(kaldi.SequentialReader(corpus["feats.scp"]))
        kaldi.RandomAccessReader(corpus["feats.ark"])["utt003"]
        with pytest.raises(KeyError):
            seqfeed.open(corpus["feats.ark"])["nobody"]

    for _ in range(20):
        use()
    gc.collect()
    files, memory, threads, tasks = open_files(), resident(), threading.active_count(), running()
    for _ in range(100):
        use()
    gc.collect()
    assert open_files() <= files and threading.active_count() == threads
    assert running() < tasks + 10
    assert resident() - memory < 8 << 20


@pytest.mark.parametrize(
    "read",
    ["next(seqfeed.kaldi.SequentialReader({0!r}))", "seqfeed.kaldi.load({1!r})", "next(iter(seqfeed.open({0!r})))"],
)
def test_interrupts_while_a_named_pipe_is_waited_for(tmp_path: Path, read: str) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    hold = os.open(fifo, os.O_RDWR)
    program = f"""
import seqfeed
print("ready", flush=True)
try:
    {read.format(f"ark:{fifo}", str(fifo))}
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    try:
        for _ in range(100):
            # The first ones may come before it waits.
            time.sleep(0.2)
            process.send_signal(signal.SIGINT)
            if process.poll() is not None:
                break
        else:
            process.kill()
        assert "interrupted" in process.stdout.read()
    finally:
        os.close(hold)
        process.wait(20)


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, MemoryError])
def test_what_ends_programs_passes_through(error: type[BaseException]) -> None:
    class Stopping:
        def read(self, size: int) -> bytes:
            raise error

    for read in (lambda: next(kaldi.SequentialReader(Stopping())), lambda: kaldi.load(Stopping())):
        with pytest.raises(error):
            read()
