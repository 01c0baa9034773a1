"""Trains a small network on a mixture of two corpora, one in Kaldi's tables and one in HTK's files.

    python examples/mixture.py work/

Every 20 minibatches weights and the feed's state go to work/checkpoint.npz. Started again, it goes
on there: killed at any time, it ends with the weights of a run that was not killed, bit for bit.
"""

import json
import os
import sys
from pathlib import Path

import numpy as np

import seqfeed

DIGITS = Path(__file__).resolve().parent / "digits"
WORK = Path(sys.argv[1])
CLASSES, HIDDEN, RATE = 11, 64, 0.3


def forward(weights, features):
    """The hidden values, and the probability of each class."""
    hidden = np.tanh((features - 16) / 3.5 @ weights["first"])
    scores = np.exp(hidden @ weights["second"])
    return hidden, scores / scores.sum(1, keepdims=True)


WORK.mkdir(parents=True, exist_ok=True)
feed = seqfeed.Feed(DIGITS / "mixture.toml", seed=1)
random, dim = np.random.default_rng(3), feed.streams["features"].dim
weights = {
    "first": random.normal(0, dim**-0.5, (dim, HIDDEN)).astype(np.float32),
    "second": np.zeros((HIDDEN, CLASSES), np.float32),
}
if (WORK / "checkpoint.npz").exists():
    saved = np.load(WORK / "checkpoint.npz")
    weights = {name: saved[name] for name in weights}
    feed.load_state_dict(json.loads(str(saved["state"])))
for batch in feed:
    features, labels = batch["features"], batch["labels"].reshape(-1)
    hidden, errors = forward(weights, features)
    errors[np.arange(len(labels)), labels] -= 1
    back = errors @ weights["second"].T * (1 - hidden**2)
    weights["second"] -= RATE / len(labels) * hidden.T @ errors
    weights["first"] -= RATE / len(labels) * ((features - 16) / 3.5).T @ back
    if (batch.index + 1) % 20 == 0:
        state = json.dumps(batch.state_dict())
        np.savez(WORK / "new.npz", state=state, **weights)
        os.replace(WORK / "new.npz", WORK / "checkpoint.npz")
        print(f"minibatch {batch.index + 1}", flush=True)
np.savez(WORK / "final.npz", **weights)
test = list(seqfeed.Feed(DIGITS / "test.toml"))
right = [(forward(weights, b["features"])[1].argmax(1) == b["labels"].reshape(-1)) for b in test]
print({name: counts["sweeps"] for name, counts in feed.delivered.items()})
print(f"{100 * np.concatenate(right).mean():.1f} % of the test's frames are right")
