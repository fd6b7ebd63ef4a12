"""Processes that write files below an experiment's folder: how they start and end, and who waits for them."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from contextlib import suppress
from selectors import EVENT_READ, DefaultSelector
from typing import TYPE_CHECKING, Any, NoReturn

from overtone.file_lock import open_locked
from overtone.standard_streams import say
from overtone.store.room import hurry, is_hurried
from overtone.worker.process_tree import GROUP_OF_ITS_OWN, stay_out_of_job_control

if TYPE_CHECKING:
    from subprocess import Popen

_LOOK_EVERY_S = 0.25
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
        while not selector.select(_LOOK_EVERY_S):  # it says nothing before its end
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
    """In such a process: leave out what finds no room once the parent sends SIGTERM, or is gone."""
    stay_out_of_job_control()

    def on_signal(number: int, _: Any) -> None:
        if number == signal.SIGTERM or os.getppid() != parent:  # its end is told by SIGCONT
            hurry(0.0)

    for number in (signal.SIGTERM, signal.SIGCONT):
        signal.signal(number, on_signal)
    if os.getppid() != parent:  # the signal came before
        hurry(0.0)


def end_well() -> NoReturn:
    """In such a process: end, and tell that all is written if the parent still reads."""
    with suppress(OSError):
        os.write(1, _DONE)
    os._exit(0)  # the run waits for this process, which has nothing to tidy up


def fail_with(error: Exception) -> NoReturn:
    """In such a process: end, and tell why if the parent still reads."""
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
