"""Several stoppers as one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from overtone.stoppers.adapter import known_form
from overtone.stoppers.stopper import Stopper

if TYPE_CHECKING:
    from overtone.core.trial import Trial


class CombinedStopper(Stopper):
    """Ends a trial or the experiment if any of `stoppers` does. Each stopper sees every result."""

    def __init__(self, *stoppers: Stopper) -> None:
        self.stoppers = stoppers
        known = [known_form(stopper) for stopper in stoppers]
        self.awaits = tuple(name for one in known for name in one.awaits)
        self.timeout_s = min((one.timeout_s for one in known if one.timeout_s is not None), default=None)

    def __call__(self, trial_id: str, result: Mapping[str, Any]) -> bool:
        # any() alone would skip some.
        answers = [known_form(stopper)(trial_id, result) for stopper in self.stoppers]
        return any(answers)

    def stop_all(self) -> bool:
        answers = [known_form(stopper).stop_all() for stopper in self.stoppers]
        return any(answers)

    def next_decision(self, trial: Trial) -> float:
        ends = (known_form(stopper).next_decision(trial) for stopper in self.stoppers)
        return min(ends, default=float("inf"))

    def __repr__(self) -> str:
        return f"CombinedStopper({', '.join(map(repr, self.stoppers))})"
