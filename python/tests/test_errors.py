"""The exceptions."""

from __future__ import annotations

import errno
import pickle
from pathlib import Path

import pytest

import seqfeed

KINDS = {
    seqfeed.IoError: OSError,
    seqfeed.NotFoundError: FileNotFoundError,
    seqfeed.AccessError: PermissionError,
    seqfeed.FormatError: ValueError,
    seqfeed.CommandError: OSError,
    seqfeed.CorpusError: ValueError,
    seqfeed.UsageError: ValueError,
    seqfeed.ForbiddenError: PermissionError,
    seqfeed.LimitError: MemoryError,
    seqfeed.MissingKeyError: KeyError,
}


@pytest.mark.parametrize("kind", KINDS)
def test_kinds(kind: type[seqfeed.Error]) -> None:
    assert issubclass(kind, seqfeed.Error) and issubclass(kind, KINDS[kind])
    error = kind("a.ark @ 3: wrong", reason="wrong", path="a.ark", offset=3, help="cure", errno=5)
    copy = pickle.loads(pickle.dumps(error))
    for one in (error, copy):
        assert type(one) is kind and str(one) == "a.ark @ 3: wrong"
        assert (one.reason, one.path, one.offset, one.help) == ("wrong", "a.ark", 3, "cure")
        assert one.key is None and one.line is None


def test_files_that_are_not_there() -> None:
    for name in ("scp:nowhere.scp", "nowhere.ark", "nowhere.pfile", "nowhere.ctf", "nowhere.toml"):
        with pytest.raises(FileNotFoundError) as caught:
            seqfeed.open(name)
        assert caught.value.errno == errno.ENOENT
        assert isinstance(caught.value, seqfeed.NotFoundError)
        assert caught.value.path is not None and "nowhere" in caught.value.path


def test_places_in_text(tmp_path: Path) -> None:
    script = tmp_path / "a.scp"
    script.write_text("utt1 a.ark:5\nutt2\n")
    with pytest.raises(seqfeed.FormatError) as caught:
        seqfeed.open(f"scp:{script}")
    assert caught.value.path == str(script) and caught.value.line == 2
    toml = tmp_path / "a.toml"
    toml.write_text("unit = 'frame'\norder = = 3\n")
    with pytest.raises(seqfeed.FormatError) as caught:
        seqfeed.Feed(toml)
    assert caught.value.line == 2


def test_types_belong_to_tables_of_kaldi(digits: Path) -> None:
    with pytest.raises(seqfeed.UsageError, match="only tables of Kaldi"):
        seqfeed.open(digits / "train.ctf", object_type="float-matrix")
    with pytest.raises(seqfeed.UsageError, match="no type of objects"):
        seqfeed.open("ark:a.ark", object_type="floats")
