"""One writer: an OS lock on a file beside the journal, which ends with its process."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any
from weakref import WeakSet

from overtone.errors import StorageError

_held: WeakSet[WriterLock] = WeakSet()
_is_registered = False


class WriterLock:
    """Held from construction to `release`, or to the end of the process, however it ends.

    Raises:
        StorageError: Another process holds it; the message names host, pid and age.
    """

    def __init__(self, path: Path) -> None:
        try:
            import fcntl
        except ImportError:  # Windows has no flock
            self._fd = -1
            return
        import platform

        self._fd = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            holder = _holder(os.pread(self._fd, 4096, 0))
            os.close(self._fd)
            self._fd = -1
            raise StorageError(
                f"{path.parent} is being written by {holder}: wait until that run ends, stop it, or choose "
                f"another name"
            ) from error
        facts = {"hostname": platform.node(), "pid": os.getpid(), "since": time.time()}
        os.ftruncate(self._fd, 0)
        os.pwrite(self._fd, json.dumps(facts).encode(), 0)
        _held.add(self)
        _let_go_in_children()

    def release(self) -> None:
        """Let another writer in. Twice is safe."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1


def _holder(text: bytes) -> str:
    try:
        facts: dict[str, Any] = json.loads(text)
        age_s = max(0.0, time.time() - facts["since"])
        return f"process {facts['pid']} on {facts['hostname']}, since {_age(age_s)} ago"
    except (ValueError, KeyError, TypeError):
        return "another process, which has just begun"


def _age(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    if seconds < 7200:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"


def _let_go_in_children() -> None:
    """See to it that a forked child does not keep the lock when its parent has died."""
    global _is_registered
    if not _is_registered:
        _is_registered = True
        os.register_at_fork(after_in_child=_release_all)


def _release_all() -> None:
    for lock in list(_held):
        lock.release()


def is_locked(path: Path) -> bool:
    """Whether a living process holds the lock at `path`."""
    try:
        import fcntl

        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK)  # a named pipe would block
    except (ImportError, OSError):
        return False
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(fd)
    return False
