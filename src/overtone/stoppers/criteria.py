"""Bounds on metrics: `stop={"mean_accuracy": 0.99, "training_iteration": 100}`."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from overtone.core.goal import real
from overtone.core.protocols import Stopper
from overtone.core.trial import Trial
from overtone.core.types import Result
from overtone.errors import ArgumentError

_MISSING = object()


class Criteria(Stopper):
    """Ends a trial when any metric has reached its bound.

    A bound is reached at >=, and for the goal metric, where less of it is better, at <=.

    Args:
        bounds: By metric; nested ones as "a/b" or as nested dicts.
        goal_metric, goal_mode: The goal, if known; may be set later.

    Attributes:
        bounds: By metric, without nesting.

    Raises:
        ValueError: A bound is not a number.
    """

    def __init__(
        self, bounds: Mapping[str, Any], goal_metric: str | None = None, goal_mode: str | None = None
    ) -> None:
        self.bounds: dict[str, float] = {}
        self.goal_metric = goal_metric
        self.goal_mode = goal_mode
        self._collect(bounds, "")
        self.awaits = tuple(self.bounds)

    def __call__(self, trial: Trial, result: Result) -> str | None:
        metrics = result.metrics
        for metric, bound in self.bounds.items():
            value = number(look_up(metrics, metric))
            if value is None:
                continue
            if metric == self.goal_metric and self.goal_mode == "min":
                if value <= bound:
                    return f"{metric}={value:g} <= {bound:g}"
            elif value >= bound:
                return f"{metric}={value:g} >= {bound:g}"
        return None

    def next_decision(self, trial: Trial) -> float:
        """Return the bound of training_iteration if it is the only one, else the next report."""
        if not self.bounds:
            return math.inf
        if len(self.bounds) == 1 and self.goal_metric != "training_iteration":
            return self.bounds.get("training_iteration", 0.0)
        return 0.0

    def _collect(self, bounds: Mapping[str, Any], path: str) -> None:
        for key, bound in bounds.items():
            if isinstance(bound, Mapping):
                self._collect(bound, f"{path}{key}/")
                continue
            value = number(bound)
            if value is None or value != value:
                raise ArgumentError(
                    f"stop={{{path + str(key)!r}: {bound!r}}}: a bound must be a number, "
                    'as in {"mean_accuracy": 0.99, "training_iteration": 100}'
                )
            self.bounds[f"{path}{key}"] = value

    def __repr__(self) -> str:
        return f"Criteria({self.bounds!r})"


def look_up(metrics: Mapping[str, Any], name: str) -> Any:
    """Return the metric with this name, or at the path "a/b"; None if there is none."""
    value = metrics.get(name, _MISSING)
    if value is not _MISSING:
        return value
    value = metrics
    for part in name.split("/"):
        if not isinstance(value, Mapping) or part not in value:
            return None
        value = value[part]
    return value


def number(value: Any) -> float | None:
    """Return `value` as a number; None if it is not a number."""
    if isinstance(value, (str, bytes)) or not hasattr(value, "__float__"):
        return None
    try:
        return real(value)
    except (TypeError, ValueError):
        return None
