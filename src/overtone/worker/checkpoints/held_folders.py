"""Folders that exist as long as a process holds them.

The folders of one user lie in a common parent folder, the yard. Each process that needs a folder
holds a lock on it; the kernel releases the lock when the process ends. The last holder deletes the
folder. Folders of killed processes are deleted when the next folder of the yard is opened.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from overtone.errors import StorageError
from overtone.file_lock import locked, open_locked


def hold(folder: Path) -> int:
    """Create `folder` if it is missing, hold a shared lock on it, and delete unheld folders next to it.

    Returns:
        The lock for `let_go`, or -1 if another process holds the folder alone.

    Raises:
        StorageError: The yard belongs to another user.
    """
    with gate(open_yard(folder.parent)):
        delete_unheld(folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)
        return try_lock(folder, is_shared=True)


def let_go(folder: Path, lock: int) -> None:
    """Release the lock on `folder`; delete the folder if no other process holds it."""
    import shutil

    with gate(folder.parent):
        os.close(lock)
        last = try_lock(folder)
        if last >= 0:
            shutil.rmtree(folder, ignore_errors=True)
            os.close(last)


def open_yard(yard: Path) -> Path:
    """Create the yard (the folder of a user's held folders) if it is missing.

    Raises:
        StorageError: The yard belongs to another user.
    """
    yard.mkdir(mode=0o700, parents=True, exist_ok=True)
    if os.lstat(yard).st_uid != os.getuid() or yard.is_symlink():
        raise StorageError(f"{yard} must be a directory that belongs to user {os.getuid()}: remove it")
    return yard


@contextmanager
def gate(yard: Path, name: str = ".lock") -> Iterator[None]:
    """Lock the yard during the block against other processes that use the gate `name`."""
    with locked(os.open(yard / name, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)):
        yield


def delete_unheld(yard: Path) -> None:
    """Delete the folders that no running process holds."""
    import shutil

    for folder in yard.iterdir():
        if not folder.is_dir():
            continue
        lock = try_lock(folder)
        if lock >= 0:
            shutil.rmtree(folder, ignore_errors=True)
            os.close(lock)


def try_lock(folder: Path, is_shared: bool = False) -> int:
    """Return a descriptor that holds the folder's lock, or -1 if another process has it."""
    # A pid is not enough: in another container the same number is another process.
    lock = open_locked(folder / ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, is_shared)
    return -1 if lock is None else lock
