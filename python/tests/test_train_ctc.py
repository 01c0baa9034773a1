"""`examples/train_ctc.py` learns to spell. Killed and resumed, it ends with the same weights."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="SKIPPED: the training with CTC: there is no PyTorch")

from conftest import ROOT  # noqa: E402


def start(work: Path) -> subprocess.Popen[str]:
    work.mkdir(exist_ok=True)
    command = [sys.executable, "-u", str(ROOT / "examples" / "train_ctc.py"), str(work)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def test_spells_and_goes_on_after_kill(tmp_path: Path) -> None:
    whole = start(tmp_path / "whole")
    for _ in range(2):
        killed, checkpoint = start(tmp_path / "killed"), tmp_path / "killed" / "checkpoint.pt"
        before = checkpoint.stat().st_mtime_ns if checkpoint.exists() else 0
        while not checkpoint.exists() or checkpoint.stat().st_mtime_ns == before:
            assert killed.poll() is None, "the run ended before it was killed"
            time.sleep(0.01)
        time.sleep(2)
        killed.kill()
        killed.wait(60)
    last = start(tmp_path / "killed")
    results = [run.communicate(timeout=600)[0] for run in (whole, last)]
    assert whole.returncode == last.returncode == 0
    assert results[0] == results[1]
    assert float(results[0].split()[0]) < 10, results[0]
    runs = [torch.load(tmp_path / run / "checkpoint.pt") for run in ("whole", "killed")]
    assert list(runs[0]["model"]) == list(runs[1]["model"])
    for name, weights in runs[0]["model"].items():
        assert weights.numpy().tobytes() == runs[1]["model"][name].numpy().tobytes(), name
