"""Ends trials whose metric has stopped moving."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from overtone.errors import ArgumentError
from overtone.stoppers.criteria import look_up, number
from overtone.stoppers.spread import check_mode, standard_deviation
from overtone.stoppers.stopper import Stopper

if TYPE_CHECKING:
    from overtone.core.trial import Trial


class TrialPlateauStopper(Stopper):
    """Ends a trial when its last results hardly differ. Reports without the metric do not count.

    Args:
        metric: Name of the metric; "a/b" for a nested metric.
        std: The standard deviation below which results hardly differ.
        num_results: Number of last results that are compared.
        grace_period: Number of results before a trial can be ended.
        metric_threshold: End a trial only if its metric has reached this value; None for no
            threshold.
        mode: "min" if the metric must be at its threshold or below, "max" if at it or above.

    Raises:
        ValueError: `num_results` is below 1.
    """

    def __init__(
        self,
        metric: str,
        std: float = 0.01,
        num_results: int = 4,
        grace_period: int = 4,
        metric_threshold: float | None = None,
        mode: str | None = None,
    ) -> None:
        if metric_threshold is not None:
            check_mode(mode)
        if num_results < 1:
            raise ArgumentError(f"num_results={num_results!r} must be at least 1")
        self.metric, self.awaits = metric, (metric,)
        self.std = std
        self.num_results = num_results
        self.grace_period = grace_period
        self.metric_threshold = metric_threshold
        self.mode = mode
        self._last: dict[str, tuple[int, list[float]]] = {}

    def __call__(self, trial_id: str, result: Mapping[str, Any]) -> bool:
        value = number(look_up(result, self.metric))
        if value is None:
            return False
        n, last = self._last.get(trial_id, (0, []))
        n, last = n + 1, [*last, value][-self.num_results :]
        self._last[trial_id] = (n, last)
        if n < self.grace_period or len(last) < self.num_results or not self._is_good_enough(value):
            return False
        return standard_deviation(last) < self.std

    def _is_good_enough(self, value: float) -> bool:
        if self.metric_threshold is None:
            return True
        return value <= self.metric_threshold if self.mode == "min" else value >= self.metric_threshold

    def next_decision(self, trial: Trial) -> float:
        # a report is at least one iteration, so a trial cannot have as many results before
        return max(self.grace_period, self.num_results)

    def __repr__(self) -> str:
        return f"TrialPlateauStopper({self.metric!r}, std={self.std:g}, num_results={self.num_results})"
