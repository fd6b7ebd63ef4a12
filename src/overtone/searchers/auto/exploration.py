"""The suggestions of `auto` if a scheduler stops trials early.

A scheduler compares trials with each other. If all of them come from one good region, most stopped trials
are as good as the others, and a search that has converged too early cannot detect that. The point with the
highest expected improvement is often a neighbor of the best one, and a scheduler runs such a trial to its
end, in the time of dozens of trials that it stops at once. The best of a few random points is better than
a random one, and still anywhere. A race against the best trial is no such comparison.
"""

from __future__ import annotations

from typing import NamedTuple

from overtone.core.trial import Trial
from overtone.searchers.auto.observations import was_outranked

_N_DRAWN = 16
"""The number of points from which the model chooses one if a scheduler stops trials early."""

_SPACE_FILLING = 4
"""One suggestion in this many is then a space-filling point."""


class Draw(NamedTuple):
    """The random points from which the model chooses.

    Attributes:
        n: Their number.
        is_far: Whether the model uses only the trials that came farthest: what early values seem to say
            may be wrong (Falkner et al. 2018, "BOHB").
    """

    n: int
    is_far: bool


class Exploration:
    """Notes whether a scheduler stops trials early.

    Attributes:
        is_stopping: Whether a scheduler was seen to stop or pause a trial early.
    """

    def __init__(self) -> None:
        self.is_stopping = False

    def is_due(self, index: int) -> bool:
        """Return whether this suggestion is a space-filling point."""
        return self.is_stopping and index % _SPACE_FILLING == 0

    def draw(self, index: int) -> Draw | None:
        """Return the draw for this suggestion; None if the model searches the whole space."""
        return Draw(_N_DRAWN, is_far=index // _SPACE_FILLING % 2 == 1) if self.is_stopping else None

    def on_result(self, trial: Trial) -> None:
        """Notice a trial that continues after a pause at a rung."""
        self.is_stopping = self.is_stopping or (trial.why is not None and trial.why.rung is not None)

    def on_trial_end(self, trial: Trial) -> None:
        """Notice a trial that a scheduler stopped early."""
        self.is_stopping = self.is_stopping or was_outranked(trial)
