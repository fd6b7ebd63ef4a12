"""Simulated searches from end to end: the same on every machine, no future, and a bill."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

from overtone import tune
from overtone.errors import OvertoneError
from overtone.journal.reader import scan

SEARCH = """
    import sys, time
    from overtone import tune

    if sys.argv[2] == "later":
        clock = time.time
        time.time = lambda: clock() + 1e6

    def train(config):
        start = tune.get_checkpoint()
        begun = int(open(start.path + "/t").read()) if start else 0
        for t in range(begun, 5):
            tune.simulate_time(config["s"])
            with tune.checkpoint_dir(t + 1) as folder:
                open(folder + "/t", "w").write(str(t + 1))
            tune.report(score=config["x"] * t)

    n = [10 - i % 3 for i in range(20)]
    table = tune.CurveTable(
        [{"x": i / 20, "y": "ab"[i % 2]} for i in range(20)],
        {"score": [[i / 20 * t for t in range(n[i])] for i in range(20)]},
        [[(t + 1) * (1 + i % 7) for t in range(n[i])] for i in range(20)],
    )
    spot = tune.Machines(3, 2, "spot", mean_life_s=60, notice_s=5, return_s=10, price_per_hour=1.0)
    own = tune.Machines(1, 2, "own", speed=2.0, price_per_hour=3.0, joins_s=20)
    world = tune.World([spot, own], straggler_sd=1, failures_per_hour=5, start_s=2, save_s=.5, decision_s=.1)
    for name, trainable, space in (
        ("table", table, {}), ("live", train, {"x": tune.uniform(0, 1), "s": tune.choice([1., 20., 30.])})
    ):
        tune.run(
            trainable, name=name, config=space, num_samples=12, metric="score", mode="max", seed=3, verbose=0,
            scheduler=tune.schedulers.ASHAScheduler(max_t=9, reduction_factor=3), max_failures=-1,
            engine=tune.Simulated(world=world), storage_path=sys.argv[1],
        )
