"""Choice of one process that prints a line for all trials of an experiment."""

from __future__ import annotations

import os
import time
from pathlib import Path

from overtone.store.room import PATIENCE_S

_lock = -1
_said_at = 0.0


def may_speak(folder: Path) -> bool:
    """Return whether this process may print the line: no other one has, nor this one lately.

    The process that may print holds a lock on the journal until its end. Nothing is written: the disk
    may be full. Without a journal, or without locks, each process may print.
    """
    global _lock, _said_at
    now = time.monotonic()
    if _lock >= 0:
        is_due, _said_at = now - _said_at > PATIENCE_S, now
        return is_due
    try:
        import fcntl

        file = os.open(folder / "journal.jsonl", os.O_RDONLY | os.O_CLOEXEC)
    except (ImportError, OSError):
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(file)
        return not isinstance(error, BlockingIOError)
    _lock, _said_at = file, now
    return True
