"""Writes the seeds of the fuzz targets that are made by a program: `python3 fuzz/seeds.py`.

Everything is made here, byte for byte, with Python's own library. Only Parquet files and pickles of
numpy's arrays are written by seqfeed: by the program that `SEQFEED` names, or `seqfeed` on the
path. What the seeds of a target look like stands at its function.
"""

import gzip
import hashlib
import io
import os
import pickle
import re
import struct
import subprocess
import tempfile
import zipfile
from pathlib import Path

CORPUS = Path(__file__).parent / "corpus"
CRATES = Path(__file__).parent.parent / "crates"


def seed(target, name, data):
    """One file of a target's corpus."""
    data = data.encode() if isinstance(data, str) else data
    assert len(data) <= 8192, f"{target}/{name} has {len(data)} bytes: seeds are small"
    (CORPUS / target).mkdir(parents=True, exist_ok=True)
    (CORPUS / target / name).write_bytes(data)


def htk_label():
    """A label file."""
    seed("htk_label", "times", "0 1200000 sil -35.5\n1200000 2000000 ah -12 word\n2000000 2100000 sil\n")
    seed("htk_label", "names", "one\ntwo\n\"quoted name\"\n'single'\n\\101\\\"x\n")
    seed("htk_label", "levels", "0 5 s2 -1 aa -2 one\n5 9 s3 -1\n9 20 s4 -3 bb -4 two\n")
    seed("htk_label", "alternatives", "0 5 a\n5 9 b\n///\n0 4 c\n4 9 d\n///\n\n0 9 e\n")
    seed("htk_label", "dot", "0 1 a-b+c\n.\nbehind\n")
    seed("htk_label", "timit", "0 3050 h#\n3050 4559 sh\n; comment\n4559 5723 ix\n")
    seed("htk_label", "scribe", "LHD: V0.3.04\nLBB: 0, 10, 200,sh e\nLBA: 200,,300,x\nUTS: 5,y\nELF:\n")
    seed("htk_label", "esps", "signal x\nnfields 1\n#\n 0.25 121 sil\n 0.5 121 ah\n")


def htk_mlf():
    """What follows the first line of a master label file, or a whole one."""
    entries = '"*/spk1/utt1.lab"\n0 1200000 sil\n1200000 2000000 ah\n.\n"*/utt2.rec"\n0 100000 a 3.5\n.\n'
    seed("htk_mlf", "entries", entries)
    seed("htk_mlf", "whole", "#!MLF!#\n" + entries)
    seed("htk_mlf", "patterns", '"*/a?.lab" -> "/dir"\n"x%%.lab" => "d e"\n"y.lab"\na\n.\n')
    seed("htk_mlf", "states", '"*/u.lab"\r\n0 200000 a[2] 1 aa\r\n200000 300000 b[3] 1\r\n.\r\n')
    seed("htk_mlf", "twice", '"a.lab"\n0 100000 a\n.\n"a.lab"\n0 200000 b\n///\n0 1 c\n.\n')
    seed("htk_mlf", "blanks", '"a.lab"\nx\n . \n"b.lab"\ny\n.')


def checksum(data):
    """HTK's checksum over the bytes of the data (`_K`)."""
    crc = 0
    for byte in data:
        crc = ((crc << 2) & 0xFFFF) + (crc >> 14) ^ byte
    return crc & 0xFFFF


