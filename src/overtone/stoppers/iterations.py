"""A stopper that ends trials after a number of iterations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from overtone.errors import ArgumentError
from overtone.stoppers.stopper import Stopper

if TYPE_CHECKING:
    from overtone.core.trial import Trial


class MaximumIterationStopper(Stopper):
    """Ends a trial at training_iteration `max_iter`; results without one are counted.

    Raises:
        ValueError: `max_iter` is not a whole number above 0.
    """

    def __init__(self, max_iter: int) -> None:
        if not hasattr(max_iter, "__index__") or max_iter < 1:
            raise ArgumentError(f"max_iter={max_iter!r} must be a whole number above 0")
        self.max_iter = max_iter
        self._counted: dict[str, int] = {}

    def __call__(self, trial_id: str, result: Mapping[str, Any]) -> bool:
        t = result.get("training_iteration")
        if t is None:
            t = self._counted[trial_id] = self._counted.get(trial_id, 0) + 1
        return bool(t >= self.max_iter)

    def next_decision(self, trial: Trial) -> float:
        return self.max_iter

    def __repr__(self) -> str:
        return f"MaximumIterationStopper(max_iter={self.max_iter})"
