"""Processes that write files of trials from the journal: how they start and end, and who waits for them."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from selectors import EVENT_READ, DefaultSelector
from typing import TYPE_CHECKING, Any, NoReturn

from overtone.core.messages import Record
from overtone.core.protocols import Observer
from overtone.errors import StorageError
from overtone.file_lock import open_locked
from overtone.standard_streams import say
from overtone.store.folder_mark import FolderMark
from overtone.store.room import hurry, is_hurried
from overtone.worker.process_tree import GROUP_OF_ITS_OWN, stay_out_of_job_control

if TYPE_CHECKING:
    from subprocess import Popen

LOOK_EVERY_S = 1.0
"""Seconds between two checks of a run that such a process is alive."""

_WAIT_S = 0.25
_TELL_AFTER_S = 1.0
_KILL_AFTER_S = 5.0
"""An end that was asked for waits so long for such a process."""

_DONE = b"all is written\n"
"""The last output of such a process. Its exit code may be lost to other code that reaps children."""

_PROGRAM = (
    "import sys; n = int(sys.argv[1]); sys.path[:] = sys.argv[2 + n:]; "  # first: '' is the current folder
    "from overtone.worker.process_tree import wake_with_parent; wake_with_parent(); "
    "import json; from {module} import main; main(*map(json.loads, sys.argv[2:2 + n]))"
)


class Follower(Observer):
    """Has a process follow the journal and write files of trials: the driver sends it nothing.

    The process begins some time after the run. A run that ends before has it, if at all, at its end.

    Args:
        folder: The experiment's; its journal and its lock are there.
        module: The process calls the function `main` there.
        what: The files, for messages.
        start_after_s: Seconds until the process begins.
        given: What `main` is called with besides `folder`, its driver's pid and the number of the lock.
        clock: Seconds from some moment on.
    """

    follows_results, is_projection = False, True

    def __init__(
        self,
        folder: str | os.PathLike[str],
        module: str,
        what: str,
        start_after_s: float,
        given: tuple[object, ...] = (),
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._mark = FolderMark.of(folder)
        self._module, self._what, self._given = module, what, given
        self._clock = clock
        self._look_at = clock() + start_after_s
        self._process: Popen[bytes] | None = None
        self._has_ended = False

    def on_record(self, record: Record) -> None:
        """Leave the record to the process, which reads the journal."""

    def flush(self) -> None:
        """Start the process, if it is time, and look whether it lives now and then.

        Raises:
            StorageError: It has failed.
        """
        if self._has_ended or (now := self._clock()) < self._look_at:
            return
        self._look_at = now + LOOK_EVERY_S
        if self._process is None:
            self._start()
        elif self._process.poll() is not None:
            self.close()

    def close(self) -> None:
        """Return when all that is in the journal is in the files. Twice is safe.

        Raises:
            StorageError: It could not be written.
            FolderGoneError: The folder was moved or deleted.
        """
        if self._has_ended:
            return
        self._has_ended = True
        if self._process is None:
            self.end_early()
        if self._process is None:
            return
        self._tell()  # a child that the driver has forked may hold the other end, too
        if problem := ended(self._process):
            self._mark.check()
            raise StorageError(f"{self._what} below {self._mark.folder} cannot be written: {problem}")

    def end_early(self) -> None:
        """End a run that was too short for a process: start it now, or do its work."""
        self._start()

    def _start(self) -> None:
        self._mark.check()
        self._process = started(self._module, self._mark.folder, self._mark.inode, *self._given)

    def _tell(self, line: str = "") -> None:
        assert self._process is not None
        assert self._process.stdin is not None
        with suppress(OSError):  # its end says what went wrong
            self._process.stdin.write(f"{line}\n".encode())
            self._process.stdin.flush()


def follow(
    folder: str,
    parent: int,
    inode: int,
    write: Callable[[FolderMark, Callable[[], bool], Callable[[float], None]], None],
) -> None:
    """Write files below `folder`, in such a process, until standard input has something, or ends.

    The process ends at once when its parent is gone: a resume compares the files with the journal anyway.

    Args:
        parent: The pid of its driver.
        inode: The number of the folder's lock file: in another folder nothing is written.
        write: Called with the mark of the folder, and the `stop` and `sleep` of `follow_lines`.
    """
    os.nice(5)  # trials come first
    hurry_with(parent)
    from select import select

    is_over = False

    def stop() -> bool:
        if os.getppid() != parent:
            os._exit(1)  # a child that it has forked may hold the other end of the pipe
        return is_over

    def sleep(seconds: float) -> None:
        nonlocal is_over
        is_over = bool(select([sys.stdin], [], [], seconds)[0])

    try:
        write(FolderMark(folder, inode), stop, sleep)
        end_well()
    except Exception as error:
        fail_with(error)


def started(module: str, folder: str, *arguments: object) -> Popen[bytes]:
    """Start a process that writes below `folder`: it calls `module.main(folder, pid of this process, ...)`.

    It ends when its standard input does, or with this process. Then it calls `end_well` or `fail_with`.

    Args:
        arguments: What else `main` is called with, as data for JSON.
    """
    import subprocess

    path = [os.path.abspath(one) for one in sys.path]
    given = [json.dumps(one) for one in (folder, os.getpid(), *arguments)]
    lock = _locked(folder, is_shared=True)  # the process inherits it, and has it from its birth to its end
    try:
        return subprocess.Popen(
            [sys.executable, "-c", _PROGRAM.format(module=module), str(len(given)), *given, *path],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            pass_fds=() if lock is None or lock < 0 else (lock,),
            **GROUP_OF_ITS_OWN,  # Ctrl-C is the driver's to handle: this process ends with its input
        )
    finally:
        if lock is not None and lock >= 0:
            os.close(lock)


def ended(process: Popen[bytes]) -> str:
    """Let a process finish its work, wait for its end, and return its error text, or an empty text.

    A stopped process is continued. After Ctrl-C, the wait lasts a few seconds.
    """
    assert process.stdin is not None
    assert process.stdout is not None
    with suppress(OSError):
        process.stdin.close()
    kill_at = 0.0
    with DefaultSelector() as selector:
        selector.register(process.stdout, EVENT_READ)
        while not selector.select(_WAIT_S):  # it says nothing before its end
            if is_hurried() and not kill_at:
                process.terminate()
                kill_at = time.monotonic() + _KILL_AFTER_S
            if kill_at and time.monotonic() > kill_at:
                process.kill()
            else:
                process.send_signal(signal.SIGCONT)
    said = process.stdout.read()
    process.stdout.close()
    process.wait()
    if said.endswith(_DONE):
        return ""
    return said.decode(errors="replace").strip() or f"its process ended with exit code {process.returncode}"


def hurry_with(parent: int) -> None:
    """Leave out, in such a process, what finds no room once the parent sends SIGTERM, or is gone."""
    stay_out_of_job_control()

    def on_signal(number: int, _: Any) -> None:
        if number == signal.SIGTERM or os.getppid() != parent:  # its end is told by SIGCONT
            hurry(0.0)

    for number in (signal.SIGTERM, signal.SIGCONT):
        signal.signal(number, on_signal)
    if os.getppid() != parent:  # the signal came before
        hurry(0.0)


def end_well() -> NoReturn:
    """End such a process, and tell that all is written if the parent still reads."""
    with suppress(OSError):
        os.write(1, _DONE)
    os._exit(0)  # the run waits for this process, which has nothing to tidy up


def fail_with(error: Exception) -> NoReturn:
    """End such a process, and tell why if the parent still reads."""
    with suppress(OSError):
        sys.stdout.write(f"{type(error).__name__}: {error}\n")
        sys.stdout.flush()
    os._exit(1)


def wait_for_helpers(folder: str, patience_s: float = 10.0) -> bool:
    """Wait for helper processes of a killed driver; return whether none writes below `folder`.

    They end after they have written their input. A wait of more than a second is reported on stderr.
    """
    began, is_told = time.monotonic(), False
    while (fd := _locked(folder)) is None and (waited_s := time.monotonic() - began) < patience_s:
        if waited_s >= _TELL_AFTER_S and not is_told:
            is_told = True
            say(
                f"a process of an earlier driver still writes files of trials below {folder}: "
                f"waiting for its end, at most {patience_s:g} s"
            )
        time.sleep(0.02)
    if fd is not None and fd >= 0:
        os.close(fd)
    return fd is not None


def _locked(folder: str, is_shared: bool = False) -> int | None:
    """Lock the folder; return the lock's descriptor, -1 without locks, or None if another process has it."""
    try:
        return open_locked(folder, is_shared=is_shared)
    except OSError:
        return -1
