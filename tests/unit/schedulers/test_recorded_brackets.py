"""Rulings name the bracket of their trial, where a scheduler has several."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from overtone import tune
from overtone.core.messages import Ruled
from overtone.core.types import Why
from overtone.journal.reader import read
from overtone.reading.columns.opening import open_columns
from overtone.reading.drawn_brackets import drawn_brackets
from overtone.reading.rung_standings import Standings
from overtone.tune import schedulers

HALVING: dict[str, Any] = {"max_t": 9, "reduction_factor": 3}
SPACE = {"x": tune.uniform(0, 1)}


def train(config: dict[str, Any]) -> None:
    for t in range(1, 10):
        tune.report({"loss": config["x"] + 1 / t})


def run(folder: Path, scheduler: Any, num_samples: int = 17, resume: bool = False) -> Path:
    tune.run(
        train, config=SPACE, num_samples=num_samples, scheduler=scheduler, metric="loss", mode="min",
        engine="inline", seed=1, verbose=0, name="exp", storage_path=folder, resume=resume,
    )  # fmt: skip
    return folder / "exp/journal.jsonl"


def reasons(journal: Path) -> dict[str, list[Why]]:
    """Return the reasons of the rulings on each trial."""
    found: dict[str, list[Why]] = {}
    for record in read(journal):
        for choice in record.choices:
            if isinstance(choice, Ruled) and choice.why is not None:
                found.setdefault(choice.trial_id, []).append(choice.why)
    return found


@pytest.mark.parametrize("scheduler", [schedulers.HyperBandScheduler, schedulers.HyperBandForBOHB])
def test_a_journal_has_the_brackets_of_hyperband(tmp_path: Path, scheduler: Any) -> None:
    journal = run(tmp_path, scheduler(**HALVING))
    found = list(reasons(journal).values())
    assert [{why.bracket for why in one} for one in found] == [{1}] * 9 + [{2}] * 5 + [{3}] * 3
    assert tune.verify(journal.parent).is_same


def test_a_resumed_search_goes_on_with_its_brackets(tmp_path: Path) -> None:
    journal = run(tmp_path, schedulers.HyperBandScheduler(**HALVING), num_samples=9)
    run(tmp_path, schedulers.HyperBandScheduler(**HALVING), num_samples=17, resume=True)
    assert [{why.bracket for why in one} for one in reasons(journal).values()] == (
        [{1}] * 9 + [{2}] * 5 + [{3}] * 3
    )
    assert tune.verify(journal.parent).is_same


def test_trials_stand_among_those_of_their_bracket(tmp_path: Path) -> None:
    journal = run(tmp_path, schedulers.HyperBandScheduler(**HALVING))
    standings = Standings.of(journal, [1.0, 3.0], "loss", "min", "training_iteration")
    last = 10**6
    assert [len(standings.at(3.0, last, bracket)) for bracket in (1, 2)] == [3, 5]
    assert len(standings.at(1.0, last, 1)) == 9
    of_second = list(reasons(journal))[9]
    assert standings.bracket(of_second) == 2
    assert [rung for rung, _ in standings.passed(of_second)] == [3.0]


def test_asha_names_a_bracket_where_it_has_several(tmp_path: Path) -> None:
    one = reasons(run(tmp_path / "one", schedulers.ASHAScheduler(**HALVING)))
    assert {why.bracket for each in one.values() for why in each} == {None}
    two = reasons(run(tmp_path / "two", schedulers.ASHAScheduler(brackets=2, **HALVING)))
    assert {why.bracket for each in two.values() for why in each} == {1, 2}
    assert all(len({why.bracket for why in each}) == 1 for each in two.values())


@pytest.mark.parametrize(
    "scheduler",
    [
        schedulers.ASHAScheduler(brackets=2, **HALVING),
        schedulers.MOASHA(metric=["loss"], mode=["min"], brackets=3, **HALVING),
    ],
)
def test_drawn_brackets_are_known_before_a_ruling_names_them(tmp_path: Path, scheduler: Any) -> None:
    journal = run(tmp_path, scheduler)
    recorded = {trial_id: why[-1].bracket for trial_id, why in reasons(journal).items()}
    lines = journal.read_bytes().splitlines(keepends=True)
    first = next(number for number, line in enumerate(lines) if b'"c":"ruled"' in line)
    begun = tmp_path / "begun" / "journal.jsonl"
    begun.parent.mkdir()
    begun.write_bytes(b"".join(lines[:first]))
    columns = open_columns(begun)
    assert len(columns) > 0
    known = dict(zip(columns.ids, columns.bracket.tolist(), strict=True))
    assert known == {trial_id: recorded[trial_id] for trial_id in columns.ids}
    whole = open_columns(journal)
    assert dict(zip(whole.ids, whole.bracket.tolist(), strict=True)) == recorded
    bracket_of = drawn_brackets(json.loads(lines[0]))
    standings = Standings.of(journal, [1.0, 3.0], "loss", "min", "training_iteration", bracket_of)
    assert {trial_id: standings.bracket(trial_id) for trial_id in recorded} == recorded
    passed = [standings.passed(trial_id) for trial_id in recorded]
    assert max(map(len, passed)) == 2  # trials that went on are among those of their bracket


@pytest.mark.parametrize(
    "parts",
    [None, {}, {"scheduler": None}, {"scheduler": {"path": 3, "arguments": {}}},
     {"scheduler": {"path": "os.system", "arguments": {"command": "true"}}},
     {"scheduler": {"path": "overtone.schedulers.asha.ASHAScheduler", "arguments": {"brackets": 2, "max_t": "x"}}},
     {"scheduler": {"path": "overtone.schedulers.asha.ASHAScheduler", "arguments": {"brackets": 2, "other": 1}}},
     {"scheduler": {"path": "overtone.schedulers.asha.ASHAScheduler", "arguments": ["brackets"]}}],
)  # fmt: skip
def test_settings_of_other_schedulers_draw_no_bracket(parts: Any) -> None:
    assert drawn_brackets({"seed": 1, "parts": parts})("trial") is None


def test_dehb_names_the_bracket_of_a_budget(tmp_path: Path) -> None:
    found = reasons(run(tmp_path, schedulers.DEHB(**HALVING)))
    assert sorted({why.bracket or 0 for each in found.values() for why in each}) == [1, 2]
