"""A lock per machine: for downloads and other work done once for all trials."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from overtone.errors import StorageError

_held: dict[tuple[int, str], bool] = {}  # by thread and name: whether it is the first


@contextmanager
def once(name: str) -> Iterator[bool]:
    """Hold the lock `name`, which one process on this machine holds at a time.

    Of eight trials that start together one enters and the others wait. When the others enter, they find
    the results of the first trial:

        with tune.once("mnist"):
            if not file.exists():
                download(file)

    The lock of a dead process is free at once. Threads of one process wait, too; a nested block of
    the same name does not wait.

    Yields:
        Whether nobody has completed the block before without an error, as the same user and
        since the temporary directory was last emptied. The results of the block may be deleted in
        the meantime: check for them, as above, if that matters.
    """
    import threading

    from overtone.file_lock import locked

    holder = (threading.get_ident(), name)
    if holder in _held:  # a nested block: it would wait for itself
        yield _held[holder]
        return
    file = os.open(_folder() / _as_file_name(name), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    with locked(file):
        try:
            is_first = _held[holder] = os.fstat(file).st_size == 0
            yield is_first
            if is_first:
                os.write(file, b"done\n")
        finally:
            _held.pop(holder, None)


def _folder() -> Path:
    """Return this user's directory for locks; no other user may write there."""
    import tempfile

    folder = Path(tempfile.gettempdir(), f"overtone-once-{os.getuid()}")
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
    except FileExistsError:
        pass  # the path is taken: the check below explains the error
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
