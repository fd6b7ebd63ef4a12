"""Adapter from a user's stopper to the controller's interface."""

from __future__ import annotations

from typing import Any

from overtone.core.sizes import LONGEST_NAME, shorten
from overtone.core.trial import Trial
from overtone.core.types import Result


class Adapter:
    """Calls a user's stopper with the trial's id and a dict, and gives the controller a reason.

    Args:
        stopper: Called with (trial_id, result). It may also have `stop_all()` and
            `next_decision(trial)`. Text that it returns is the reason.
    """

    def __init__(self, stopper: Any) -> None:
        self.stopper = stopper
        self.awaits: tuple[str, ...] = getattr(stopper, "awaits", ())

    def __call__(self, trial: Trial, result: Result) -> str | None:
        facts = {"trial_id": trial.id, "experiment_tag": trial.tag, "config": trial.config}
        return self._reason(self.stopper(trial.id, {**result.metrics, **facts}))

    def stop_all(self) -> str | None:
        """Return the reason to end the experiment; None to continue."""
        ask = getattr(self.stopper, "stop_all", None)
        return self._reason(ask()) if ask is not None else None

    def next_decision(self, trial: Trial) -> float:
        """Return the smallest training_iteration at which the stopper may end anything."""
        ask = getattr(self.stopper, "next_decision", None)
        return ask(trial) if ask is not None else 0.0

    def _reason(self, answer: Any) -> str | None:
        if isinstance(answer, str):
            return shorten(answer, LONGEST_NAME) or None
        return repr(self) if answer else None

    def __repr__(self) -> str:
        has_repr = any("__repr__" in vars(kind) for kind in type(self.stopper).__mro__[:-1])
        return repr(self.stopper) if has_repr else type(self.stopper).__name__
