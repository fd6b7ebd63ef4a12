"""The base class of users' stoppers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from overtone.core.trial import Trial


class Stopper(ABC):
    """Ends trials, and the experiment, by what the trials report. To be subclassed.

    Its `repr` is shown as the reason of a stop, so it should show the arguments.

    Attributes:
        awaits: Names of the metrics without which it ends nothing. If no result has one of them,
            the user is warned.
        ends_trials: Whether it may end a trial.
        timeout_s: Seconds after which the experiment ends; None for no limit.
    """

    awaits: tuple[str, ...] = ()
    ends_trials: bool = True
    timeout_s: float | None = None

    @abstractmethod
    def __call__(self, trial_id: str, result: Mapping[str, Any]) -> bool:
        """Return whether the trial, which just reported `result`, ends."""

    def stop_all(self) -> bool:
        """Return whether the whole experiment ends; called after each result."""
        return False

    def next_decision(self, trial: Trial) -> float:
        """Return the smallest training_iteration at which this stopper may end anything.

        Reports before it do not wait for an answer. By default the next report.
        """
        return 0.0
