"""Corpora written from Python, in every format, and converted."""

from __future__ import annotations

import gc
import json
import os
import pickle
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import seqfeed

DIM = 3
CLASSES = 9


def sequences(keys: list[str], dtype: type = np.float32) -> dict[str, dict[str, np.ndarray]]:
    random = np.random.default_rng(7)
    made = {}
    for number, key in enumerate(keys):
        frames = 4 + 3 * number % 5
        made[key] = {
            "features": random.normal(size=(frames, DIM)).astype(dtype),
            "labels": random.integers(0, CLASSES, frames),
        }
    return made


def write(target: object, corpus: dict[str, Any], **options: Any) -> None:
    with seqfeed.Writer(target, **options) as writer:  # type: ignore[arg-type]
        for key, value in corpus.items():
            writer[key] = value


def same(found: Any, wanted: np.ndarray) -> None:
    found = found.toarray() if isinstance(found, seqfeed.Sparse) else found
    np.testing.assert_array_equal(found, wanted)
    if wanted.dtype.kind == "f":
        assert found.dtype == wanted.dtype
    else:
        assert found.dtype == np.int32


# Keys that are numbers in order are held by CTF and PFiles too.
NUMBERED = ["0", "1", "2", "3"]
NAMED = ["utt2", "utt1", "späh", "utt0"]


