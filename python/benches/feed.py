"""Minibatches of 1,024 frames with 5 frames of context on both sides, with labels: seqfeed beside
what people write.

    python python/benches/feed.py CORPUS [--cli target/release/seqfeed] [--rounds 3]
        [--utterances 5000]

CORPUS is a directory with feats.scp and ali.scp. Cases run one after another, each in a process
of its own, in turns where there are several rounds; those whose packages are not there are left
out. Times are of one sweep after one that is not counted; CPU seconds are those of all processes
and threads.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

SIZE, CONTEXT, POOL = 1024, 5, 100


def settings(corpus: Path) -> dict[str, Any]:
    return {
        "features": f"scp:{corpus / 'feats.scp'}",
        "labels": f"scp:{corpus / 'ali.scp'}",
        "context": CONTEXT,
        "batch_size": SIZE,
        "window": "4 chunks",
    }


def drained(batches: Iterator[tuple[Any, Any]]) -> int:
    frames = 0
    for x, y in batches:
        assert x.shape[1] == 440
        frames += len(y)
    return frames


# What the library does.


def by_feed(corpus: Path, _: int) -> Callable[[], int]:
    import seqfeed

    feed = seqfeed.Feed(settings(corpus))
    return lambda: drained((m["features"], m["labels"]) for m in feed)


def by_torch_loader(corpus: Path, _: int) -> Callable[[], int]:
    from seqfeed.torch import Loader

    loader = Loader(settings(corpus))
    return lambda: drained((b["features"], b["labels"]) for b in loader)


def by_torch_dataset(corpus: Path, _: int) -> Callable[[], int]:
    from torch.utils.data import DataLoader

    from seqfeed.torch import Dataset

    loader = DataLoader(Dataset(settings(corpus)), batch_size=None, num_workers=2)
    return lambda: drained((b["features"], b["labels"]) for b in loader)


# What people write.


def tables(corpus: Path, count: int) -> tuple[Any, Any, list[str]]:
    import kaldiio

    features = kaldiio.load_scp(str(corpus / "feats.scp"), max_cache_fd=4)
    labels = kaldiio.load_scp(str(corpus / "ali.scp"), max_cache_fd=4)
    return features, labels, list(features)[:count]


def spliced(x: Any) -> Any:
    places = np.arange(len(x))[:, None] + np.arange(-CONTEXT, CONTEXT + 1)
    return x[np.clip(places, 0, len(x) - 1)].reshape(len(x), -1)


def pools(features: Any, labels: Any, keys: list[str]) -> Iterator[tuple[Any, Any]]:
    """Splices a pool of utterances, shuffles its frames, cuts it."""
    keys = list(keys)
    random.Random(7).shuffle(keys)
    draw = np.random.default_rng(7)
    for start in range(0, len(keys), POOL):
        some = keys[start : start + POOL]
        x = np.concatenate([spliced(features[key]) for key in some])
        y = np.concatenate([labels[key] for key in some])
        order = draw.permutation(len(y))
        for first in range(0, len(order), SIZE):
            chosen = order[first : first + SIZE]
            yield x[chosen], y[chosen]


def by_kaldiio(corpus: Path, count: int) -> Callable[[], int]:
    features, labels, keys = tables(corpus, count)
    return lambda: drained(pools(features, labels, keys))


def by_kaldiio_in_workers(corpus: Path, count: int) -> Callable[[], int]:
    import torch
    from torch.utils.data import DataLoader, IterableDataset, get_worker_info

    class Pools(IterableDataset):  # type: ignore[misc]
        def __iter__(self) -> Iterator[Any]:
            worker = get_worker_info()
            features, labels, keys = tables(corpus, count)
            for x, y in pools(features, labels, keys[worker.id :: worker.num_workers]):
                yield torch.from_numpy(x), torch.from_numpy(y)

    loader = DataLoader(Pools(), batch_size=None, num_workers=2)
    return lambda: drained(iter(loader))


def by_frame_in_workers(corpus: Path, count: int) -> Callable[[], int]:
    """A data set of frames in memory, which the DataLoader shuffles and batches: 200 utterances."""
    import torch
    from torch.utils.data import DataLoader, Dataset

    features, labels, keys = tables(corpus, min(count, 200))
    xs, ys = [features[key] for key in keys], [labels[key] for key in keys]
    places = [(number, frame) for number, y in enumerate(ys) for frame in range(len(y))]

    class Frames(Dataset):  # type: ignore[misc]
        def __len__(self) -> int:
            return len(places)

        def __getitem__(self, place: int) -> tuple[Any, int]:
            number, frame = places[place]
            x = xs[number]
            rows = np.clip(np.arange(frame - CONTEXT, frame + CONTEXT + 1), 0, len(x) - 1)
            return torch.from_numpy(x[rows].reshape(-1)), int(ys[number][frame])

    loader = DataLoader(Frames(), batch_size=SIZE, shuffle=True, num_workers=2)
    return lambda: drained(iter(loader))


CASES: dict[str, tuple[str, Callable[[Path, int], Callable[[], int]]]] = {
    "feed": ("seqfeed.Feed", by_feed),
    "loader": ("seqfeed.torch.Loader", by_torch_loader),
    "dataset": ("seqfeed.torch.Dataset, DataLoader with 2 workers", by_torch_dataset),
    "kaldiio": ("kaldiio + numpy, pools of 100 utterances", by_kaldiio),
    "kaldiio-workers": ("the same in a DataLoader with 2 workers", by_kaldiio_in_workers),
    "frame-workers": ("a data set of frames, DataLoader with 2 workers", by_frame_in_workers),
}


def cpu() -> float:
    kinds = resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN
    usages = [resource.getrusage(kind) for kind in kinds]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def measured(work: Callable[[], int]) -> dict[str, float]:
    work()
    before, started = cpu(), time.perf_counter()
    frames = work()
    return {"frames": frames, "seconds": time.perf_counter() - started, "cpu": cpu() - before}


def by_command_line(cli: Path, corpus: Path) -> dict[str, float]:
    """The same feed by the command line's program, which looks at nothing: Rust alone, opening
    included."""
    description = "".join(
        f"{key.replace('_', '-')} = {json.dumps(value)}\n" for key, value in settings(corpus).items()
    )
    path = corpus / f".bench-{os.getpid()}.toml"
    path.write_text(description)
    try:
        took: dict[int, tuple[float, float]] = {}
        for sweeps in (1, 2):
            before, started = cpu(), time.perf_counter()
            command = [cli, "feed", path, "--sweeps", str(sweeps)]
            subprocess.run(command, check=True, capture_output=True)
            took[sweeps] = time.perf_counter() - started, cpu() - before
        frames = sum(int(line.split()[1]) for line in open(corpus / "utt2num_frames"))
    finally:
        path.unlink()
    # The second sweep, as in the other cases.
    return {"frames": frames, "seconds": took[2][0] - took[1][0], "cpu": took[2][1] - took[1][1]}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--cli", type=Path, help="the release build of the command line's program")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--utterances", type=int, default=1000, help="of which people's code reads so many")
    parser.add_argument("--case", choices=list(CASES), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.case:
        make = CASES[arguments.case][1]
        print(json.dumps(measured(make(arguments.corpus, arguments.utterances))))
        return
    found: dict[str, list[dict[str, float]]] = {}
    for _ in range(arguments.rounds):
        if arguments.cli:
            found.setdefault("rust", []).append(by_command_line(arguments.cli, arguments.corpus))
        for case in CASES:
            command = [sys.executable, *sys.argv, "--case", case]
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode:
                last = (done.stderr.splitlines() or ["no answer"])[-1]
                print(f"{CASES[case][0]}: left out ({last})", file=sys.stderr)
                continue
            found.setdefault(case, []).append(json.loads(done.stdout))
    ours = rates(found["feed"])
    print(f"{'':52} frames/CPU s   frames/s   seqfeed.Feed is (CPU, wall)")
    for case, runs in found.items():
        by_cpu, by_wall = rates(runs)
        title = "the command line's program (Rust alone)" if case == "rust" else CASES[case][0]
        times = f"{ours[0] / by_cpu:8.2f} x {ours[1] / by_wall:8.2f} x"
        print(f"{title:52} {by_cpu:12,.0f} {by_wall:10,.0f} {times}")


def rates(runs: list[dict[str, float]]) -> tuple[float, float]:
    """Frames a CPU second and a second, medians."""
    by_cpu = statistics.median(run["frames"] / max(run["cpu"], 1e-3) for run in runs)
    return by_cpu, statistics.median(run["frames"] / max(run["seconds"], 1e-3) for run in runs)


if __name__ == "__main__":
    main()
