"""Detection of settings with a metric that no trial reports, and of populations without checkpoints."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from overtone.core.goal import lacking_criteria, lookup
from overtone.core.trial import Status, Trial
from overtone.core.types import Metrics

PATIENCE = 10
"""Results of one trial that may lack an awaited metric before the user is warned."""

_ENDS = frozenset({"returned", "halted", "stop", "max_t"})
"""Rules after which a trial had all its results; a scheduler may stop a trial before a metric comes."""


HOW_TO_SAVE = (
    "Save one with each report:\n"
    "    tune.report({...}, checkpoint=Checkpoint.from_directory(path))\n"
    "or, in a class, define save_checkpoint(self, path) and load_checkpoint(self, path)"
)


class Awaited:
    """The metrics that a setting waits for, and that no result of any trial has had.

    The user is warned once: when one trial has reported `PATIENCE` results, or has ended and was
    not stopped early by a scheduler.

    Args:
        warning: Returns the warning for the metrics and the newest result.

    Attributes:
        names: The metrics; usually empty after the first results.
        has_use: Whether there was use for the metrics; without, nothing is told.
    """

    def __init__(
        self,
        names: Iterable[str],
        warning: Callable[[Sequence[str], Metrics], str] = lacking_criteria,
        has_use: bool = True,
    ) -> None:
        self.names = tuple(dict.fromkeys(names))
        self.has_use = has_use
        self._warning = warning
        self._is_told = False
        self._newest: Metrics = {}

    def look(self, metrics: Metrics) -> None:
        """Remove the metrics that a result has."""
        self._newest = metrics  # A trial's last result is reduced to the metrics of the goal.
        self.names = tuple([one for one in self.names if not hasattr(lookup(metrics, one), "__float__")])

    def doubt(self, trial: Trial) -> str | None:
        """Return the text for the user after `trial` has reported or ended; None if there is nothing new."""
        if not self.names or not self.has_use or self._is_told or trial.last is None:
            return None
        if trial.n_results < PATIENCE and not _has_ended(trial):
            return None
        self._is_told = True
        return self._warning(self.names, self._newest)


class AwaitedCheckpoint:
    """The checkpoint without which a scheduler cannot let one trial go on from another.

    The user is warned once, if no trial has saved any: when a trial is asked to save for the second
    time, or has ended without being stopped since it was asked.

    Args:
        scheduler: The name of the scheduler that needs it; "" if none does.
    """

    def __init__(self, scheduler: str) -> None:
        self._scheduler = scheduler
        self._asked: dict[str, float] = {}  # By trial id: time of the first request.

    def on_saved(self) -> None:
        """Stop waiting: a trial has saved."""
        self._scheduler = ""
        self._asked.clear()

    def ask(self, trial: Trial, t: float) -> str | None:
        """Record a request for a checkpoint of `trial`; return the warning if it is the second one."""
        if not self._scheduler:
            return None
        first = self._asked.setdefault(trial.id, t)
        return (
            self._told(f"trial {trial.id} was asked for one at {first:g} and again at {t:g}")
            if first < t
            else None
        )

    def doubt(self, trial: Trial) -> str | None:
        """Return the text for the user after `trial` has ended; None if there is nothing new."""
        first = self._asked.get(trial.id)
        if first is None or not _has_ended(trial):
            return None
        return self._told(f"trial {trial.id} was asked for one at {first:g} and has ended")

    def _told(self, found: str) -> str:
        who = self._scheduler
        self.on_saved()
        return (
            f"{who} lets trials go on from checkpoints of others, and no trial has saved any ({found}): "
            f"until one does, every trial keeps its own state and hyperparameters. {HOW_TO_SAVE}"
        )


def _has_ended(trial: Trial) -> bool:
    return trial.status is Status.TERMINATED and trial.why is not None and trial.why.rule in _ENDS
