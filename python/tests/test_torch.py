"""`seqfeed.torch`: tensors, workers, ranks, epochs, states."""

from __future__ import annotations

import gc
import json
import os
import pickle
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="SKIPPED: the tests of seqfeed.torch: there is no PyTorch")

import torch.utils.data  # noqa: E402

import seqfeed  # noqa: E402
from seqfeed.torch import Dataset, Loader, sparse_coo  # noqa: E402

from test_feed import source  # noqa: E402
from test_processes import open_files, resident  # noqa: E402

FIELDS = ["utterances", "starts", "index"]


def data_loader(dataset: Dataset, workers: int, **options: Any) -> Any:
    return torch.utils.data.DataLoader(dataset, batch_size=None, num_workers=workers, **options)


def contents(batch: dict[str, Any]) -> tuple[Any, ...]:
    places = list(zip(batch["utterances"], batch["starts"].tolist()))
    return places, batch["features"].tolist(), batch["labels"].tolist()


def expected(corpus: Any, epoch: int, **options: Any) -> list[tuple[Any, ...]]:
    """The minibatches of a sweep, as the feed has them."""
    feed = seqfeed.Feed(source(corpus), **options)
    minibatches = [m for _ in range(epoch + 1) for m in feed if m.sweep == epoch]
    return [
        (list(zip(m.utterances, m.starts.tolist())), m["features"].tolist(), m["labels"].tolist())
        for m in minibatches
    ]


def test_tensors_over_the_same_memory(corpus: Any) -> None:
    seen = 0
    for batch in Loader(source(corpus), batch_size=16, context=1, fields=["index", "end_of_sweep"]):
        x, y = batch["features"], batch["labels"]
        assert x.dtype == torch.float32 and y.dtype == torch.int32
        assert x.shape == (len(y), 9) and x.is_contiguous()
        assert batch["index"] == seen and not x.is_pinned()
        seen += 1
    assert batch["end_of_sweep"] is True
    kept = [b["features"] for b in Loader(source(corpus), batch_size=16)]
    copies = [b["features"].clone() for b in Loader(source(corpus), batch_size=16)]
    gc.collect()
    assert all(torch.equal(a, b) for a, b in zip(kept, copies, strict=True))
    feed = seqfeed.Feed(source(corpus), batch_size=16).one_sweep(0)
    minibatch = next(feed)
    from seqfeed._fields import Fields
    from seqfeed.torch import _ToTensors

    batch = _ToTensors(Fields(feed, None), {})(minibatch)
    batch["features"][0, 0] = 123.0
    assert minibatch["features"][0, 0] == 123.0


def halved(minibatch: seqfeed.Minibatch) -> dict[str, Any]:
    return {"features": minibatch["features"][:, ::-2]}


def test_a_transform_of_the_callers(corpus: Any) -> None:
    plain = [batch["features"] for batch in Loader(source(corpus), batch_size=16)]
    dataset = Dataset(source(corpus), batch_size=16, transform=halved)
    loader = Loader(source(corpus), batch_size=16, transform=halved)
    for batches in loader, data_loader(dataset, 2):
        for batch, before in zip(batches, plain, strict=True):
            assert torch.equal(batch["features"], before.flip(1)[:, ::2])


def test_tensors_of_types_that_only_feeds_deliver(corpus: Any) -> None:
    for dtype, made in (("bfloat16", torch.bfloat16), ("float16", torch.float16)):
        names = source(corpus)
        streams = {
            "features": {"source": names["features"], "dtype": dtype},
            "labels": {"source": names["labels"], "kind": "label", "dtype": "int64"},
        }
        loader = Loader({"streams": streams}, order="sequential", batch_size=9)
        batch = next(iter(loader))
        wide = next(iter(Loader(source(corpus), order="sequential", batch_size=9)))
        assert (batch["features"].dtype, batch["labels"].dtype) == (made, torch.int64)
        assert torch.equal(batch["features"], wide["features"].to(made))
        assert torch.equal(batch["labels"], wide["labels"].long())


