"""Writes the journal of an experiment that did not run here.

The events are those that a study (`run/study.py`) would have recorded, in the order of their times, and the
choices are those that the controller makes of them: `overtone verify` makes each again. A trial that waits
in the other tuner is added by a request, since no searcher was asked for it.

Trials are read one by one. Those that overlap in time are held until their last event is written.
"""

from __future__ import annotations

import heapq
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from zlib import crc32

from overtone.core import messages as m
from overtone.core.goal import is_number, lookup
from overtone.core.limits import Limits
from overtone.core.resources import Placement, Resources
from overtone.core.roster import id_prefix
from overtone.core.types import Checkpoint, Why
from overtone.importers.foreign import ForeignExperiment, ForeignResult, ForeignTrial
from overtone.importers.linked_checkpoints import linked
from overtone.journal.header import new_header
from overtone.journal.writer import JournalWriter
from overtone.reading.imported import IMPORTED
from overtone.store.folder_mark import JOURNAL

NODE = "imported"
"""The name of the node of all trials: where they ran is in `Started.hostname`, if it is known."""

_BATCH = 1000
_ID = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}")
_CPU = Resources.of({"cpu": 1})
_PLACEMENT = Placement((NODE,), ((),))


@dataclass(slots=True)
class Counts:
    """The trials and results that were written.

    Attributes:
        n_left_out: Results left out since they repeat an earlier iteration.
    """

    n_trials: int = 0
    n_results: int = 0
    n_left_out: int = 0


def record_experiment(
    experiment: ForeignExperiment,
    folder: Path,
    final_folder: Path,
    progress: Callable[[Counts], None] | None = None,
) -> Counts:
    """Write an experiment into a folder; return what was written.

    Args:
        folder: Exists and is empty.
        final_folder: The path that the folder will have.
        progress: Called after each trial that was read.

    Raises:
        StorageError: The folder cannot be written.
        OvertoneError: The other tuner's files cannot be read.
    """
    seed = crc32(f"{experiment.tuner} {experiment.name}".encode())
    writer = JournalWriter(folder / JOURNAL, _header(experiment, seed))
    try:
        recorder = _Recorder(experiment, writer, seed, folder, final_folder)
        recorder.write(progress)
    finally:
        writer.close()
    return recorder.counts


def _header(experiment: ForeignExperiment, seed: int) -> dict[str, Any]:
    parts = {
        "name": experiment.trainable,
        "source": {},
        "parameters": {},
        "space": dict(experiment.space),
        "metric": list(experiment.metric),
        "mode": list(experiment.mode),
        "constraints": dict(experiment.constraints),
        "scheduler": {"path": "overtone.schedulers.fifo.FIFOScheduler", "arguments": {}},
        "searcher": {"path": experiment.tuner, "arguments": {}},
        "stop": None,
        "checkpoints": {},
        "options": {"num_samples": -1},
        "limits": asdict(Limits(is_elastic=True)),
        "warm_start": [],
        "engine": "Imported",
    }
    header = new_header(seed, parts, [])
    facts = {"tuner": experiment.tuner, "source": experiment.source, "at": header["wall"], **experiment.facts}
    header[IMPORTED] = facts
    if experiment.started is not None:
        header["wall"] = experiment.started
    return header


