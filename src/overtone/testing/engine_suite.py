"""Shared parts of the engine suite: fixtures, and attributes that declare unsupported features."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from overtone.core import messages as m
from overtone.core.job import Job
from overtone.core.protocols import Engine
from overtone.core.types import Checkpoint
from overtone.testing import curves, faulty
from overtone.testing.folder_store import FolderStore
from overtone.testing.scripted import Answer, Script, go_on, halt, proceed

MadeScript = Callable[..., Script]
"""Opens an engine for a trainable, and drives it."""


class EngineSuite:
    """An engine under test.

    Attributes:
        isolates: Trials run in processes of their own: they may crash, and can be killed.
        parks: A trial may be left waiting in report().
        runs_code: Trainables are any Python; otherwise curves (config, t).
        grace_s: How long a trial may take to obey its Halt: as long as a busy machine needs.
        short_grace_s: The same where a test's trials do not obey.
    """

    isolates = True
    parks = True
    runs_code = True
    grace_s = 60.0
    short_grace_s = 0.3

    def make_engine(self) -> Engine:
        """Return a new engine with at least one CPU."""
        raise NotImplementedError

    @pytest.fixture
    def script(self, tmp_path: Path) -> Iterator[MadeScript]:
        """Opens an engine for a trainable: `script(faulty.raises, answer, reuse=True)`."""
        engines: list[Engine] = []

        def make(trainable: Any, answer: Answer = go_on, **options: Any) -> Script:
            engine = self.make_engine()
            engines.append(engine)
            name = getattr(trainable, "__name__", "trainable")
            options = {"grace_s": self.grace_s, "store": FolderStore(tmp_path / "store"), **options}
            folder = tmp_path / "experiment"
            folder.mkdir(exist_ok=True)
            engine.open(Job(trainable, name, folder, **options))
            return Script(engine, answer)

        yield make
        for engine in engines:
            engine.close()

    @pytest.fixture
    def code(self) -> None:
        if not self.runs_code:
            pytest.skip("this engine runs curves only")

    @pytest.fixture
    def isolated(self, code: None) -> None:
        if not self.isolates:
            pytest.skip("trials of this engine share its process")

    def curve(self, length: int = 2) -> Any:
        """Return a trainable that reports `length` times, in the form that this engine runs."""
        if self.runs_code:
            return {2: faulty.reports}[length]
        return curves.ending(curves.exponential, length)

    def saving(self) -> Any:
        """Return a trainable of three iterations that can save when told, in the form of this engine."""
        return faulty.Steps if self.runs_code else curves.ending(curves.exponential, 3)


def halting_at(t: int, save: bool = False, park: bool = False) -> Answer:
    """Let reports go on until `t`, and halt the trial there."""

    def answer(event: m.Event) -> list[m.Command]:
        if not isinstance(event, m.Reported):
            return []
        return [halt(event, save, park)] if event.t >= t else [proceed(event)]

    return answer


def saved_by(driver: Script, trial_id: str = "t") -> Checkpoint:
    """Return the first checkpoint that a trial saved."""
    return next(event.checkpoint for event in driver.of(trial_id) if isinstance(event, m.Saved))


def last_end(driver: Script) -> m.Ended:
    """Return the last trial's end."""
    return [event for event in driver.events if isinstance(event, m.Ended)][-1]