@pytest.mark.parametrize(
    ("target", "opened", "keys", "options"),
    [
        ("x.parquet", "x.parquet", NAMED, {}),
        ("x.parquet", "x.parquet", NAMED, {"compress": "zstd:5"}),
        ("x.arrow", "x.arrow", NAMED, {}),
        ("x.feather", "x.feather", NAMED, {"compress": True}),
        ("kaldi:x", "x.toml", NAMED, {}),
        ("x.pfile", "x.pfile", NUMBERED, {}),
        ("x.htk", "x.toml", NAMED, {}),
        ("htk-files:x", "x.toml", NAMED, {"htk_kind": "FBANK"}),
    ],
)
def test_round_trip(
    target: str,
    opened: str,
    keys: list[str],
    options: dict[str, Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    corpus = sequences(keys)
    write(target, corpus, **options)
    with seqfeed.open(opened) as table:
        assert list(table.keys()) == keys
        assert {name: stream.kind for name, stream in table.streams.items()} == {
            "features": "dense",
            "labels": "label",
        }
        for key, value in table:
            same(value["features"], corpus[key]["features"])
            same(value["labels"], corpus[key]["labels"])


@pytest.mark.parametrize("target", ["x.parquet", "x.arrow", "kaldi:x"])
def test_float64(target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    corpus = sequences(NAMED, np.float64)
    write(target, corpus)
    with seqfeed.open(target if "." in target else "x.toml") as table:
        for key, value in table:
            same(value["features"], corpus[key]["features"])
    write(target, corpus, dtype="float32")
    with seqfeed.open(target if "." in target else "x.toml") as table:
        same(table["utt1"]["features"], corpus["utt1"]["features"].astype(np.float32))


@pytest.mark.parametrize("target", ["x.ctf", "x.ctf.gz"])
def test_ctf(target: str, tmp_path: Path) -> None:
    corpus = sequences(NUMBERED)
    path = tmp_path / target
    write(path, corpus, describe=True)
    with seqfeed.open(tmp_path / "x.toml") as table:
        assert list(table.keys()) == NUMBERED
        for key, value in table:
            same(value["features"], corpus[key]["features"])
            assert value["labels"].toarray().argmax(axis=1).tolist() == corpus[key]["labels"].tolist()


@pytest.mark.parametrize("scipys", [False, True])
@pytest.mark.parametrize("target", ["x.ctf", "x.parquet", "kaldi:x"])
def test_sparse(target: str, scipys: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(3)
    corpus, dense = {}, {}
    for key in NUMBERED:
        rows = np.where(random.random((5, 20)) < 0.2, random.normal(size=(5, 20)), 0).astype(np.float32)
        rows[[0, 2, 4]] = 0
        dense[key] = rows
        indptr = np.concatenate([[0], np.cumsum((rows != 0).sum(axis=1))])
        indices = np.nonzero(rows)[1].astype(np.int32)
        sparse: Any = seqfeed.Sparse(rows[rows != 0], indices, indptr, (5, 20))
        if scipys:
            scipy_sparse = pytest.importorskip("scipy.sparse", reason="SKIPPED: there is no scipy")
            sparse = scipy_sparse.csr_matrix(sparse[:3], shape=sparse.shape)
        corpus[key] = {"words": sparse, "features": np.full((5, 2), float(key), np.float32)}
    write(target, corpus, describe=True)
    with seqfeed.open("x.toml") as table:
        assert table.streams["words"].kind == "sparse" and table.streams["words"].dim == 20
        for key, value in table:
            same(value["words"], dense[key])


def test_one_matrix(tmp_path: Path) -> None:
    corpus = sequences(NAMED)
    features = np.concatenate([value["features"] for value in corpus.values()])
    labels = np.concatenate([value["labels"] for value in corpus.values()])
    for name, options in [("x.pickle", {}), ("x.pkl.gz", {"protocol": 2}), ("x.npz", {})]:
        path = tmp_path / name
        write(path, corpus, allow_lossy=True, **options)  # type: ignore[arg-type]
        value = next(iter(seqfeed.open(path)))[1]
        same(value["features"], features)
        same(value["labels"], labels)
    write(tmp_path / "x.npy", {key: value["features"] for key, value in corpus.items()}, allow_lossy=True)
    same(np.load(tmp_path / "x.npy"), features)


def test_one_stream_alone(tmp_path: Path) -> None:
    corpus = sequences(NAMED)
    write(tmp_path / "f.parquet", {key: value["features"] for key, value in corpus.items()})
    with seqfeed.open(tmp_path / "f.parquet") as table:
        assert list(table.streams) == ["features"]
        same(table["utt0"], corpus["utt0"]["features"])
    write(tmp_path / "x.ali", {key: value["labels"] for key, value in corpus.items()})
    with seqfeed.open(f"ark:{tmp_path}/x.ali") as table:
        same(table["utt0"], corpus["utt0"]["labels"])


def test_wspecifiers(tmp_path: Path) -> None:
    corpus = sequences(NAMED)
    target = f"ark,scp:{tmp_path}/f.ark,{tmp_path}/f.scp"
    with pytest.raises(seqfeed.CorpusError, match='no table to go to.*to={"STREAM": "ark:NAME"}'):
        write(target, corpus)
    write(target, corpus, to={"labels": f"ark:{tmp_path}/l.ark"})
    with seqfeed.open(f"scp:{tmp_path}/f.scp") as table:
        same(table["utt1"], corpus["utt1"]["features"])
    with seqfeed.open(f"ark:{tmp_path}/l.ark") as table:
        same(table["utt1"], corpus["utt1"]["labels"])
    write(f"ark:{tmp_path}/c.ark", {"utt": np.ones((20, 3), np.float32)}, compress=2)
    assert (seqfeed.open(f"ark:{tmp_path}/c.ark")["utt"] == 1).all()
    waves = {"utt": np.arange(100, dtype=np.float32).reshape(-1, 1)}
    write(f"ark:{tmp_path}/w.ark", waves, sample_rate=8000)
    wave = seqfeed.open(f"ark:{tmp_path}/w.ark")["utt"]
    assert wave.sample_rate == 8000 and wave.samples.shape == (1, 100)


@pytest.mark.parametrize("as_file", [False, True])
def test_states(as_file: bool, tmp_path: Path) -> None:
    names = [f"state{number}" for number in range(CLASSES)]
    states: Any = names
    if as_file:
        states = tmp_path / "names"
        states.write_text("\n".join(names) + "\n")
    corpus = sequences(NAMED)
    write(tmp_path / "x.htk", corpus, states=states)
    assert (tmp_path / "x.states").read_text().split() == names
    assert "state" in (tmp_path / "x.mlf").read_text()
    with seqfeed.open(tmp_path / "x.toml") as table:
        same(table["utt1"]["labels"], corpus["utt1"]["labels"])


def test_types_and_orders_of_arrays(tmp_path: Path) -> None:
    x = np.arange(12, dtype=np.float32).reshape(4, 3)
    y = np.arange(4)
    forms = {
        "fortran": (np.asfortranarray(x), y.astype(np.int64)),
        "strided": (np.repeat(x, 2, axis=0)[::2], y.astype(np.uint8)),
        "big-endian": (x.astype(">f4"), y.astype(">i2")),
        "read-only": (np.frombuffer(x.tobytes(), np.float32).reshape(4, 3), y.astype(np.uint64)),
    }
    with seqfeed.Writer(tmp_path / "x.parquet") as writer:
        for key, (features, labels) in forms.items():
            # The order of a dictionary does not matter.
            pairs = {"features": features, "labels": labels}
            writer[key] = pairs if key != "strided" else dict(reversed(pairs.items()))
        changed = x.copy()
        writer.write(b"bytes", {"features": changed, "labels": y})
        changed.fill(0)
    with seqfeed.open(tmp_path / "x.parquet") as table:
        assert len(table) == 5
        for _, value in table:
            same(value["features"], x)
            same(value["labels"], y)


X, Y = np.ones((2, DIM), np.float32), np.array([1, 2])


@pytest.mark.parametrize(
    ("key", "value", "what"),
    [
        ("b", {"features": X[:, :2], "labels": Y}, r"key b.*features is dense float32 of 2, but .* of 3"),
        ("b", {"features": X.astype(float), "labels": Y}, "features is dense float64 of 3, but dense f"),
        ("b", {"features": X.astype("f2"), "labels": Y}, r"key b.*features: found float16 of shape \(2, 3\)"),
        ("b", {"features": X.astype(int), "labels": Y}, r"features: found int64 of shape \(2, 3\)"),
        ("b", {"features": X[0], "labels": Y}, r"features: found float32 of shape \(3,\)"),
        ("b", {"features": X[:, :0], "labels": Y}, r"features: found float32 of shape \(2, 0\)"),
        ("b", {"features": X, "labels": Y + 2**31}, "key b.*labels: labels do not fit int32"),
        ("b", {"features": X, "labels": Y == 1}, "labels: found bool"),
        ("b", {"features": "text", "labels": Y}, "features: found str"),
        ("b", {"features": X, "labels": [1, 2]}, "labels: found list"),
        ("b", {"features": X}, "key b.*stream labels is missing"),
        ("b", X, "stream labels is missing"),
        ("b", {"features": X, "labels": Y, "more": Y}, "stream more is not in the first sequence"),
        ("b", {"features": X, "labels": np.arange(3)}, "key b.*labels has 3 samples, but features has 2"),
        ("b", {"features": X[:0], "labels": Y[:0]}, "key b.*the sequence is empty"),
        ("a", {"features": X, "labels": Y}, "key a.*the key was written before"),
        ("a b", {"features": X, "labels": Y}, '"a b" is no key'),
        ("", {"features": X, "labels": Y}, '"" is no key'),
    ],
)  # fmt: skip
def test_wrong_sequences(key: str, value: Any, what: str, tmp_path: Path) -> None:
    with seqfeed.Writer(tmp_path / "x.parquet") as writer:
        writer["a"] = {"features": X, "labels": Y}
        with pytest.raises(seqfeed.Error, match=what) as caught:
            writer[key] = value
        assert isinstance(caught.value, ValueError) and caught.value.key == key
        # What was refused is not there, and others may follow.
        writer["c"] = {"features": X, "labels": Y}
    assert list(seqfeed.open(tmp_path / "x.parquet").keys()) == ["a", "c"]


@pytest.mark.parametrize(
    ("sparse", "what"),
    [
        ((np.ones(2, np.float32), np.array([0, 9]), np.array([0, 1, 2]), (2, 3)), "not below 3"),
        ((np.ones(2, np.float32), np.array([0, -1]), np.array([0, 1, 2]), (2, 3)), "not below 3"),
        ((np.ones(2, np.float32), np.array([0, 1]), np.array([0, 1, 3]), (2, 3)), "disagree"),
        ((np.ones(2, np.float32), np.array([0, 1]), np.array([0, 2, 1, 2]), (3, 3)), "disagree"),
        ((np.ones(2, np.float32), np.array([0, 1]), np.array([0, 2]), (2, 3)), "disagree"),
        ((np.ones(2, np.float32), np.array([0]), np.array([0, 1, 2]), (2, 3)), "disagree"),
        ((np.ones(2, np.float32), np.array([0, 1]), np.array([], int), (0, 3)), "disagree"),
        ((np.ones(2, int), np.array([0, 1]), np.array([0, 1, 2]), (2, 3)), "float32 or float64"),
        ((np.ones((2, 1), np.float32), np.array([0, 1]), np.array([0, 1, 2]), (2, 3)), "one dim each"),
    ],
)
def test_wrong_sparse_rows(sparse: Any, what: str, tmp_path: Path) -> None:
    writer = seqfeed.Writer(tmp_path / "x.ctf")
    with pytest.raises(seqfeed.UsageError, match=what):
        writer["0"] = seqfeed.Sparse(*sparse)


@pytest.mark.parametrize(
    ("target", "options", "what"),
    [
        ("x.xyz", {}, "does not tell what shall be written"),
        ("x.scp", {}, "NAME.ark"),
        ("x.ctf", {"dtype": "float16"}, "float16"),
        ("x.ctf", {"protocol": 2}, "is for pickles, not for ctf"),
        ("x.pickle", {"protocol": 3}, "protocol 2 or 5"),
        ("x.htk", {"frame_period": 0.0}, "in seconds"),
        ("x.htk", {"htk_kind": "WHAT"}, "WHAT"),
        ("ark:x.ark", {"compress": 9}, "compress=9"),
        ("x.parquet", {"compress": "zstd:99"}, "LEVEL"),
    ],
)
def test_wrong_options(
    target: str, options: dict[str, Any], what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(seqfeed.UsageError, match=what):
        seqfeed.Writer(target, **options)


def test_what_the_target_cannot_hold_is_said_at_once(tmp_path: Path) -> None:
    cases: list[tuple[str, Any, str]] = [
        ("x.pfile", {"features": X, "labels": Y}, "keys of sequences.*allow_lossy=True"),
        ("x.ctf", {"features": X, "labels": Y}, "keys of sequences.*allow_lossy=True"),
        ("x.htk", X.astype(np.float64), "float64 values become float32"),
        ("x.htk", {"a": X, "b": X}, "stream b .*is left out.*streams="),
        ("x.ali", X, "no stream of labels"),
        ("x.npy", Y, "no stream of floats"),
    ]
    for name, value, what in cases:
        writer = seqfeed.Writer(tmp_path / name)
        with pytest.raises(seqfeed.Error, match=what) as caught:
            writer["utt1"] = value
        assert "--" not in str(caught.value)
        del writer
    # Only the second key is none that a PFile counts.
    with pytest.raises(seqfeed.CorpusError, match="allow_lossy=True"):
        write(tmp_path / "x.pfile", {"0": X, "b": X})
    assert os.listdir(tmp_path) == []
    write(tmp_path / "x.pfile", {"0": X, "b": X}, allow_lossy=True)
    assert os.listdir(tmp_path) == ["x.pfile"]


def test_nothing_appears_before_it_is_closed(tmp_path: Path) -> None:
    writer = seqfeed.Writer(str(tmp_path / "x.parquet"))
    writer["a"] = X
    assert os.listdir(tmp_path) == [] and writer.name == str(tmp_path / "x.parquet")
    del writer
    gc.collect()
    assert os.listdir(tmp_path) == []
    with pytest.raises(ZeroDivisionError), seqfeed.Writer(tmp_path / "x.parquet") as writer:
        writer["a"] = X
        _ = 1 / 0
    assert os.listdir(tmp_path) == []
    with pytest.raises(ValueError, match="closed"):
        writer["b"] = X
    writer.close()
    with pytest.raises(seqfeed.CorpusError, match="no sequence was written"):
        seqfeed.Writer(tmp_path / "x.parquet").close()
    assert os.listdir(tmp_path) == []
    # What was there before stays until then.
    write(tmp_path / "x.parquet", {"a": X})
    with seqfeed.Writer(tmp_path / "x.parquet") as writer:
        writer["b"] = X
        assert list(seqfeed.open(tmp_path / "x.parquet").keys()) == ["a"]
    assert list(seqfeed.open(tmp_path / "x.parquet").keys()) == ["b"]


def test_places_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(seqfeed.NotFoundError, match="make the directory first"):
        seqfeed.Writer(tmp_path / "nowhere" / "x.ctf")
    with pytest.raises(seqfeed.Error), seqfeed.Writer("ctf:/dev/full") as writer:
        writer["0"] = np.ones((1000, 9), np.float32)
    locked = tmp_path / "locked"
    locked.mkdir(mode=0o500)
    if not os.access(locked, os.W_OK):
        with pytest.raises(seqfeed.AccessError), seqfeed.Writer(locked / "x.ctf") as writer:
            writer["0"] = X
    assert os.listdir(locked) == []
    with pytest.raises(seqfeed.ForbiddenError, match="allow_pipes=True"):
        write("ctf:| cat > /dev/null", {"0": X})
    write("ctf:| cat > " + str(tmp_path / "piped"), {"0": X}, allow_pipes=True)
    assert (tmp_path / "piped").read_bytes()


def test_many_threads(tmp_path: Path) -> None:
    with seqfeed.Writer(tmp_path / "x.parquet") as writer:

        def some(thread: int) -> None:
            for number in range(50):
                writer[f"{thread}-{number}"] = np.full((3, 2), 100 * thread + number, np.float32)

        threads = [threading.Thread(target=some, args=(thread,)) for thread in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    with seqfeed.open(tmp_path / "x.parquet") as table:
        assert len(table) == 400
        assert (table["7-13"] == 713).all()


def test_forks(tmp_path: Path) -> None:
    writer = seqfeed.Writer(tmp_path / "x.parquet")
    writer["a"] = X
    child = os.fork()
    if child == 0:
        try:
            writer["b"] = X
        except ValueError as error:
            os._exit(0 if "forked" in str(error) else 1)
        os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    writer.close()
    assert list(seqfeed.open(tmp_path / "x.parquet").keys()) == ["a"]
    with pytest.raises(TypeError):
        pickle.dumps(writer)


def test_ctrl_c_leaves_nothing(tmp_path: Path) -> None:
    """Text of doubles is slow enough to be in the middle of it."""
    program = f"""
import numpy as np, seqfeed, threading, os, signal
x = np.random.default_rng(0).normal(size=(2000, 400))
writer = seqfeed.Writer("{tmp_path}/x.ctf")
for number in range(20):
    writer[str(number)] = x
def interrupt():
    import time
    while not os.listdir("{tmp_path}"):
        time.sleep(0.001)
    os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=interrupt).start()
try:
    writer.close()
except KeyboardInterrupt:
    print("interrupted", os.listdir("{tmp_path}"))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "interrupted []\n"


def test_constant_memory(tmp_path: Path) -> None:
    program = f"""
import numpy as np, resource, seqfeed
x = np.ones((500, 1000), np.float32)
def peak(): return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
with seqfeed.Writer("{tmp_path}/x.npy", allow_lossy=True) as writer:
    writer["a"] = x
    before = peak()
    for number in range(100):
        writer[str(number)] = x
print(peak() - before)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 120, "of 200 MB, three chunks of 16 MiB"


def test_convert(digits: Path, tmp_path: Path) -> None:
    report = seqfeed.convert(digits / "train.toml", tmp_path / "x.parquet", compress="zstd")
    assert (report["format"], report["sequences"]) == ("parquet", 60)
    assert report["shards"][0]["files"] == [str(tmp_path / "x.parquet")]
    assert report["losses"] == [] and "verified" not in report
    with seqfeed.open(digits / "train.toml") as one, seqfeed.open(tmp_path / "x.parquet") as other:
        for (key, value), (wanted, there) in zip(one, other, strict=True):
            assert key == wanted
            same(there["features"], value["features"])
            same(there["labels"], value["labels"])
    again = seqfeed.convert(tmp_path / "x.parquet", f"kaldi:{tmp_path}/y", verify=True)
    assert again["verified"] is True
    for one_stream, other_stream in zip(report["streams"], again["streams"], strict=True):
        assert one_stream == other_stream


def test_convert_by_options(digits: Path, tmp_path: Path) -> None:
    with pytest.raises(seqfeed.CorpusError, match="keys of sequences.*allow_lossy=True"):
        seqfeed.convert(digits / "train.toml", tmp_path / "x.pfile")
    assert os.listdir(tmp_path) == []
    report = seqfeed.convert(
        {"features": f"scp:{digits}/train/feats.scp"},
        tmp_path / "x.pfile",
        labels=f"ark:{digits}/train/ali.ark",
        allow_lossy=True,
    )
    assert [loss["kind"] for loss in report["losses"]] == ["keys"]
    report = seqfeed.convert(
        digits / "train.toml", tmp_path / "y.parquet", streams=["labels"], shards=3, jobs=2, describe=True
    )
    assert len(report["shards"]) == 3 and [stream["name"] for stream in report["streams"]] == ["labels"]
    assert report["description"] == str(tmp_path / "y.toml")
    assert len(seqfeed.open(tmp_path / "y.toml")) == 60
    kept = seqfeed.convert(digits / "train.toml", tmp_path / "y.parquet", streams=["labels"], shards=3)
    assert all(shard["kept"] for shard in kept["shards"])
    with pytest.raises(TypeError):
        seqfeed.convert(digits / "train.toml", tmp_path / "y.parquet", streams="labels")


def test_convert_htk(digits: Path, tmp_path: Path) -> None:
    corpus = {key: value["features"] for key, value in sequences(NAMED).items()}
    write(tmp_path / "x.htk", corpus, frame_period=0.02, htk_kind="FBANK")
    assert int.from_bytes((tmp_path / "x.htk").read_bytes()[4:8], "big") == 200_000
    seqfeed.convert(tmp_path / "x.toml", tmp_path / "y.htk", frame_period=0.01)
    header = (tmp_path / "y.htk").read_bytes()[:12]
    assert int.from_bytes(header[4:8], "big") == 100_000
    assert header[10:12] == (tmp_path / "x.htk").read_bytes()[10:12]
    seqfeed.convert(tmp_path / "x.toml", tmp_path / "z.htk")
    assert (tmp_path / "z.htk").read_bytes() == (tmp_path / "x.htk").read_bytes()


def test_convert_is_the_commands(cli: Path, digits: Path, tmp_path: Path) -> None:
    """The same bytes as the command line writes, and the same report."""
    for name in ("x.ctf", "x.pickle", "x.arrow"):
        one, other = tmp_path / "one" / name, tmp_path / "other" / name
        for path in (one, other):
            path.parent.mkdir(exist_ok=True)
        report = seqfeed.convert(digits / "train.toml", one, allow_lossy=True)
        command: list[str | Path] = [cli, "convert", digits / "train.toml", other]
        done = subprocess.run([*command, "--allow-lossy", "--json"], capture_output=True, check=True)
        assert one.read_bytes() == other.read_bytes()
        assert report == json.loads(done.stdout.replace(b"/other/", b"/one/"))


def test_writes_what_others_give(digits: Path, tmp_path: Path) -> None:
    """A table's items can be written as they are."""
    with seqfeed.open(digits / "train.ctf") as table:
        write(tmp_path / "x.ctf", dict(table), describe=True)
        with seqfeed.open(tmp_path / "x.toml") as copy:
            for (key, value), (same_key, there) in zip(table, copy, strict=True):
                assert key == same_key
                same(there["features"], value["features"])
                same(there["labels"], value["labels"].toarray())