def htk_param():
    """A byte of settings, and a parameter file: bits 0 and 1 say its byte order, 2 that it may end
    early, 3 that checksums are verified, 4 and 5 what is done with damaged IREFC files."""

    def file(order, samples, sample_bytes, kind, data):
        return struct.pack(order + "iihH", samples, 100_000, sample_bytes, kind) + data

    floats = struct.pack(">6f", 1, -2, 0.5, 3, 1e9, -0.0)
    seed("htk_param", "user", b"\x0a" + file(">", 3, 8, 9, floats))
    seed("htk_param", "little", b"\x01" + file("<", 2, 12, 0o406, struct.pack("<6f", 1, 2, 3, 4, 5, 6)))
    seed("htk_param", "waveform", b"\x0a" + file(">", 5, 2, 0, struct.pack(">5h", 1, -2, 3, -32768, 32767)))
    seed("htk_param", "discrete", b"\x0a" + file(">", 2, 4, 10, struct.pack(">4h", 0, 1, 2, 3)))
    seed("htk_param", "irefc", b"\x0a" + file(">", 2, 4, 5, struct.pack(">4h", 32767, -32767, 16384, 0)))
    seed("htk_param", "irefc_damaged", b"\x0a" + file(">", 6, 4, 5, struct.pack(">4f4h", 1, 1, 0, 0, 1, 2, 3, 4)))
    packed = struct.pack(">4f", 100, 100, 0, 1) + struct.pack(">4h", 5, -5, 200, 100)
    seed("htk_param", "compressed", b"\x0a" + file(">", 2 + 4, 4, 0o2007, packed))
    seed("htk_param", "checksum", b"\x0a" + file(">", 3, 8, 9 | 0o10000, floats + struct.pack(">H", checksum(floats))))
    seed("htk_param", "short", b"\x06" + file(">", 9, 8, 9, floats))


def htk_script():
    """A byte of settings, and a script: bit 0 is CNTK's style, bits 1 and 2 say where names belong,
    bit 3 forbids extended names."""
    seed("htk_script", "plain", b"\x04a.mfc\nb/c.mfc  d.mfc\n\"e f.mfc\"\n")
    seed("htk_script", "extended", b"\x04u1.mfc=feats.mfc[0,99]\nu2.mfc=feats.mfc[100,199]\nf.mfc[3,4]\n")
    seed("htk_script", "cntk", b"\x05u1.mfc=.../feats.mfc[0,99]\r\nu2.mfc=feats.mfc[100,199]\r\n\r\nx y.mfc\r\n")
    seed("htk_script", "under", b"\x03a\\b.mfc\n/abs/x.mfc\n...\\y=c:\\z.mfc[0,1]\n")
    seed("htk_script", "beside", b"\x00a=b[0,]\n'q=r'\n-S\n")
    seed("htk_script", "names", b"\x0ca=b[1,2]\n[1,2]\n=\n")


def pdnn_spec():
    """A data specification."""
    seed("pdnn_spec", "all", "train*.pfile.gz,partition=600m,random=True,stream=False,context=5:3,seed=1,batch=64")
    seed("pdnn_spec", "labels", "a.pickle,ignore-label=0:3-9,map-label=1:0/4-6:2,reshuffle=True")
    seed("pdnn_spec", "tasks", "a.pfile|b.pfile|c[0-9]?.npz,lcxt=2,rcxt=1")
    seed("pdnn_spec", "kaldi", "feats.scp,label=x.ali.gz,context=2")
    seed("pdnn_spec", "unknown", "a.pfile,foo=1,random=maybe,context=")


def pfile():
    """The text of a header behind its first line, a NUL, and what follows the header."""

    def header(sentences, frames, features, labels, table):
        columns = 2 + features + labels
        return (
            f"-num_sentences {sentences}\n-num_frames {frames}\n"
            f"-first_feature_column 2\n-num_features {features}\n"
            f"-first_label_column {2 + features}\n-num_labels {labels}\n"
            f"-format dd{'f' * features}{'d' * labels}\n"
            f"-data size {columns * frames} offset 0 ndim 2 nrow {frames} ncol {columns}\n"
            + (f"-sent_table_data size {sentences + 1} offset {columns * frames} ndim 1\n" if table else "")
            + "-end\n"
        ).encode()

    def rows(lengths, features, labels):
        data = b""
        for sentence, length in enumerate(lengths):
            for frame in range(length):
                data += struct.pack(">II", sentence, frame)
                data += struct.pack(f">{features}f", *(frame + 0.5 * n for n in range(features)))
                data += struct.pack(f">{labels}I", *(frame % 3 for _ in range(labels)))
        return data

    table = struct.pack(">3I", 0, 2, 3)
    seed("pfile", "table", header(2, 3, 2, 1, True) + b"\0" + rows([2, 1], 2, 1) + table)
    seed("pfile", "no_table", header(2, 3, 2, 1, False) + b"\0" + rows([2, 1], 2, 1))
    seed("pfile", "no_labels", header(2, 3, 3, 0, True) + b"\0" + rows([2, 1], 3, 0) + table)
    seed("pfile", "empty", header(0, 0, 1, 1, True) + b"\0" + struct.pack(">I", 0))
    seed("pfile", "wrong_table", header(2, 3, 1, 1, True) + b"\0" + rows([2, 1], 1, 1) + struct.pack(">3I", 0, 9, 3))


