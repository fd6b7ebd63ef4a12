"""Records that tell a decision: a ruling, a request, a failure, or an end of the run or its resumption."""

from __future__ import annotations

from overtone.core.messages import Interrupted, Moved, Noted, Record, Requested, Resumed, Ruled, Steered

_MOVED = frozenset({"PAUSED", "PARKED", "TERMINATED", "ERROR"})


def is_decision(record: Record) -> bool:
    """Return whether people look for a record in the list of decisions.

    Starts, results, checkpoints and new trials are not decisions.
    """
    if isinstance(record.event, (Requested, Resumed, Interrupted)):
        return True
    return any(
        isinstance(one, (Steered, Noted))
        or (isinstance(one, Ruled) and one.what not in ("redone", "save"))
        or (isinstance(one, Moved) and (one.status in _MOVED or bool(one.error)))
        for one in record.choices
    )
