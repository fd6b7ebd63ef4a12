"""The parts of an experiment whose folder is taken."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from overtone.standard_streams import say

if TYPE_CHECKING:
    from overtone.core.controller import Controller
    from overtone.core.limits import Limits
    from overtone.journal.writer import JournalWriter
    from overtone.run.plan import Plan
    from overtone.run.storage.results_place import ResultsPlace


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts of an experiment whose folder is taken, created before anything runs.

    Attributes:
        nth: Number of experiments that this process began before.
        limits: Those of today's call; a resumed controller begins with the recorded ones.
        earlier: Results of a warm start, as data.
        earlier_line: A line about these, or "".
        past: None for a new experiment.
    """

    plan: Plan
    place: ResultsPlace
    nth: int
    seed: int
    limits: Limits
    controller: Controller
    earlier: Sequence[Mapping[str, Any]]
    earlier_line: str
    past: Past | None

    @property
    def folder(self) -> Path:
        """The experiment's folder when its run began."""
        return self.place.folder

    def tell(self, text: str) -> None:
        """Say a line that is not about an error; `verbose=0` silences it."""
        if self.plan.experiment.verbose != 0:
            say(text)


@dataclass(frozen=True, slots=True)
class Past:
    """The past of a resumed experiment.

    Attributes:
        journal: Reopened; not read yet.
        header: Its first record.
    """

    journal: JournalWriter
    header: Mapping[str, Any]
