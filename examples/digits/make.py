"""Make the spoken-digits corpus in this directory from nothing.

The speech is synthesised by espeak-ng, one digit at a time, so the place of
every digit in an utterance is known exactly and no aligner is needed. The
features are 40-dimensional log-mel energies, 100 frames a second, taken from
25 ms windows of 16 kHz audio. Everything random is drawn from a fixed seed.

To run it, on Debian 12 with Python 3.11:

    apt-get update
    apt-get install -y espeak-ng
    python3 -m venv /tmp/digits-venv
    . /tmp/digits-venv/bin/activate
    pip install kaldi-native-fbank==1.22.5 kaldi_native_io==1.23.0
    pip install numpy==2.4.6 scipy==1.17.1
    python make.py

It writes labels.txt, train/ and test/ beside itself; an argument names another
directory to write to.
"""

# Pinned, as used for the data stored here:
#   espeak-ng 1.51 (Debian 1.51+dfsg-10+deb12u2)
#   kaldi-native-fbank==1.22.5
#   kaldi_native_io==1.23.0
#   numpy==2.4.6
#   scipy==1.17.1

import io
import math
import subprocess
import sys
import tempfile
import wave
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import kaldi_native_fbank as knf
import kaldi_native_io as kio
import numpy as np
from numpy.typing import NDArray
from scipy.signal import resample_poly

SEED = 20240229
RATE = 16000
WINDOW = RATE * 25 // 1000
SHIFT = RATE * 10 // 1000
MEL_BINS = 40

DIGITS = ("zero", "one", "two", "three", "four",
          "five", "six", "seven", "eight", "nine")  # fmt: skip
SILENCE = 0  # digit d has label d + 1

# espeak-ng voices, "language+variant". Utterance keys must sort by speaker,
# bytewise, and "+" sorts before "-": "en-us" beside "en-us+f2" would not do.
# espeak-ng 1.51 ignores the variant in "en-gb+f3" but not in "en+f3".
VOICES = (
    "en+f3",
    "en+m1",
    "en-029",
    "en-gb",
    "en-gb-scotland",
    "en-gb-x-rp",
    "en-us+f2",
    "en-us+f4",
    "en-us+m3",
    "en-us+m7",
)
HELD_OUT_VOICES = ("en-gb-x-gbclan", "en-us+f1")

LENGTHS = {3: 0.4, 4: 0.3, 5: 0.15, 6: 0.1, 7: 0.05}  # digits: share
GAP_SECONDS = (0.1, 0.4)  # least and greatest; short ones are likelier
GAIN_DB = (-6.0, 3.0)
NOISE = (0.001, 0.004)  # standard deviation, full scale being 1
PEAK = 0.4  # of a digit before the gain
TRIM_DB = -40.0  # quieter than this, below the peak, is silence

Audio = NDArray[np.float64]
Features = NDArray[np.float32]
Labels = NDArray[np.int32]


@dataclass(frozen=True)
class Part:
    """What one of the two data directories is made from."""

    name: str
    first_number: int  # of each voice's utterances
    utterances: dict[str, int]  # for each voice
    speeds: tuple[int, ...]  # words a minute
    pitches: tuple[int, ...]  # 0 to 99


PARTS = (
    Part(
        name="train",
        first_number=1,
        utterances={voice: 6 for voice in VOICES},
        speeds=(230, 260, 290, 320),
        pitches=(35, 45, 55, 65),
    ),
    Part(
        name="test",
        first_number=101,
        utterances={voice: 1 for voice in VOICES + HELD_OUT_VOICES},
        speeds=(245, 275, 305),
        pitches=(40, 50, 60),
    ),
)


@dataclass(frozen=True)
class Utterance:
    key: str
    voice: str
    digits: tuple[int, ...]
    features: Features
    labels: Labels


@cache
def synthesise(voice: str, digit: int, speed: int, pitch: int) -> Audio:
    """Speak one digit: 16 kHz, trimmed, with its peak at PEAK."""
    command = ["espeak-ng", "-v", voice, "-s", str(speed), "-p", str(pitch)]
    spoken = subprocess.run(
        [*command, "--stdout", DIGITS[digit]], check=True, capture_output=True
    )
    audio = trim(resample(*read_wav(spoken.stdout)))
    peak = float(np.abs(audio).max())
    return audio * (PEAK / peak)


