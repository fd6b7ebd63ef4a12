"""The process that writes event files, and the thread that feeds it."""

from __future__ import annotations

import json
import marshal
import os
import struct
import sys
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from overtone.errors import StorageError

if TYPE_CHECKING:
    from subprocess import Popen

Message = tuple[str, str, float, str]
"""What happened ("start", "result", "end"), the trial's folder, the wall time, and JSON or a status."""

MOST_WAITING = 50_000
"""Messages that may wait; beyond, `put` does."""

_START_AFTER_S = 0.5
_PROGRAM = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from overtone.observers.event_process import main; main(sys.argv[2])"
)


def frame(batch: list[Message]) -> bytes:
    """A batch as it travels; an empty one is the last."""
    body = marshal.dumps(batch)
    return struct.pack("<I", len(body)) + body


class EventWriter:
    """Hands messages to the writing process, which begins with the first of them.

    Args:
        folder: The experiment's.
    """

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._changed = threading.Condition()
        self._waiting: list[Message] = []
        self._is_closing = False
        self._error = ""
        self._thread: threading.Thread | None = None

    def put(self, batch: list[Message]) -> None:
        """Pass messages on; waits only while too many wait already.

        Raises:
            StorageError: The writing process has failed.
        """
        with self._changed:
            while len(self._waiting) >= MOST_WAITING and not self._error:
                self._changed.wait()
            if self._error:
                raise StorageError(self._error)
            self._waiting += batch
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="overtone-tensorboard", daemon=True)
                self._thread.start()
            elif len(self._waiting) == len(batch):
                self._changed.notify_all()

    def close(self) -> None:
        """Wait until all is in the files. Twice is safe.

        Raises:
            StorageError: It could not be written.
        """
        with self._changed:
            self._is_closing = True
            self._changed.notify_all()
        if self._thread is not None:
            self._thread.join()
            self._thread = None
            if self._error:
                raise StorageError(self._error)

    def _run(self) -> None:
        with self._changed:
            # the process takes a second of a core to begin: not in the experiment's first moments
            self._changed.wait_for(lambda: self._is_closing, _START_AFTER_S)
        process = None
        try:
            process = _start(self._folder)
            assert process.stdin is not None
            while batch := self._next():
                process.stdin.write(frame(batch))
                process.stdin.flush()
            process.stdin.write(frame([]))
        except OSError as error:
            self._fail(f"{error.strerror or error}")
        if process is not None:
            assert process.stdin is not None
            assert process.stdout is not None
            with suppress(OSError):  # what it did not take is lost with it
                process.stdin.close()
            said = process.stdout.read().decode(errors="replace").strip()
            if process.wait() != 0:
                self._fail(said or f"its process ended with exit code {process.returncode}")
            process.stdout.close()

    def _next(self) -> list[Message]:
        """What waits; empty once nothing will come any more."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._is_closing)
            batch, self._waiting = self._waiting, []
            self._changed.notify_all()
        return batch

    def _fail(self, reason: str) -> None:
        with self._changed:
            self._error = f"TensorBoard files below {self._folder} cannot be written: {reason}"
            self._waiting = []
            self._changed.notify_all()


def wait_for_writer(folder: str, patience_s: float = 10.0) -> bool:
    """Whether no process writes event files below `folder`: that of a killed driver still may.

    It ends by itself, once it has written what it was sent.
    """
    fd, deadline = _locked(folder), time.monotonic() + patience_s
    while fd is None and time.monotonic() < deadline:
        time.sleep(0.02)
        fd = _locked(folder)
    if fd is not None and fd >= 0:
        os.close(fd)
    return fd is not None


def _locked(folder: str) -> int | None:
    """A descriptor that holds the folder's lock; -1 where there are no locks, None if another has it."""
    try:
        import fcntl

        fd = os.open(folder, os.O_RDONLY)
    except (ImportError, OSError):
        return -1
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return fd
    except OSError as error:
        os.close(fd)
        return None if isinstance(error, BlockingIOError) else -1


def _start(folder: str) -> Popen[bytes]:
    import subprocess

    path = json.dumps([os.path.abspath(one) for one in sys.path])
    lock = _locked(folder)  # the process inherits it, and has it from its birth to its end
    try:
        return subprocess.Popen(
            [sys.executable, "-c", _PROGRAM, path, folder],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            pass_fds=() if lock is None or lock < 0 else (lock,),
            start_new_session=True,  # Ctrl-C is the driver's to handle: this process ends with its input
        )
    finally:
        if lock is not None and lock >= 0:
            os.close(lock)
