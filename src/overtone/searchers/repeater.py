"""Each configuration several times, where results are noisy; the searcher learns of the mean.

`repeat="adaptive"` spends repeats where the noise could change which configuration is best. With
the standard deviation of single results pooled over the configurations that ran more than once, one
is run again while its mean, one standard error up, reaches the best mean, one standard error down.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from heapq import nlargest
from math import hypot, isfinite, sqrt
from typing import Any

from overtone.core.goal import Goal
from overtone.core.trial import Status, Trial
from overtone.core.types import Config, Result, Why
from overtone.errors import ArgumentError
from overtone.searchers.base import by_hand_too
from overtone.searchers.wrapper import Wrapper

TRIAL_INDEX = "__trial_index__"
"""In a trial's config: which repetition it is, from 0."""

_FREEDOM = 3
"""Number of repeats, in addition to the first per config, from which the noise can be estimated."""


@dataclass(slots=True, eq=False)
class _Group:
    """The trials of one configuration."""

    index: int
    config: Config
    n_started: int = 0
    n_waiting: int = 0
    results: list[Result] = field(default_factory=list)
    cut_short: Why | None = None
    is_told: bool = False

    @property
    def mean(self) -> float:
        return sum(one.score for one in self.results) / len(self.results)


class Repeater(Wrapper):
    """Runs each configuration that `searcher` suggests several times, and tells it the mean.

    Each repetition is a trial and counts as one of `num_samples`.

    Args:
        searcher: What suggests.
        repeat: How often, or "adaptive": once, and more often where it could change the ranking.
        set_index: Whether configs have "__trial_index__", the number of the repetition; a seed
            can be made of it.
        at_most: How often a configuration runs at most where repeats are adaptive.

    Raises:
        ValueError: `repeat` is neither a whole number above 0 nor "adaptive"; or `at_most` is below 1.
    """

    def __init__(
        self, searcher: Any, repeat: int | str = 1, set_index: bool = True, *, at_most: int = 5
    ) -> None:
        super().__init__(searcher)
        is_whole = hasattr(repeat, "__index__") and not isinstance(repeat, bool)
        if repeat != "adaptive" and not (is_whole and int(repeat) > 0):
            raise ArgumentError(f'repeat={repeat!r} must be a whole number, 1 or more, or "adaptive"')
        if not hasattr(at_most, "__index__") or at_most < 1:
            raise ArgumentError(f"at_most={at_most!r} must be a whole number, 1 or more")
        self.repeat, self.set_index, self.at_most = repeat, set_index, at_most

    def on_start(self, space: Any, seed: int) -> None:
        super().on_start(space, seed)
        self._groups: list[_Group] = []
        self._of: dict[int, _Group] = {}
        self._last: dict[str, Result] = {}
        self._standing: tuple[float | None, _Group | None, _Group | None] | None = None

    @by_hand_too
    def suggest(self, index: int) -> Config | None:
        group = next(filter(self._wants, self._groups), None)
        config = self.searcher.suggest(len(self._groups)) if group is None else group.config
        if config is None or not self.set_index:
            return config and dict(config)
        return {**config, TRIAL_INDEX: 0 if group is None else group.n_started}

    def on_suggested(self, index: int, config: Config) -> None:
        bare = {name: value for name, value in config.items() if name != TRIAL_INDEX}
        group = next((one for one in self._groups if self._wants(one) and one.config == bare), None)
        if group is None:
            group = _Group(len(self._groups), bare)
            self._groups.append(group)
            self.searcher.on_suggested(group.index, bare)
        group.n_started += 1
        group.n_waiting += 1
        self._of[index] = group

    def on_result(self, trial: Trial, result: Result) -> None:
        if result.is_ruled:
            self._last[trial.id] = result

    def on_trial_end(self, trial: Trial) -> None:
        result, index = self._last.pop(trial.id, None), trial.suggestion
        group = None if index is None else self._of.pop(index, None)
        if group is None:  # a scheduler's own
            self._tell(trial, result)
            return
        group.n_waiting -= 1
        self._standing = None
        if result is not None and trial.status is not Status.ERROR:
            group.results.append(result)
            group.cut_short = trial.why if trial.is_cut_short else group.cut_short
        for one in self._groups:
            if not one.is_told and not one.n_waiting and not self._wants(one):
                one.is_told = True
                status = Status.TERMINATED if one.results else Status.ERROR
                mean = _mean(one.results, self.goal)
                its = replace(
                    trial, config=one.config, suggestion=one.index, status=status, last=mean, best=mean,
                    why=one.cut_short,
                )  # fmt: skip
                self._tell(its, mean)

    def on_trial_pause(self, trial: Trial) -> None:
        """Do nothing: the other repetitions of the configuration may run."""

    def on_trial_unpause(self, trial: Trial) -> None:
        """Do nothing."""

    def _tell(self, trial: Trial, result: Result | None) -> None:
        if result is not None:
            self.searcher.on_result(trial, result)
        self.searcher.on_trial_end(trial)

    def _wants(self, group: _Group) -> bool:
        """Return whether this configuration should run once more."""
        if self.repeat != "adaptive":
            return group.n_started < int(self.repeat)
        n = len(group.results)
        if group.n_waiting or not n or group.n_started >= self.at_most or not isfinite(group.mean):
            return False
        if self._standing is None:
            self._standing = self._deviation(), *self._two_best()
        deviation, best, second = self._standing
        if deviation is None:
            return n == 1
        rival = second if best is group else best
        if rival is None:
            return False
        error = deviation * (1 / sqrt(n) + 1 / sqrt(len(rival.results)))
        return abs(group.mean - rival.mean) < error

    def _two_best(self) -> tuple[_Group | None, _Group | None]:
        known = [one for one in self._groups if one.results and isfinite(one.mean)]
        best, second, *_ = *nlargest(2, known, key=lambda one: one.mean), None, None
        return best, second

    def _deviation(self) -> float | None:
        """Return the standard deviation of one result; None while too few were repeated."""
        several = [one for one in self._groups if len(one.results) > 1 and isfinite(one.mean)]
        freedom = sum(len(one.results) - 1 for one in several)
        if freedom < _FREEDOM:
            return None
        return hypot(*(r.score - one.mean for one in several for r in one.results)) / sqrt(freedom)


def _mean(results: list[Result], goal: Goal | None) -> Result | None:
    if not results:
        return None
    n = len(results)
    scores = tuple(sum(column) / n for column in zip(*(one.scores for one in results), strict=True))
    violations = tuple(max(column) for column in zip(*(one.violations for one in results), strict=True))
    values: dict[str, float] = {}
    if goal is not None:
        columns = zip(*(goal.values(one) for one in results), strict=True)
        values = {name: sum(column) / n for name, column in zip(goal.metrics, columns, strict=True)}
    metrics = {**results[-1].metrics, **values}
    return Result(max(one.t for one in results), scores[0], scores, violations, metrics)
