"""Disks and quotas without room: detection of such errors, and waiting for room."""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from overtone.store.backoff import pauses

PATIENCE_S = 60.0
"""Longest time of retries of a write without room, in seconds."""

HURRIED_S = 3.0
"""The same after an end was requested, such as by Ctrl-C, in seconds."""

_FIRST_PAUSE_S = 0.05
_LONGEST_PAUSE_S = 1.0
_LEAST_BYTES = 1 << 20
_ends_at: float | None = None  # time at which all waits in this process end, if requested
_NUMBERS = frozenset({errno.ENOSPC, errno.EDQUOT})

T = TypeVar("T")


def lacks_room(error: BaseException | None) -> bool:
    """Return whether `error` or its cause means that no byte, inode or quota is left."""
    while error is not None:
        # shutil gathers the errors of many files as text
        if isinstance(error, OSError) and (
            error.errno in _NUMBERS or any(f"[Errno {number}]" in str(error) for number in _NUMBERS)
        ):
            return True
        error = error.__cause__
    return False


def is_full(folder: Path) -> bool:
    """Return whether the disk of `folder` has less than 1 MiB, or no inode, left for this user."""
    try:
        disk = os.statvfs(folder)
    except (OSError, AttributeError):
        return False
    return disk.f_bavail * disk.f_frsize < _LEAST_BYTES or (disk.f_files > 0 and disk.f_favail == 0)


def hurry(within_s: float = HURRIED_S) -> None:
    """End all waits for room in this process, also later ones, within this many seconds from now."""
    global _ends_at
    _ends_at = time.monotonic() + within_s


def unhurry() -> None:
    """Undo `hurry`: waits for room have their usual length again."""
    global _ends_at
    _ends_at = None


def is_hurried() -> bool:
    """Return whether `hurry` was called."""
    return _ends_at is not None


def is_in_vain() -> bool:
    """Return whether waits for room have ended because of `hurry`."""
    return _ends_at is not None and time.monotonic() >= _ends_at


def try_for_room(
    action: Callable[[], T],
    is_over: Callable[[], bool] = lambda: False,
    on_wait: Callable[[Exception], None] = lambda error: None,
    patience_s: float | None = None,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> T:
    """Call `action`, again while it fails for lack of room, and return its result.

    Args:
        is_over: Called after each failure; returns whether to stop waiting.
        on_wait: Called with the first failure before the wait.
        patience_s: Seconds from the first call; by default `PATIENCE_S`.

    Raises:
        Exception: The last failure of `action`.
    """
    patience_s = PATIENCE_S if patience_s is None else patience_s
    began, waiting, has_waited = clock(), pauses(_FIRST_PAUSE_S, _LONGEST_PAUSE_S), False
    while True:
        try:
            return action()
        except Exception as error:
            if not lacks_room(error) or clock() - began >= patience_s or is_in_vain() or is_over():
                raise
            if not has_waited:
                on_wait(error)
            has_waited = True
        sleep(next(waiting))
