"""The researcher's page: its listings run as they stand."""

import re
from pathlib import Path

import pytest

from overtone import tune
from overtone.engines.simulated import Simulated
from overtone.testing.scheduler_conformance import SchedulerConformance

PAGE = Path(__file__).parents[2] / "docs" / "new-scheduler.md"
LISTINGS = re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)


def defined(name):
    """What a listing defines under this name, with the first one before it."""
    listing = next(one for one in LISTINGS if f"class {name}(" in one)
    names = {"__name__": "page"}
    exec(compile(LISTINGS[0], PAGE, "exec"), names)
    exec(compile(listing, PAGE, "exec"), names)
    return names[name]


def curve(config, t):
    return {"score": config["lr"] * t, "lr_seen": config["lr"]} if t <= 12 else None


def search(folder, scheduler, n=4, **more):
    options = {"metric": "score", "mode": "max", "verbose": 0, "storage_path": str(folder), "seed": 1}
    rates = [{"lr": 1.0 + i} for i in range(n)]
    return tune.run(curve, config=rates, scheduler=scheduler, **{"engine": Simulated(4), **options, **more})


def test_the_first_has_15_lines():
    body = LISTINGS[0].split("\n\n\n", 1)[1]
    assert len([line for line in body.splitlines() if line.strip() and '"""' not in line]) <= 15


def test_it_runs_on_both_engines(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    names = {"__name__": "__main__"}
    exec(compile(LISTINGS[0], PAGE, "exec"), names)
    exec(compile(LISTINGS[1], PAGE, "exec"), names)

    def lengths(found):
        return [trial.last_result["training_iteration"] for trial in found.trials]

    assert lengths(names["simulated"]) == lengths(names["local"])
    assert set(lengths(names["local"])) >= {3, 9}


def test_anneal(tmp_path):
    found = search(tmp_path, defined("Anneal")(), n=1)
    seen = [one["lr_seen"] for one in found.trials[0].results()]
    assert seen == pytest.approx([0.9**t for t in range(12)])


def test_clone_and_explore(tmp_path):
    found = search(tmp_path, defined("Follow")())
    first = found.trials[0]
    assert first.config["lr"] == pytest.approx(4.0 * 1.2)
    assert [one["training_iteration"] for one in first.results()][:5] == [1, 2, 3, 4, 5]
    assert first.last_result["training_iteration"] == 12


def test_query_results(tmp_path):
    search(tmp_path, None, n=2, name="before")
    found = search(tmp_path, defined("NoWorseThanBefore")(str(tmp_path / "before")), n=3)
    assert [trial.last_result["training_iteration"] for trial in found.trials] == [5, 12, 12]


def test_prioritise_and_add(tmp_path):
    found = search(tmp_path, defined("Refine")(), engine=Simulated(1))
    assert [trial.config["lr"] for trial in found.trials] == pytest.approx([1, 2, 3, 4, 4.4, 4.84, 5.324])
    began = sorted(found.trials, key=lambda trial: next(iter(trial.results()))["timestamp"])
    assert [trial.config["lr"] for trial in began[:4]] == [
        1,
        4,
        3,
        2,
    ]  # the first began when it was the only one


class TestBetterHalf(SchedulerConformance):
    def make_scheduler(self):
        return defined("BetterHalf")()


def test_a_scheduler_of_ray_tunes_form(tmp_path):
    found = search(tmp_path, defined("Patient")(max_t=9, grace_period=1))
    lengths = [trial.last_result["training_iteration"] for trial in found.trials]
    assert min(lengths) >= 3
    assert max(lengths) == 9
