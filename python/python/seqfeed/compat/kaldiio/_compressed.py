"""Compressed matrices in the other order of bytes."""

from __future__ import annotations

import numpy as np


def swapped(data: bytes) -> bytes:
    """Token, header and codes of a compressed matrix, converted to the other byte order."""
    token, header, codes = data[:4], data[4:20], data[20:]
    if token.startswith(b"CM "):
        token, header, codes = data[:3], data[3:19], data[19:]
    header = np.frombuffer(header, "u4").byteswap().tobytes()
    # Percentiles of columns, and codes of two bytes: both are numbers of two bytes.
    wide = len(codes) // 2 * 2 if token == b"CM2 " else 0
    if token == b"CM ":
        # One of the two orders is the machine's. In it, the columns fit the codes.
        found = [np.frombuffer(part, "i4")[2:].tolist() for part in (data[3:19], header)]
        wide = 8 * next(cols for rows, cols in found if (8 + rows) * cols == len(codes))
    return token + header + np.frombuffer(codes[:wide], "u2").byteswap().tobytes() + codes[wide:]
