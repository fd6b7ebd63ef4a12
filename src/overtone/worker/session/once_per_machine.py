"""One process of this machine at a time: for downloads and other work done once for all trials."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from overtone.errors import StorageError

_held: dict[tuple[int, str], bool] = {}  # by thread and name: whether it is the first


@contextmanager
def once(name: str) -> Iterator[bool]:
    """Hold the lock called `name`, which one process on this machine has at a time.

    Of eight trials that start together one enters, the others wait; when it is their turn
    they find what the first one left:

        with tune.once("mnist"):
            if not file.exists():
                download(file)

    The lock of a process that dies is free at once. Threads of one process wait, too; a block of
    the same name inside of the block does not.

    Yields:
        Whether nobody has gone through the block without an error before, as the same
        user and since the temporary directory was last emptied. What the block made may
        be gone all the same: look for it, as above, where that matters.
    """
    import fcntl
    import threading

    holder = (threading.get_ident(), name)
    if holder in _held:  # a block inside of the block: it would wait for itself
        yield _held[holder]
        return
    file = os.open(_folder() / _as_file_name(name), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(file, fcntl.LOCK_EX)
        is_first = _held[holder] = os.fstat(file).st_size == 0
        yield is_first
        if is_first:
            os.write(file, b"done\n")
    finally:
        _held.pop(holder, None)
        # a child that was forked inside the block holds the same lock: closing would not free it
        fcntl.flock(file, fcntl.LOCK_UN)
        os.close(file)


def _folder() -> Path:
    """This user's directory for locks; nobody else may write there."""
    import tempfile

    folder = Path(tempfile.gettempdir(), f"overtone-once-{os.getuid()}")
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
    except FileExistsError:
        pass  # something else has the name: the check below says what
    status = os.lstat(folder)
    if not folder.is_dir() or folder.is_symlink() or status.st_uid != os.getuid():
        raise StorageError(f"{folder} must be a directory that belongs to user {os.getuid()}: remove it")
    return folder


def _as_file_name(name: str) -> str:
    from urllib.parse import quote

    safe = quote(name, safe="")
    if len(safe) <= 200:
        return f"{safe}.lock"
    from hashlib import blake2b

    return f"{safe[:150]}-{blake2b(name.encode(), digest_size=16).hexdigest()}.lock"
