"""The parts of an experiment, created and connected before anything runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from overtone.core.controller import Controller
    from overtone.core.goal import Goal
    from overtone.core.limits import Limits
    from overtone.core.protocols import Engine, Searcher, TrialScheduler
    from overtone.core.resources import Resources
    from overtone.journal.writer import JournalWriter
    from overtone.run.resume.target import Errored
    from overtone.run.storage.results_place import Place


@dataclass(slots=True)
class Parts:
    """An experiment's parts, created and connected before anything runs."""

    name: str
    folder: Path
    moved: str
    seed: int
    space: Any
    goal: Goal
    scheduler: TrialScheduler
    searcher: Searcher
    stoppers: list[Any]
    controller: Controller
    engine: Engine
    why_engine: str
    demand: Resources | None
    has_tensorboard: bool
    limits: Limits
    nth: int
    place: Place
    past: Past | None = None
    earlier: Sequence[Mapping[str, Any]] = ()
    earlier_line: str = ""


@dataclass(slots=True)
class Past:
    """The past of a resumed experiment.

    Attributes:
        journal: Reopened; not read yet.
        header: Its first record.
        errored: Treatment of trials that ended in an error; see `Resumed`.
    """

    journal: JournalWriter
    header: Mapping[str, Any]
    errored: Errored
