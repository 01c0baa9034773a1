"""Writes cntk_workers.json: what CNTK 2.7's randomizers give each worker, with random corpora.

Usage: python make_cntk_workers.py MODEL_DIR > cntk_workers.json
MODEL_DIR holds cntk_model.py, an executable model of CNTK's readers (needs numpy).

Each case: lengths of the sequences, chunk size in samples, unit, order, window, seed, minibatch
size, worker, timeline, whether minibatches cross sweeps, epochs, the position where it starts; and
the minibatches, each with its units, its flag and the position after it. Minibatches without units
at the end of an epoch are left out.
"""
import json
import random
import sys

sys.path.insert(0, sys.argv[1])
import cntk_model as model
from make_cntk_orders import Deserializer


def case(rng: random.Random) -> dict:
    frames = rng.random() < 0.3
    lengths = [rng.randint(1, 12) for _ in range(rng.randint(1, 40))]
    size = rng.randint(1, 60)
    order = rng.choice(["sequential", "chunks", "samples", "samples"])
    window = rng.randint(1, 400) if order == "samples" else rng.randint(1, 9)
    seed, batch = rng.randint(0, 5), rng.randint(1, 40)
    workers = rng.choice([1, 1, 2, 3, 5])
    rank = rng.randrange(workers)
    local = rng.random() < 0.8
    cross = rng.random() < 0.6
    total = sum(lengths)
    epoch = rng.choice(["run", "sweep", rng.randint(1, 2 * total)])
    sweeps = rng.randint(1, 3)
    epochs = 1 if epoch == "run" else sweeps
    start = rng.randint(0, sweeps * total - 1) if epoch == "run" and rng.random() < 0.3 else 0
    source = Deserializer(lengths, size, frames)
    if order == "sequential":
        randomizer = model.NoRandomizer(source, None)
    else:
        randomizer = model.BlockRandomizer(source, window, order == "samples", seed, None)
    most = max(1, batch // workers + (batch % workers > rank))
    request = (model.M64, most) if local else (batch, batch)
    minibatches = []
    for index in range(epochs):
        config = dict(mb=batch, workers=workers, rank=rank, cross=cross, index=index,
                      sweeps=sweeps if epoch == "run" else None, epoch=epoch)
        if epoch == "run":
            config["epoch"] = None
        randomizer.start_epoch(config)
        if start:
            randomizer.set_state(start)
        while True:
            units, end_of_sweep, end_of_epoch = randomizer.next(*request)
            numbers = [source.units[chunk][i][0] for chunk, i in units]
            if numbers or not end_of_epoch:
                minibatches.append([numbers, end_of_sweep, randomizer.pos])
            if end_of_epoch:
                break
    return dict(frames=frames, lengths=lengths, chunk=size, order=order, window=window, seed=seed,
                batch=batch, rank=rank, ranks=workers, local=local, cross=cross, epoch=epoch,
                epochs=epochs, sweeps=sweeps, start=start, minibatches=minibatches)


rng = random.Random(2)
cases = []
while len(cases) < 120:
    found = case(rng)
    if len(json.dumps(found)) < 2500:
        cases.append(found)
print("[" + ",\n".join(json.dumps(case, separators=(",", ":")) for case in cases) + "]")
