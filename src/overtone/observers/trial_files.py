"""One file in each trial's folder: written seldom, with few open at a time, nothing lost."""

from __future__ import annotations

import os
import time
from collections import OrderedDict
from collections.abc import Callable

from overtone.errors import StorageError

_WRITE = os.O_WRONLY | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)  # what a link names is not ours
_APPEND = _WRITE | os.O_APPEND
_REPLACE = _WRITE | os.O_TRUNC


class TrialFiles:
    """The files `<folder>/<trial_id>/<name>` of all trials, appended to through buffers.

    Folders and files are made when they are first written to.

    Args:
        folder: The experiment's.
        name: The file's name in each trial's folder.
        every_s: How long text may wait in a buffer; `finish` and `close` write it at once.
        limit: How many files may be open at a time.
        clock: Seconds.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        name: str,
        every_s: float = 0.5,
        limit: int = 128,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._folder = os.fspath(folder)
        self._name = name
        self._every_s = every_s
        self._limit = limit
        self._clock = clock
        self._written = clock()
        self._waiting: dict[str, list[str]] = {}
        self._open: OrderedDict[str, int] = OrderedDict()

    def path(self, trial_id: str) -> str:
        """Where a trial's file is."""
        return f"{self._folder}{os.sep}{trial_id}{os.sep}{self._name}"

    def add(self, trial_id: str, text: str) -> None:
        """Append `text`, soon."""
        waiting = self._waiting.get(trial_id)
        if waiting is None:
            self._waiting[trial_id] = [text]
        else:
            waiting.append(text)

    def flush(self) -> None:
        """Write what has waited long enough."""
        if self._waiting:
            now = self._clock()
            if now - self._written >= self._every_s:
                self._written = now
                self._write_all()

    def finish(self, trial_id: str) -> None:
        """Write a trial's text now, and close its file."""
        if trial_id in self._open:
            if trial_id in self._waiting:
                self._write(trial_id)
            os.close(self._open.pop(trial_id))
        elif trial_id in self._waiting:
            write_file(self.path(trial_id), "".join(self._waiting.pop(trial_id)), append=True)

    def read(self, trial_id: str) -> str:
        """All that the file holds, with what waits; empty where there is none."""
        try:
            with open(self.path(trial_id), encoding="utf-8", errors="backslashreplace", newline="") as file:
                written = file.read()
        except FileNotFoundError:
            written = ""
        return written + "".join(self._waiting.get(trial_id, ()))

    def replace(self, trial_id: str, text: str) -> None:
        """Let the file hold `text` and nothing else, whole or not at all."""
        path = self.path(trial_id)
        self._waiting.pop(trial_id, None)
        self.finish(trial_id)
        if not os.path.exists(path):
            self.add(trial_id, text)
            return
        write_file(f"{path}.new", text)
        os.replace(f"{path}.new", path)

    def close(self) -> None:
        """Write everything, and close all files."""
        self._write_all()
        while self._open:
            os.close(self._open.popitem()[1])

    def _write_all(self) -> None:
        for trial_id in tuple(self._waiting):
            self._write(trial_id)

    def _write(self, trial_id: str) -> None:
        data = "".join(self._waiting.pop(trial_id)).encode("utf-8", "backslashreplace")
        path = self.path(trial_id)
        try:
            fd = self._open.get(trial_id)
            if fd is not None:
                self._open.move_to_end(trial_id)
            else:
                if len(self._open) >= self._limit:
                    os.close(self._open.popitem(last=False)[1])
                fd = self._open[trial_id] = _descriptor(path, _APPEND)
            _write_to(fd, data)
        except OSError as error:
            raise _unwritable(path, error) from error


def write_file(path: str, text: str, append: bool = False) -> None:
    """Write a whole file, or to its end; its folder is made where it is missing.

    Raises:
        StorageError: It cannot be written.
    """
    try:
        fd = _descriptor(path, _APPEND if append else _REPLACE)
        try:
            _write_to(fd, text.encode("utf-8", "backslashreplace"))
        finally:
            os.close(fd)
    except OSError as error:
        raise _unwritable(path, error) from error


def append(path: str, data: bytes) -> None:
    """Add to the end of a file; it and its folder are made where they are missing."""
    fd = _descriptor(path, _APPEND)
    try:
        _write_to(fd, data)
    finally:
        os.close(fd)


def _write_to(fd: int, data: bytes) -> None:
    while data:
        data = data[os.write(fd, data) :]


def _descriptor(path: str, flags: int) -> int:
    try:
        return os.open(path, flags, 0o666)
    except FileNotFoundError:
        try:
            os.mkdir(os.path.dirname(path))
        except FileNotFoundError:
            os.makedirs(os.path.dirname(path), exist_ok=True)
        except FileExistsError:
            pass
        return os.open(path, flags, 0o666)


def _unwritable(path: str, error: OSError) -> StorageError:
    return StorageError(
        f"{path} cannot be written: {error.strerror or error}. The journal has every result: make room or "
        f"allow writing there, then overtone.observers.rebuild(folder) writes these files again."
    )
