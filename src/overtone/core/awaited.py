"""Whether `stop=` waits for a metric that nobody reports."""

from __future__ import annotations

from collections.abc import Iterable

from overtone.core.goal import lacking_criteria, lookup
from overtone.core.trial import Status, Trial
from overtone.core.types import Metrics

PATIENCE = 10
"""Results of one trial that may lack a metric of `stop=` before the user is told."""

_ENDS = frozenset({"returned", "halted", "stop", "max_t"})
"""Why a trial ended that had all of its results; a scheduler may stop one before a metric comes."""


class Awaited:
    """The metrics that stoppers wait for, and that no result of any trial has had.

    They are doubted once: when one trial has reported `PATIENCE` results, or has ended and was not
    stopped early by a scheduler.

    Attributes:
        names: Those metrics; empty after the first results, as a rule.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self.names = tuple(dict.fromkeys(names))
        self._is_told = False

    def look(self, metrics: Metrics) -> None:
        """Take note of a result."""
        self.names = tuple([one for one in self.names if not hasattr(lookup(metrics, one), "__float__")])

    def doubt(self, trial: Trial) -> str | None:
        """Return the text for the user after `trial` has reported or ended; None if there is nothing new."""
        if not self.names or self._is_told or trial.last is None:
            return None
        has_all = trial.status is Status.TERMINATED and trial.why is not None and trial.why.rule in _ENDS
        if trial.n_results < PATIENCE and not has_all:
            return None
        self._is_told = True
        return lacking_criteria(self.names, trial.last.metrics)
