"""What all tests share: the repository's examples, and a table in each of Kaldi's forms."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from seqfeed import kaldi

ROOT = Path(__file__).resolve().parents[2]
DIGITS = ROOT / "examples" / "digits"


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.skipped and not hasattr(report, "wasxfail"):
        _tell(f"skipped {report.nodeid}\t{_reason(report)}")
    elif report.when == "call":
        _tell(f"ran {report.nodeid}")


def pytest_collectreport(report: pytest.CollectReport) -> None:
    if report.skipped:
        _tell(f"skipped {report.nodeid}\t{_reason(report)}")


def _reason(report: pytest.TestReport | pytest.CollectReport) -> str:
    reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    return reason.removeprefix("Skipped: ").removeprefix("SKIPPED: ").replace("\n", " ")


def _tell(outcome: str) -> None:
    """Leaves an outcome where ``cargo xtask test`` looks for what was never run."""
    if file := os.environ.get("SEQFEED_OUTCOMES"):
        with open(file, "a", encoding="utf-8") as outcomes:
            outcomes.write(outcome + "\n")


@pytest.fixture(autouse=True)
def _in_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


@pytest.fixture
def digits() -> Path:
    return DIGITS


class Corpus:
    """A small Kaldi corpus: features and alignments by key."""

    def __init__(self, directory: Path, sequences: int = 12, dim: int = 3) -> None:
        self.directory = directory
        self.features: dict[str, np.ndarray] = {}
        self.labels: dict[str, np.ndarray] = {}
        random = np.random.default_rng(1)
        for number in range(sequences):
            frames = 5 + 3 * number % 11
            key = f"utt{number:03}"
            self.features[key] = random.normal(size=(frames, dim)).astype(np.float32)
            self.labels[key] = random.integers(0, 9, frames, dtype=np.int32)
        self.write("ark,scp", "feats", self.features)
        self.write("ark,scp", "ali", self.labels)

    def write(self, kind: str, name: str, values: dict[str, np.ndarray]) -> None:
        path = self.directory / name
        with kaldi.Writer(f"{kind}:{path}.ark,{path}.scp") as writer:
            for key, value in values.items():
                writer.write(key, value)

    def __getitem__(self, name: str) -> str:
        return str(self.directory / name)

    @property
    def frames(self) -> int:
        return sum(len(labels) for labels in self.labels.values())


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    return Corpus(tmp_path)


@pytest.fixture
def cli() -> Path:
    """The command line's program, built before these tests."""
    path = Path(os.environ.get("SEQFEED_CLI", ROOT / "target" / "debug" / "seqfeed"))
    if not path.exists():
        pytest.skip(f"SKIPPED: there is no {path}; build it, or name it by SEQFEED_CLI")
    return path