@pytest.mark.parametrize("layout", ["padded", "concatenated", "packed"])
def test_fields_of_layouts(corpus: Any, layout: str) -> None:
    settings = {"unit": "sequence", "batch_size": 40, "layout": layout, "order": "sequential"}
    loader = Loader(source(corpus), dtypes={"labels": "int64"}, **settings)
    keys = iter(corpus.features)
    count = 0
    for batch in loader:
        assert batch["labels"].dtype == torch.int64
        wanted = {"padded": set(), "concatenated": {"offsets"}, "packed": {"rows"}}[layout]
        assert set(batch) == {"features", "labels", "lengths"} | wanted
        flat = batch["features"].reshape(-1, 3)
        for number, length in enumerate(batch["lengths"].tolist()):
            first = {
                "padded": lambda: number * batch["features"].shape[1],
                "concatenated": lambda: int(batch["offsets"][number]),
                "packed": lambda: int(batch["rows"]["features"][number, 0]),
            }[layout]()
            assert np.array_equal(flat[first : first + length].numpy(), corpus.features[next(keys)])
            count += 1
    assert count == len(corpus.features)


@pytest.mark.parametrize("layout", ["padded", "concatenated"])
def test_targets_have_lengths_of_their_own(corpus: Any, tmp_path: Path, layout: str) -> None:
    spoken = {key: "ab" * (1 + number % 3) for number, key in enumerate(corpus.features)}
    (tmp_path / "text").write_text("".join(f"{key} {text}\n" for key, text in spoken.items()))
    text = {"source": f"text:{tmp_path / 'text'}", "kind": "label", "units": "characters"}
    described = {"streams": {"features": {"source": source(corpus)["features"]}, "text": text}}
    settings = {"unit": "sequence", "batch_size": 60, "layout": layout}
    settings |= {"label_padding": -1} if layout == "padded" else {}
    loader = Loader(described, **settings)
    assert loader.symbols == {"text": {0: "a", 1: "b"}}
    wanted = {"padded": {"text_lengths"}, "concatenated": {"offsets", "text_lengths", "text_offsets"}}
    asked = ["utterances", "lengths", "cu_seqlens", "max_seqlen", "position_ids", "text_lengths"]
    asked += ["text_cu_seqlens", "text_max_seqlen", "text_position_ids", "features_max_seqlen"]
    for batch, more in zip(loader, Loader(described, fields=asked, **settings), strict=True):
        assert set(batch) == {"features", "text", "lengths"} | wanted[layout]
        lengths = [len(corpus.features[key]) for key in more["utterances"]]
        targets = [len(spoken[key]) for key in more["utterances"]]
        assert batch["lengths"].tolist() == lengths == more["lengths"].tolist()
        assert batch["text_lengths"].tolist() == targets == more["text_lengths"].tolist()
        assert more["max_seqlen"] == more["features_max_seqlen"] == max(lengths)
        assert more["text_max_seqlen"] == max(targets)
        for field, each in (("cu_seqlens", lengths), ("text_cu_seqlens", targets)):
            assert more[field].dtype == torch.int32
            assert more[field].tolist() == np.cumsum([0, *each]).tolist()
        for field, each in (("position_ids", lengths), ("text_position_ids", targets)):
            assert more[field].tolist() == [n for length in each for n in range(length)]
        labels = batch["text"]
        if layout == "padded":
            assert labels.shape == (len(targets), max(targets))
            loss = torch.nn.functional.ctc_loss(
                torch.zeros(max(lengths), len(lengths), 3).log_softmax(-1),
                labels, batch["lengths"], batch["text_lengths"], blank=2, reduction="none",
            )  # fmt: skip
            assert torch.isfinite(loss).tolist() == [a >= b for a, b in zip(lengths, targets, strict=True)]
            assert (labels[labels >= 0].reshape(-1, 2) == torch.tensor([0, 1])).all()
            assert int((labels == -1).sum()) == labels.numel() - sum(targets)
        else:
            assert labels.tolist() == [0, 1] * (sum(targets) // 2)
    with pytest.raises(ValueError, match="no field 'text_rows'"):
        Loader(described, fields=["text_rows"])


def test_sparse_streams(tmp_path: Path) -> None:
    (tmp_path / "x.ctf").write_text("0 |w 1:2 3:4\n0 |w 0:1\n1 |w 3:5 1:1\n")
    (tmp_path / "x.cntk").write_text(
        "r = [ readerType = CNTKTextFormatReader\n file = x.ctf\n randomize = false\n"
        " input = [ w = [ dim = 5\n format = sparse ] ] ]\n"
    )
    loader = Loader(f"{tmp_path / 'x.cntk'}#r", batch_size=10)
    (batch,) = loader
    sparse = batch["w"]
    assert isinstance(sparse, seqfeed.Sparse) and sparse.data.dtype == torch.float32
    dense = sparse_coo(sparse).to_dense()
    assert dense[:, :5].sum() == 13 and dense.shape == tuple(sparse.shape)


@pytest.mark.parametrize("workers", [0, 1, 2, 4])
@pytest.mark.parametrize("ranks", [1, 2])
def test_every_sample_once(corpus: Any, workers: int, ranks: int) -> None:
    """And in the order of the feed's own minibatches, in every epoch."""
    settings = {"batch_size": 9, "seed": 4}
    datasets = [
        Dataset(source(corpus), rank=rank, ranks=ranks, fields=FIELDS, **settings)
        for rank in range(ranks)
    ]
    orders = []
    for epoch in range(2):
        batches = [
            [contents(batch) for batch in data_loader(dataset, workers)] for dataset in datasets
        ]
        assert [len(found) for found in batches] == [len(dataset) for dataset in datasets]
        wanted = expected(corpus, epoch, **settings)
        for rank, found in enumerate(batches):
            assert found == wanted[rank::ranks]
        places = [place for found in batches for batch in found for place in batch[0]]
        assert len(places) == len(set(places)) == corpus.frames
        orders.append(places)
    assert orders[0] != orders[1]


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_epochs_of_workers(corpus: Any, method: str) -> None:
    """Workers that persist, that are left in the middle, that are seeded alike: all
    samples, no more."""
    dataset = Dataset(source(corpus), batch_size=9, fields=FIELDS)
    wanted = [expected(corpus, epoch, batch_size=9) for epoch in range(7)]
    loader = data_loader(dataset, 2, persistent_workers=True, multiprocessing_context=method)
    for epoch in range(2):
        assert [contents(batch) for batch in loader] == wanted[epoch]
    dataset.set_epoch(5)
    assert [contents(batch) for batch in loader] == wanted[5]
    assert [contents(batch) for batch in loader] == wanted[6]
    del loader
    if method == "spawn":
        return
    dataset.set_epoch(0)
    for batch in data_loader(dataset, 2):
        assert contents(batch) == wanted[0][0]
        break
    assert [contents(batch) for batch in data_loader(dataset, 3)] == wanted[1]
    assert [contents(batch) for batch in dataset] == wanted[2]
    for _ in range(2):
        torch.manual_seed(1)
        assert [contents(batch) for batch in data_loader(dataset, 3)] == wanted[3]
    dataset.set_epoch(4)
    torch.manual_seed(1)
    assert [contents(batch) for batch in data_loader(dataset, 3)] == wanted[4]
    assert [contents(batch) for batch in pickle.loads(pickle.dumps(dataset))] == wanted[5]


RANK = """
import json, sys
import torch, torch.distributed as distributed
from seqfeed.torch import Dataset, Loader
rank, store, source = int(sys.argv[1]), sys.argv[2], json.loads(sys.argv[3])
before = Dataset(source, batch_size=9, fields=["utterances", "starts"])
distributed.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=2)
loader = Loader(source, batch_size=9, fields=["utterances", "starts"])
result = []
for batches in (
    loader,
    torch.utils.data.DataLoader(before, batch_size=None, num_workers=2),
    torch.utils.data.DataLoader(before, batch_size=None, num_workers=1, multiprocessing_context="spawn"),
):
    result.append([list(zip(b["utterances"], b["starts"].tolist())) for b in batches])
print(json.dumps(result))
distributed.barrier()
distributed.destroy_process_group()
"""


@pytest.mark.skipif(not torch.distributed.is_available(), reason="SKIPPED: no torch.distributed")
def test_ranks_of_torch_distributed(corpus: Any, tmp_path: Path) -> None:
    script = tmp_path / "rank.py"
    text = "\n".join("    " + line for line in RANK.splitlines())
    script.write_text(f"def main():\n{text}\n\nif __name__ == '__main__':\n    main()\n")
    processes = [
        subprocess.Popen(
            [sys.executable, script, str(rank), str(tmp_path / "store"), json.dumps(source(corpus))],
            stdout=subprocess.PIPE,
            text=True,
        )
        for rank in range(2)
    ]
    found = [json.loads(process.communicate(timeout=240)[0].splitlines()[-1]) for process in processes]
    for loop in range(3):
        places = [tuple(place) for rank in found for batch in rank[loop] for place in batch]
        assert len(places) == len(set(places)) == corpus.frames
        assert found[0][loop] and found[1][loop]


def test_a_loader_goes_through_epochs(corpus: Any) -> None:
    loader = Loader(source(corpus), batch_size=9, fields=FIELDS)
    wanted = [expected(corpus, epoch, batch_size=9) for epoch in range(6)]
    assert [contents(batch) for batch in loader] == wanted[0]
    assert len(loader) == len(wanted[0])
    for batch in loader:
        break
    assert loader.epoch == 1
    assert [contents(batch) for batch in loader] == wanted[2]
    loader.set_epoch(5)
    assert [contents(batch) for batch in loader] == wanted[5]
    assert loader.state_dict() == {"epoch": 6, "feed": {}}
    with Loader(source(corpus), rank=1, ranks=2, batch_size=9, fields=FIELDS) as half:
        assert [contents(batch) for batch in half] == wanted[0][1::2]
    with pytest.raises(ValueError, match="closed"):
        iter(half)


def test_a_loader_goes_on(corpus: Any) -> None:
    loader = Loader(source(corpus), batch_size=9, fields=FIELDS)
    wanted = [expected(corpus, epoch, batch_size=9) for epoch in range(3)]
    states = [loader.state_dict()]
    for _ in range(2):
        for _batch in loader:
            states.append(json.loads(json.dumps(loader.state_dict())))
    size = len(wanted[0])
    for stop in range(0, 2 * size + 1, 3):
        other = Loader(source(corpus), batch_size=9, fields=FIELDS)
        other.load_state_dict(states[stop])
        assert other.state_dict() == states[stop]
        rest = [contents(b) for _ in range(other.epoch, 3) for b in other]
        assert rest == sum(wanted, [])[stop:]
    other.load_state_dict(states[3])
    other.set_epoch(2)
    assert [contents(batch) for batch in other] == wanted[2]
    for wrong in ({}, {"epoch": 1}, {"epoch": 0, "feed": 3}):
        with pytest.raises(ValueError, match="state"):
            other.load_state_dict(wrong)
    with pytest.raises(TypeError):
        other.load_state_dict(None)  # type: ignore[arg-type]
    with pytest.raises(seqfeed.Error):
        Loader(source(corpus), batch_size=9, seed=5).load_state_dict(states[2])


def test_random_transforms_are_the_same_with_workers_and_after_a_resume(corpus: Any) -> None:
    """Random values depend on seed, sweep and utterance, not on who loads them, nor when."""
    transforms = ["noise,deviation=0.5", "dither,amount=0.1", "spec-augment,freq-masks=1,freq-width=1"]
    options: Any = {"transforms": transforms, "unit": "sequence", "layout": "concatenated", "seed": 3}

    def by_utterance(batches: Any) -> dict[str, Any]:
        parts = {}
        for batch in batches:
            starts = batch["cu_seqlens"].tolist()
            for key, first, end in zip(batch["utterances"], starts, starts[1:]):
                parts[key] = batch["features"][first:end].tolist()
        return parts

    fields = ["utterances", "cu_seqlens"]
    dataset = Dataset(source(corpus), batch_size=30, fields=fields, **options)
    alone = by_utterance(data_loader(dataset, 0))
    dataset = Dataset(source(corpus), batch_size=30, fields=fields, **options)
    assert by_utterance(data_loader(dataset, 2)) == alone
    loader = Loader(source(corpus), batch_size=12, fields=fields, **options)
    before = iter(loader)
    found = by_utterance(next(before) for _ in range(2))
    state = json.loads(json.dumps(loader.state_dict()))
    other = Loader(source(corpus), batch_size=12, fields=fields, **options)
    other.load_state_dict(state)
    found.update(by_utterance(other))
    assert found == alone


@pytest.mark.parametrize("workers", [0, 2])
def test_stateful_data_loader(corpus: Any, workers: int) -> None:
    torchdata = pytest.importorskip(
        "torchdata.stateful_dataloader", reason="SKIPPED: there is no torchdata"
    )

    def make() -> Any:
        dataset = Dataset(source(corpus), batch_size=9, fields=FIELDS)
        return torchdata.StatefulDataLoader(dataset, batch_size=None, num_workers=workers)

    wanted = [expected(corpus, epoch, batch_size=9) for epoch in range(3)]
    for stop in (1, 4, len(wanted[0])):
        loader = make()
        batches = iter(loader)
        for _ in range(stop):
            next(batches)
        state = loader.state_dict()
        del batches, loader
        other = make()
        other.load_state_dict(state)
        assert [contents(b) for b in other] == wanted[0][stop:]
        assert [contents(b) for b in other] == wanted[1]


def test_a_state_of_other_workers(corpus: Any) -> None:
    """A state goes on with the workers that it was taken from, or says at once that it cannot."""
    torchdata = pytest.importorskip(
        "torchdata.stateful_dataloader", reason="SKIPPED: there is no torchdata"
    )

    def make(workers: int, **options: Any) -> Any:
        dataset = Dataset(source(corpus), batch_size=9, fields=FIELDS, **options)
        return torchdata.StatefulDataLoader(dataset, batch_size=None, num_workers=workers)

    loader = make(2)
    batches = iter(loader)
    for _ in range(3):
        next(batches)
    state = loader.state_dict()
    del batches, loader
    begun = time.monotonic()
    for workers, options in (3, {}), (2, {"rank": 0, "ranks": 2}):
        other = make(workers, **options)
        other.load_state_dict(state)
        with pytest.raises(ValueError, match=r"belongs to 2 workers \(ranks: 1\).*set num_workers"):
            next(iter(other))
    assert time.monotonic() - begun < 60
    own = state["_snapshot"]["_worker_snapshots"]["worker_1"]["dataset_state"]
    dataset = Dataset(source(corpus), batch_size=9)
    dataset.load_state_dict(own)
    assert dataset.state_dict() == own
    with pytest.raises(ValueError, match="belongs to 2 workers"):
        iter(dataset)
    dataset.load_state_dict(own)
    with pytest.raises(ValueError, match="belongs to worker 1, and this is worker 0"):
        list(data_loader(dataset, 2))
    with pytest.raises(ValueError, match="no state of such a loader"):
        Loader(source(corpus), batch_size=9).load_state_dict(own)
    # A state that is no worker's is one for all of them.
    dataset = Dataset(source(corpus), batch_size=9, fields=FIELDS)
    batches = iter(dataset)
    next(batches)
    state = dataset.state_dict()
    rest = [contents(batch) for batch in batches]
    dataset.load_state_dict(state)
    assert [contents(batch) for batch in data_loader(dataset, 2)] == rest


def test_one_loop_at_a_time(corpus: Any) -> None:
    """A loop that was ended from outside says so; one that ended by itself goes on being over."""
    loader = Loader(source(corpus), batch_size=9, fields=FIELDS)
    wanted = [expected(corpus, epoch, batch_size=9) for epoch in range(3)]
    first = iter(loader)
    next(first)
    second = iter(loader)
    for _ in range(2):
        with pytest.raises(RuntimeError, match="another loop over this Loader has begun.*two Loaders"):
            next(first)
    assert [contents(batch) for batch in second] == wanted[1]
    third = iter(loader)
    assert next(second, None) is None
    assert [contents(batch) for batch in third] == wanted[2]
    seen = 0
    with pytest.raises(RuntimeError, match="another loop"):
        for _ in loader:
            seen += sum(1 for _ in loader)
    assert seen == len(loader)
    state = loader.state_dict()
    for end, why in (
        (lambda: loader.set_epoch(0), "set_epoch"),
        (lambda: loader.load_state_dict(state), "load_state_dict"),
        (loader.close, "closed"),
    ):
        batches = iter(loader)
        next(batches)
        end()
        with pytest.raises(RuntimeError, match=why):
            next(batches)


@pytest.mark.parametrize("batch_size", [1, 9, 1000])
def test_lengths_that_workers_change(corpus: Any, batch_size: int) -> None:
    for partial in ("drop", "even"):
        options = {"batch_size": batch_size, "partial": partial}
        for ranks in (1, 2):
            dataset = Dataset(source(corpus), rank=ranks - 1, ranks=ranks, **options)
            if partial == "drop" and batch_size == 1000:
                assert len(dataset) == 0 == len(list(data_loader(dataset, 2)))
                continue
            with pytest.raises(TypeError, match="depends on the number of workers"):
                len(data_loader(dataset, 2))
            loader = Loader(source(corpus), rank=ranks - 1, ranks=ranks, **options)
            assert len(loader) == len(list(loader)) == len(list(data_loader(dataset, 0)))
    for ranks in (1, 2, 5):
        for rank in range(ranks):
            dataset = Dataset(source(corpus), rank=rank, ranks=ranks, batch_size=batch_size)
            loader = Loader(source(corpus), rank=rank, ranks=ranks, batch_size=batch_size)
            assert len(dataset) == len(loader)
            options = {"unit": "sequence", "batch_unit": "sequences"}
            dataset = Dataset(source(corpus), rank=rank, ranks=ranks, batch_size=batch_size, **options)
            assert len(dataset) == len(list(dataset))
    with pytest.raises(TypeError, match="not known"):
        len(Dataset(source(corpus), batch_size=batch_size, preset="cntk"))


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"fields": ["key"]}, ValueError),
        ({"dtypes": {"words": "int64"}}, ValueError),
        ({"dtypes": {"labels": "long long"}}, TypeError),
        ({"batchsize": 3}, ValueError),
        ({"rank": 2, "ranks": 2}, ValueError),
        ({"features": "scp:/nowhere.scp"}, FileNotFoundError),
    ],
)
def test_wrong_settings(corpus: Any, options: dict[str, Any], error: type[Exception]) -> None:
    for kind in (Loader, Dataset):
        with pytest.raises(error):
            next(iter(kind(source(corpus) | {"batch_size": 3}, **options)))


