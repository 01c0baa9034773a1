"""Trains two small models on the spoken digits: a classifier of frames, and a network that reads
whole utterances.

    python examples/train_torch.py frames work/
    python examples/train_torch.py sequences work/ --epochs 4

After every minibatch that --save-every says, weights, optimizer and the loader's state go to
work/checkpoint.pt. Started again, it goes on there: killed at any time, it ends with the weights of
a run that was not killed, bit for bit. At the end it writes work/final.pt and says how many frames
of the test part it gets right.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any

import torch
from torch import nn

from seqfeed.torch import Loader

DIGITS = Path(__file__).resolve().parent / "digits"
CLASSES = 11
PADDING = -100


class SequenceModel(nn.Module):
    """A recurrent network over an utterance, a class for each frame."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.memory = nn.GRU(dim, 48, batch_first=True, bidirectional=True)
        self.classify = nn.Linear(2 * 48, CLASSES)

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        hidden, _ = self.memory(features)
        return self.classify(hidden)


def loaders(task: str) -> tuple[Loader, Loader]:
    """Of the training part and the test part."""
    common: dict[str, Any] = {"dtypes": {"labels": torch.int64}}
    if task == "frames":
        return (
            Loader(DIGITS / "train.toml", batch_size=256, seed=1, **common),
            Loader(DIGITS / "test.toml", batch_size=1024, **common),
        )
    whole = common | {"unit": "sequence", "batch_unit": "sequences", "context": 0}
    whole |= {"label_padding": PADDING}
    return (
        Loader(DIGITS / "train.toml", batch_size=6, seed=1, **whole),
        Loader(DIGITS / "test.toml", batch_size=12, **whole),
    )


def network(task: str, dim: int) -> nn.Module:
    torch.manual_seed(3)
    if task == "sequences":
        return SequenceModel(dim)
    hidden = [nn.Linear(dim, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU()]
    return nn.Sequential(*hidden, nn.Linear(128, CLASSES))


def scaled(features: torch.Tensor) -> torch.Tensor:
    """Log energies, brought near zero."""
    return (features - 16.0) / 3.5


def save(path: Path, state: dict[str, Any]) -> None:
    """Whole or not at all."""
    beside = path.with_suffix(".new")
    torch.save(state, beside)
    os.replace(beside, path)


def accuracy(model: nn.Module, loader: Loader) -> float:
    right = total = 0
    with torch.no_grad():
        for batch in loader:
            guess, labels = model(scaled(batch["features"])).argmax(-1), batch["labels"]
            counts = labels != PADDING
            right += int(((guess == labels) & counts).sum())
            total += int(counts.sum())
    return right / total


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("task", choices=["frames", "sequences"])
    parser.add_argument("work", type=Path)
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--save-every", type=int, default=10, metavar="MINIBATCHES")
    arguments = parser.parse_args()
    arguments.work.mkdir(parents=True, exist_ok=True)
    checkpoint = arguments.work / "checkpoint.pt"

    # Sums in the same order every time.
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    train, test = loaders(arguments.task)
    model = network(arguments.task, train.streams["features"].dim)
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3 if arguments.task == "frames" else 4e-3)
    loss_of = nn.CrossEntropyLoss(ignore_index=PADDING)
    done = 0
    if checkpoint.exists():
        state = torch.load(checkpoint)
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        train.load_state_dict(state["loader"])
        done = state["done"]
        print(f"goes on after minibatch {done}", flush=True)

    for _ in range(train.epoch, arguments.epochs):
        for batch in train:
            scores = model(scaled(batch["features"]))
            loss = loss_of(scores.flatten(0, -2), batch["labels"].flatten())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            done += 1
            if done % arguments.save_every == 0:
                state = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
                save(checkpoint, state | {"loader": train.state_dict(), "done": done})
                print(f"minibatch {done}: loss {float(loss):.3f}", flush=True)

    save(arguments.work / "final.pt", model.state_dict())
    print(f"{100 * accuracy(model, test):.1f} % of the test's frames are right")


if __name__ == "__main__":
    main()