def npy(descr, shape, data, fortran=False, version=1):
    """An `.npy` file."""
    text = f"{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {shape}, }}"
    start = 10 if version == 1 else 12
    text += " " * (-(start + len(text) + 1) % 64) + "\n"
    length = struct.pack("<H" if version == 1 else "<I", len(text))
    return b"\x93NUMPY" + bytes([version, 0]) + length + text.encode() + data


def plain_pickles():
    """Values without arrays, in all protocols."""
    frames = [[0.5, 1.5], [2.5, -3.5]]
    for protocol in range(6):
        value = (frames, [3, 70_000 * protocol])
        seed("pickle", f"lists{protocol}", pickle.dumps(value, protocol))
    shared = [1, 2]
    for protocol in (0, 2, 4):
        value = {"a": shared, "b": shared, "c": (None, True, False, 2**70, "\u00e9", b"\xe9\0"), (): {}}
        seed("pickle", f"kinds{protocol}", pickle.dumps(value, protocol))
    seed("pickle", "calls", b"cos\nsystem\n(S'echo'\ntR.")


def arrays():
    """`.npy` files, and the pickles of numpy's arrays that the tests of `seqfeed-pdnn` have."""
    floats = struct.pack("<6f", 1, 2, 3, 4, 5, 6)
    seed("pickle", "npy_f4", npy("<f4", (3, 2), floats))
    seed("pickle", "npy_v2", npy("<f4", (3, 2), floats, version=2))
    seed("pickle", "npy_i8", npy(">i8", (2,), struct.pack(">2q", 1, -1)))
    seed("pickle", "npy_fortran", npy("<f8", (2, 2), struct.pack("<4d", 1, 2, 3, 4), fortran=True))
    for path in (CRATES / "seqfeed-pdnn/tests/fixtures").glob("*.pickle"):
        seed("pickle", path.name.split("_")[-1].removesuffix(".pickle"), path.read_bytes())


def converted(sink, *options):
    """A file that seqfeed writes of two short utterances with labels."""
    with tempfile.TemporaryDirectory() as directory:
        at = Path(directory)
        (at / "f.ark").write_text("a  [\n 1 2\n 3 4\n 5 6 ]\nb  [\n -1 0.5 ]\n")
        (at / "l.ark").write_text("a 1 2 3\nb 70000\n")
        program = os.environ.get("SEQFEED", "seqfeed")
        names = ["--features", "ark:f.ark", "--labels", "ark:l.ark"]
        subprocess.run([program, "convert", *names, sink, *options], cwd=at, check=True, stdout=subprocess.DEVNULL)
        return (at / sink).read_bytes()


def parquet():
    """A Parquet file without its first four bytes, which the target puts before."""
    for name, options in [("plain", []), ("zstd", ["--compress=zstd"]), ("f64", ["--dtype", "float64"])]:
        data = converted("x.parquet", *options)
        assert data.startswith(b"PAR1")
        seed("parquet", name, data[4:])


def numpy_pickles():
    """Features and labels as seqfeed writes them."""
    for protocol in "2", "5":
        seed("pickle", f"ours{protocol}", converted("x.pickle", "--protocol", protocol, "--allow-lossy"))


def npz():
    """A byte (modulo 3: a whole archive, a stored member, a packed one), and an archive; or one
    member and, behind `0xFF 0x00`, perhaps another one."""

    def archive(members, method=zipfile.ZIP_STORED):
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w", method) as archive:
            for name, member in members.items():
                archive.writestr(zipfile.ZipInfo(name), member, method)
        return out.getvalue()

    features = npy("<f4", (2, 2), struct.pack("<4f", 1, -2, 0.5, 4))
    labels = npy("<i8", (2,), struct.pack("<2q", 3, 70_000))
    both = {"labels.npy": labels, "features.npy": features}
    seed("npz", "whole", b"\0" + archive(both))
    seed("npz", "packed", b"\0" + archive(both, zipfile.ZIP_DEFLATED))
    seed("npz", "empty", b"\0" + archive({}))
    seed("npz", "names", b"\0" + archive({"a/../b.npy": features, "\u00e9": labels}))
    seed("npz", "members", b"\1" + features + b"\xff\0" + labels)
    seed("npz", "one", b"\2" + npy(">f8", (1, 2), struct.pack(">2d", 1, 2), fortran=True))
    seed("npz", "short", b"\2" + features[:-3] + b"\xff\0" + labels)


