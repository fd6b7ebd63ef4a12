"""Restarts of a process server that has ended: the pause before each, and the maximum number."""

from __future__ import annotations

from itertools import islice

from overtone.store.backoff import pauses

MAX_RESTARTS = 3
"""Maximum restarts in a row of a server that was ready, but whose processes sent no message."""

MAX_TAKEN = 10
"""Maximum restarts in a row of a server that was killed. Later ones pause: memory may be short."""

FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.5, 5.0


def pause_before(restarts: int, was_ready: bool, was_taken: bool) -> float | None:
    """Return the seconds to wait before a server that ended is started again; None to give up.

    Args:
        restarts: Number of ends in a row.
        was_ready: Whether the server had imported the trainable's modules.
        was_taken: Whether the server was killed, for example by a system that is out of memory.
    """
    if not was_taken:
        return 0.0 if was_ready and restarts <= MAX_RESTARTS else None
    if restarts > MAX_TAKEN:
        return None
    if restarts <= MAX_RESTARTS:
        return 0.0
    return next(islice(pauses(FIRST_PAUSE_S, LONGEST_PAUSE_S), restarts - MAX_RESTARTS - 1, None))
