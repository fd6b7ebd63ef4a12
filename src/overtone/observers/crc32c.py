"""CRC-32C by table look-ups at all bytes of a message at once.

A CRC is linear: that of a message is the exclusive or of what each byte contributes, which
depends on its value and its distance from the end alone (Castagnoli polynomial, RFC 3309).
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

_POLYNOMIAL = 0x82F63B78
_MASK = 0xFFFFFFFF
_BLOCK = 512  # bytes at a time: the table takes 512 KiB


def _tables() -> tuple[Any, Any]:
    """The contribution of each byte value at each distance from the end, and where each distance begins."""
    one = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        one = np.where(one & 1, (one >> 1) ^ np.uint32(_POLYNOMIAL), one >> 1).astype(np.uint32)
    table = np.empty((_BLOCK, 256), dtype=np.uint32)
    table[-1] = one
    for row in range(_BLOCK - 2, -1, -1):
        table[row] = one[table[row + 1] & 0xFF] ^ (table[row + 1] >> 8)
    return table.ravel(), np.arange(_BLOCK, dtype=np.intp) * 256


_TABLE, _STARTS = _tables()
_LAST: list[int] = _TABLE[-256:].tolist()
_FEW = 16


def crc32c(data: bytes) -> int:
    """The CRC-32C of `data`."""
    return _of_few(data) if len(data) <= _FEW else _of_many(data)


@lru_cache(4096)  # event files have the checksum of each length, and lengths repeat
def _of_few(data: bytes) -> int:
    return _loop(_MASK, data) ^ _MASK


def _of_many(data: bytes) -> int:
    state = _MASK
    for begin in range(0, len(data), _BLOCK):
        block = data[begin : begin + _BLOCK]
        if len(block) <= _FEW:
            state = _loop(state, block)
        else:
            values = np.frombuffer(block, np.uint8).copy()
            values[:4] ^= np.frombuffer(state.to_bytes(4, "little"), np.uint8)
            state = int(np.bitwise_xor.reduce(_TABLE.take(_STARTS[_BLOCK - len(values) :] + values)))
    return state ^ _MASK


def _loop(state: int, data: bytes) -> int:
    """The register, which was `state`, after `data`."""
    for byte in data:
        state = _LAST[(state ^ byte) & 0xFF] ^ (state >> 8)
    return state
