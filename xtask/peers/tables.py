"""Reading and writing Kaldi tables with the packages people use today: one case, one JSON line.

usage: CORPUS=DIR python tables.py CASE
"""

import json
import os
import resource
import sys
import time

corpus = os.environ["CORPUS"]
case = sys.argv[1]
package, task = case.split("-", 1)


def at(name):
    return os.path.join(corpus, name)


def keys(name):
    with open(at(name)) as lines:
        return [line.split(None, 1)[0] for line in lines]


def kni():
    import kaldi_native_io as k

    def read(reader, rspecifier):
        with reader(rspecifier) as table:
            for _, value in table:
                pass

    def copy(reader, rspecifier, writer, wspecifier, convert=lambda value: value):
        with reader(rspecifier) as table, writer(wspecifier) as out:
            for key, value in table:
                out.write(key, convert(value))

    floats, ints = k.SequentialFloatMatrixReader, k.SequentialInt32VectorReader

    def random(rspecifier, names):
        with k.RandomAccessFloatMatrixReader(rspecifier) as table:
            for key in keys(names):
                table[key]

    def compress():
        with floats(f"ark:{at('feats.ark')}") as table:
            with k.CompressedMatrixWriter("ark:/dev/null") as out:
                for key, value in table:
                    out.write(key, value, k.CompressionMethod.kSpeechFeature)

    return {
        "read-ark": lambda: read(floats, f"ark:{at('feats.ark')}"),
        "read-scp": lambda: read(floats, f"scp:{at('feats.scp')}"),
        "read-scp-shuffled": lambda: read(floats, f"scp:{at('shuffled.scp')}"),
        "random-ark": lambda: random(f"ark:{at('feats.ark')}", "shuffled.scp"),
        "random-ark-s-cs": lambda: random(f"ark,s,cs:{at('feats.ark')}", "feats.scp"),
        "random-scp": lambda: random(f"scp:{at('feats.scp')}", "shuffled.scp"),
        "copy-ark-scp": lambda: copy(
            floats, f"ark:{at('feats.ark')}",
            k.FloatMatrixWriter, f"ark,scp:{at('out.ark')},{at('out.scp')}"),
        "read-text": lambda: read(floats, f"ark:{at('text.ark')}"),
        "write-text": lambda: copy(
            floats, f"ark:{at('tenth.ark')}", k.FloatMatrixWriter, "ark,t:/dev/null"),
        "read-ali": lambda: read(ints, f"ark:{at('ali.ark')}"),
        "read-ali-text": lambda: read(ints, f"ark:{at('ali.txt.ark')}"),
        "write-ali-text": lambda: copy(
            ints, f"ark:{at('ali.ark')}", k.Int32VectorWriter, "ark,t:/dev/null"),
        "read-compressed": lambda: read(floats, f"ark:{at('compressed.ark')}"),
        "write-compressed": compress,
    }


def kaldiio():
    import kaldiio as k

    def read(items):
        for _, value in items:
            pass

    def copy():
        with k.WriteHelper(f"ark,scp:{at('out.ark')},{at('out.scp')}") as out:
            for key, value in k.load_ark(at("feats.ark")):
                out(key, value)

    def random():
        table = k.load_scp(at("feats.scp"))
        for key in keys("shuffled.scp"):
            table[key]

    return {
        "read-ark": lambda: read(k.load_ark(at("feats.ark"))),
        "read-scp": lambda: read(k.load_scp_sequential(at("feats.scp"))),
        "random-scp": random,
        "copy-ark-scp": copy,
        "read-ali": lambda: read(k.load_ark(at("ali.ark"))),
        "read-compressed": lambda: read(k.load_ark(at("compressed.ark"))),
    }


run = {"kni": kni, "kaldiio": kaldiio}[package]()[task]
# A pass to warm up, except where it takes minutes.
if package != "kaldiio" or task != "read-compressed":
    run()
usage = resource.getrusage(resource.RUSAGE_SELF)
cpu, wall = usage.ru_utime + usage.ru_stime, time.perf_counter()
run()
wall = time.perf_counter() - wall
usage = resource.getrusage(resource.RUSAGE_SELF)
print(json.dumps({
    "case": case,
    "wall": wall,
    "cpu": usage.ru_utime + usage.ru_stime - cpu,
    "peak": usage.ru_maxrss * 1024,
}))
