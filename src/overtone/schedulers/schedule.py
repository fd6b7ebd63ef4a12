"""Hyperparameters that change along training by rule: the paper's "annealing".

After each result the rule of a hyperparameter gives its value for what follows, from t and
the value that the trial began with. `params` has the new value when `report()` returns: no
restart, no checkpoint. Another scheduler decides when trials stop.

Deviations: none from a paper; a class trainable needs `reset_config`, which is called with
the new values. Where the other scheduler asks for a save, the values follow one result later.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from overtone.core.decision import Add, Continue, Decision, Restart, as_decision
from overtone.core.messages import NEVER
from overtone.core.scheduler_view import View
from overtone.core.trial import Trial
from overtone.core.types import Config, Result
from overtone.errors import ArgumentError, UsageError
from overtone.schedulers.adapter import inner
from overtone.schedulers.arguments import checked, is_number
from overtone.schedulers.base import TrialScheduler
from overtone.schedulers.fifo import FIFOScheduler

Rule = Callable[[float, Any], Any]
"""Returns the value from t on, given t and the trial's first value."""


@checked
@dataclass(frozen=True)
class Exponential:
    """The first value times `rate` to the power of t."""

    rate: float

    def __call__(self, t: float, first: float) -> float:
        return first * math.pow(self.rate, t)


@checked
@dataclass(frozen=True)
class Linear:
    """Linear from the first value to `last` until t = `over`, constant afterwards."""

    last: float
    over: float

    def __call__(self, t: float, first: float) -> float:
        return first + (self.last - first) * min(1.0, t / self.over)


@checked
@dataclass(frozen=True)
class Cosine:
    """Half a cosine from the first value to `last` until t = `over`."""

    last: float
    over: float

    def __call__(self, t: float, first: float) -> float:
        share = (1 - math.cos(math.pi * min(1.0, t / self.over))) / 2
        return first + (self.last - first) * share


class Steps:
    """Values by the t from which they hold: `Steps({30: 0.01, 60: 0.001})`.

    Raises:
        UsageError: `values` does not give values by number.
    """

    def __init__(self, values: Mapping[float, Any]) -> None:
        if not isinstance(values, Mapping):
            raise UsageError(
                f"Steps: {values!r:.100}: give values by number, such as {{30: 0.01, 60: 0.001}}"
            )
        wrong = next((t for t in values if not is_number(t) or t != t), None)
        if wrong is not None:
            raise UsageError(f"Steps: {wrong!r} must be a number, such as 30 in {{30: 0.01, 60: 0.001}}")
        self.values = dict(sorted(values.items()))

    def __call__(self, t: float, first: Any) -> Any:
        return next((value for start, value in reversed(self.values.items()) if start <= t), first)


class HyperparameterSchedule(TrialScheduler):
    """Changes hyperparameters of running trials by rule; another scheduler makes all other decisions.

    Args:
        schedules: By name ("optimizer/lr" for a nested one) a rule: `Exponential`, `Linear`,
            `Cosine`, a dict of values by t, or any function of (t, first value).
        base_scheduler: Makes the other decisions; FIFO by default.

    Raises:
        UsageError: `schedules` is not a dict of rules.
    """

    def __init__(
        self,
        schedules: Mapping[str, Rule | Mapping[float, Any]],
        base_scheduler: TrialScheduler | None = None,
    ) -> None:
        if not isinstance(schedules, Mapping):
            raise UsageError(f'schedules={schedules!r:.100}: give a dict such as {{"lr": Exponential(0.9)}}')
        self._rules = {
            name: Steps(rule) if isinstance(rule, Mapping) else rule for name, rule in schedules.items()
        }
        wrong = [name for name, rule in self._rules.items() if not callable(rule)]
        if wrong:
            raise UsageError(f"{wrong[0]}={schedules[wrong[0]]!r}: a schedule is a rule (t, first) -> value")
        self._base = inner(base_scheduler, "HyperparameterSchedule") or FIFOScheduler()
        self.metric, self.mode, self.time_attr = self._base.metric, self._base.mode, self._base.time_attr
        self.needs_metric, self.replayable = self._base.needs_metric, self._base.replayable
        self.needs_population, self.pauses = self._base.needs_population, self._base.pauses
        self.needs_checkpoints, self.ends_trials = self._base.needs_checkpoints, self._base.ends_trials
        self.parks = self._base.parks

    def complete(self, space: Mapping[str, Any], earlier: Callable[[str], Any]) -> Mapping[str, Any]:
        return self._base.complete(space, earlier)

    def on_start(self, view: View) -> None:
        self._firsts: dict[str, Config] = {}
        self._base.on_start(view)

    def on_trial_add(self, trial: Trial) -> None:
        for name in self._rules:
            _find(trial.config, name)
        self._firsts[trial.id] = trial.config
        self._base.on_trial_add(trial)

    def on_result(self, trial: Trial, result: Result) -> Decision:
        decision = as_decision(self._base.on_result(trial, result), type(self._base).__name__)
        config = self._scheduled(trial, result.t)
        return Continue(config) if isinstance(decision, Continue) and config != trial.config else decision

    def next_decision(self, trial: Trial) -> float:
        until = 0.0 if self._base.rules_anywhere else self._base.next_decision(trial)
        now = trial.last.t if trial.last is not None else 0.0
        for rule in self._rules.values():
            if not isinstance(rule, Steps):
                return 0.0  # The value changes with each result.
            until = min(until, next((start for start in rule.values if start > now), NEVER))
        return until

    def on_decision(self, trial: Trial, decision: Decision) -> None:
        if isinstance(decision, Restart):  # A new config: its values are the first values.
            self._firsts[trial.id] = decision.config
        self._base.on_decision(trial, decision)

    def choose_trial_to_run(self, trials: View) -> Trial | None:
        return self._base.choose_trial_to_run(trials)

    def review(self, trials: View) -> Iterable[tuple[str, Decision | Add]]:
        return self._base.review(trials)

    def on_trial_end(self, trial: Trial) -> None:
        self._firsts.pop(trial.id, None)
        self._base.on_trial_end(trial)

    def describe(self) -> str:
        return f"{self._base.describe()}\nScheduled: {', '.join(self._rules)}"

    def _scheduled(self, trial: Trial, t: float) -> Config:
        config = trial.config
        for name, rule in self._rules.items():
            value = rule(t, _find(self._firsts[trial.id], name))
            config = _with(config, name.split("/"), value)
        return config


def _find(config: Config, name: str) -> Any:
    value: Any = config
    for part in name.split("/"):
        if not isinstance(value, Mapping) or part not in value:
            raise ArgumentError(
                f"{name!r} is scheduled, but the config has only {', '.join(map(repr, config))}"
            )
        value = value[part]
    return value


def _with(config: Config, path: list[str], value: Any) -> Config:
    new = value if len(path) == 1 else _with(config[path[0]], path[1:], value)
    return {**config, path[0]: new}