def read_wav(data: bytes) -> tuple[Audio, int]:
    with wave.open(io.BytesIO(data)) as file:
        if (file.getnchannels(), file.getsampwidth()) != (1, 2):
            raise ValueError("expected 16-bit audio with one channel")
        # espeak-ng cannot seek back in a pipe to correct the length in its
        # header, so read to the end.
        samples = np.frombuffer(file.readframes(len(data)), dtype="<i2")
        return samples / 32768.0, file.getframerate()


def resample(audio: Audio, rate: int) -> Audio:
    common = math.gcd(rate, RATE)
    resampled: Audio = resample_poly(audio, RATE // common, rate // common)
    return resampled


def trim(audio: Audio) -> Audio:
    """Cut the silence off both ends."""
    level = np.abs(audio)
    loud = np.flatnonzero(level > level.max() * 10 ** (TRIM_DB / 20))
    return audio[loud[0] : loud[-1] + 1]


def assemble(
    pieces: Sequence[tuple[int, Audio]], rng: np.random.Generator
) -> tuple[Audio, Labels]:
    """Join digits with gaps between and around them.

    Returns the clean audio and the label of every sample.
    """
    audio: list[Audio] = []
    labels: list[Labels] = []

    def add(piece: Audio, label: int) -> None:
        audio.append(piece)
        labels.append(np.full(len(piece), label, dtype=np.int32))

    for digit, piece in pieces:
        add(gap(rng), SILENCE)
        add(piece, digit + 1)
    add(gap(rng), SILENCE)
    return np.concatenate(audio), np.concatenate(labels)


def gap(rng: np.random.Generator) -> Audio:
    least, greatest = GAP_SECONDS
    seconds = least + (greatest - least) * rng.beta(1, 5)
    return np.zeros(round(seconds * RATE))


def disturb(audio: Audio, rng: np.random.Generator) -> Audio:
    """Apply a random gain and add white noise."""
    gain = 10 ** (rng.uniform(*GAIN_DB) / 20)
    return audio * gain + rng.normal(0.0, rng.uniform(*NOISE), len(audio))


def log_mel(audio: Audio) -> Features:
    """Features as Kaldi computes them, from samples on the 16-bit scale."""
    options = knf.FbankOptions()
    options.frame_opts.samp_freq = RATE
    options.frame_opts.frame_length_ms = WINDOW * 1000 / RATE
    options.frame_opts.frame_shift_ms = SHIFT * 1000 / RATE
    options.frame_opts.dither = 0.0
    options.frame_opts.snip_edges = True
    options.mel_opts.num_bins = MEL_BINS
    fbank = knf.OnlineFbank(options)
    fbank.accept_waveform(RATE, np.rint(audio * 32768.0).tolist())
    fbank.input_finished()
    frames = [fbank.get_frame(i) for i in range(fbank.num_frames_ready)]
    return np.stack(frames).astype(np.float32)


def frame_labels(samples: Labels) -> Labels:
    """The label at the centre of every frame's window."""
    count = 1 + (len(samples) - WINDOW) // SHIFT
    return samples[WINDOW // 2 + SHIFT * np.arange(count)]


def make_utterance(
    part: Part,
    voice: str,
    number: int,
    digits: tuple[int, ...],
    rng: np.random.Generator,
) -> Utterance:
    pieces = [
        (
            digit,
            synthesise(
                voice,
                digit,
                int(rng.choice(part.speeds)),
                int(rng.choice(part.pitches)),
            ),
        )
        for digit in digits
    ]
    audio, samples = assemble(pieces, rng)
    features = log_mel(disturb(audio, rng))
    labels = frame_labels(samples)
    if len(features) != len(labels):
        raise ValueError(f"{len(features)} frames but {len(labels)} labels")
    return Utterance(f"{voice}-{number:04}", voice, digits, features, labels)


class DigitStrings:
    """Draws digit strings, none twice, with every digit equally often."""

    def __init__(self, rng: np.random.Generator) -> None:
        self._rng = rng
        self._deck: list[int] = []
        self._seen: set[tuple[int, ...]] = set()

    def draw(self) -> tuple[int, ...]:
        while True:
            length = int(self._rng.choice(list(LENGTHS), p=list(LENGTHS.values())))
            digits = tuple(self._next() for _ in range(length))
            if digits not in self._seen:
                self._seen.add(digits)
                return digits

    def _next(self) -> int:
        if not self._deck:
            self._deck = self._rng.permutation(len(DIGITS)).tolist()
        return self._deck.pop()


def check_voices(voices: Sequence[str]) -> None:
    """espeak-ng passes over a variant it does not know without a word."""
    spoken = {
        b"".join(synthesise(voice, digit, 260, 50).tobytes() for digit in range(10))
        for voice in voices
    }
    if len(spoken) != len(voices):
        raise ValueError("two voices sound the same")


def make_part(
    part: Part, strings: DigitStrings, rng: np.random.Generator
) -> list[Utterance]:
    utterances = [
        make_utterance(part, voice, part.first_number + i, strings.draw(), rng)
        for voice, count in part.utterances.items()
        for i in range(count)
    ]
    utterances.sort(key=lambda utterance: utterance.key.encode())
    voices = [utterance.voice.encode() for utterance in utterances]
    if voices != sorted(voices):
        raise ValueError("the keys do not sort by speaker")
    return utterances


def compression(index: int) -> kio.CompressionMethod | None:
    """How the matrix at this place in the archive is stored.

    Of twelve, four are plain float32, six "CM", one "CM2" and one "CM3".
    """
    if index % 3 == 0:
        return None
    if index % 12 == 4:
        return kio.CompressionMethod.kTwoByteAuto
    if index % 12 == 8:
        return kio.CompressionMethod.kOneByteAuto
    return kio.CompressionMethod.kSpeechFeature


def table_entry(
    key: str, matrix: Features, method: kio.CompressionMethod | None
) -> bytes:
    """One matrix as Kaldi writes it in an archive, key included."""
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch, "entry.ark")
        if method is None:
            with kio.FloatMatrixWriter(f"ark:{path}") as writer:
                writer.write(key, matrix)
        else:
            with kio.CompressedMatrixWriter(f"ark:{path}") as writer:
                writer.write(key, matrix, method)
        return path.read_bytes()


def write_features(directory: Path, utterances: Sequence[Utterance]) -> None:
    """Write feats.ark, and feats.scp with paths relative to its directory."""
    archive = bytearray()
    script: list[str] = []
    for index, utterance in enumerate(utterances):
        key = utterance.key
        script.append(f"{key} feats.ark:{len(archive) + len(key) + 1}\n")
        archive += table_entry(key, utterance.features, compression(index))
    (directory / "feats.ark").write_bytes(archive)
    (directory / "feats.scp").write_text("".join(script))


def write_labels(directory: Path, utterances: Sequence[Utterance]) -> None:
    with kio.Int32VectorWriter(f"ark:{directory / 'ali.ark'}") as writer:
        for utterance in utterances:
            writer.write(utterance.key, utterance.labels.tolist())


def write_texts(directory: Path, utterances: Sequence[Utterance]) -> None:
    speakers = [f"{u.key} {u.voice}\n" for u in utterances]
    words = [f"{u.key} {' '.join(DIGITS[d] for d in u.digits)}\n" for u in utterances]
    (directory / "utt2spk").write_text("".join(speakers))
    (directory / "text").write_text("".join(words))


def main(target: Path) -> None:
    check_voices(VOICES + HELD_OUT_VOICES)
    rng = np.random.default_rng(SEED)
    strings = DigitStrings(rng)
    for part in PARTS:
        utterances = make_part(part, strings, rng)
        directory = target / part.name
        directory.mkdir(parents=True, exist_ok=True)
        write_features(directory, utterances)
        write_labels(directory, utterances)
        write_texts(directory, utterances)
        frames = sum(len(utterance.labels) for utterance in utterances)
        print(f"{part.name}: {len(utterances)} utterances, {frames} frames")
    (target / "labels.txt").write_text("\n".join(("sil", *DIGITS)) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
