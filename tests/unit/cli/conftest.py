from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from overtone.cli import main
from overtone.core.messages import Ended, Moved
from overtone.core.types import Why
from overtone.testing.scripted_journal import ScriptedJournal


class Told(ScriptedJournal):
    """An experiment that is told and written to a journal; `write()` appends what is new."""

    def __init__(self, folder: Path, command: list[str] | None = None, /, **parts: Any) -> None:
        super().__init__(folder, command or ["python", "train.py"], 1_790_000_000.0, **parts)
        self.folder = folder

    def write(self) -> Path:
        super().write()
        return self.folder

    def close(self, finished: bool = True) -> Path:
        self.write()
        if finished:
            self.writer.note("end", {})
        self.writer.close()
        return self.folder

    def run(self, config: dict, *losses: float) -> str:
        return super().run(config, *({"loss": loss} for loss in losses))

    def judged(self, config: dict, losses: list[float], why: Why) -> str:
        """A trial that is stopped at its last loss."""
        trial = self.add(config)
        self.start(trial)
        for loss in losses[:-1]:
            self.time += 1.0
            self.report(trial, loss=loss)
        self.report_stopped(trial, why, loss=losses[-1])
        self.end(trial, "halted", why)
        return trial

    def fail(self, trial: str, error: str, traceback: str = "") -> None:
        attempt = self._attempts[trial]
        self._attempts[trial] += 1
        self._tell(
            Ended(self.time, trial, attempt, "raised", error, traceback),
            Moved(trial, "ERROR", attempt + 1, Why("raised", note=error), error=error),
        )

    def tell(self, event, *choices):
        return self._tell(event, *choices)


class Done(NamedTuple):
    """What a command wrote."""

    code: int
    out: str
    err: str

    @property
    def data(self) -> Any:
        return json.loads(self.out)


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch) -> Path:
    """A home of its own, so that nobody's results and cache are touched."""
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return home


@pytest.fixture
def results(home) -> Path:
    return home / "overtone_results"


@pytest.fixture
def tell(results):
    """Makes experiments below the default folder."""
    told: list[Told] = []

    def make(
        name: str = "exp", folder: Path | None = None, command: list[str] | None = None, /, **parts: Any
    ) -> Told:
        told.append(Told((folder or results) / name, command, **parts))
        return told[-1]

    yield make
    for one in told:
        one.writer.close()


@pytest.fixture
def search(tell) -> Path:
    """A finished search: four trials, of which a scheduler stopped two, and one failed."""
    told = tell("search")
    told.run({"lr": 0.1, "layers": 2}, 0.5, 0.4, 0.3, 0.2)  # 0: passes
    told.judged({"lr": 0.2, "layers": 2}, [0.9], Why("asha", 1, 1, -0.5, 2, 2))
    told.judged({"lr": 0.3, "layers": 3}, [0.6], Why("asha", 1, 1, -0.55, 2, 3))
    failed = told.add({"lr": 9.0, "layers": 4})
    told.start(failed)
    told.fail(failed, "ValueError: lr is too high", "Traceback ...\nValueError: lr is too high\n")
    return told.close()


@pytest.fixture
def overtone(capsys):
    """Runs a command in this process."""

    def call(*argv: object) -> Done:
        capsys.readouterr()
        code = main([str(one) for one in argv])
        out, err = capsys.readouterr()
        return Done(code, out, err)

    return call
