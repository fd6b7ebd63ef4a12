"""What a searcher was told: the points that ended, with their results, and those that are being tried."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from overtone.core.trial import Status, Trial
from overtone.core.types import Config, Result
from overtone.errors import SpaceError

Point = tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a point.

    Attributes:
        point: In the unit cube.
        scores: Every objective, a higher one is better; empty where the trial failed.
        violations: The constraint metrics, feasible where all are 0 or less.
        seconds: How long the trial took; None where it does not say.
    """

    point: Point
    scores: tuple[float, ...]
    violations: tuple[float, ...] = ()
    seconds: float | None = None


class Told:
    """Keeps each trial's last result until it ends, and then its outcome.

    Args:
        to_point: A configuration's point; SpaceError where it has none.

    Attributes:
        outcomes: In the order in which the trials ended.
        pending: The points that were suggested and have not ended, by the suggestion's index.
    """

    def __init__(self, to_point: Callable[[Config], Sequence[float]]) -> None:
        self.outcomes: list[Outcome] = []
        self.pending: dict[int, Point] = {}
        self._to_point = to_point
        self._latest: dict[str, Result] = {}

    def on_result(self, trial: Trial, result: Result) -> None:
        """A trial reported: what counts is its last result that has the metric."""
        if result.is_ruled:
            self._latest[trial.id] = result

    def on_trial_end(self, trial: Trial) -> None:
        """A trial ended: with its last result, unless it failed; without any it says nothing."""
        result = self._latest.pop(trial.id, None)
        point, has_failed = self._point(trial), trial.status is Status.ERROR
        if point is None or (result is None and not has_failed):
            return
        if result is None or has_failed:
            self.outcomes.append(Outcome(point, ()))
            return
        seconds = result.metrics.get("time_total_s")
        known = float(seconds) if isinstance(seconds, (int, float)) else None
        self.outcomes.append(Outcome(point, result.scores, result.violations, known))

    def _point(self, trial: Trial) -> Point | None:
        if trial.suggestion in self.pending:
            return self.pending.pop(trial.suggestion)
        try:
            return tuple(self._to_point(trial.config))
        except SpaceError:  # a scheduler went beyond the space
            return None
