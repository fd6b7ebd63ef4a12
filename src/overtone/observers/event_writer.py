"""The process that writes event files, and what feeds it."""

from __future__ import annotations

import json
import marshal
import os
import struct
import sys
import time
from contextlib import suppress
from select import select
from typing import TYPE_CHECKING

from overtone.errors import StorageError
from overtone.observers.aside import Aside
from overtone.store.room import is_hurried

if TYPE_CHECKING:
    from subprocess import Popen

Message = tuple[str, str, float, str]
"""What happened ("start", "result", "end"), the trial's folder, the wall time, and JSON or a status."""

MOST_WAITING = 50_000
"""Messages that may wait."""

_START_AFTER_S = 0.1
_LOOK_EVERY_S = 0.25
_PROGRAM = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from overtone.worker.lineage import wake_with_parent; wake_with_parent(); "
    "from overtone.observers.event_process import main; main(sys.argv[2], int(sys.argv[3]))"
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
        self._process: Popen[bytes] | None = None
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

    def _send(self, batch: list[Message]) -> None:
        try:
            if self._process is None:
                self._process = _start(self._folder)
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
        assert process.stdout is not None
        with suppress(OSError):  # what it did not take is lost with it
            process.stdin.write(frame([]))
        with suppress(OSError):
            process.stdin.close()
        is_told = False
        while not select([process.stdout], [], [], _LOOK_EVERY_S)[0]:  # it says nothing before its end
            if is_hurried() and not is_told:
                process.terminate()
                is_told = True
        said = process.stdout.read().decode(errors="replace").strip()
        process.stdout.close()
        if process.wait() != 0:
            raise self._failed(said or f"its process ended with exit code {process.returncode}")

    def _failed(self, reason: str) -> StorageError:
        return StorageError(f"TensorBoard files below {self._folder} cannot be written: {reason}")


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
            [sys.executable, "-c", _PROGRAM, path, folder, str(os.getpid())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            pass_fds=() if lock is None or lock < 0 else (lock,),
            start_new_session=True,  # Ctrl-C is the driver's to handle: this process ends with its input
        )
    finally:
        if lock is not None and lock >= 0:
            os.close(lock)
