"""The progress of a run: its table, its best trial so far, and the news since the last display."""

from __future__ import annotations

from bisect import insort
from collections import deque
from collections.abc import Mapping
from math import inf, nan
from typing import Any, NamedTuple

from overtone.core.goal import is_number, lookup, real
from overtone.core.messages import Interrupted, Moved, Noted, Record, Reported
from overtone.core.table import Row, TrialTable
from overtone.core.trial import Status
from overtone.core.types import FINISHED, Config, Metrics, Why, cause_of_end
from overtone.observers.columns import inferred_metrics
from overtone.observers.display.display_context import ConsoleFacts
from overtone.observers.display.leader import Leader
from overtone.observers.display.remaining_time import RemainingTime

_SHOWN = {status.value: status.shown for status in Status}
_PLACED = frozenset(status.value for status in Status if status.is_placed)
_N_BEST = 64
_N_FAILED = 64
_MAX_NEWS = 10_000  # what nobody shows for so long is only counted


class Ending(NamedTuple):
    """A trial that ended, and why."""

    row: Row
    why: Why | None


class Best(NamedTuple):
    """The best trial: its last value of the metric and that iteration, and its best value on the way."""

    value: float
    trial_id: str
    t: int
    config: Config
    best_value: float
    best_t: int


class Progress:
    """The progress of a run, updated from records in constant time per record.

    Args:
        facts: Facts that records do not contain.
        table: The table of trials, which has each record before this.
        keeps_results: Whether `results` is filled, for displays that show each report.
        slims: Whether to drop the results of finished trials that are not among the best.

    Attributes:
        n_results: The number of reported results, without repeated ones.
        running: The trials with a process, by id, in the order in which they started.
        best_ended: The best finished trials, best first; bounded.
        failed: The newest failed trials; bounded.
        rules: The number of trials that each rule stopped early.
        rungs: The number of trials that were stopped early at each rung.
        n_endings: The number of ended trials, also those for which `endings` has no room.
        n_endings_before: The value of `n_endings` when the news was last cleared.
        endings, notes, results: The news; the display that shows it clears it.
    """

    def __init__(
        self,
        facts: ConsoleFacts,
        table: TrialTable,
        keeps_results: bool = False,
        slims: bool = True,
    ) -> None:
        self.facts = facts
        self.table = table
        self.n_results = 0
        self.running: dict[str, Row] = {}
        self.best_ended: list[tuple[float, int, Row]] = []
        self.failed: deque[Row] = deque(maxlen=_N_FAILED)
        self.rules: dict[str, int] = {}
        self.rungs: dict[float, int] = {}
        self.n_endings = 0
        self.n_endings_before = 0
        self.endings: list[Ending] = []
        self.notes: list[str] = []
        self.results: list[tuple[Row, Reported]] = []
        self._keeps_results = keeps_results
        self._slims = slims
        self._sign = 1.0
        self._metric: str | None = None
        self._leader = Leader(self._score)
        self._newest = self._leader.newest
        self._peaks: dict[str, tuple[float, float, int]] = {}  # each trial's best score, value and iteration
        self._waiting: dict[str, Row] = {}  # trials without a process that have results and may continue
        self._remaining_time = RemainingTime()

    def apply(self, record: Record) -> None:
        """Take note of a record, which the table has already."""
        row = self.table.shown
        if row is not None:
            event = record.event
            assert type(event) is Reported
            self.show(row, event.t, event.metrics)
            if self._keeps_results and len(self.results) < _MAX_NEWS:
                self.results.append((row, event))
        for choice in record.choices:
            if type(choice) is Moved:
                self._move(choice)
            elif type(choice) is Noted and not choice.is_warning and type(record.event) is not Interrupted:
                self.notes.append(choice.text)  # who interrupts says so

    def show(self, row: Row, t: int, metrics: Metrics) -> None:
        """Take note of a result, which its row has already."""
        self.n_results += 1
        if self._metric is None:
            self._ask_goal()
        name = self._metric
        if name is None:
            return
        value: Any = metrics.get(name)
        if value is None and "/" in name:
            value = lookup(metrics, name)
        if type(value) is float:
            score = value * self._sign
        elif is_number(value):
            score = real(value) * self._sign
        else:
            return
        self._newest[row.id] = row, value, t, metrics
        peak = self._peaks.get(row.id)
        if (peak is None or peak[0] < score) and -inf < score < inf and self.facts.limits.allows(metrics):
            self._peaks[row.id] = score, value, t

    @property
    def metric(self) -> str | None:
        """The metric to optimise; None until it is known."""
        if self._metric is None:
            self._ask_goal()
        return self._metric

    @property
    def counts(self) -> dict[str, int]:
        """The number of trials by the status that users see."""
        counts: dict[str, int] = {}
        for status, count in self.table.counts.items():
            shown = _SHOWN[status]
            counts[shown] = counts.get(shown, 0) + count
        return counts

    @property
    def total(self) -> int | None:
        """The number of trials of the experiment by the newest limits; None while it is unknown.

        Trials that a person or the scheduler added count when they exist.
        """
        limits = self.table.limits
        planned = self.facts.total() if limits is None else limits.total
        return None if planned is None else max(planned, sum(self.table.counts.values()))

    @property
    def n_ended(self) -> int:
        """The number of trials that finished or failed."""
        counts = self.table.counts
        return counts.get("TERMINATED", 0) + counts.get("ERROR", 0)

    def value(self, metrics: Mapping[str, Any]) -> Any:
        """Return the goal's metric among `metrics`, or None."""
        return lookup(metrics, self._metric) if self._metric is not None else None

    def seconds_left(self) -> float | None:
        """Return the estimated seconds until the run is over; None if that is not known yet."""
        total = self.total
        if total is None or self.n_ended >= total:
            return None
        now = self.facts.clock()
        running = [(row.t, _training_time(row, now)) for row in self.running.values()]
        paused = [row.t for row in self._waiting.values()]
        n_unstarted = max(total - self.n_ended - len(running) - len(paused), 0)
        longest, budget_s = self.facts.longest, self.facts.budget_s
        return self._remaining_time.seconds(
            now, self.n_results, self.n_ended, n_unstarted, paused, running, longest, budget_s
        )

    @property
    def best(self) -> Best | None:
        """The trial whose last value is best, the oldest of equals, as `analysis.best_trial` has it."""
        standing = self._leader.best
        if standing is None:
            return None
        _, _, row, value, t = standing
        _, best_value, best_t = self._peaks[row.id]
        return Best(value, row.id, t, row.config, best_value, best_t)

    def best_idle(self, n: int) -> list[Row]:
        """Return the best trials without a process, ended or paused, at most `n`, best first."""
        paused = self._leader.best_waiting(n)
        return [one[2] for one in sorted([*self.best_ended[:n], *(one[:3] for one in paused)])[:n]]

    def as_metric(self, score: float) -> float:
        """Return a score, where higher is better, as the user's metric."""
        return score * self._sign

    def clear_news(self) -> None:
        """Mark all that is new as shown."""
        self.n_endings_before = self.n_endings
        self.endings.clear()
        self.notes.clear()
        self.results.clear()

    def forget_news(self) -> None:
        """Clear the news of an earlier driver, which has shown it."""
        self.n_endings = 0
        self.clear_news()

    def _ask_goal(self) -> None:
        self._metric, mode = self.facts.named_goal()
        self._sign = -1.0 if mode == "min" else 1.0

    def _score(self, value: Any, metrics: Metrics) -> float:
        """Return the score of a trial with this last value; NaN if its metrics exceed a limit."""
        return real(value) * self._sign if self.facts.limits.allows(metrics) else nan

    def _move(self, moved: Moved) -> None:
        row = self.table.rows[moved.trial_id]
        if moved.status in _PLACED:
            self.running[row.id] = row
            self._leader.place(row)
            if self._waiting.pop(row.id, None) is not None:
                self._remaining_time.n_resumed += 1
            return
        self.running.pop(row.id, None)
        if moved.status != "TERMINATED":
            self._leader.wait(row)
        if moved.status == "ERROR":
            self._waiting.pop(row.id, None)
            self._remaining_time.lengths.append(row.t)
            self.failed.append(row)
            self._slim(row)
        elif moved.status == "TERMINATED":
            self._waiting.pop(row.id, None)
            self._remaining_time.lengths.append(row.t)
            self._rank(row)
            cause = cause_of_end(moved.why)
            if cause != FINISHED:
                self.rules[cause] = self.rules.get(cause, 0) + 1
                if moved.why is not None and moved.why.rung is not None:
                    self.rungs[moved.why.rung] = self.rungs.get(moved.why.rung, 0) + 1
        else:
            if row.t and row.id not in self._waiting:
                self._waiting[row.id] = row
                self._remaining_time.n_pauses += 1
            if self.failed:  # a trial that is retried on request has not failed
                self.failed = deque((one for one in self.failed if one is not row), _N_FAILED)
            return
        self.n_endings += 1
        if len(self.endings) < _MAX_NEWS:
            self.endings.append(Ending(row, moved.why))

    def _rank(self, row: Row) -> None:
        """Keep a finished trial if it is among the best; without a goal, among the newest."""
        rank = self._leader.end(row) if self._metric is not None else -float(self.n_ended)
        entry = rank, row.index, row
        if len(self.best_ended) < _N_BEST:
            insort(self.best_ended, entry)
        elif entry < self.best_ended[-1]:
            self._forget(self.best_ended.pop()[2])
            insort(self.best_ended, entry)
        else:
            self._forget(row)

    def _forget(self, row: Row) -> None:
        """Let go of what a finished trial has that is not among the best."""
        self._peaks.pop(row.id, None)
        self._slim(row)

    def _slim(self, row: Row) -> None:
        """Let go of the metrics of a finished trial that no table will show again."""
        if self._slims:
            metrics = row.metrics
            goal = [self._metric] if self._metric is not None else inferred_metrics([metrics], 3)
            limits = [
                name if name in metrics else name.split("/")[0] for name in self.facts.limits.constraints
            ]
            kept = (*goal, *limits, "training_iteration", "time_total_s")
            row.metrics = {name: metrics[name] for name in kept if name in metrics}


def _training_time(row: Row, now: float) -> float:
    """Return the seconds that a trial trained, as it says itself; else since its start."""
    seconds = row.metrics.get("time_total_s")
    return seconds if isinstance(seconds, (int, float)) else now - (row.started or 0.0)
