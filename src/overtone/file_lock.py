"""Locks of open files (flock), which the system releases when their last process ends."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from errno import ENOTSUP

try:
    import fcntl
except ImportError:  # Windows has no flock
    HAS_LOCKS = False
else:
    HAS_LOCKS = True


def try_lock(fd: int, is_shared: bool = False) -> bool:
    """Lock an open file without waiting; return False if another process holds the lock.

    Raises:
        OSError: This system or the file's has no locks.
    """
    if not HAS_LOCKS:
        raise OSError(ENOTSUP, os.strerror(ENOTSUP))
    try:
        fcntl.flock(fd, (fcntl.LOCK_SH if is_shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def unlock(fd: int) -> None:
    """Release the lock of an open file, also for child processes that inherited it."""
    fcntl.flock(fd, fcntl.LOCK_UN)


def open_locked(
    path: str | os.PathLike[str], flags: int = os.O_RDONLY, is_shared: bool = False
) -> int | None:
    """Open and lock a file or folder without waiting; return None if another process holds the lock.

    Args:
        flags: Those of `os.open`; a new file is for its user alone.

    Raises:
        OSError: It cannot be opened, or this system or the file's has no locks.
    """
    fd, is_ours = os.open(path, flags, 0o600), False
    try:
        is_ours = try_lock(fd, is_shared)
        return fd if is_ours else None
    finally:
        if not is_ours:
            os.close(fd)


@contextmanager
def locked(fd: int) -> Iterator[None]:
    """Wait for the lock of an open file and hold it during the block; close the file at the end."""
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        yield
    finally:
        unlock(fd)  # a child that was forked in the block has the lock, too
        os.close(fd)
