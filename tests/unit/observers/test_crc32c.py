from __future__ import annotations

import pytest

from overtone.observers.tensorboard.crc32c import _of_many, crc32c


def bit_by_bit(data: bytes) -> int:
    """The definition (RFC 3309)."""
    state = 0xFFFFFFFF
    for byte in data:
        state ^= byte
        for _ in range(8):
            state = (state >> 1) ^ (0x82F63B78 if state & 1 else 0)
    return state ^ 0xFFFFFFFF


def test_the_check_value_of_the_polynomial() -> None:
    assert crc32c(b"123456789") == 0xE3069283


@pytest.mark.parametrize("size", [0, 1, 3, 4, 16, 17, 300, 511, 512, 513, 528, 529, 1024, 1030])
def test_all_sizes(size) -> None:
    data = bytes((7 * index + index // 5) % 256 for index in range(size))
    assert crc32c(data) == bit_by_bit(data) == _of_many(data)
