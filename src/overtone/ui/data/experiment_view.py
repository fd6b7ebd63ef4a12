"""The interface of an experiment that the parts of the dashboard's answers use."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

from overtone.control.holder import Holder
from overtone.reading.columns.trial_columns import TrialColumns
from overtone.reading.index_on_demand import IndexOnDemand
from overtone.reading.rung_standings import Standings
from overtone.ui.data.followed_journal import FollowedJournal


class ExperimentView(Protocol):
    """An experiment, as `overtone.ui.data.experiment.Experiment` has it.

    Attributes:
        name: Its id.
        journal: The journal on this machine.
        is_polled: Whether its storage does not announce changes, and is looked at every few seconds.
    """

    name: str
    journal: Path

    @property
    def is_polled(self) -> bool:
        """See above."""

    def driver(self) -> Holder | None:
        """Return the process that runs it; of an experiment elsewhere, as of the last look there."""

    @property
    def followed(self) -> FollowedJournal:
        """The journal with its columns, as far as it was read."""

    def newest(self) -> TrialColumns:
        """Return all trials as they are now."""

    def index(self) -> AbstractContextManager[IndexOnDemand]:
        """An index of the journal as it is now, for this thread alone."""

    def standings(self, index: IndexOnDemand, metric: str | None, mode: str | None) -> Standings | None:
        """Return who stood where at each rung; None without rungs."""
