"""Values for the variables and settings of CNTK's configurations."""

from __future__ import annotations

from pathlib import Path
from types import MappingProxyType

import pytest

import seqfeed


@pytest.fixture
def reader(tmp_path: Path) -> str:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "x.ctf").write_text("0 |a 1 2\n1 |a 3 4\n2 |a 5 6\n")
    (tmp_path / "x.cntk").write_text(
        'r = [ readerType = CNTKTextFormatReader\n file = "$DataDir$/x.ctf"\n randomize = true\n'
        " input = [ a = [ dim = 2\n format = dense ] ] ]\n"
    )
    return f"{tmp_path / 'x.cntk'}#r"


def test_values_reach_the_configuration(reader: str, tmp_path: Path) -> None:
    data = {"DataDir": tmp_path / "data"}
    table = seqfeed.open(reader, overrides=data)
    assert table["1"].tolist() == [[3, 4]]
    in_order = MappingProxyType({**data, "r.randomize": "none"})
    feed = seqfeed.Feed(reader, overrides=in_order, batch_size=1, sweeps=1)
    found = [minibatch["a"].tolist() for minibatch in feed]
    assert found == [[[[1, 2]]], [[[3, 4]]], [[[5, 6]]]]
    report = seqfeed.convert(reader, tmp_path / "x.npz", overrides=data, allow_lossy=True)
    assert report["sequences"] == 3


def test_what_cannot_be_overridden(reader: str, tmp_path: Path) -> None:
    with pytest.raises(seqfeed.Error, match="No variable found with the name DataDir"):
        seqfeed.open(reader)
    with pytest.raises(seqfeed.Error, match="No variable found with the name DataDir"):
        seqfeed.open(reader, overrides={"DataDri": tmp_path / "data"})
    both = {"DataDir": tmp_path / "data", "Unknown": 1}
    with pytest.warns(seqfeed.DataWarning, match="the override Unknown changes nothing"):
        seqfeed.open(reader, overrides=both)
    with pytest.raises(seqfeed.UsageError, match="no configuration in which x could be overridden"):
        seqfeed.open(tmp_path / "data" / "x.ctf", overrides={"x": 1})
    with pytest.raises(TypeError):
        seqfeed.Feed(reader, overrides=["DataDir=data"])  # type: ignore[arg-type]