def alignments():
    """Lines of alignments."""
    seed("alignments", "lines", "utt01 0 51 51 48 7\nutt02 2147483647 -2147483648\n")
    seed("alignments", "again", "a 1 2\r\n\n  b\t-4\na 5 6\nc")
    seed("alignments", "packed", gzip.compress(b"a 1 2 3\nb 4\n", mtime=0))
    seed("alignments", "wrong", "a 1 2.5\nb +3 0x1\n")


def corpus_toml():
    """A description."""
    seed(
        "corpus_toml",
        "short",
        '[streams.features]\n'
        'source = "scp:f.scp"\n'
        'context = "5:3"\n'
        '[streams.labels]\n'
        'source = ["ark:a", "ark:b"]\n'
        'kind = "label"\n'
        '[feed]\n'
        'batch-size = 64\n',
    )
    seed(
        "corpus_toml",
        "streams",
        '[feed]\n'
        'unit = "sequence"\n'
        'batch-unit = "padded"\n'
        'bucket = 100\n'
        'layout = "padded"\n'
        '[streams."a b"]\n'
        'source = "x.htk"\n'
        'kind = "sparse"\n'
        'dim = 7\n'
        'extent = "own"\n'
        '[streams.features]\n'
        'source = "t.parquet#f"\n'
        'context = [1, 2]\n'
        'dtype = "float64"\n',
    )
    seed(
        "corpus_toml",
        "reader",
        'reader = "train.ctf"\n'
        'preset = "cntk"\n'
        '[cntk]\n'
        'local-timeline = false\n'
        'cross-sweeps = true\n'
        'epoch = "sweep"\n'
        'truncation = 20\n'
        '[inputs.x]\n'
        'alias = "f"\n'
        'dim = 3\n'
        'format = "dense"\n'
        'defines-mb-size = true\n',
    )
    seed(
        "corpus_toml",
        "data",
        'data = "a.pfile,context=5"\n'
        'task = 1\n'
        '[pdnn]\n'
        'partition = "600m"\n'
        'reshuffle = true\n'
        'stream = true\n',
    )
    seed(
        "corpus_toml",
        "limits",
        'corpus = "t.arrow"\n'
        '[streams.labels]\n'
        'ignore = "0:2:7-9"\n'
        'map = "1:0/4-6:2"\n'
        '[reading]\n'
        'missing = "skip"\n'
        'errors = 7\n'
        '[feed]\n'
        'window = "200000 samples"\n'
        'memory = "1.5 GiB"\n'
        'sweeps = 2\n'
        'samples = 900\n'
        '[ranks]\n'
        'rank = 1\n'
        'ranks = 4\n',
    )
    seed(
        "corpus_toml",
        "transforms",
        'transforms = ["subsample,n=3,offset=1", { name = "noise", deviation = 0.1 }]\n'
        '[streams.features]\n'
        'source = "scp:f.scp"\n'
        'transforms = ["select,dims=0-12,15"]\n'
        '[streams.labels]\n'
        'source = "ark:a"\n'
        'kind = "label"\n'
        'map = "1:0"\n'
        '[feed]\n'
        'seed = 3\n',
    )


def state():
    """A byte of settings, and a state."""
    place = (
        '{"version":2,"corpus":"","minibatch":6,"samples":30,'
        '"order":{"sweep":1,"item":4,"part":{"place":0,"collected":0}},"share":{"dealt":0},'
        '"pool":{"taken":0,"size":null},"deal":{"apart":null},"rows":{"epoch":0,"slots":[]}}'
    )
    slots = '[{"delivered":1,"sequences":[[0,0,0,false]]},{"delivered":0,"sequences":[]}]'
    rows = place.replace('"epoch":0,"slots":[]', f'"epoch":1,"slots":{slots}')
    for choice in range(0, 64, 8):
        seed("state", f"place{choice // 8}", bytes([choice]) + place.encode())
    pool = place.replace('"taken":0,"size":null', '"taken":2,"size":{"samples":7}')
    seed("state", "pool", b"\x11" + pool.encode())
    seed("state", "rows", b"\x20" + rows.encode())
    seed("state", "part", b"\x2b" + place.replace('"place":0,"collected":0', '"place":2,"collected":3').encode())
    seed("state", "both", b"\x32" + rows.encode())
    seed("state", "beginning", b"\0" + re.sub(r":\d+", ":0", place).replace("n\":0", "n\":2", 1).encode())


