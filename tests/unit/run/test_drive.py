"""What is left where a run ends before or while it is driven."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from overtone import tune
from overtone.core.messages import Record
from overtone.core.protocols import Observer
from overtone.engines.inline import Inline
from overtone.journal.lock import is_locked
from overtone.journal.writer import JournalWriter
from overtone.run import drive as driving
from overtone.run.storage.results_place import ResultsPlace
from overtone.store.folder_mark import LOCK


def train(config: dict[str, Any]) -> None:
    for _ in range(2):
        tune.report(loss=config["x"])


class Oops(Exception):
    """Raised by a part of a run."""


def oops(*args: Any, **options: Any) -> Any:
    raise Oops


class Engine(Inline):
    """An engine that counts its ends; `fails_at` names the method that raises."""

    def __init__(self, fails_at: str = "") -> None:
        super().__init__()
        self.n_closed = 0
        if fails_at:
            setattr(self, fails_at, oops)

    def close(self) -> None:
        self.n_closed += 1
        super().close()


class Searcher(tune.search.Searcher):
    """A searcher of which one method raises."""

    def __init__(self, fails_at: str) -> None:
        setattr(self, fails_at, oops)

    def suggest(self, index: int) -> dict[str, Any]:
        return {"x": 1}


class Scheduler(tune.schedulers.FIFOScheduler):
    on_start = oops


class Plain(tune.schedulers.FIFOScheduler):
    complete = None


def run(tmp_path: Path, **options: Any) -> tune.ExperimentAnalysis:
    given = {"search_alg": Searcher("forget"), "engine": Engine(), "verbose": 0, "num_samples": 1}
    return tune.run(
        train, name="exp", storage_path=str(tmp_path), metric="loss", mode="min", tensorboard=False, seed=1,
        **{**given, **options},
    )  # fmt: skip


FAILURES = {
    "the searcher's start": {"search_alg": "on_start"},
    "the scheduler's start": {"scheduler": Scheduler},
    "the first suggestion": {"search_alg": "suggest"},
    "the engine's opening": {"engine": "open"},
    "the engine's first events": {"engine": "poll"},
    "the job": "job_for",
    "the console": "console_of",
    "the followers": "followers_for",
    "the observers": "observers_for",
}


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch) -> Any:
    def failing(where: str) -> dict[str, Any]:
        what = FAILURES[where]
        if isinstance(what, str):
            monkeypatch.setattr(driving, what, oops)
            return {}
        made = {"search_alg": Searcher, "engine": Engine}
        return {name: made[name](how) if name in made else how for name, how in what.items()}

    return failing


@pytest.mark.parametrize("where", FAILURES)
def test_what_fails_before_the_first_trial_leaves_nothing(where: str, tmp_path: Path, failing: Any) -> None:
    options = {"engine": Engine(), **failing(where)}
    with pytest.raises(Oops):
        run(tmp_path, **options)
    assert list(tmp_path.iterdir()) == []
    if "start" not in where:  # the engine was not opened yet
        assert options["engine"].n_closed


@pytest.mark.parametrize("where", FAILURES)
def test_a_resume_that_fails_keeps_the_experiment(
    where: str, tmp_path: Path, failing: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(tmp_path)
    folder = tmp_path / "exp"
    results = next(folder.glob("*/result.json")).read_bytes()
    journal = (folder / "journal.jsonl").read_bytes()
    closed: list[JournalWriter] = []
    close = JournalWriter.close
    monkeypatch.setattr(JournalWriter, "close", lambda self: closed.append(self) or close(self))
    with pytest.raises(Oops):
        run(tmp_path, resume=True, num_samples=2, **failing(where))
    assert not is_locked(folder / LOCK)
    assert closed or "start" in where  # before, it is not opened
    assert (folder / "journal.jsonl").read_bytes().startswith(journal)
    assert next(folder.glob("*/result.json")).read_bytes() == results
    monkeypatch.undo()
    assert len(run(tmp_path, resume=True, num_samples=2).trials) == 2


def test_a_mirror_that_does_not_open_leaves_nothing_open(tmp_path: Path, monkeypatch: Any) -> None:
    class Noting(Observer):
        def on_record(self, record: Record) -> None:
            pass

        def close(self) -> None:
            closed.append("observer")

    def noted(*parts: Any) -> Any:
        host = host_for(*parts)
        monkeypatch.setattr(host, "close", lambda: closed.append("host"))
        return host

    closed: list[str] = []
    host_for, engine = driving.host_for, Engine()
    monkeypatch.setattr(driving, "host_for", noted)
    monkeypatch.setattr(ResultsPlace, "open_mirror", oops)
    with pytest.raises(Oops):
        run(tmp_path, callbacks=[Noting()], engine=engine)
    assert closed == ["host", "observer"]
    assert engine.n_closed
    assert list(tmp_path.iterdir()) == []


def test_a_scheduler_may_do_without_completing_the_space(tmp_path: Path) -> None:
    assert len(run(tmp_path, scheduler=Plain()).trials) == 1


def test_an_unknown_durability_is_refused_before_anything_begins(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="durability='never': choose"):
        run(tmp_path, durability="never")
    assert list(tmp_path.iterdir()) == []
