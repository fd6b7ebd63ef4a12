"""When a server of processes that has ended is started again, and when nobody tries any more."""

from __future__ import annotations

MAX_RESTARTS = 3
"""In a row, of a server that had started well and whose processes never say a word."""

MAX_TAKEN = 10
"""The same, where it did not crash: the later ones come after a pause, for memory may be short."""

LONGEST_PAUSE_S = 5.0


def pause_before(restarts: int, was_ready: bool, was_taken: bool) -> float | None:
    """How many seconds to wait before a server that ended is started again; None to give up.

    Args:
        restarts: How often in a row it has ended.
        was_ready: Whether it had imported the trainable's modules.
        was_taken: Whether somebody killed it, such as a system that is out of memory.
    """
    if not was_taken:
        return 0.0 if was_ready and restarts <= MAX_RESTARTS else None
    if restarts > MAX_TAKEN:
        return None
    return min(LONGEST_PAUSE_S, 0.25 * 2.0 ** (restarts - MAX_RESTARTS)) if restarts > MAX_RESTARTS else 0.0
