"""Files that are written whole or at their end; the trials' folders are made where they are missing."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

from overtone.errors import StorageError
from overtone.store.room import lacks_room, try_for_room

NEW = ".new"
"""Ends the names of files that are being written."""

_has_waited_in_vain = False

# what a link names is not ours; a pipe of this name is refused, where its reader would be waited for
_WRITE = os.O_WRONLY | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
_APPEND = _WRITE | os.O_APPEND
_REPLACE = _WRITE | os.O_TRUNC


def write_file(
    path: str, text: str, append: bool = False, accepts: Callable[[int], bool] | None = None
) -> int:
    """Write a whole file, or to its end; its folder is made where it is missing.

    Args:
        accepts: Returns whether to write to a file of this length in bytes; None for always.

    Returns:
        The length of the file now, in bytes; -1 if `accepts` refused it.

    Raises:
        StorageError: It cannot be written.
    """
    try:
        return _put(path, _APPEND if append else _REPLACE, text.encode("utf-8", "backslashreplace"), accepts)
    except OSError as error:
        raise unwritable(path, error) from error


def swap_file(path: str, text: str) -> int:
    """Let a file hold `text` and nothing else, whole or not at all; return its length in bytes.

    Raises:
        StorageError: It cannot be written.
    """
    new = path + NEW
    try:
        with suppress(FileNotFoundError, NotADirectoryError):
            os.unlink(new)
        length = write_file(new, text)
        os.replace(new, path)
        return length
    except OSError as error:
        with suppress(OSError):
            os.unlink(new)
        if isinstance(error, StorageError):  # which is an OSError too, and says more
            raise
        raise unwritable(path, error) from error


def append(path: str, data: bytes) -> None:
    """Add to the end of a file; it and its folder are made where they are missing."""
    _put(path, _APPEND, data)


def unwritable(path: str, error: OSError) -> StorageError:
    """Return the error for a file that cannot be written in a trial's folder."""
    return StorageError(
        f"{path} cannot be written: {error.strerror or error}. The journal has every result: make room or "
        f"allow writing there, then overtone.observers.rebuild(folder) writes these files again."
    )


def _put(path: str, flags: int, data: bytes, accepts: Callable[[int], bool] | None = None) -> int:
    global _has_waited_in_vain
    try:
        fd = os.open(path, flags, 0o666)
    except OSError:
        fd = _waited(_descriptor, path, flags)
    try:
        length = os.fstat(fd).st_size
        if accepts is not None and not accepts(length):
            return -1
        length += len(data)
        while data:
            try:
                n = os.write(fd, data)
            except OSError:
                n = _waited(os.write, fd, data)
            data = data[n:]
    finally:
        os.close(fd)
    _has_waited_in_vain = False
    return length


def _waited(action: Callable[..., int], *given: Any) -> int:
    """Try again what has failed; a full disk is waited for, but not once more for each further file."""
    global _has_waited_in_vain
    try:
        return action(*given)
    except OSError as error:
        if _has_waited_in_vain or not lacks_room(error):
            raise
    _has_waited_in_vain = True
    return try_for_room(partial(action, *given))


def has_made_folder(path: str) -> bool:
    """Make the folder of a file; return whether it was not there before."""
    try:
        os.mkdir(os.path.dirname(path))
    except OSError:  # it is there, or writing to it says what is wrong
        return False
    return True


def _descriptor(path: str, flags: int) -> int:
    try:
        return os.open(path, flags, 0o666)
    except FileNotFoundError:
        with suppress(FileExistsError):
            os.mkdir(os.path.dirname(path))  # not the experiment's folder, if that was moved or deleted
        return os.open(path, flags, 0o666)