class _Recorder:
    """Makes records of trials, and writes them in the order of their times."""

    def __init__(
        self, experiment: ForeignExperiment, writer: JournalWriter, seed: int, folder: Path, final: Path
    ) -> None:
        self.counts = Counts()
        self._experiment, self._writer = experiment, writer
        self._folder, self._final = folder, final
        self._prefix = id_prefix(seed)
        self._ids: set[str] = set()
        self._records: list[m.Record] = []
        self._time = 0.0
        self._begin: float | None = experiment.started
        self._due: list[tuple[float, int, Iterator[tuple[float, m.Event, tuple[m.Choice, ...]]]]] = []
        self._next: dict[int, tuple[float, m.Event, tuple[m.Choice, ...]]] = {}
        self._running: dict[int, str] = {}

    def write(self, progress: Callable[[Counts], None] | None) -> None:
        """Write all trials, and the end."""
        waiting: list[ForeignTrial] = []
        self._tell(m.CapacityChanged(0.0, {}))
        for trial in self._experiment.trials:
            if trial.state == "waiting":
                waiting.append(trial)
            else:
                self._pass(self._since_begin(trial.started))
                self._start(trial)
            if progress is not None:
                progress(self.counts)
        self._pass(float("inf"))
        for trial in waiting:
            self._add_waiting(trial)
        if waiting or self._running:
            halting = [m.Moved(one, "HALTING", 0) for one in self._running.values()]
            self._tell(m.Interrupted(self._time), m.Noted("interrupted"), *halting)
        self._flush()
        if not (waiting or self._running):
            self._writer.note("end", {})

    # --- the order of events -----------------------------------------------------------

    def _since_begin(self, moment: float | None) -> float:
        """Return a moment as seconds since the experiment began; now if it is unknown or in the past."""
        if moment is None:
            return self._time
        if self._begin is None:
            self._begin = moment
        return max(self._time, moment - self._begin)

    def _pass(self, time: float) -> None:
        """Write the events of open trials before a time."""
        while self._due and self._due[0][0] < time:
            at, index, events = heapq.heappop(self._due)
            _, event, choices = self._next.pop(index)
            self._time = max(self._time, at)
            if type(event) is m.Ended:  # Its slot goes before it does, so that no other trial is asked for.
                del self._running[index]
                self._resize()
            self._tell(event, *choices)
            self._push(index, events)
        if time != float("inf"):
            self._time = max(self._time, time)

    def _push(self, index: int, events: Iterator[tuple[float, m.Event, tuple[m.Choice, ...]]]) -> None:
        found = next(events, None)
        if found is not None:
            self._next[index] = found
            heapq.heappush(self._due, (found[0], index, events))

    def _tell(self, event: m.Event, *choices: m.Choice) -> None:
        self._records.append(m.Record(self._writer.next_n + len(self._records), event, choices))
        if len(self._records) >= _BATCH:
            self._flush()

    def _flush(self) -> None:
        self._writer.append(self._records)
        self._records.clear()

    def _resize(self) -> None:
        """Announce a slot for each trial that runs, and no other."""
        n = len(self._running)
        self._tell(m.CapacityChanged(self._time, {NODE: {"cpu": float(n)}} if n else {}))

    # --- a trial -----------------------------------------------------------------------

    def _start(self, trial: ForeignTrial) -> None:
        index, trial_id = self._named(trial)
        self._running[index] = trial_id
        self._resize()
        added = m.Added(trial_id, index, trial.config, _CPU, str(index))
        starting = m.Moved(trial_id, "STARTING", 0, placement=_PLACEMENT)
        self._tell(m.Suggested(self._time, index, trial.config), added, starting)
        started = m.Started(self._time, trial_id, 0, NODE, trial.pid, trial.hostname)
        self._tell(started, m.Moved(trial_id, "RUNNING", 0))
        self._push(index, self._events(trial, trial_id, self._time))

    def _add_waiting(self, trial: ForeignTrial) -> None:
        """Add a trial that never ran."""
        index, trial_id = self._named(trial)
        who = self._experiment.tuner
        why = Why("add", note=f"added by {who}")
        added = m.Added(trial_id, index, trial.config, _CPU, str(index), why=why)
        self._tell(m.Requested(self._time, "add", who=who, config=trial.config), added)

    def _named(self, trial: ForeignTrial) -> tuple[int, str]:
        index = self.counts.n_trials
        self.counts.n_trials += 1
        is_usable = _ID.fullmatch(trial.name) and trial.name not in self._ids and trial.name != JOURNAL
        trial_id = trial.name if is_usable else ""
        if not trial_id:
            trial_id = f"{self._prefix}_{index:05d}"
        self._ids.add(trial_id)
        return index, trial_id

    def _events(
        self, trial: ForeignTrial, trial_id: str, start: float
    ) -> Iterator[tuple[float, m.Event, tuple[m.Choice, ...]]]:
        """Yield the results and the end of a trial, with their times."""
        results = self._counted(trial)
        lasts = self._duration(trial, results, start)
        now, t = start, 0
        for i, (t, result) in enumerate(results):
            total_s = result.seconds if result.seconds is not None else lasts * (i + 1) / len(results)
            now, before = max(now, start + total_s), now
            metrics = {**result.metrics, "training_iteration": t}
            metrics.setdefault("time_this_iter_s", round(now - before, 6))
            metrics.setdefault("time_total_s", round(total_s, 6))
            metrics.setdefault("done", False)
            saved = None
            if result.checkpoint:
                uri = linked(result.checkpoint, self._folder, self._final, trial_id, t)
                saved = Checkpoint(trial_id, t, uri)
            yield now, m.Reported(now, trial_id, 0, t, metrics, saved), ()
        self.counts.n_results += len(results)
        if trial.state == "running":
            return
        yield from self._end(trial, trial_id, max(now, start + lasts), results)

    def _counted(self, trial: ForeignTrial) -> list[tuple[int, ForeignResult]]:
        """Return the results with their iterations, which grow."""
        found: list[tuple[int, ForeignResult]] = []
        t = 0
        for one in trial.results:
            if one.t and one.t <= t:
                self.counts.n_left_out += 1
                continue
            t = one.t or t + 1
            found.append((t, one))
        return found

    def _duration(self, trial: ForeignTrial, results: list[tuple[int, ForeignResult]], start: float) -> float:
        known = [one.seconds for _, one in results if one.seconds is not None]
        if trial.started is not None and trial.ended is not None:
            return max(0.0, trial.ended - trial.started)
        return known[-1] if known else 0.0

    def _end(
        self, trial: ForeignTrial, trial_id: str, now: float, results: list[tuple[int, ForeignResult]]
    ) -> Iterator[tuple[float, m.Event, tuple[m.Choice, ...]]]:
        reason = trial.reason
        if trial.state == "done":
            lacking = self._lacking([one.metrics for _, one in results])
            if not lacking:
                yield now, m.Ended(now, trial_id, 0, "returned"), (_ended(trial_id, Why("returned")),)
                return
            reason = f"it ended without {lacking}"
        if trial.state == "failed":
            error = trial.error or f"failed in {self._experiment.tuner}"
            moved = m.Moved(trial_id, "ERROR", 1, Why("raised", note=error), error=error)
            yield now, m.Ended(now, trial_id, 0, "raised", error, trial.traceback), (moved,)
            return
        note = reason or "stopped"
        asked = m.Requested(now, "stop_trial", trial_id, note, self._experiment.tuner)
        yield now, asked, (m.Moved(trial_id, "HALTING", 0),)
        yield now, m.Ended(now, trial_id, 0, "halted"), (_ended(trial_id, Why("stop_trial", note=note)),)

    def _lacking(self, reported: list[Mapping[str, Any]]) -> str:
        """Return the metric that a finished trial did not report, as the controller asks for it."""
        names = tuple(self._experiment.metric)
        if not names:
            return ""
        best = [one for one in reported if all(is_number(lookup(one, name)) for name in names)]
        if not best:
            return names[0] if len(names) == 1 else f"all of {', '.join(names)}"
        for name in self._experiment.constraints:
            if lookup(reported[-1], name) is None and all(lookup(one, name) is None for one in best):
                return name
        return ""


def _ended(trial_id: str, why: Why) -> m.Moved:
    return m.Moved(trial_id, "TERMINATED", 1, why)