def feed():
    """Bytes that settings are drawn from, as they come."""
    for number in range(8):
        digest = b"".join(hashlib.sha256(bytes([number, part])).digest() for part in range(6))
        seed("feed", f"any{number}", digest)


def shards():
    """Target, number of shards; which file is tampered with, how, where, with what byte; number of
    sequences, their lengths; what stands in place of a record."""
    record = b'{"conversion":"0","shards":{}}'
    for target in range(8):
        seed("shards", f"target{target}", bytes([target, 2, target, target, 9, 0, 4, 3, 9, 1, 30]) + record)
    seed("shards", "removed", bytes([2, 3, 0, 0, 0, 0, 5, 1, 2, 3, 4, 5]))
    seed("shards", "cut", bytes([0, 3, 1, 1, 1, 0, 3, 8, 8, 8]))
    seed("shards", "record", bytes([2, 4, 255, 3, 4, 49, 4, 8, 8, 8, 8]))
    seed("shards", "too_many", bytes([2, 9, 0, 0, 0, 0, 2, 5, 5]))


def tool_options():
    """The number of the tool, and words, one a line. The target makes the files that they name."""
    calls = {
        0: "--delta-order=1 --truncate=2 ark:f ark:out",
        1: "ark:i ark:out",
        3: "--norm-vars=true --utt2spk=ark:u ark:f ark:f ark:out",
        5: "--spk2utt=ark:s ark:f ark:out",
        7: "--config=c --compress=t --compression-method=3 --write-num-frames=ark,t:n scp:s ark,scp:o.ark,o.scp",
        11: "--scale=0.5 --binary=false m out",
        13: "ark:v ark,t:out",
        15: "--min-segment-length=0.01 ark:f g ark:out",
        18: "scp,p:s ark,t:out",
        19: "--print-args=f -- ark:f ark:out",
        21: "m",
        23: "--Scale1=2 --scale_2=-1 ark:f ark:f ark:out",
        29: "--length-tolerance=2 ark:f ark:f ark:out",
        31: "1,0-1 ark:f ark:out",
        33: "--left-context=2 --right-context=1 ark:f ark:out",
        34: "--n=2 --offset=-1 ark:f ark:out",
        35: "--n=1 --include=i ark:f ark:out",
        36: "m ark:f ark,t:out",
        38: "ark:v out",
        39: "--help",
    }
    for tool, words in calls.items():
        seed("tool_options", f"tool{tool}", bytes([tool]) + "\n".join(words.split()).encode())


def corpus_names():
    """A name."""
    names = (
        "scp:feats.scp,context=5,random=True|ark,s,cs:-|c.toml|c.toml,seed=3|h.scp|htk:h.mfc[1,2]|x.mlf"
        "|a.parquet#f|t.arrow,batch=4|train.cntk#Train.reader|reader.json|a.ctf.gz,context=1:2"
        "|train*.pfile,partition=600m|ark,scp:o.JOB.ark,o.JOB.scp|kaldi:out.x|htk-files:out|o.ctf.gz|pickle:-|o.NPZ"
    )
    for number, name in enumerate(names.split("|")):
        seed("corpus_names", f"{number:02}", name)
    seed("corpus_names", "tasks", "a.pfile|b.pickle,label=x.ali")


def main():
    htk_label()
    htk_mlf()
    htk_param()
    htk_script()
    pdnn_spec()
    pfile()
    plain_pickles()
    arrays()
    parquet()
    numpy_pickles()
    npz()
    alignments()
    corpus_toml()
    state()
    feed()
    shards()
    tool_options()
    corpus_names()


if __name__ == "__main__":
    main()
