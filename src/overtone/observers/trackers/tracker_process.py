"""The process that sends a journal to a tracker: how it begins, and how it ends without leaving anything."""

from __future__ import annotations

import base64
import json
import os
import pickle
import shutil
import signal
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from select import select
from typing import Any, NoReturn

from overtone.observers.trackers.mark import FOLDER, MarkFile
from overtone.observers.trackers.tracker import TrackerCallback
from overtone.store.folder_mark import FolderMark
from overtone.worker.process_tree import parents, stay_out_of_job_control

DONE = "done"
"""The key of the last line of such a process, if all is sent."""

PROBLEM = "problem"
"""The key of a line with a problem; its value is "" when the problem is over."""

REFUSAL = "refusal"
"""The key of a line about something that the tracker refused."""

FAILURE = "failure"
"""The key of the last line of such a process that cannot go on."""

_PATIENCE = {"MLFLOW_HTTP_REQUEST_TIMEOUT": "15", "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "1"}
"""Clients that repeat requests themselves for minutes would hide a problem for as long."""

_LOCK_EVERY_S = 0.5


def descendants(pid: int) -> list[int]:
    """Return the processes below `pid`, also those in sessions of their own."""
    children: dict[int, list[int]] = {}
    for child, parent in parents():
        children.setdefault(parent, []).append(child)
    found, waiting = [], [pid]
    while waiting:
        below = children.get(waiting.pop(), [])
        found += below
        waiting += below
    return found


def end_tree(others: list[int], temporary: str) -> None:
    """Kill the processes `others`, and delete their folder for temporary files."""
    for one in others:
        with suppress(OSError):
            os.kill(one, signal.SIGKILL)
    shutil.rmtree(temporary, ignore_errors=True)


def main(folder: str, parent: int, inode: int, name: str, temporary: str) -> None:
    """Follow the journal in `folder` until standard input ends; its first line is the pickled callback.

    Args:
        parent: The pid of the driver: the process ends with it.
        inode: The number of the folder's lock file.
        name: The name of the tracker's mark.
        temporary: An empty folder for temporary files of this process and its children.
    """
    channel = os.dup(1)

    def tell(**line: str) -> None:
        with suppress(OSError):
            os.write(channel, json.dumps(line).encode() + b"\n")

    def leave(code: int) -> NoReturn:
        end_tree(descendants(os.getpid()), temporary)
        os._exit(code)

    def on_signal(number: int, _: Any) -> None:
        if number == signal.SIGTERM or os.getppid() != parent:
            leave(1)

    stay_out_of_job_control()
    for number in (signal.SIGTERM, signal.SIGCONT):
        signal.signal(number, on_signal)
    on_signal(signal.SIGCONT, None)  # the parent may have ended before
    try:
        os.environ["TMPDIR"] = temporary
        tempfile.tempdir = None  # it is known already
        _follow(FolderMark(folder, inode), parent, name, tell, leave)
    except BaseException as error:
        tell(**{FAILURE: f"{type(error).__name__}: {error}"})
        leave(1)
    tell(**{DONE: ""})
    leave(0)


def _follow(folder: FolderMark, parent: int, name: str, tell: Any, leave: Any) -> None:
    os.nice(5)  # trials come first
    line = sys.stdin.readline()
    file, is_over = MarkFile(folder, name), False

    def stop() -> bool:
        if os.getppid() != parent:
            leave(1)
        return is_over

    def sleep(seconds: float) -> None:
        nonlocal is_over
        if is_over:
            time.sleep(seconds)
        else:
            is_over = bool(select([sys.stdin], [], [], seconds)[0])

    while not file.acquire():
        tell(**{PROBLEM: "another process sends to it"})
        stop()
        sleep(_LOCK_EVERY_S)
    _keep_output(folder.make(FOLDER) / f"{name}.log")
    for variable, value in _PATIENCE.items():
        os.environ.setdefault(variable, value)
    from overtone.observers.trackers.projection import follow_journal

    callback = pickle.loads(base64.b64decode(line))  # the driver pickled it
    assert isinstance(callback, TrackerCallback)
    follow_journal(
        folder,
        callback,
        file,
        stop,
        sleep,
        lambda text: tell(**{PROBLEM: text}),
        lambda text: tell(**{REFUSAL: text}),
    )
    callback.close()


def _keep_output(path: Path) -> None:
    """Have the output of this process and its children in a file, since it is not the run's."""
    try:
        path.unlink(missing_ok=True)
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
    except OSError:
        fd = os.open(os.devnull, os.O_WRONLY)
    for number in (1, 2):
        os.dup2(fd, number)
    os.close(fd)
