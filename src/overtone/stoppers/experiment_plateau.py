"""Ends the experiment when its best results have stopped moving."""

from __future__ import annotations

from bisect import insort
from collections.abc import Mapping
from typing import Any

from overtone.errors import ArgumentError
from overtone.stoppers.criteria import look_up, number
from overtone.stoppers.spread import check_mode, standard_deviation
from overtone.stoppers.stopper import Stopper


class ExperimentPlateauStopper(Stopper):
    """Ends the experiment when the best results of all trials hardly differ. NaN is never among them.

    Args:
        metric: Name of the metric; "a/b" for a nested metric.
        std: The standard deviation at which results hardly differ.
        top: Number of best results that are compared.
        mode: "min" or "max".
        patience: Number of further results to wait for while the best results hardly differ.

    Raises:
        ValueError: `top`, `std` or `patience` is out of range.
    """

    def __init__(
        self, metric: str, std: float = 0.001, top: int = 10, mode: str = "min", patience: int = 0
    ) -> None:
        check_mode(mode)
        if not isinstance(top, int) or top <= 1:
            raise ArgumentError(f"top={top!r} must be a whole number above 1")
        if isinstance(std, bool) or not isinstance(std, (int, float)) or not std > 0:
            raise ArgumentError(f"std={std!r} must be a number above 0")
        if not isinstance(patience, int) or patience < 0:
            raise ArgumentError(f"patience={patience!r} must be a whole number, 0 or more")
        self.metric, self.awaits = metric, (metric,)
        self.std = std
        self.top = top
        self.mode = mode
        self.patience = patience
        self._best: list[float] = []
        self._since = 0

    def __call__(self, trial_id: str, result: Mapping[str, Any]) -> bool:
        value = number(look_up(result, self.metric))
        if value is None or value != value:
            return False
        insort(self._best, value if self.mode == "min" else -value)
        del self._best[self.top :]
        self._since = self._since + 1 if self.has_plateaued() else 0
        return self.stop_all()

    def stop_all(self) -> bool:
        return self._since > self.patience

    def has_plateaued(self) -> bool:
        """Return whether the best results hardly differ."""
        return len(self._best) == self.top and standard_deviation(self._best) <= self.std

    def __repr__(self) -> str:
        return (
            f"ExperimentPlateauStopper({self.metric!r}, std={self.std:g}, top={self.top}, mode={self.mode!r})"
        )
