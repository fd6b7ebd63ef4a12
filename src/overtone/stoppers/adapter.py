"""Adapters from users' stoppers to the controller's interface."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from overtone.core.protocols import Stopper as NativeStopper
from overtone.core.sizes import LONGEST_NAME, shorten
from overtone.core.trial import Trial
from overtone.core.types import Result
from overtone.stoppers.stopper import Stopper


class Adapter(NativeStopper):
    """Calls a user's stopper with the trial's id and a dict, and gives the controller a reason.

    Args:
        stopper: Called with (trial_id, result). Text that it returns is the reason.
    """

    def __init__(self, stopper: Stopper) -> None:
        self.stopper = stopper
        self.awaits, self.ends_trials = stopper.awaits, stopper.ends_trials
        self.timeout_s = stopper.timeout_s

    def __call__(self, trial: Trial, result: Result) -> str | None:
        facts = {"trial_id": trial.id, "experiment_tag": trial.tag, "config": trial.config}
        return self._reason(self.stopper(trial.id, {**result.metrics, **facts}))

    def stop_all(self) -> str | None:
        return self._reason(self.stopper.stop_all())

    def next_decision(self, trial: Trial) -> float:
        return self.stopper.next_decision(trial)

    def _reason(self, answer: Any) -> str | None:
        if isinstance(answer, str):
            return shorten(answer, LONGEST_NAME) or None
        return repr(self) if answer else None

    def __repr__(self) -> str:
        return _shown(self.stopper)


class PlainStopper(Stopper):
    """A stopper that a user wrote without the base class: only `__call__` is required.

    Args:
        given: The user's object.
    """

    def __init__(self, given: Any) -> None:
        self.given = given
        self.awaits = getattr(given, "awaits", ())
        self.timeout_s = getattr(given, "timeout_s", None)

    def __call__(self, trial_id: str, result: Mapping[str, Any]) -> bool:
        answer: bool = self.given(trial_id, result)
        return answer

    def stop_all(self) -> bool:
        answer: bool = getattr(self.given, "stop_all", super().stop_all)()
        return answer

    def next_decision(self, trial: Trial) -> float:
        until: float = getattr(self.given, "next_decision", super().next_decision)(trial)
        return until

    def __repr__(self) -> str:
        return _shown(self.given)


def known_form(given: Any) -> Stopper:
    """Return a user's stopper with the whole interface of `Stopper`."""
    return given if isinstance(given, Stopper) else PlainStopper(given)


def _shown(stopper: Any) -> str:
    has_repr = any("__repr__" in vars(kind) for kind in type(stopper).__mro__[:-1])
    return repr(stopper) if has_repr else type(stopper).__name__
