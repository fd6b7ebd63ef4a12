"""The process that writes event files, and what feeds it."""

from __future__ import annotations

import marshal
import struct
from contextlib import suppress
from typing import TYPE_CHECKING

from overtone.errors import StorageError
from overtone.observers.batch_thread import Aside
from overtone.observers.helper_processes import ended, started
from overtone.store.folder_mark import FolderMark
from overtone.store.room import is_hurried

if TYPE_CHECKING:
    from subprocess import Popen

Message = tuple[str, str, float, str]
"""The kind ("start", "result", "end"), the trial's folder, the wall time, and JSON or a status."""

MOST_WAITING = 50_000
"""Messages that may wait."""

_START_AFTER_S = 0.1
_MODULE = "overtone.observers.tensorboard.event_process"


def frame(batch: list[Message]) -> bytes:
    """Return a batch as it travels; an empty one is the last."""
    body = marshal.dumps(batch)
    return struct.pack("<I", len(body)) + body


class EventWriter:
    """Hands messages to the writing process, which begins with the first of them.

    Args:
        folder: The experiment's.
    """

    def __init__(self, folder: str) -> None:
        self._mark = FolderMark.of(folder)
        self._process: Popen[bytes] | None = None
        self._is_abandoned = False
        # the process takes some time of a core to begin: not in the experiment's first moments
        self._aside = Aside(self._send, "overtone-tensorboard", MOST_WAITING, _START_AFTER_S)

    def put(self, batch: list[Message]) -> None:
        """Pass messages on; waits only while too many wait already.

        Raises:
            StorageError: The writing process has failed.
        """
        self._aside.put(batch)

    def close(self) -> None:
        """Wait until all is in the files. Twice is safe.

        Raises:
            StorageError: It could not be written.
        """
        try:
            if self._process is not None and is_hurried():
                self._process.terminate()  # it writes what it can, and waits no longer for room
            self._aside.wait()
        finally:
            process, self._process = self._process, None
            if process is not None:
                self._end(process)

    def abandon(self) -> None:
        """Kill the writing process, if there is one: its files must be written again."""
        self._is_abandoned = True
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()

    def _send(self, batch: list[Message]) -> None:
        if self._is_abandoned:
            return
        try:
            if self._process is None:
                self._process = started(_MODULE, self._mark.folder, self._mark.inode)
            assert self._process.stdin is not None
            self._process.stdin.write(frame(batch))
            self._process.stdin.flush()
        except OSError as error:
            process, self._process = self._process, None
            if process is not None:
                self._end(process)  # which knows more of what went wrong
            raise self._failed(f"{error.strerror or error}") from error

    def _end(self, process: Popen[bytes]) -> None:
        """Let the process write all that it was sent, and wait for its end."""
        assert process.stdin is not None
        with suppress(OSError):  # what it did not take is lost with it
            process.stdin.write(frame([]))
        problem = ended(process)
        if problem:
            raise self._failed(problem)

    def _failed(self, reason: str) -> StorageError:
        return StorageError(f"TensorBoard files below {self._mark.folder} cannot be written: {reason}")
