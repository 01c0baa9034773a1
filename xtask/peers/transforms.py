"""Speaker normalization, deltas and low frame rate on the fly, as people write them with torch
today: one case, one JSON line.

usage: CORPUS=DIR python transforms.py torch|kaldiio|lhotse [plain]

Minibatches of at most 32,000 padded frames out of utterances of like length. `torch` has the
features in memory and counts only transforms and padding. `plain` leaves the transforms out.
"""

import json
import os
import random
import resource
import sys
import time

import torch

corpus = os.environ["CORPUS"]
case = sys.argv[1]
plain = sys.argv[2:] == ["plain"]
MOST = 32000


def at(name):
    return os.path.join(corpus, name)


def table(name):
    with open(at(name)) as lines:
        return dict(line.split(None, 1) for line in lines)


lengths = {key: int(length) for key, length in table("utt2num_frames").items()}
speakers = {key: speaker.strip() for key, speaker in table("utt2spk").items()}


def minibatches():
    found, current = [], []
    for key in sorted(lengths, key=lengths.get):
        if current and lengths[key] * (len(current) + 1) > MOST:
            found.append(current)
            current = []
        current.append(key)
    found.append(current)
    random.Random(7).shuffle(found)
    return found


class Statistics:
    """Sums by speaker. They are made before the clock starts, as recipes have them in a file."""

    def __init__(self, features):
        sums = {}
        for key, speaker in speakers.items():
            x = features(key).double()
            count, total, squares = sums.get(speaker, (0, 0.0, 0.0))
            sums[speaker] = (count + len(x), total + x.sum(0), squares + (x * x).sum(0))
        self.of = {}
        for speaker, (count, total, squares) in sums.items():
            mean = total / count
            scale = (squares / count - mean * mean).clamp(min=1e-20).rsqrt()
            self.of[speaker] = (mean.float(), scale.float())


def deltas(x, window=2):
    """The slope over time, with the end frames repeated."""
    frames = len(x)
    ends = torch.cat([x[:1].expand(window, -1), x, x[-1:].expand(window, -1)])
    norm = 2.0 * sum(step * step for step in range(1, window + 1))
    out = torch.zeros_like(x)
    for step in range(1, window + 1):
        ahead, behind = ends[window + step :][:frames], ends[window - step :][:frames]
        out += (ahead - behind) * (step / norm)
    return out


def low_frame_rate(x, m=7, n=6):
    frames = -(-len(x) // n)
    left = (m - 1) // 2
    right = max(0, (frames - 1) * n + m - left - len(x))
    x = torch.cat([x[:1].expand(left, -1), x, x[-1:].expand(right, -1)])
    return x.unfold(0, m, n)[:frames].transpose(1, 2).reshape(frames, -1)


def transform(x, key, statistics):
    if plain:
        return x
    mean, scale = statistics.of[speakers[key]]
    x = (x - mean) * scale
    slopes = deltas(x)
    return low_frame_rate(torch.cat([x, slopes, deltas(slopes)], 1))


def padded(features):
    return torch.nn.utils.rnn.pad_sequence(features, batch_first=True)


def kaldiio_features():
    import kaldiio

    matrices = kaldiio.load_scp(at("feats.scp"), max_cache_fd=4)
    return lambda key: torch.from_numpy(matrices[key].copy())


def prepare_torch():
    read = kaldiio_features()
    features = {key: read(key) for key in lengths}
    statistics = Statistics(features.__getitem__)

    def sweep():
        for keys in minibatches():
            yield padded([transform(features[key], key, statistics) for key in keys])

    return sweep


def prepare_kaldiio():
    features = kaldiio_features()
    statistics = Statistics(features)

    def sweep():
        for keys in minibatches():
            yield padded([transform(features(key), key, statistics) for key in keys])

    return sweep


def prepare_lhotse():
    """Cuts of Kaldi's matrices, lhotse's bucketing sampler, transforms on the fly."""
    # lhotse makes samplers without data, which PyTorch before 2 does not know.
    torch.utils.data.Sampler.__init__ = lambda self, data_source=None: None

    from lhotse import CutSet, Features, MonoCut
    from lhotse.dataset import DynamicBucketingSampler

    cuts = []
    for number, (key, frames) in enumerate(lengths.items()):
        of = Features(
            type="kaldi", num_frames=frames, num_features=40, frame_shift=0.01, start=0,
            sampling_rate=16000, duration=frames * 0.01, storage_type="kaldiio",
            storage_path=at("feats.scp"), storage_key=key, recording_id=key, channels=0,
        )  # fmt: skip
        cuts.append(MonoCut(key, 0, of.duration, 0, features=of))
    cuts = CutSet.from_cuts(cuts)
    statistics = Statistics(kaldiio_features())

    def sweep():
        sampler = DynamicBucketingSampler(cuts, max_duration=MOST * 0.01, num_buckets=30, seed=7)
        for batch in sampler:
            features = [(torch.from_numpy(cut.load_features().copy()), cut.id) for cut in batch]
            yield padded([transform(x, key, statistics) for x, key in features])

    return sweep


def cpu():
    own = resource.getrusage(resource.RUSAGE_SELF)
    return own.ru_utime + own.ru_stime


sweep = {"torch": prepare_torch, "kaldiio": prepare_kaldiio, "lhotse": prepare_lhotse}[case]()
started, cpu_before, count, values = time.perf_counter(), cpu(), 0, 0
for batch in sweep():
    count += len(batch)
    values += batch.numel()
result = {
    "name": case, "unit": "utterances", "n": count, "values": values,
    "wall_med": time.perf_counter() - started, "cpu_med": cpu() - cpu_before,
    "rss_self_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
}  # fmt: skip
print(json.dumps(result))
