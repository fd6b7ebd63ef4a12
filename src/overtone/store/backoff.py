"""Pauses between tries."""

from __future__ import annotations

from collections.abc import Callable, Iterator


def pauses(first_s: float, longest_s: float, draw: Callable[[], float] = lambda: 1.0) -> Iterator[float]:
    """Yield the pause before each next try, in seconds, without end: it doubles up to `longest_s`.

    Args:
        draw: Returns a number from 0 to 1 that each pause is multiplied by, such as a random one ("full
            jitter"), so that many clients of one failed store do not retry at the same time.
    """
    while True:
        yield draw() * first_s
        first_s = min(longest_s, 2 * first_s)
