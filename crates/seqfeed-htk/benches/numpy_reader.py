"""Reads the HTK parameter files of a script as most people do in Python; prints CPU seconds.

    numpy_reader.py SCRIPT                    # one pass over the files, a name a line
    numpy_reader.py make DIR [FILES] [DIM]    # writes files of random frames, plain and compressed
"""

import os
import struct
import sys
import time

import numpy as np


def read(name):
    with open(name, "rb") as file:
        frames, _, size, kind = struct.unpack(">iihh", file.read(12))
        if kind & 0o2000:  # _C
            columns = size // 2
            scale = np.frombuffer(file.read(4 * columns), ">f4").astype("f4")
            bias = np.frombuffer(file.read(4 * columns), ">f4").astype("f4")
            frames -= 4
            data = np.frombuffer(file.read(frames * size), ">i2").reshape(frames, columns)
            return (data + bias) / scale
        data = np.frombuffer(file.read(frames * size), ">f4")
        return data.reshape(frames, size // 4).astype("f4")


def make(directory, files=5218, dim=39):
    random = np.random.default_rng(1)
    lengths = random.integers(30, 1200, files)
    for form in ("plain", "compressed"):
        os.makedirs(os.path.join(directory, form), exist_ok=True)
    names = {"plain": [], "compressed": []}
    for number, length in enumerate(lengths):
        data = random.standard_normal((length, dim), dtype="f4")
        low, high = data.min(0), data.max(0)
        scale = (2 * 32767) / (high - low)
        bias = (high + low) * 32767 / (high - low)
        short = np.rint(data * scale - bias).astype(">i2").tobytes()
        for form, header, body in (
            ("plain", struct.pack(">iihh", length, 100000, 4 * dim, 9), data.astype(">f4").tobytes()),
            (
                "compressed",
                struct.pack(">iihh", length + 4, 100000, 2 * dim, 9 | 0o2000),
                scale.astype(">f4").tobytes() + bias.astype(">f4").tobytes() + short,
            ),
        ):
            name = os.path.join(directory, form, f"utt{number:05}.htk")
            with open(name, "wb") as file:
                file.write(header + body)
            names[form].append(name)
    for form, of_form in names.items():
        with open(os.path.join(directory, f"{form}.scp"), "w") as file:
            file.writelines(name + "\n" for name in of_form)


if sys.argv[1] == "make":
    make(sys.argv[2], *map(int, sys.argv[3:]))
else:
    with open(sys.argv[1]) as script:
        files = script.read().split()
    begin = time.process_time()
    values = sum(read(name).size for name in files)
    print(f"{time.process_time() - begin:.3f} {values}")
