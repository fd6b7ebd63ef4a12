"""One writer: an OS lock on a file next to the journal, which ends with its process."""

from __future__ import annotations

import json
import os
import stat
import time
from contextlib import suppress
from pathlib import Path
from typing import Any
from weakref import WeakSet

from overtone.errors import StorageError
from overtone.file_lock import HAS_LOCKS, try_lock, unlock
from overtone.quantity_text import age_text
from overtone.store.processes import is_alive

_held: WeakSet[WriterLock] = WeakSet()
_is_registered = False

_OPEN = (
    os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
)  # fmt: skip
_LOOK_AGAIN_S = 0.05
_READER_S = 0.002
_MOST_READERS = 50
_MOST_LOOKS = 100
_BRIEF_S = 30.0
"""Longest wait of a driver for a holder that is brief, in seconds."""


class LockHeldError(StorageError):
    """Another driver writes this experiment on this machine."""


class WriterLock:
    """A lock, held from construction to `release`, or until the process ends in any way.

    The lock applies to the file at `path`: if the folder is moved or deleted between opening and
    locking, the lock is taken again at the path. No other process holds it in between.

    Args:
        path: The lock file, created if missing; its folder must exist.
        patience_s: Longest wait for another holder, in seconds.
        is_brief: Whether this holder appends something and leaves, as a request does. A driver waits for it.

    Attributes:
        path: The lock file.

    Raises:
        LockHeldError: Another driver holds the lock; the message names host, pid and age.
        StorageError: The file cannot be locked.
        OSError: The file cannot be opened.
    """

    def __init__(self, path: Path, patience_s: float = 0.0, is_brief: bool = False) -> None:
        self.path = path
        self._fd = _taken(path, patience_s, is_brief)
        _held.add(self)
        _let_go_in_children()

    def move_folder(self, aside: Path) -> bool:
        """Rename the lock's folder, create an empty folder in its place, and lock that.

        Returns:
            Whether this call made the new folder.

        Raises:
            LockHeldError: Another driver took the new folder first; this lock is released.
            StorageError: Another program moved or deleted the folder; this lock is released.
            OSError: The folder cannot be renamed or created; this lock is released.
        """
        folder = self.path.parent
        try:
            if not self.is_at_path:
                raise StorageError(f"{folder} was moved or deleted by another program")
            folder.rename(aside)
        finally:
            self.release()
        is_made = False
        while True:
            with suppress(FileExistsError):
                folder.mkdir()
                is_made = True
            with suppress(FileNotFoundError):  # the new folder was moved already
                self._fd = _taken(self.path, 0.0)
                return is_made

    @property
    def inode(self) -> int:
        """The inode number of the locked file; 0 if no file is locked."""
        return os.fstat(self._fd).st_ino if self._fd >= 0 else 0

    @property
    def is_at_path(self) -> bool:
        """Whether the lock is held, and the file at `path` is still the locked file."""
        return names(self.path, self._fd) if self._fd >= 0 else not HAS_LOCKS

    def release(self) -> None:
        """Release the lock; calling it twice is safe."""
        if self._fd >= 0:
            with suppress(OSError):
                os.ftruncate(self._fd, 0)  # a later error message must not name this process
            self._close()

    def _close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1


def names(path: Path, fd: int) -> bool:
    """Return whether `path` is the file that is open as `fd`; True if that cannot be determined."""
    try:
        at = os.stat(path, follow_symlinks=False)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True
    return os.path.samestat(at, os.fstat(fd))


def _taken(path: Path, patience_s: float, is_brief: bool = False) -> int:
    """Return a descriptor that holds the lock of the file at `path`; -1 on systems without flock."""
    if not HAS_LOCKS:
        return -1
    give_up_at, is_again = time.monotonic() + patience_s, False
    while True:
        fd = os.open(path, _OPEN, 0o666)
        try:
            if not stat.S_ISREG(os.fstat(fd).st_mode):
                raise StorageError(f"{path} is not a regular file: delete it")
            is_ours = _lock(fd, path)
            if not names(path, fd):  # moved or deleted since: another driver may lock the new one
                os.close(fd)
                continue
            if is_ours:
                _sign(fd, is_brief)
                return fd
            if (now := time.monotonic()) >= give_up_at:
                holder, leaves = _holder(fd)
                is_patient = leaves and not is_brief and now < give_up_at + _BRIEF_S
                if (holder or is_again) and not is_patient:
                    holder = holder or "another process, which has just begun"
                    raise LockHeldError(
                        f"{path.parent} is being written by {holder}: wait until that run ends, stop it, or "
                        "choose another name"
                    )
                is_again = not is_patient  # A holder without a name may have released the lock since.
        except BaseException:
            os.close(fd)
            raise
        os.close(fd)
        time.sleep(_LOOK_AGAIN_S)


def _lock(fd: int, path: Path) -> bool:
    """Return whether the lock was taken. A reader that checks the lock shares it for an instant."""
    try:
        for _ in range(_MOST_READERS):
            if try_lock(fd):
                return True
            if not try_lock(fd, is_shared=True):
                return False
            unlock(fd)
            time.sleep(_READER_S * (1 + os.urandom(1)[0] / 64))
    except OSError as error:
        raise StorageError(f"{path} cannot be locked: {error.strerror or error}") from error
    return False


def _sign(fd: int, is_brief: bool) -> None:
    import platform

    facts = {"hostname": platform.node(), "pid": os.getpid(), "since": time.time(), "is_brief": is_brief}
    with suppress(OSError):  # on a full disk the lock holds without the process's name
        os.ftruncate(fd, 0)
        os.pwrite(fd, json.dumps(facts).encode(), 0)


def _holder(fd: int) -> tuple[str, bool]:
    """Return the holder of the lock as it signed, and whether it is brief.

    The holder is "" if it does not sign within the time of some looks.
    """
    import platform

    for _ in range(_MOST_LOOKS):
        try:
            facts: dict[str, Any] = json.loads(os.pread(fd, 4096, 0))
            if facts["hostname"] != platform.node() or is_alive(facts["pid"]):
                age = age_text(time.time() - facts["since"])
                name = f"process {facts['pid']} on {facts['hostname']}, since {age} ago"
                return name, facts.get("is_brief") is True
        except (ValueError, KeyError, TypeError):
            pass
        time.sleep(_READER_S)  # the holder signs right after it has locked
    return "", False


def _let_go_in_children() -> None:
    """Close the lock in forked children, so that they do not keep it after their parent's death."""
    global _is_registered
    if not _is_registered and hasattr(os, "register_at_fork"):  # Windows does not fork
        _is_registered = True
        os.register_at_fork(after_in_child=_release_all)


def _release_all() -> None:
    for lock in list(_held):
        lock._close()  # the parent's name stays in the file


def is_locked(path: Path) -> bool:
    """Return whether a running process holds the lock at `path`."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK)  # a named pipe would block
    except OSError:
        return False
    try:
        return not try_lock(fd, is_shared=True)
    except OSError:
        return True  # A lock that cannot be tried may be held.
    finally:
        os.close(fd)
