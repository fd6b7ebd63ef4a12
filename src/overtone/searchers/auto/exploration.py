"""The share of space-filling points if a scheduler stops trials early.

A scheduler compares trials with each other. If all of them come from one good region, most stopped trials
are as good as the others, and a search that has converged too early cannot detect that. Points that the
model did not choose cost little then, since most of them are stopped early. A race against the best trial
is no such comparison.
"""

from __future__ import annotations

from overtone.core.trial import Trial
from overtone.core.types import Result
from overtone.searchers.auto.observations import seconds_of, was_outranked

SHARE = 0.75
"""The share of the trials' time, and of the trials that have not ended, that space-filling points get if a
scheduler stops trials early."""


class Exploration:
    """Counts the time of trials (their t if it is unknown), and of those among them that explore.

    Attributes:
        is_stopping: Whether a scheduler was seen to stop or pause a trial early.
    """

    def __init__(self) -> None:
        self.is_stopping = False
        self._explores: dict[int, bool] = {}
        self._seconds: dict[str, float] = {}
        self._all_s = self._explored_s = 0.0

    @property
    def is_due(self) -> bool:
        """Whether the next suggestion explores."""
        if not self.is_stopping:
            return False
        # time that has not passed does not count: without this, chosen points would take every slot at once
        n_chosen = sum(not explores for explores in self._explores.values())
        is_full = n_chosen > (1 - SHARE) * len(self._explores)
        return is_full or self._explored_s <= SHARE * self._all_s

    def add(self, index: int, explores: bool) -> None:
        """Count the trial of this suggestion as exploration, or as chosen by the model."""
        self._explores[index] = explores

    def on_result(self, trial: Trial, result: Result) -> None:
        """Add the time since the trial's previous result."""
        seconds = seconds_of(result)
        if seconds is None:
            seconds = result.t
        passed = max(seconds - self._seconds.get(trial.id, 0.0), 0.0)
        self._seconds[trial.id] = seconds
        self._all_s += passed
        if trial.suggestion is not None and self._explores.get(trial.suggestion):
            self._explored_s += passed
        # a trial that continues after a pause at a rung
        self.is_stopping = self.is_stopping or (trial.why is not None and trial.why.rung is not None)

    def on_trial_end(self, trial: Trial) -> None:
        """Forget a trial."""
        self._seconds.pop(trial.id, None)
        if trial.suggestion is not None:
            self._explores.pop(trial.suggestion, None)
        self.is_stopping = self.is_stopping or was_outranked(trial)
