"""The progress of a run: its table, its best result so far, and the news since the last display."""

from __future__ import annotations

from bisect import insort
from collections import deque
from collections.abc import Mapping
from math import inf
from typing import Any, NamedTuple

from overtone.core.goal import is_finite, lookup, real
from overtone.core.messages import Moved, Noted, Record, Reported
from overtone.core.table import Row, TrialTable
from overtone.core.trial import Status
from overtone.core.types import Config, Metrics, Why
from overtone.observers.columns import inferred_metrics
from overtone.observers.display.display_context import ConsoleFacts

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
    """The best result so far."""

    value: float
    trial_id: str
    t: int
    config: Config


class Progress:
    """The progress of a run, updated from records in constant time per record.

    Args:
        facts: Facts that records do not contain.
        table: The table of trials, which has each record before this.
        keeps_results: Whether `results` is filled, for displays that show each report.
        slims: Whether to drop the results of finished trials that are not among the best.

    Attributes:
        n_results: The number of reported results, without repeated ones.
        best: The best result so far; NaN never wins.
        running: The trials with a process, by id, in the order in which they started.
        best_ended: The best finished trials, best first; bounded.
        failed: The newest failed trials; bounded.
        rules: The number of trials that each rule stopped.
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
        self.best: Best | None = None
        self.running: dict[str, Row] = {}
        self.best_ended: list[tuple[float, int, Row]] = []
        self.failed: deque[Row] = deque(maxlen=_N_FAILED)
        self.rules: dict[str, int] = {}
        self.n_endings = 0
        self.n_endings_before = 0
        self.endings: list[Ending] = []
        self.notes: list[str] = []
        self.results: list[tuple[Row, Reported]] = []
        self._keeps_results = keeps_results
        self._slims = slims
        self._sign = 1.0
        self._metric: str | None = None
        self._best_score = float("-inf")

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
            elif type(choice) is Noted and not choice.is_warning:
                self.notes.append(choice.text)

    def show(self, row: Row, t: int, metrics: Metrics) -> None:
        """Take note of a result, which its row has already."""
        self.n_results += 1
        if self._metric is None:
            self._ask_goal()
        if self._metric is not None:
            value = metrics.get(self._metric)
            if value is None and "/" in self._metric:
                value = lookup(metrics, self._metric)
            if value is not None:
                self._compare(row, value, t, metrics)

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
    def n_ended(self) -> int:
        """The number of trials that finished or failed."""
        counts = self.table.counts
        return counts.get("TERMINATED", 0) + counts.get("ERROR", 0)

    def value(self, metrics: Mapping[str, Any]) -> Any:
        """Return the goal's metric among `metrics`, or None."""
        return lookup(metrics, self._metric) if self._metric is not None else None

    def best_at_end(self) -> Best | None:
        """The trial whose last result is the best, the oldest of equals: as `analysis.best_trial` has it.

        Goes through all trials: for the end of a run.
        """
        best: Best | None = None
        for row in self.table.rows.values():
            value = self.value(row.metrics)
            if not isinstance(value, (int, float)) or not is_finite(value):
                continue
            if not self.facts.limits.allows(row.metrics):
                continue
            if best is None or real(value) * self._sign > real(best.value) * self._sign:
                best = Best(value, row.id, row.t, row.config)
        return best

    def as_metric(self, score: float) -> float:
        """Return a score, where higher is better, as the user's metric."""
        return score * self._sign

    def clear_news(self) -> None:
        """All that is new was shown."""
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

    def _compare(self, row: Row, value: Any, t: int, metrics: Metrics) -> None:
        if type(value) is not float and not (isinstance(value, (int, float)) and is_finite(value)):
            return
        score = value * self._sign
        if self._best_score < score < inf and self.facts.limits.allows(metrics):
            self._best_score = score
            self.best = Best(value, row.id, t, row.config)

    def _move(self, moved: Moved) -> None:
        row = self.table.rows[moved.trial_id]
        if moved.status in _PLACED:
            self.running[row.id] = row
            return
        self.running.pop(row.id, None)
        if moved.status == "ERROR":
            self.failed.append(row)
            self._slim(row)
        elif moved.status == "TERMINATED":
            self._rank(row)
            if moved.why is not None and moved.why.rule != "returned":
                self.rules[moved.why.rule] = self.rules.get(moved.why.rule, 0) + 1
        else:
            if self.failed:  # a trial that is retried on request has not failed
                self.failed = deque((one for one in self.failed if one is not row), _N_FAILED)
            return
        self.n_endings += 1
        if len(self.endings) < _MAX_NEWS:
            self.endings.append(Ending(row, moved.why))

    def _rank(self, row: Row) -> None:
        """Keep a finished trial if it is among the best; without a goal, among the newest."""
        value = self.value(row.metrics)
        if self._metric is None:
            rank = -float(self.n_ended)
        elif isinstance(value, (int, float)) and value == value and self.facts.limits.allows(row.metrics):
            rank = -real(value) * self._sign
        else:
            rank = float("inf")
        entry = rank, row.index, row
        if len(self.best_ended) < _N_BEST:
            insort(self.best_ended, entry)
        elif entry < self.best_ended[-1]:
            self._slim(self.best_ended.pop()[2])
            insort(self.best_ended, entry)
        else:
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
