"""Writes cntk_orders.json: what CNTK 2.7's block randomizer does with random corpora.

Usage: python make_cntk_orders.py MODEL_DIR > cntk_orders.json
MODEL_DIR holds cntk_model.py, an executable model of CNTK's readers (needs numpy).

Each case: lengths of the sequences, chunk size in samples, unit, window, seed, minibatch size, and
for two sweeps the minibatches, as numbers of units in the corpus.
"""
import json
import random
import sys

sys.path.insert(0, sys.argv[1])
import cntk_model as model


class Deserializer:
    """Sequences of given lengths in chunks of at most `size` samples."""

    def __init__(self, lengths: list[int], size: int, frames: bool):
        self.chunks: list[list[tuple[int, int]]] = []
        held = 0
        for number, length in enumerate(lengths):
            if not self.chunks or held + length > size:
                self.chunks.append([])
                held = 0
            self.chunks[-1].append((number, length))
            held += length
        self.units = []
        first = 0
        for chunk in self.chunks:
            if frames:
                count = sum(length for _, length in chunk)
                self.units.append([(first + i, 1) for i in range(count)])
                first += count
            else:
                self.units.append(chunk)

    def chunk_infos(self):
        return [(sum(n for _, n in units), len(units)) for units in self.units]

    def seq_infos(self, chunk):
        return [(i, n, chunk, (0, 0)) for i, (_, n) in enumerate(self.units[chunk])]


def case(rng: random.Random) -> dict:
    frames = rng.random() < 0.5
    lengths = [rng.randint(1, 12) for _ in range(rng.randint(1, 60))]
    size = rng.randint(1, 60)
    in_samples = rng.random() < 0.5
    window = rng.randint(1, 400) if in_samples else rng.randint(1, 9)
    seed, batch = rng.randint(0, 5), rng.randint(1, 40)
    source = Deserializer(lengths, size, frames)
    config = dict(mb=batch, workers=1, rank=0, cross=False, sweeps=2, epoch=None, index=0)
    randomizer = model.BlockRandomizer(source, window, in_samples, seed, config)
    randomizer.start_epoch(config)
    sweeps, minibatches = [], []
    while len(sweeps) < 2:
        units, end_of_sweep, _ = randomizer.next(batch, batch)
        minibatches.append([source.units[chunk][i][0] for chunk, i in units])
        if end_of_sweep:
            sweeps.append(minibatches)
            minibatches = []
    return dict(frames=frames, lengths=lengths, chunk=size, in_samples=in_samples, window=window,
                seed=seed, batch=batch, sweeps=sweeps)


if __name__ == "__main__":
    rng = random.Random(20)
    print("[" + ",\n".join(json.dumps(case(rng), separators=(",", ":")) for _ in range(60)) + "]")
