"""Keeps the last output of each trial in its folder, in a thread that the engine never waits for."""

from __future__ import annotations

import os
import threading
from collections import OrderedDict, deque
from contextlib import suppress
from itertools import groupby
from operator import itemgetter

from overtone.core.job import Job
from overtone.errors import StorageError
from overtone.reading.trial_output import (
    LONGEST_HEADING,
    NEWEST,
    OLDER,
    PART_BYTES,
    heading,
    is_kept_output,
)
from overtone.regular_files import flags
from overtone.store.folder_mark import mark_of

EVERY_S = 0.2
"""Time from one batch to the next, in seconds: output that a kill -9 of the driver may lose."""

CLOSE_WITHIN_S = 2.0

MOST_WAITING = 4096
"""Pieces of output that wait for a disk that does not answer; further pieces are dropped."""

_MOST_KNOWN = 1024
_FLAGS = flags("O_CLOEXEC", "O_NOFOLLOW", "O_NONBLOCK", "O_BINARY")
_OPEN = os.O_RDWR | os.O_APPEND | os.O_CREAT | _FLAGS
_READ = os.O_RDONLY | _FLAGS


def kept_output(job: Job) -> KeptOutput | None:
    """Return the keeper of a job's output; None if it is not captured, or goes elsewhere."""
    keeps = job.captures_output and job.log_to_file is None and job.mark is not None
    return KeptOutput(job) if keeps else None


class KeptOutput:
    """Writes lines of trials to their files; a failure to write loses output, and nothing else.

    Args:
        job: The Job, for the folder.
    """

    def __init__(self, job: Job) -> None:
        self._mark = mark_of(job)
        self._waiting: deque[tuple[str, str, list[str]]] = deque()
        self._lost: dict[str, str] = {}  # by trial: why output is missing since
        self._streams: OrderedDict[str, str] = OrderedDict()  # the last stream of trials that printed lately
        self._is_awake = self._is_closing = False
        self._bell = threading.Event()
        self._closing = threading.Event()
        self._thread: threading.Thread | None = None

    def put(self, trial_id: str, stream: str, lines: list[str]) -> None:
        """Hand over lines without line ends."""
        if len(self._waiting) >= MOST_WAITING:
            self._lost[trial_id] = "the disk did not answer"
            return
        self._waiting.append((trial_id, stream, lines))
        if not self._is_awake:
            self._is_awake = True
            self._bell.set()
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="overtone-output", daemon=True)
                self._thread.start()

    def close(self) -> None:
        """Write what waits. A disk that does not answer is waited for `CLOSE_WITHIN_S`."""
        self._closing.set()
        self._bell.set()
        if self._thread is not None:
            self._thread.join(CLOSE_WITHIN_S)

    # --- the thread ----------------------------------------------------------------------

    def _run(self) -> None:
        while not self._closing.is_set():
            self._bell.wait()
            self._closing.wait(EVERY_S)
            self._bell.clear()
            self._is_awake = False
            self._write_waiting()
        self._write_waiting()

    def _write_waiting(self) -> None:
        batch = []
        with suppress(IndexError):
            while True:
                batch.append(self._waiting.popleft())
        batch.sort(key=itemgetter(0))  # stable: the order of a trial's lines stays
        for trial_id, pieces in groupby(batch, key=itemgetter(0)):
            try:
                self._append(trial_id, [(stream, _text(lines)) for _, stream, lines in pieces])
            except StorageError:
                return  # the folder is gone
            except OSError as error:
                self._lost[trial_id] = error.strerror or str(error)

    def _append(self, trial_id: str, pieces: list[tuple[str, bytes]]) -> None:
        path = os.path.join(self._mark.folder, trial_id, NEWEST)
        try:
            fd = os.open(path, _OPEN, 0o666)
        except FileNotFoundError:
            self._mark.make(trial_id)
            fd = os.open(path, _OPEN, 0o666)
        try:
            size = os.fstat(fd).st_size
            if not is_kept_output(os.pread(fd, LONGEST_HEADING, 0), trial_id):
                return  # the trial's own
            now = self._streams.get(trial_id, "") if size else ""
            unsent = bytearray(b"\n" if size and os.pread(fd, 1, size - 1) != b"\n" else b"")
            if reason := self._lost.pop(trial_id, ""):
                pieces.insert(0, (pieces[0][0], f"[output is missing here: {reason}]\n".encode()))
            for stream, text in pieces:
                if size + len(unsent) >= PART_BYTES:
                    _write(fd, unsent)
                    fd, size, now = _next_part(fd, path, trial_id), 0, ""
                    unsent.clear()
                if stream != now:
                    unsent += heading(trial_id, stream)
                    now = stream
                unsent += text
            _write(fd, unsent)
        finally:
            os.close(fd)
        self._streams[trial_id] = now
        self._streams.move_to_end(trial_id)
        if len(self._streams) > _MOST_KNOWN:
            self._streams.popitem(last=False)


def _text(lines: list[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode("utf-8", "backslashreplace")


def _write(fd: int, data: bytearray) -> None:
    view = memoryview(bytes(data))
    while view:
        view = view[os.write(fd, view) :]


def _next_part(fd: int, path: str, trial_id: str) -> int:
    """Make the file the older part, unless that is a file of the trial's own; return the new part."""
    older = os.path.join(os.path.dirname(path), OLDER)
    if _is_free(older, trial_id):
        os.replace(path, older)
        new = os.open(path, _OPEN, 0o666)
        os.dup2(new, fd, inheritable=False)
        os.close(new)
    else:
        os.ftruncate(fd, 0)
    return fd


def _is_free(path: str, trial_id: str) -> bool:
    try:
        fd = os.open(path, _READ)
    except OSError as error:
        return isinstance(error, FileNotFoundError)
    try:
        return is_kept_output(os.read(fd, LONGEST_HEADING), trial_id)
    except OSError:
        return False
    finally:
        os.close(fd)
