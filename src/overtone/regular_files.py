"""Opens the files of an experiment's folder, and replaces them: regular files alone.

A folder may come from anybody. Opening a named pipe blocks its reader, reading a device such as
/dev/zero never ends, and opening some devices has side effects.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from overtone.errors import StorageError


def flags(*names: str) -> int:
    """Return these flags of `os.open` together, without those that this system does not have."""
    together = 0
    for name in names:
        together |= getattr(os, name, 0)
    return together


_KINDS = {
    stat.S_IFIFO: "a named pipe", stat.S_IFSOCK: "a socket", stat.S_IFDIR: "a folder",
    stat.S_IFCHR: "a device", stat.S_IFBLK: "a device", stat.S_IFLNK: "a link",
}  # fmt: skip
_READ = os.O_RDONLY | flags("O_NONBLOCK", "O_CLOEXEC", "O_BINARY")
_NO_LINKS = getattr(os, "O_NOFOLLOW", 0)


def open_regular(
    path: str | os.PathLike[str], *, follow_links: bool = True, buffer_bytes: int = -1
) -> BinaryIO:
    """Open a regular file for reading its bytes.

    Args:
        path: The file. Its kind is checked before it is opened, so that no device is
            touched, and again afterwards, because it may have been replaced in between.
        follow_links: Whether `path` may be a link to a regular file.
        buffer_bytes: The size of the buffer; 0 for none, -1 for the default size.

    Raises:
        StorageError: It is not a regular file; `strerror` names its kind.
        OSError: It cannot be opened; FileNotFoundError if it is missing.
    """
    look = os.stat if follow_links else os.lstat
    _check(path, look(path).st_mode)
    fd = os.open(path, _READ if follow_links else _READ | _NO_LINKS)
    try:
        _check(path, os.fstat(fd).st_mode)
        return open(fd, "rb", buffering=buffer_bytes)
    except BaseException:
        os.close(fd)
        raise


def read_regular(path: str | os.PathLike[str], *, follow_links: bool = True) -> bytes:
    """Return the contents of a regular file.

    Raises:
        StorageError: It is not a regular file; `strerror` names its kind.
        OSError: It cannot be read; FileNotFoundError if it is missing.
    """
    with open_regular(path, follow_links=follow_links) as file:
        return file.read()


def replace_file(path: str | os.PathLike[str], data: bytes) -> None:
    """Replace the contents of a file by `data`, atomically.

    The data is written to a new file next to it, never to an existing file. A link is replaced, not followed.

    Raises:
        StorageError: The path is a device, a pipe, a socket or a folder.
        OSError: It cannot be written.
    """
    with suppress(FileNotFoundError):
        mode = os.lstat(path).st_mode
        if not stat.S_ISLNK(mode):
            _check(path, mode, "written")
    new = f"{os.fspath(path)}.new"
    with suppress(FileNotFoundError):
        os.unlink(new)
    try:
        Path(new).write_bytes(data)
        os.replace(new, path)
    except OSError:
        with suppress(OSError):
            os.unlink(new)  # If the disk is full, it would take room.
        raise


def _check(path: str | os.PathLike[str], mode: int, done: str = "read") -> None:
    if stat.S_ISREG(mode):
        return
    what = f"it is {_KINDS.get(stat.S_IFMT(mode), 'something else')}, and only regular files are {done}"
    error = StorageError(f"{os.fspath(path)} cannot be {done}: {what}")
    error.strerror = what
    raise error
