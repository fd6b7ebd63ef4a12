"""Brings a tracker to the state of the journal, and keeps it there while the journal grows."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any
from zlib import crc32

from overtone.core.goal import Goal
from overtone.core.messages import Moved, Record, Reported
from overtone.core.table import TrialTable
from overtone.core.types import WORST
from overtone.errors import GoalError, OvertoneError
from overtone.journal.codec import Codec
from overtone.journal.lines import header
from overtone.journal.reader import follow_lines
from overtone.journal.text import loads
from overtone.observers.callbacks.callback_observer import CallbackObserver
from overtone.observers.trackers.mark import Mark, MarkFile
from overtone.observers.trackers.tracker import TrackerCallback
from overtone.observers.trial_view import Experiment, SeenTrial
from overtone.reading.recorded_goal import recorded_objectives
from overtone.space import space_from_data, variables
from overtone.space.nesting import with_tuples
from overtone.store.folder_mark import JOURNAL, FolderGoneError, FolderMark
from overtone.worker.checkpoints.checkpoint import Checkpoint

FOLLOW_EVERY_S = 0.5
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 1.0, 30.0
_PAUSE_AT_END_S = 2.0
_LOOK_S = 0.2


class StaleMarkError(OvertoneError):
    """The mark is of a journal whose end was lost: everything is sent again."""


def follow_journal(
    folder: FolderMark,
    callback: TrackerCallback,
    file: MarkFile,
    stop: Callable[[], bool],
    sleep: Callable[[float], None],
    on_problem: Callable[[str], None],
    on_refused: Callable[[str], None],
) -> None:
    """Send the journal's contents to a tracker until `stop()` is true and all is there.

    Args:
        folder: The mark of the experiment's folder.
        callback: Its hooks are called.
        file: The mark of this tracker; this process holds it.
        stop: Whether the journal has ended.
        sleep: Waits for some seconds, or until `stop()` is true.
        on_problem: Called with a line for each attempt that failed, and with "" once one succeeds.
        on_refused: Called with a line about each action that the tracker refused.

    Raises:
        StorageError: The journal cannot be read, or the folder is gone.
        Exception: A hook raised it.
    """
    try:
        Projection(folder, callback, file, file.read(), on_problem, on_refused).run(stop, sleep)
    except StaleMarkError:
        Projection(folder, callback, file, None, on_problem, on_refused).run(stop, sleep)


class _Hooks(CallbackObserver):
    """Calls the hooks of a tracker, of earlier records for some trials only.

    Attributes:
        is_past: Whether an earlier process handled the current record.
        unfinished: Trials whose earlier records are handled again.
    """

    is_past = False
    unfinished: frozenset[str] = frozenset()

    def _on(self, hook: str, trial: SeenTrial, **more: Any) -> None:
        if not self.is_past or trial.trial_id in self.unfinished:
            super()._on(hook, trial, **more)


class Projection:
    """The state of one tracker.

    Args:
        mark: How far an earlier process came; None if there was none.
    """

    def __init__(
        self,
        folder: FolderMark,
        callback: TrackerCallback,
        file: MarkFile,
        mark: Mark | None,
        on_problem: Callable[[str], None],
        on_refused: Callable[[str], None],
    ) -> None:
        self._journal = Path(folder.folder, JOURNAL)
        head = header(self._journal)
        parts = head.get("parts")
        parts = parts if isinstance(parts, dict) else {}
        key = sha256(repr((head.get("wall"), head.get("seed"), head.get("hostname"))).encode()).hexdigest()
        self._past = mark if mark is not None and mark.key == key else None
        self._mark = Mark(callback.kind, callback.settings(), key)
        self._callback, self._file = callback, file
        self._on_problem, self._on_refused = on_problem, on_refused
        self._goal = recorded_objectives(head)
        self._best_score = WORST
        self._table = TrialTable()
        self._wall = self._began = float(head.get("wall") or 0.0)
        self._has_problem = False
        callback.experiment, callback.folder, callback.key = self._journal.parent.name, folder.folder, key
        callback.keep = self._keep
        if self._past is not None:
            self._mark.run_ids = self._past.run_ids
            callback.run_ids = dict(self._past.run_ids)
            callback.unfinished = frozenset(self._past.run_ids)
            callback.is_uncertain = True
            self._mark.n, self._mark.crc = self._past.n, self._past.crc
            self._mark.n_results, self._mark.unfinished = self._past.n_results, self._past.unfinished
        self._experiment = Experiment(
            str(parts.get("name", "")),
            folder.folder,
            _parameters(parts.get("space")),
            lambda one: Checkpoint(one.uri),
        )
        self._hooks = _Hooks([callback], self._experiment, self._table, None, raises_as_is=True)
        self._hooks.unfinished = callback.unfinished if callback.sends_whole_runs else frozenset()

    def run(self, stop: Callable[[], bool], sleep: Callable[[float], None]) -> None:
        """Send until `stop()` is true and all is there.

        Raises:
            StaleMarkError: The journal does not have the record up to which an earlier process came.
        """

        def rest(seconds: float) -> None:
            self._check_end()
            sleep(seconds)

        self._send(stop, sleep)  # so that what is missing can be sent to the same place, whatever happens
        for bodies in follow_lines(self._journal, stop, FOLLOW_EVERY_S, rest):
            for record in self._records(bodies):
                self._handle(record)
            self._crc = crc32(bodies[-1])
            self._hooks.flush()
            self._send(stop, sleep)
        self._check_end()
        self._hooks.close()
        self._send(stop, sleep)

    # --- records ------------------------------------------------------------------------

    _n = _crc = 0
    _n_results = 0

    def _records(self, bodies: list[bytes]) -> Iterator[Record]:
        decode = Codec(None, with_tuples).decode
        for body in bodies:
            self._n += 1
            if self._past is not None and self._n == self._past.n and crc32(body) != self._past.crc:
                raise StaleMarkError(f"record {self._n} is another one")
            record = decode(body, lazy=True)
            if record is None:
                wall = loads(body.decode() + "}").get("wall")
                if isinstance(wall, (int, float)):
                    self._began = float(wall) - self._table.time
            else:
                yield record

    def _handle(self, record: Record) -> None:
        is_past = self._past is not None and self._n <= self._past.n
        self._hooks.is_past = is_past
        if self._table.apply(record) is not None:
            self._n_results += 1
            if not self._goal.metrics and isinstance(record.event, Reported):
                _infer(self._goal, record.event)
        self._callback.wall = self._began + record.event.time
        for choice in record.choices:
            if isinstance(choice, Moved) and choice.status == "TERMINATED":
                self._compare(choice.trial_id, is_past)
        if not is_past or self._hooks.unfinished:
            self._hooks.on_record(record)

    def _compare(self, trial_id: str, is_past: bool) -> None:
        """Compare an ended trial with the best one."""
        row = self._table.rows[trial_id]
        if not row.n_results or not self._goal.metrics or not self._goal.allows(row.metrics):
            return
        score = self._goal.result(row.metrics, row.t).score
        if score == WORST or (self._callback.best is not None and score <= self._best_score):
            return
        before, trial = self._callback.best, SeenTrial(row, self._experiment)
        self._best_score, self._callback.best = score, trial
        is_known = is_past and not (before is not None and before.trial_id in self._hooks.unfinished)
        if not is_known:
            self._callback.log_best(trial, before)

    def _check_end(self) -> None:
        if self._past is not None and self._n < self._past.n:
            raise StaleMarkError(f"the journal has {self._n} of {self._past.n} records")

    # --- sending ------------------------------------------------------------------------

    def _send(self, stop: Callable[[], bool], sleep: Callable[[float], None]) -> None:
        """Have the tracker carry out what was handed to it, and mark that, for as long as it takes."""
        pause = _FIRST_PAUSE_S
        while True:
            try:
                self._callback.commit(lambda error: self._on_refused(_line(error)))
                if self._n > self._mark.n:
                    self._mark.n, self._mark.crc, self._mark.n_results = self._n, self._crc, self._n_results
                self._keep()
            except FolderGoneError:
                raise
            except Exception as error:
                self._has_problem = True
                self._on_problem(_line(error))
                _pause(pause, stop, sleep)
                pause = min(2 * pause, _LONGEST_PAUSE_S)
                continue
            if self._has_problem:
                self._has_problem = False
                self._on_problem("")
            return

    def _keep(self) -> None:
        """Write the mark."""
        if self._n < self._mark.n:
            return  # The old mark is further: nothing before it was sent for the first time.
        mark, rows = self._mark, self._table.rows
        mark.run_ids = dict(self._callback.run_ids)
        if self._callback.sends_whole_runs:
            mark.unfinished = {trial: rows[trial].n_results for trial in mark.run_ids if trial in rows}
        self._file.write(mark)


def _pause(seconds: float, stop: Callable[[], bool], sleep: Callable[[float], None]) -> None:
    """Wait before another attempt; less if the journal ends, since the driver waits then."""
    began, was_over = time.monotonic(), stop()
    while (waited := time.monotonic() - began) < seconds:
        if stop() and (not was_over or waited > _PAUSE_AT_END_S):
            return
        if was_over:
            time.sleep(_LOOK_S)
        else:
            sleep(_LOOK_S)


def _infer(goal: Goal, event: Reported) -> None:
    try:
        goal.infer(event.metrics)
    except GoalError:
        return


def _parameters(space: Any) -> list[str] | None:
    try:
        return variables(space_from_data(space)) or None
    except Exception:  # a space with code, or of a later version
        return None


def _line(error: Exception) -> str:
    """Return an error as one line."""
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text[:300]}" if text else type(error).__name__
