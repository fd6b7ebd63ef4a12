"""Several stoppers as one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from overtone.stoppers.stopper import Stopper

if TYPE_CHECKING:
    from overtone.core.trial import Trial


class CombinedStopper(Stopper):
    """Ends a trial or the experiment if any of `stoppers` does. Each stopper sees every result."""

    def __init__(self, *stoppers: Stopper) -> None:
        self.stoppers = stoppers
        self.awaits = tuple(name for one in stoppers for name in getattr(one, "awaits", ()))

    def __call__(self, trial_id: str, result: Mapping[str, Any]) -> bool:
        answers = [stopper(trial_id, result) for stopper in self.stoppers]  # any() alone would skip some.
        return any(answers)

    def stop_all(self) -> bool:
        answers = [stopper.stop_all() for stopper in self.stoppers]
        return any(answers)

    def next_decision(self, trial: Trial) -> float:
        return min((stopper.next_decision(trial) for stopper in self.stoppers), default=float("inf"))

    def __repr__(self) -> str:
        return f"CombinedStopper({', '.join(map(repr, self.stoppers))})"
