"""Writes cntk_truncated.json: what CNTK 2.7's packer for truncated BPTT does with random sequences.

Usage: python make_cntk_truncated.py MODEL_DIR [CASES] > cntk_truncated.json
MODEL_DIR holds cntk_model.py, an executable model of CNTK's readers (needs numpy).

Each case: minibatch size, truncation length, right splice, workers, rank; `fetched`, the lengths of
the sequences that the randomizer gave this worker, in order; `sweeps`, the numbers of those that
came with the end of a sweep; `epoch`, whether the last one came with the end of the epoch; and the
minibatches. Each of these: flags (1 sweep, 2 epoch), then for each sequence its row, its number,
and the column where its first sample lies or would lie.
"""
import json
import random
import sys

sys.path.insert(0, sys.argv[1])
import cntk_model as model


class Sequence:
    def __init__(self, number: int, length: int):
        self.key, self.n, self.valid = number, length, True


class Deserializer:
    """Sequences of given lengths, some in a chunk; counts those that are fetched."""

    streams = [dict(name="x", dim=1, sparse=False)]

    def __init__(self, rng: random.Random, lengths: list[int]):
        self.chunks: list[list[int]] = []
        while lengths:
            size = rng.randint(1, 5)
            self.chunks.append(lengths[:size])
            lengths = lengths[size:]
        self.fetched: list[int] = []

    def chunk_infos(self):
        return [(sum(chunk), len(chunk)) for chunk in self.chunks]

    def seq_infos(self, chunk):
        return [(i, n, chunk, (0, 0)) for i, n in enumerate(self.chunks[chunk])]

    def get(self, chunk, i):
        self.fetched.append(self.chunks[chunk][i])
        return [Sequence(len(self.fetched) - 1, self.chunks[chunk][i])]


def case(rng: random.Random) -> dict:
    longest = rng.choice([1, 2, 4, 9, 20])
    lengths = [rng.randint(1, longest) for _ in range(rng.randint(1, 14))]
    length = rng.randint(1, 8)
    splice = rng.randrange(length) if rng.random() < 0.4 else 0
    slots = rng.randint(1, 6)
    minibatch = max(1, slots * length + rng.randint(-length, length - 1))
    workers = rng.randint(1, min(3, max(1, minibatch // length)))
    rank = rng.randrange(workers)
    source = Deserializer(rng, lengths)
    sweeps = rng.choice([1, 2, None])
    epoch = rng.randint(1, 2 * sum(lengths))
    config = dict(mb=minibatch, workers=workers, rank=rank, cross=rng.random() < 0.7, sweeps=sweeps,
                  epoch=epoch, index=0)
    reader = model.Reader.__new__(model.Reader)
    reader.d, reader.streams, reader.local, reader.frame = source, source.streams, True, False
    reader.trunc, reader.rs, reader.maxerr, reader.cleaned = length, splice, 0, 0
    if rng.random() < 0.5:
        reader.rnd = model.BlockRandomizer(source, rng.randint(1, 4), False, rng.randint(0, 5), config)
    else:
        reader.rnd = model.NoRandomizer(source, None)
    reader.start_epoch(config)

    ends = []  # of sweep and epoch, for each sequence
    give = reader.rnd.next

    def recorded(g, l):
        sequences, end_of_sweep, end_of_epoch = give(g, l)
        assert len(sequences) <= 1
        ends.extend([(end_of_sweep, end_of_epoch)] * len(sequences))
        return sequences, end_of_sweep, end_of_epoch

    reader.rnd.next = recorded
    minibatches = []
    while True:
        streams, end_of_sweep, end_of_epoch = reader.read()
        if streams is None:
            break
        rows, width, sequences = streams[0]
        assert rows == len(reader.slots) and width == length
        flat = [x for _, number, row, begin, _, _, _ in sequences for x in (row, number, begin)]
        minibatches.append([end_of_sweep + 2 * end_of_epoch] + flat)
    return dict(minibatch=minibatch, length=length, splice=splice, workers=workers, rank=rank,
                fetched=source.fetched, sweeps=[i for i, end in enumerate(ends) if end[0]],
                epoch=bool(ends) and ends[-1][1], minibatches=minibatches)


rng = random.Random(21)
cases = [case(rng) for _ in range(int(sys.argv[2]) if len(sys.argv) > 2 else 250)]
print("[" + ",\n".join(json.dumps(case, separators=(",", ":")) for case in cases) + "]")
