"""Observations of a searcher: results of trials at growing t, and the points without results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf, log
from typing import Any

from overtone.core.trial import Status, Trial
from overtone.core.types import Config, Result
from overtone.errors import SpaceError

Point = tuple[float, ...]

STEP = 1.5
"""A trial is observed each time its t is this many times as large, and when it ends."""

_AT_THE_END = ("stop", "max_t", "returned", "halted")
"""Rules after which a trial that terminated counts as complete; a scheduler stopped the others."""


_BY_THE_BEST = ("racing",)
"""Rules that compare a trial with the best one alone, on the same data."""


@dataclass(frozen=True, slots=True)
class Observation:
    """A trial's result at some t.

    Attributes:
        trial: The trial's number, in the order of first observations.
        point: Its point in the unit cube.
        scores: The value of every objective; higher is better; empty if the trial failed.
        violations: The constraint metrics, feasible where all are 0 or less.
        seconds: The running time of the trial; None if unknown.
        level: log(t / first t) / log(STEP), where the first t is the first that any trial reported.
        is_complete: Whether the trial ended, and no scheduler stopped it early.
    """

    trial: int
    point: Point
    scores: tuple[float, ...]
    violations: tuple[float, ...] = ()
    seconds: float | None = None
    level: float = 0.0
    is_complete: bool = True


@dataclass(slots=True)
class _Live:
    """A trial that has not ended: its number and latest result, and the level of its next observation."""

    number: int | None = None
    latest: Result | None = None
    observed: Result | None = None
    next_level: float = -inf
    is_scored: bool = False


class Told:
    """Keeps the observations of all trials.

    Args:
        to_point: A configuration's point; SpaceError where it has none.

    Attributes:
        observations: In the order in which they came; the list only grows.
        n_trials: How many trials have an observation.
        n_scored: How many of them have one with scores.
        n_ended: How many trials have ended, with those of which only the final scores are known.
        pending: The points that were suggested and have not ended, by the suggestion's index.
    """

    def __init__(self, to_point: Callable[[Config], Sequence[float]]) -> None:
        self.observations: list[Observation] = []
        self.n_trials = self.n_scored = self.n_ended = 0
        self.pending: dict[int, Point] = {}
        self._to_point = to_point
        self._live: dict[str, _Live] = {}
        self._observed: set[int] = set()
        self._first_t = 0.0

    def add_known(self, point: Point, scores: tuple[float, ...]) -> None:
        """Add the final scores of a point that no trial of this search tried."""
        self.n_ended += 1
        self._add(_Live(), point, scores)

    def unobserved(self) -> list[Point]:
        """Return the suggested points of which nothing is known, in the order of suggestions."""
        return [self.pending[i] for i in sorted(self.pending) if i not in self._observed]

    def on_result(self, trial: Trial, result: Result) -> None:
        """Observe a trial that reported, if its t is large enough by now."""
        if not result.is_ruled:
            return
        live = self._live.get(trial.id)
        if live is None:
            live = self._live[trial.id] = _Live()
        live.latest = result
        level = self._level(result.t)
        if level < live.next_level or (point := self._point(trial)) is None:
            return
        live.next_level, live.observed = float(int(level)) + 1 - 1e-9, result
        self._observe(live, point, result, level, is_complete=False)
        if trial.suggestion is not None:
            self._observed.add(trial.suggestion)

    def on_trial_end(self, trial: Trial) -> None:
        """Observe a trial's last result; a failed trial has no scores, even if it reported results."""
        self.n_ended += 1
        live, point = self._live.pop(trial.id, None) or _Live(), self._point(trial)
        self.pending.pop(-1 if trial.suggestion is None else trial.suggestion, None)
        self._observed.discard(-1 if trial.suggestion is None else trial.suggestion)
        if point is None:
            return
        if trial.status is Status.ERROR:
            self._add(live, point, ())
        elif live.latest is not None:
            is_complete = not was_stopped_early(trial)
            if is_complete or live.latest is not live.observed:
                self._observe(live, point, live.latest, self._level(live.latest.t), is_complete)

    def _observe(self, live: _Live, point: Point, result: Result, level: float, is_complete: bool) -> None:
        self._add(live, point, result.scores, result.violations, seconds_of(result), level, is_complete)

    def _add(self, live: _Live, point: Point, scores: tuple[float, ...], *facts: Any) -> None:
        if live.number is None:
            live.number, self.n_trials = self.n_trials, self.n_trials + 1
        if scores and not live.is_scored:
            live.is_scored, self.n_scored = True, self.n_scored + 1
        self.observations.append(Observation(live.number, point, scores, *facts))

    def _level(self, t: float) -> float:
        if not 0 < t < inf:
            return 0.0
        self._first_t = self._first_t or t
        return max(0.0, round(log(t / self._first_t) / log(STEP), 9))

    def _point(self, trial: Trial) -> Point | None:
        if trial.suggestion in self.pending:
            return self.pending[trial.suggestion]
        try:
            return tuple(self._to_point(trial.config))
        except SpaceError:  # a scheduler went beyond the space
            return None


def was_stopped_early(trial: Trial) -> bool:
    """Return whether a scheduler stopped a trial that terminated before its end."""
    is_ended = trial.status is Status.TERMINATED
    return is_ended and trial.why is not None and trial.why.rule not in _AT_THE_END


def was_outranked(trial: Trial) -> bool:
    """Return whether a scheduler stopped a trial early for its rank among others.

    A rank says little if all trials come from one region; a comparison with the best one does not depend on
    where the others are.
    """
    return was_stopped_early(trial) and trial.why is not None and trial.why.rule not in _BY_THE_BEST


def seconds_of(result: Result) -> float | None:
    """Return the running time of the trial at a result, in seconds; None if unknown."""
    seconds = result.metrics.get("time_total_s")
    return float(seconds) if isinstance(seconds, (int, float)) else None
