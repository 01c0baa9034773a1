"""`examples/train_torch.py`: killed and resumed, it ends with the same weights."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="SKIPPED: the end-to-end training: there is no PyTorch")

from conftest import ROOT  # noqa: E402

EPOCHS = {"frames": 2, "sequences": 4}


def command(task: str, work: Path) -> list[str]:
    script = str(ROOT / "examples" / "train_torch.py")
    options = ["--epochs", str(EPOCHS[task]), "--save-every", "3"]
    return [sys.executable, "-u", script, task, str(work), *options]


def killed(arguments: list[str], after: int) -> int:
    """Runs until so many lines are written, then kills it (SIGKILL); the number of the last
    minibatch saved."""
    process = subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    done = 0
    for _ in range(after):
        line = process.stdout.readline()
        assert line, "the run ended before it was killed"
        if line.startswith("minibatch"):
            done = int(line.split()[1].rstrip(":"))
    process.kill()
    process.wait(60)
    return done


@pytest.mark.parametrize("task", ["frames", "sequences"])
def test_killed_and_resumed(task: str, tmp_path: Path) -> None:
    whole = subprocess.Popen(command(task, tmp_path / "whole"), stdout=subprocess.PIPE, text=True)
    # In the first epoch, and again in a later one.
    arguments = command(task, tmp_path / "killed")
    first = killed(arguments, 2)
    second = killed(arguments, 6)
    assert 0 < first < second
    last = subprocess.run(arguments, check=True, capture_output=True, text=True, timeout=600)
    assert last.stdout.startswith("goes on after minibatch")
    result = whole.communicate(timeout=600)[0].splitlines()[-1]
    assert whole.returncode == 0 and last.stdout.splitlines()[-1] == result
    right = float(result.split()[0])
    assert right > 85, f"only {right} % of frames are right"
    expected, found = (torch.load(tmp_path / run / "final.pt") for run in ("whole", "killed"))
    assert list(expected) == list(found)
    for name, weights in expected.items():
        assert weights.numpy().tobytes() == found[name].numpy().tobytes(), name
