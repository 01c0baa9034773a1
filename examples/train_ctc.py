"""Spells the spoken digits: a network with CTC over letters. Killed at any time and started again,
it ends with the same weights, bit for bit.

    python examples/train_ctc.py work/ [EPOCHS]
"""

import os
import sys
from itertools import groupby
from pathlib import Path

import torch
from seqfeed.torch import Loader
from torch import nn

DIGITS = Path(__file__).resolve().parent / "digits"
work, epochs = Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 80
torch.manual_seed(1)
torch.set_num_threads(1)
train, test = Loader(DIGITS / "spell.toml"), Loader(DIGITS / "spell-test.toml")
letters, width = train.symbols["text"], train.streams["features"].dim
layers = [part for size in (width, 128, 128, 128) for part in (nn.Conv1d(size, 128, 5, padding=2), nn.ReLU())]
model = nn.Sequential(*layers, nn.Conv1d(128, len(letters) + 1, 1), nn.LogSoftmax(1))
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
checkpoint, blank = work / "checkpoint.pt", len(letters)


def distance(a: list[int], b: list[int]) -> int:
    """The least number of letters to change, to add and to leave out."""
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        last, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            last, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, last + (x != y))
    return row[-1]


if checkpoint.exists():
    state = torch.load(checkpoint)
    model.load_state_dict(state["model"])
    optimizer.load_state_dict(state["optimizer"])
    train.load_state_dict(state["loader"])
for _ in range(train.epoch, epochs):
    for batch in train:
        scores = model(batch["features"].transpose(1, 2)).permute(2, 0, 1)
        lengths = batch["lengths"], batch["text_lengths"]
        loss = nn.functional.ctc_loss(scores, batch["text"], *lengths, blank)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        state = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "loader": train.state_dict()}
        torch.save(state, checkpoint.with_suffix(".new"))
        os.replace(checkpoint.with_suffix(".new"), checkpoint)
errors = total = 0
for batch in test:
    for scores, target in zip(model(batch["features"].transpose(1, 2)), batch["text"].tolist(), strict=True):
        found = [letter for letter, _ in groupby(scores.argmax(0).tolist()) if letter != blank]
        target = [letter for letter in target if letter >= 0]
        errors, total = errors + distance(found, target), total + len(target)
print(f"{100 * errors / total:.1f} % of the letters are wrong")
