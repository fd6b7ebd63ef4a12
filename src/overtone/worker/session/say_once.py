"""Choice of one process that prints a line for all trials of an experiment."""

from __future__ import annotations

import time
from pathlib import Path

from overtone.file_lock import open_locked
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
        file = open_locked(folder / "journal.jsonl")
    except OSError:
        return True
    if file is None:
        return False
    _lock, _said_at = file, now
    return True
