"""The exceptions."""

from __future__ import annotations

import errno
import inspect
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import Corpus

import seqfeed
from seqfeed import _epochs, kaldi

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


def test_options_that_there_are_not(corpus: Corpus, tmp_path: Path) -> None:
    features = f"scp:{corpus['feats']}.scp"
    cases: list[tuple[Callable[[], object], str]] = [
        (lambda: seqfeed.Feed(features, bacth_size=3), "`bacth_size` (did you mean `batch_size`?)"),
        (lambda: seqfeed.Feed(features, ordre="shuffle"), "`ordre` (did you mean `order`?)"),
        (lambda: seqfeed.open({"features": features}, lables="x"), "`lables` (did you mean `labels`?)"),
        (lambda: seqfeed.open(features, object_typ="x"), "`object_typ` (did you mean `object_type`?)"),
        (lambda: seqfeed.convert(features, tmp_path / "x.npz", comprss=1), "`comprss` (did you mean `compress`?)"),
        (lambda: seqfeed.Feed(features, colour=3), "`colour` (there are reader, "),
    ]
    for call, expected in cases:
        with pytest.raises(seqfeed.UsageError) as caught:
            call()
        assert str(caught.value).startswith(f"there is no option {expected}")
    # Of a dictionary the keys are those of a description.
    with pytest.raises(seqfeed.UsageError, match="did you mean `batch-size`"):
        seqfeed.Feed({"features": features, "bacth-size": 3})


def test_streams_that_there_are_not(corpus: Corpus) -> None:
    minibatch = next(iter(seqfeed.Feed(f"scp:{corpus['feats']}.scp", labels=f"scp:{corpus['ali']}.scp")))
    for ask in (minibatch.__getitem__, minibatch.rows):
        with pytest.raises(seqfeed.MissingKeyError) as caught:
            ask("feats")
        assert str(caught.value) == "there is no stream 'feats' (did you mean 'features'?)"
        assert isinstance(caught.value, KeyError) and caught.value.key == "feats"
    with pytest.raises(KeyError, match="the streams are 'features', 'labels'"):
        minibatch["x"]
    with pytest.raises(KeyError, match="the streams are"):
        minibatch[5]  # type: ignore[index]


def test_a_script_file_that_is_opened_as_an_archive(corpus: Corpus, tmp_path: Path) -> None:
    script = f"{corpus['feats']}.scp"
    (tmp_path / "wav.scp").write_text("utt000 sox a.wav -t wav - |\n")
    (tmp_path / "utt2spk").write_text("utt000 speaker1\n")
    for name in (script, f"{tmp_path}/wav.scp"):
        with open(name, "rb") as file:
            opened: list[Callable[[], object]] = [
                lambda: seqfeed.open(f"ark:{name}")["utt000"],
                lambda: next(iter(seqfeed.open(f"ark:{name}"))),
                lambda: next(kaldi.SequentialReader(f"ark:{name}")),
                lambda: kaldi.RandomAccessReader(f"ark:{name}")["utt000"],
                lambda: seqfeed.open(file),
            ]
            for call in opened:
                with pytest.raises(seqfeed.UsageError, match="scp:.*instead of `ark:`") as caught:
                    call()
                assert caught.value.key == "utt000"
    # Who wants the names says so; other words are words.
    assert seqfeed.open(f"ark:{script}", object_type="token")["utt000"].endswith(".ark:7")
    assert dict(seqfeed.open(f"ark:{tmp_path}/utt2spk")) == {"utt000": "speaker1"}


def test_labels_of_a_sequence_in_arrays_of_one(corpus: Corpus) -> None:
    """The cure for them is another one than that for labels of time steps."""
    for value, cure in ((np.array([3], np.int32), "int\\(label\\)"), (np.array([3, 4], np.int32), "samples")):
        corpus.write("ark,scp", "speakers", {key: value for key in corpus.features})
        speakers = {"source": f"scp:{corpus['speakers']}.scp", "kind": "label", "extent": "sequence"}
        with pytest.raises(seqfeed.FormatError, match=cure):
            seqfeed.Feed({"features": f"scp:{corpus['feats']}.scp", "streams": {"speakers": speakers}})


def test_warnings_point_at_the_line_that_called(corpus: Corpus) -> None:
    corpus.write("ark,scp", "few", dict(list(corpus.labels.items())[1:]))
    given: dict[str, Any] = {"features": f"scp:{corpus['feats']}.scp", "labels": f"ark:{corpus['few']}.ark"}

    for call in (lambda: seqfeed.Feed(given), lambda: seqfeed.open(given)):
        with pytest.warns(seqfeed.DataWarning, match="skipped 1") as caught:
            call()
        line = inspect.getsourcelines(test_warnings_point_at_the_line_that_called)[1]
        lines = inspect.getsource(test_warnings_point_at_the_line_that_called).splitlines()
        assert caught[0].filename == __file__ and "seqfeed.Feed(given)" in lines[caught[0].lineno - line]
    # Also through what the adapters are made of.
    with pytest.warns(seqfeed.DataWarning, match="skipped 1") as caught:
        loader: _epochs.Epochs[Any] = _epochs.Epochs(given, {}, None)
    loader.close()
    assert caught[0].filename == __file__