def test_errors_reach_the_trainer(corpus: Any) -> None:
    loader, dataset = Loader(source(corpus), batch_size=4), Dataset(source(corpus), batch_size=4)
    path = Path(corpus["feats.ark"])
    path.write_bytes(path.read_bytes()[:100])
    for batches in (loader, data_loader(dataset, 0), data_loader(dataset, 2)):
        with pytest.raises(seqfeed.Error):
            list(batches)


def test_forks_beside_a_running_loader(corpus: Any) -> None:
    """Workers that are forked while the library's threads run do not hang."""
    running = iter(Loader(source(corpus), batch_size=2))
    next(running)
    dataset = Dataset(source(corpus), batch_size=9, fields=FIELDS)
    next(iter(dataset))
    for _ in range(3):
        found = [contents(batch) for batch in data_loader(dataset, 2, timeout=60)]
        assert sum(len(batch[0]) for batch in found) == corpus.frames
    next(running)


def test_nothing_leaks(corpus: Any) -> None:
    loader, dataset = Loader(source(corpus), batch_size=8), Dataset(source(corpus), batch_size=8)

    def sweeps(count: int) -> None:
        for _ in range(count):
            for batch in loader:
                batch["features"].sum()
            for batch in dataset:
                batch["features"].sum()
        gc.collect()

    sweeps(20)
    files, memory = open_files(), resident()
    sweeps(50)
    assert open_files() <= files and resident() - memory < 4 << 20
    assert len(os.listdir("/proc/self/task")) < 20 + torch.get_num_threads()
    list(data_loader(dataset, 2))
    gc.collect()
    files = open_files()
    for _ in range(5):
        list(data_loader(dataset, 2))
    gc.collect()
    assert open_files() <= files + 2


