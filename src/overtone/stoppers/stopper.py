"""What a user's own stopper is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from overtone.core.trial import Trial


class Stopper(ABC):
    """Ends trials, and the experiment, by what the trials report. To be subclassed.

    A `repr` that shows the arguments is what people read as the reason why a trial was stopped.

    Attributes:
        awaits: The names of the metrics without which it ends nothing: if no result has one of
            them, a warning says so.
    """

    awaits: tuple[str, ...] = ()

    @abstractmethod
    def __call__(self, trial_id: str, result: Mapping[str, Any]) -> bool:
        """Whether the trial, which just reported `result`, ends."""

    @abstractmethod
    def stop_all(self) -> bool:
        """Whether the whole experiment ends; asked after each result."""

    def next_decision(self, trial: Trial) -> float:
        """The smallest training_iteration at which this stopper may end anything.

        Reports before it do not wait for an answer. By default the next report.
        """
        return 0.0
