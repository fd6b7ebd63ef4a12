"""Bounds on metrics: `stop={"mean_accuracy": 0.99, "training_iteration": 100}`."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from overtone.core.goal import real
from overtone.core.trial import Trial
from overtone.core.types import Result

_MISSING = object()


class Criteria:
    """Ends a trial when any metric has reached its bound.

    A bound is reached at >=, and for the goal metric, where less of it is better, at <=.
    Takes and answers what the controller's stoppers do.

    Args:
        bounds: By metric; nested ones as "a/b" or as nested dicts.
        goal_metric, goal_mode: What is optimised, where it is known; may be set later.

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
        self._unseen = dict.fromkeys(self.bounds)

    def __call__(self, trial: Trial, result: Result) -> str | None:
        metrics = result.metrics
        reason = None
        for metric, bound in self.bounds.items():
            given = look_up(metrics, metric)
            if given is not None and metric in self._unseen:
                del self._unseen[metric]
            value = number(given)
            if value is None or reason is not None:
                continue
            if metric == self.goal_metric and self.goal_mode == "min":
                if value <= bound:
                    reason = f"{metric}={value:g} <= {bound:g}"
            elif value >= bound:
                reason = f"{metric}={value:g} >= {bound:g}"
        return reason

    def next_decision(self, trial: Trial) -> float:
        """The bound of training_iteration where there is no other, else the next report."""
        if not self.bounds:
            return math.inf
        if len(self.bounds) == 1 and self.goal_metric != "training_iteration":
            return self.bounds.get("training_iteration", 0.0)
        return 0.0

    def unseen(self) -> tuple[str, ...]:
        """The metrics with a bound that no result has had so far."""
        return tuple(self._unseen)

    def _collect(self, bounds: Mapping[str, Any], path: str) -> None:
        for key, bound in bounds.items():
            if isinstance(bound, Mapping):
                self._collect(bound, f"{path}{key}/")
                continue
            value = number(bound)
            if value is None or value != value:
                raise ValueError(
                    f"stop={{{path + str(key)!r}: {bound!r}}}: a bound must be a number, "
                    'as in {"mean_accuracy": 0.99, "training_iteration": 100}'
                )
            self.bounds[f"{path}{key}"] = value

    def __repr__(self) -> str:
        return f"Criteria({self.bounds!r})"


def look_up(metrics: Mapping[str, Any], name: str) -> Any:
    """The metric with this name, or at the path "a/b"; None where there is none."""
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
    """`value` as a number; None where it is none."""
    if isinstance(value, (str, bytes)) or not hasattr(value, "__float__"):
        return None
    try:
        return real(value)
    except (TypeError, ValueError):
        return None
