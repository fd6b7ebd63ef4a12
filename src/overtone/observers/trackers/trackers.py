"""The trackers of a run: each has a process that follows the journal. The driver only waits at its end."""

from __future__ import annotations

import base64
import json
import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from select import select
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any

from overtone.core.messages import Record
from overtone.core.protocols import Observer
from overtone.core.table import TrialTable
from overtone.errors import ArgumentError
from overtone.observers.callbacks.callback_observer import set_up
from overtone.observers.helper_processes import LOOK_EVERY_S, started
from overtone.observers.trackers.mark import MarkFile
from overtone.observers.trackers.tracker import TrackerCallback, place_name
from overtone.observers.trackers.tracker_process import DONE, FAILURE, PROBLEM, REFUSAL, descendants, end_tree
from overtone.standard_streams import say
from overtone.store.folder_mark import FolderMark
from overtone.store.room import is_hurried

if TYPE_CHECKING:
    from subprocess import Popen

_MODULE = "overtone.observers.trackers.tracker_process"
_START_AFTER_S = 0.2
_TELL_AFTER_S = 2.0
_HURRIED_S = 5.0
_LOOK_S = 0.1


class Trackers(Observer):
    """Has processes send the journal to trackers: the driver sends them nothing.

    A tracker that cannot be reached changes nothing in the run. At the end the driver waits for all
    trackers together, for each at most its `upload_timeout`, and says what is missing.

    Args:
        folder: The experiment's folder, with its journal and its lock.
        callbacks: One for each tracker.
        table: The state of the experiment, for counts of results.
        facts: Arguments of `setup`; None if it was called before.
        clock: Seconds from some moment on.
    """

    follows_results = False

    def __init__(
        self,
        folder: str | os.PathLike[str],
        callbacks: Sequence[TrackerCallback],
        table: TrialTable,
        facts: Mapping[str, Any] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        mark = FolderMark.of(folder)
        for one in callbacks if facts is not None else ():
            set_up(one, facts or {})
        self._senders = [_Sender(mark, one, table) for one in callbacks]
        names = [sender.name for sender in self._senders]
        for sender in self._senders:
            if names.count(sender.name) > 1:
                raise ArgumentError(f"two callbacks for {sender.kind} have the same arguments: give one")
        self._clock = clock
        self._look_at = clock() + _START_AFTER_S
        self._has_ended = False

    def on_record(self, record: Record) -> None:
        """The processes read it."""

    def flush(self) -> None:
        """Start the processes, if it is time, and tell of problems now and then."""
        if self._has_ended or (now := self._clock()) < self._look_at:
            return
        self._look_at = now + LOOK_EVERY_S
        for one in self._senders:
            one.start()
            one.listen()

    @property
    def are_over(self) -> bool:
        """Whether all processes have ended."""
        return all(one.is_over for one in self._senders)

    def close(self) -> None:
        """Wait until the trackers have all, or for a time. Twice is safe."""
        if not self._has_ended:
            self._has_ended = True
            self.finish()

    def finish(self) -> bool:
        """Wait as `close` does; return whether the trackers have all."""
        began, is_told, hurried_at = self._clock(), False, 0.0
        for one in self._senders:
            one.start()
            one.end()
        waiting = self._senders
        while waiting:
            now = self._clock()
            waited_s = now - began
            if is_hurried() and not hurried_at:
                hurried_at = now
            ends = [
                one
                for one in waiting
                if waited_s >= one.wait_s or (hurried_at and now - hurried_at > _HURRIED_S)
            ]
            for one in ends:
                one.give_up("the wait was interrupted" if hurried_at else f"not done within {one.wait_s:g} s")
            waiting = [one for one in waiting if not one.is_over]
            if waiting and waited_s > _TELL_AFTER_S and not is_told:
                is_told = True
                longest = max(one.wait_s for one in waiting)
                say(f"waiting for {', '.join(one.kind for one in waiting)}, at most {longest:g} s")
            for one in waiting:
                one.listen(_LOOK_S / len(waiting))
        for one in self._senders:
            if text := one.missing():
                say(text)
        return not any(one.missing() for one in self._senders)


class _Sender:
    """The process of one tracker.

    Attributes:
        kind: The tracker's name.
        wait_s: Most seconds for which its end is waited for.
        is_over: Whether the process has ended.
    """

    def __init__(self, folder: FolderMark, callback: TrackerCallback, table: TrialTable) -> None:
        self.kind, self.wait_s, self.is_over = callback.kind, callback.upload_timeout, False
        self.name = place_name(callback.kind, callback.settings())
        self._folder, self._callback, self._table = folder, callback, table
        self._file = MarkFile(folder, self.name)
        self._thread: threading.Thread | None = None
        self._process: Popen[bytes] | None = None
        self._said, self._temporary = b"", ""
        self._is_done, self._failure, self._problem = False, "", ""
        self._has_told = self._has_refused = False
        self._has_ended = threading.Event()

    def start(self) -> None:
        """Start the process, unless it was started. A thread does it: the loop does not wait for that."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name=f"overtone {self.kind}", daemon=True)
            self._thread.start()

    def _run(self) -> None:
        """Start the process, hand the callback over, and close its input when the journal has ended."""
        import cloudpickle

        try:
            packed = base64.b64encode(cloudpickle.dumps(self._callback))
        except Exception as error:  # a user's class may hold anything
            self._fail(f"{type(self._callback).__name__} cannot be pickled: {type(error).__name__}: {error}")
            return
        try:
            self._folder.check()
            self._temporary = mkdtemp(prefix=f"overtone-tracker-{os.getpid()}-")
            process = started(_MODULE, self._folder.folder, self._folder.inode, self.name, self._temporary)
        except OSError as error:
            end_tree([], self._temporary)
            self._fail(f"its process cannot start: {error}")
            return
        assert process.stdin is not None
        self._process = process
        with suppress(OSError, ValueError):
            process.stdin.write(packed + b"\n")
            process.stdin.flush()
            self._has_ended.wait()
            process.stdin.close()

    def listen(self, seconds: float = 0.0) -> None:
        """Read what the process tells, and wait some seconds for that."""
        if self.is_over:
            return
        if self._process is None:
            time.sleep(seconds)  # it starts
            return
        stdout = self._process.stdout
        assert stdout is not None
        if not select([stdout], [], [], seconds)[0]:
            return
        said = os.read(stdout.fileno(), 1 << 16)
        *lines, self._said = (self._said + said).split(b"\n")
        for line in lines:
            self._hear(json.loads(line))
        if not said:
            if not self._is_done and not self._failure:
                self._fail("its process was killed")
            self.kill()

    def _hear(self, line: Mapping[str, str]) -> None:
        self._is_done = self._is_done or DONE in line
        if FAILURE in line:
            self._fail(line[FAILURE])
        elif REFUSAL in line and not self._has_refused:
            self._has_refused = True
            say(f"{self.kind} refuses a part of a run, which is left out: {line[REFUSAL]}")
        elif PROBLEM in line:
            self._problem = line[PROBLEM]
            if self._problem and not self._has_told:
                self._has_told = True
                say(f"{self.kind}: {self._problem}; trying again")

    def _fail(self, text: str) -> None:
        self._failure, self.is_over = text, self._process is None
        if not self._has_ended.is_set():
            say(f"{self.kind}: {text}; the run goes on without it")

    def end(self) -> None:
        """Tell the process that the journal has ended."""
        self._has_ended.set()

    def give_up(self, why: str) -> None:
        """End the process, which has not told that all is sent."""
        self._problem = self._problem or why
        self.kill()

    def kill(self) -> None:
        """End the process, and all processes below it."""
        self._has_ended.set()
        if self._process is None and self._thread is not None:
            self._thread.join(_HURRIED_S)
        process, self.is_over = self._process, True
        if process is None or process.stdout is None:
            return
        below = descendants(process.pid)
        process.kill()
        process.wait()
        end_tree(below, self._temporary)
        process.stdout.close()

    def missing(self) -> str:
        """Return what the tracker lacks, in a line; "" if it has all."""
        if self._is_done:
            return ""
        mark = self._file.read()
        n = sum(row.n_results for row in self._table.rows.values())
        n_missing = n - max(0, mark.n_sent if mark is not None else 0)
        why = self._failure or self._problem
        what = f"{n_missing:,} of {n:,} results" if n_missing > 0 else "the end of runs"
        command = f"overtone sync {self._folder.folder} --to {self.kind}"
        return f"{self.kind} lacks {what} ({why}): {command} sends the rest"
