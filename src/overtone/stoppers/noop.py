"""Ends nothing."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from overtone.stoppers.stopper import Stopper

if TYPE_CHECKING:
    from overtone.core.trial import Trial


class NoopStopper(Stopper):
    """Ends nothing."""

    ends_trials = False

    def __call__(self, trial_id: str, result: Mapping[str, Any]) -> bool:
        return False

    def next_decision(self, trial: Trial) -> float:
        return math.inf

    def __repr__(self) -> str:
        return "NoopStopper()"
