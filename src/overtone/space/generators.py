"""Generators of random numbers that users give, in all their forms."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from overtone.errors import SpaceError

if TYPE_CHECKING:
    from random import Random


def generator(random_state: Any) -> Random:
    """Return a generator for a seed or a generator, which gives 64 bits for it; Python's own are returned.

    Args:
        random_state: A seed, or a generator of Python's or NumPy's. None takes the global generator:
            NumPy's if NumPy is imported, else Python's.

    Raises:
        SpaceError: `random_state` is neither.
    """
    import random  # not free, and `from overtone import tune` must be

    if isinstance(random_state, random.Random):
        return random_state
    numpy: Any = sys.modules.get("numpy")
    state = getattr(random_state, "rng", random_state)  # a wrapper of one of NumPy's
    if state is None:
        state = random if numpy is None else numpy.random
    if hasattr(state, "__index__"):
        return random.Random(int(state))
    if hasattr(state, "getrandbits"):
        return random.Random(state.getrandbits(64))
    if hasattr(state, "bytes"):
        return random.Random(state.bytes(8))
    raise SpaceError(f"random_state={random_state!r} must be a seed, such as 42, or a generator")