@pytest.mark.skipif(not torch.cuda.is_available(), reason="SKIPPED: there is no CUDA device")
def test_on_a_device(corpus: Any) -> None:
    wanted = [expected(corpus, epoch, batch_size=9) for epoch in range(2)]
    loader = Loader(source(corpus), batch_size=9, fields=FIELDS, device="cuda")
    for epoch in range(2):
        found = []
        for batch in loader:
            assert batch["features"].is_cuda and batch["starts"].is_cuda
            found.append(contents(batch))
            if len(found) == 3:
                state = loader.state_dict()
        assert found == wanted[epoch]
    loader.load_state_dict(state)
    assert [contents(batch) for batch in loader] == wanted[1][3:]
    first, second = iter(loader), iter(loader)
    with pytest.raises(RuntimeError, match="another loop"):
        next(first)
    assert next(second)["features"].is_cuda


def test_ctc_out_of_the_box() -> None:
    """Padded characters and their lengths go into PyTorch's CTC loss as they are."""
    digits = Path(__file__).resolve().parents[2] / "examples" / "digits" / "train"
    options: Any = {
        "streams": {"text": {"units": "characters", "padding": 0}},
        "batch_size": 5,
        "batch_unit": "sequences",
    }
    symbols = seqfeed.Feed(str(digits), **options).symbols["text"]
    blank = len(symbols)
    fields = ["lengths", "text_lengths", "utterances"]
    found = {}
    for batch in Loader(str(digits), fields=fields, dtypes={"text": "int64"}, **options):
        targets, frames, letters = batch["text"], batch["lengths"], batch["text_lengths"]
        assert targets.shape == (len(letters), int(letters.max()))
        scores = batch["features"][..., : blank + 1].log_softmax(-1).transpose(0, 1)
        loss = torch.nn.functional.ctc_loss(
            scores, targets, frames, letters, blank=blank, reduction="none"
        )
        assert torch.isfinite(loss).all()
        for row, key in enumerate(batch["utterances"]):
            label = targets[row, : letters[row]].tolist()
            found[key] = "".join(symbols[number] for number in label)
            assert (targets[row, letters[row] :] == 0).all()
    lines = [line.split(" ", 1) for line in (digits / "text").read_text().splitlines()]
    assert found == {key: text.replace(" ", "<space>") for key, text in lines}
    # By default the lengths are there, too.
    assert {"lengths", "text_lengths"} <= next(iter(Loader(str(digits), **options))).keys()