"""


def test_the_journal_is_the_same_in_another_process_at_another_time(tmp_path: Path) -> None:
    script = tmp_path / "search.py"
    script.write_text(textwrap.dedent(SEARCH))
    runs = [
        subprocess.Popen(
            [sys.executable, script, tmp_path / when, when],
            env={**os.environ, "PYTHONHASHSEED": seed, "TZ": zone},
        )
        for when, seed, zone in (("now", "1", "UTC"), ("later", "2", "Asia/Tokyo"))
    ]
    assert [run.wait(110) for run in runs] == [0, 0]
    for name in ("table", "live"):
        now, later = ((tmp_path / when / name / "journal.jsonl").read_bytes() for when in ("now", "later"))
        assert now == later
        assert len(now.splitlines()) > 50
    account = tune.ExperimentAnalysis(tmp_path / "now" / "live").account
    assert account is not None
    assert account["n_preempted"] > 0
    assert account["cost"] > 0
    assert 0 < account["redone_share"] < 1


def run(trainable: Any, folder: Path, **more: Any) -> tune.ExperimentAnalysis:
    given: dict[str, Any] = {
        "engine": tune.Simulated(2), "storage_path": folder, "seed": 1, "verbose": 0, "name": "exp",
    }  # fmt: skip
    return tune.run(trainable, **{**given, **more})


def test_a_report_becomes_visible_at_its_time(tmp_path: Path) -> None:
    table = tune.CurveTable(None, {"a": [[1, 2, 3], [1, 2]]}, [[5, 6, 20], [1, 30]])
    run(table, tmp_path, config=table.rows())
    reports = [
        (one["time"], one["trial_id"][-1], one["t"])
        for kind, one in scan(tmp_path / "exp" / "journal.jsonl")
        if kind == "reported"
    ]
    assert reports == [(1, "1", 1), (5, "0", 1), (6, "0", 2), (20, "0", 3), (30, "1", 2)]


def test_a_surrogate_is_searched_between_the_rows(tmp_path: Path) -> None:
    configs = [{"lr": 10.0**-i, "depth": i} for i in range(1, 5)]
    table = tune.CurveTable(configs, {"acc": [[i, 2 * i] for i in range(1, 5)]}, surrogate="nearest")
    found = run(table, tmp_path, metric="acc", mode="max", num_samples=8)
    assert len({trial.config["lr"] for trial in found.trials}) == 8
    assert {trial.num_results for trial in found.trials} == {2}
    assert found.account is not None
    assert found.account["time_s"] == 8


def test_simulated_runs_write_no_file_of_a_trial_unless_they_are_asked_to(tmp_path: Path) -> None:
    table = tune.CurveTable(None, {"a": [[1], [2]]})
    run(table, tmp_path, num_samples=2)
    assert {one.name for one in (tmp_path / "exp").iterdir()} == {
        "journal.jsonl",
        "journal.jsonl.lock",
        "driver.json",
    }
    found = run(table, tmp_path, num_samples=2, files=True, name="with")
    assert all(Path(trial.logdir, "result.json").exists() for trial in found.trials)


def test_a_real_engine_has_no_bill_and_sleeps(tmp_path: Path) -> None:
    def train(config: Any) -> None:
        tune.simulate_time(0.001)
        tune.report(a=1)

    assert run(train, tmp_path, engine="inline").account is None


def test_a_time_that_is_none_is_refused(tmp_path: Path) -> None:
    def train(config: Any) -> None:
        tune.simulate_time(-1)

    with pytest.raises(tune.TuneError, match="simulate_time"):
        run(train, tmp_path)


def endless(config: Any, t: int) -> dict[str, float]:
    return {"loss": config["x"] / t}


def endless_run(config: Any) -> None:
    while True:
        tune.simulate_time(1)
        tune.report(loss=config["x"])


@pytest.mark.parametrize("trainable", [endless, endless_run])
@pytest.mark.parametrize("scheduler", [None, "pbt"])
def test_a_trial_without_an_end_ends_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, trainable: Any, scheduler: Any
) -> None:
    monkeypatch.setattr("overtone.engines.simulated.trials.MOST_RESULTS", 100)
    if scheduler is not None:
        mutations = {"x": tune.uniform(0, 1)}
        scheduler = tune.schedulers.PopulationBasedTraining(
            "training_iteration", hyperparam_mutations=mutations
        )
    with pytest.raises(
        OvertoneError, match=r"trial \w+ has reported 100 results .* nothing ends it: give stop="
    ):
        search(trainable, tmp_path, scheduler=scheduler)


@pytest.mark.parametrize(
    ("trainable", "n", "arguments"),
    [
        (endless, 120, {"stop": {"training_iteration": 120}}),
        (endless_run, 120, {"stop": {"training_iteration": 120}}),
        (endless, 120, {"scheduler": tune.schedulers.HyperBandScheduler(max_t=120, reduction_factor=11)}),
        (endless, 119, {"time_budget_s": 120}),
        (lambda config, t: {"loss": t} if t <= 100 else None, 100, {}),
    ],
)
def test_a_trial_that_something_ends_may_report_as_often_as_it_likes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, trainable: Any, n: int, arguments: Any
) -> None:
    monkeypatch.setattr("overtone.engines.simulated.trials.MOST_RESULTS", 100)
    found = search(trainable, tmp_path, **arguments)
    assert max(one["training_iteration"] for one in found.results.values()) >= n


def search(trainable: Any, folder: Path, **arguments: Any) -> Any:
    engine, x = tune.Simulated(workers=2), tune.uniform(0.5, 1)
    return tune.run(
        trainable, config={"x": x}, num_samples=2, engine=engine, storage_path=str(folder), verbose=0,
        metric="loss", mode="min", **arguments,
    )  # fmt: skip
