"""CRC-32C by table look-ups at all bytes of a message at once.

A CRC is linear: that of a message is the exclusive or of what each byte contributes, which
depends on its value and its distance from the end alone (Castagnoli polynomial, RFC 3309).
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Any

_POLYNOMIAL = 0x82F63B78
_MASK = 0xFFFFFFFF
_BLOCK = 512  # bytes at a time: the table takes 512 KiB
_FEW = 16
_WARM = 200_000
"""Number of bytes that are looked up one by one before numpy is imported."""


def _of_bytes() -> list[int]:
    """Return the contribution of each byte value at the end."""
    found = list(range(256))
    for _ in range(8):
        found = [(one >> 1) ^ _POLYNOMIAL if one & 1 else one >> 1 for one in found]
    return found


_LAST = _of_bytes()
_n_left = _WARM


@cache
def _tables() -> tuple[Any, Any]:
    """The contribution of each byte value at each distance from the end, and where each distance begins."""
    import numpy as np

    one = np.array(_LAST, dtype=np.uint32)
    table = np.empty((_BLOCK, 256), dtype=np.uint32)
    table[-1] = one
    for row in range(_BLOCK - 2, -1, -1):
        table[row] = one[table[row + 1] & 0xFF] ^ (table[row + 1] >> 8)
    return table.ravel(), np.arange(_BLOCK, dtype=np.intp) * 256


def crc32c(data: bytes) -> int:
    """Return the CRC-32C of `data`."""
    global _n_left
    if len(data) <= _FEW:
        return _of_few(data)
    if _n_left > 0:
        _n_left -= len(data)
        return _loop(_MASK, data) ^ _MASK
    return _of_many(data)


@lru_cache(4096)  # event files have the checksum of each length, and lengths repeat
def _of_few(data: bytes) -> int:
    return _loop(_MASK, data) ^ _MASK


def _of_many(data: bytes) -> int:
    import numpy as np

    table, starts = _tables()
    state = _MASK
    for begin in range(0, len(data), _BLOCK):
        block = data[begin : begin + _BLOCK]
        if len(block) <= _FEW:
            state = _loop(state, block)
        else:
            values = np.frombuffer(block, np.uint8).copy()
            values[:4] ^= np.frombuffer(state.to_bytes(4, "little"), np.uint8)
            state = int(np.bitwise_xor.reduce(table.take(starts[_BLOCK - len(values) :] + values)))
    return state ^ _MASK


def _loop(state: int, data: bytes) -> int:
    """Return the register, which was `state`, after `data`."""
    for byte in data:
        state = _LAST[(state ^ byte) & 0xFF] ^ (state >> 8)
    return state
