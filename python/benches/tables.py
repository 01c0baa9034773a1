"""Tables as arrays: seqfeed, its drop-ins, and the originals, in turn.

``python tables.py CORPUS [ROUNDS] [CASE ...]``, with a Python that has seqfeed, kaldiio and
kaldi_native_io (those that are not there are left out), and a corpus with ``feats.ark``,
``feats.scp``, ``ali.ark`` as gen_kaldi.py makes it; ``text.ark``, ``ali.txt.ark``,
``compressed.ark`` (as the benchmark of Rust makes them) and ``text`` where they are there.
"""

from __future__ import annotations

import importlib
import json
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

NATIVE, KALDIIO = "kaldi_native_io", "kaldiio"
COMPAT = "seqfeed.compat."


def by_seqfeed(name: str) -> Iterator[Any]:
    return importlib.import_module("seqfeed.kaldi").SequentialReader(name)


def by_native(reader: str, package: str) -> Callable[[str], Any]:
    return lambda name: getattr(importlib.import_module(package), reader)(name)


def by_kaldiio(package: str) -> Callable[[str], Any]:
    def read(name: str) -> Any:
        kind, path = name.split(":", 1)
        module = importlib.import_module(package)
        return module.load_ark(path) if kind == "ark" else module.load_scp_sequential(path)

    return read


def typed(object_type: str) -> Callable[[str], Any]:
    return lambda name: importlib.import_module("seqfeed.kaldi").SequentialReader(name, object_type=object_type)


def case(what: str, name: str, reader: str, object_type: str, kaldiio: bool = True) -> dict[str, Any]:
    ways: dict[str, Callable[[str], Any]] = {
        "seqfeed.kaldi": by_seqfeed,
        f"seqfeed.kaldi, {object_type}": typed(object_type),
        COMPAT + NATIVE: by_native(reader, COMPAT + NATIVE),
        NATIVE: by_native(reader, NATIVE),
    }
    if kaldiio:
        ways |= {COMPAT + KALDIIO: by_kaldiio(COMPAT + KALDIIO), KALDIIO: by_kaldiio(KALDIIO)}
    return {"what": what, "name": name, "ways": ways}


MATRIX, INTS, WORDS = "SequentialFloatMatrixReader", "SequentialInt32VectorReader", "SequentialTokenVectorReader"
CASES = {
    "matrices": case("matrices, archive", "ark:feats.ark", MATRIX, "float-matrix"),
    "script": case("matrices, script file", "scp:feats.scp", MATRIX, "float-matrix"),
    "compressed": case("compressed matrices", "ark:compressed.ark", MATRIX, "float-matrix"),
    "integers": case("int32 vectors", "ark:ali.ark", INTS, "int32-vector"),
    "integers-text": case("int32 vectors, text", "ark:ali.txt.ark", INTS, "int32-vector"),
    "matrices-text": case("matrices, text", "ark:text.ark", MATRIX, "float-matrix"),
    "words": case("words", "ark:text", WORDS, "token-vector", kaldiio=False),
}


def measure(corpus: str, which: str, way: str) -> None:
    """One pass in this process, after a short one."""
    chosen = CASES[which]
    kind, path = chosen["name"].split(":", 1)
    name = f"{kind}:{corpus}/{path}"
    for number, _ in enumerate(chosen["ways"][way](name)):
        if number == 100:
            break
    start, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_SELF)
    objects = size = 0
    for _, value in chosen["ways"][way](name):
        objects += 1
        size += len(value)
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_SELF)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(json.dumps({"wall": wall, "cpu": cpu, "objects": objects, "size": size, "peak": after.ru_maxrss}))


def main(corpus: str, rounds: int, wanted: list[str]) -> None:
    runs: dict[tuple[str, str], list[dict[str, float]]] = {}
    for number in range(rounds):
        print(f"round {number + 1} of {rounds}", file=sys.stderr)
        for which, chosen in CASES.items():
            if (wanted and which not in wanted) or not Path(corpus, chosen["name"].split(":")[1]).exists():
                continue
            for way in chosen["ways"]:
                code = [sys.executable, __file__, "--measure", corpus, which, way]
                done = subprocess.run(code, capture_output=True, text=True)
                if done.returncode == 0:
                    runs.setdefault((which, way), []).append(json.loads(done.stdout))
                elif "No module named" not in done.stderr:
                    print(f"{which} by {way} failed: {done.stderr.splitlines()[-1]}", file=sys.stderr)
    print("| what | by | CPU s | wall s | peak MB | less CPU than kaldi_native_io | than kaldiio |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for which, chosen in CASES.items():

        def cpu(way: str) -> float | None:
            found = runs.get((which, way))
            return statistics.median(run["cpu"] for run in found) if found else None

        sizes = set()
        for way in chosen["ways"]:
            if (which, way) not in runs:
                continue
            found = runs[which, way]
            sizes |= {(run["objects"], run["size"]) for run in found}
            ours = cpu(way) or 1e-9
            ratios = [f"{theirs / ours:.1f}" if (theirs := cpu(peer)) else "" for peer in (NATIVE, KALDIIO)]
            wall = statistics.median(run["wall"] for run in found)
            peak = max(run["peak"] for run in found) / 1024
            print(f"| {chosen['what']} | {way} | {ours:.3f} | {wall:.3f} | {peak:.0f} | {' | '.join(ratios)} |")
        if len(sizes) > 1:
            print(f"not all read the same: {sizes}", file=sys.stderr)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--measure"]:
        measure(*sys.argv[2:5])
    elif len(sys.argv) > 1:
        main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 5, sys.argv[3:])
    else:
        sys.exit(__doc__)
