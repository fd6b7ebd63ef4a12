"""Randomness by key: each draw depends on its purpose, not on earlier draws."""

from __future__ import annotations

from hashlib import blake2b
from random import Random

__all__ = ["Random", "key", "keyed"]


def key(seed: int, purpose: str, trial: str = "", t: float = 0) -> int:
    """Return a 64-bit number that depends on the four arguments alone, on every machine."""
    text = f"{seed}\x1f{purpose}\x1f{trial}\x1f{t:g}"
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "big")


def keyed(seed: int, purpose: str, trial: str = "", t: float = 0) -> Random:
    """Return a generator seeded with `key` of the same arguments."""
    return Random(key(seed, purpose, trial, t))
