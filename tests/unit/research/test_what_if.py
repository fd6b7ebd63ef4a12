"""Replays of recorded curves under another scheduler: what is certain, and what is only bounded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from overtone import tune
from overtone.errors import GoalError, OvertoneError
from overtone.research import WhatIf, whatif
from overtone.tune.schedulers import (
    DEHB,
    Add,
    ASHAScheduler,
    Exponential,
    FIFOScheduler,
    HyperparameterSchedule,
    PopulationBasedTraining,
    Why,
)

LOSSES = [0.5, 0.6, 0.4, 0.7, 0.1, 0.9]


def curve(config: Any, t: int) -> Any:
    """A loss that falls from x + 1 to x, in an iteration of 10 x seconds."""
    return ({"loss": config["x"] + 1 / t, "other": 1}, 10 * config["x"]) if t <= 9 else None


def recorded(folder: Path, scheduler: Any = None, **more: Any) -> str:
    found = tune.run(
        curve, config=[{"x": x} for x in LOSSES], metric="loss", mode="min", scheduler=scheduler, seed=1, verbose=0,
        engine=tune.Simulated(world=tune.World(tune.Machines(cpus=2), start_s=3, decision_s=0.5)),
        storage_path=folder, name="real", **more,
    )  # fmt: skip
    return found.experiment_path


def test_the_same_scheduler_takes_as_long_and_finds_the_same(tmp_path: Path) -> None:
    path = recorded(tmp_path)
    found = whatif(path, None)
    was = found.recorded
    assert found.time_s == pytest.approx((was.time_s, was.time_s), rel=0.01)
    assert found.trial_s == pytest.approx((was.trial_s, was.trial_s), rel=0.05)
    assert (found.cut.n_results, was.n_results, found.stopped) == (54, 54, [])
    assert found.found == (was.best, was.best)
    assert found.is_exact


def test_an_early_stop_saves_time_and_says_who_was_stopped_and_why(tmp_path: Path) -> None:
    found = whatif(recorded(tmp_path), ASHAScheduler(max_t=9, grace_period=1, reduction_factor=3))
    assert found.time_s[1] < found.recorded.time_s
    assert found.is_exact
    assert found.cut == found.extended
    last = found.stopped[-1]
    assert (last.trial_id[-1], last.t, last.value) == ("5", 1, 1.9)
    assert last.best == pytest.approx(0.9 + 1 / 9)
    assert (last.why.rule, last.why.rung, last.why.rank, last.is_certain) == ("asha", 1, 6, True)


def test_what_lies_beyond_a_recording_is_counted_and_bounds_the_answer(tmp_path: Path) -> None:
    path = recorded(tmp_path, ASHAScheduler(max_t=9, grace_period=1, reduction_factor=3))
    found = whatif(path, FIFOScheduler())
    assert found.beyond
    assert not found.is_exact
    assert found.cut.n_results == found.recorded.n_results
    assert found.extended.n_results == 54
    assert found.time_s[0] < found.time_s[1]
    assert found.found == (found.recorded.best, found.recorded.best)
    assert len(found.predicted) == 19
    assert found.n_results == (54, 54)  # without a scheduler each goes on to the end, whatever its values


def test_what_follows_an_early_stop_is_predicted_in_an_interval(tmp_path: Path) -> None:
    """Noisy curves on one slot: an interval well inside of the extremes."""
    xs = [(i * 37 % 101) / 101 for i in range(30)]

    def noisy(config: Any, t: int) -> Any:
        x, noise = config["x"], config["x"] * 7919 * t % 1
        return ({"loss": x + (1 + 0.2 * noise) / t}, 5 + 10 * x) if t <= 9 else None

    def search(name: str, scheduler: Any) -> Any:
        return tune.run(
            noisy, config=[{"x": x} for x in xs], metric="loss", mode="min", scheduler=scheduler, seed=1,
            verbose=0, engine=tune.Simulated(1), storage_path=tmp_path, name=name,
        )  # fmt: skip

    recorded = search("recorded", ASHAScheduler(max_t=9, reduction_factor=4))
    milder = ASHAScheduler(max_t=9, grace_period=2, reduction_factor=2)
    found, truth = whatif(recorded.experiment_path, milder), search("milder", milder).stats()
    low, high = found.time_s
    assert 0.99 * low <= truth["total_time"] <= 1.01 * high
    assert found.n_results[0] <= truth["num_results"] <= found.n_results[1]
    assert found.cut.time_s < 0.9 * low
    assert 1.2 * high < found.extended.time_s
    assert high - low < 0.5 * (found.extended.time_s - found.cut.time_s)
    assert whatif(recorded.experiment_path, milder) == found


def test_a_value_beyond_a_recording_is_taken_to_be_the_best_recorded_one(tmp_path: Path) -> None:
    path = recorded(tmp_path, ASHAScheduler(max_t=9, grace_period=1, reduction_factor=3))
    found = whatif(path, ASHAScheduler(max_t=9, grace_period=3, reduction_factor=3))
    stopped_at_first = [one for one in found.stopped if one.trial_id in found.beyond]
    assert all(not one.is_certain for one in stopped_at_first)


def test_where_no_trial_ended_by_itself_they_go_on_to_where_the_scheduler_ends_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("overtone.research.what_if.N_REPLAYS", 1)
    path = recorded(tmp_path, ASHAScheduler(max_t=4))
    none_ends = "no recorded trial came to its own end"
    for scheduler, most, is_known in [
        (ASHAScheduler(max_t=8, grace_period=8), 48, True),
        (HyperparameterSchedule({}, ASHAScheduler(max_t=8, grace_period=8)), 48, True),
        (ASHAScheduler, 0, True),  # 100 by default
        ("asha", 0, True),
        (None, 24, False),
        (FIFOScheduler(), 24, False),
        (ASHAScheduler(max_t=8, grace_period=8, stop_last_trials=False), 24, False),
    ]:
        found = whatif(path, scheduler)
        assert found.extended.n_results == most or not most
        assert found.extended.n_results > found.cut.n_results
        assert any(none_ends in note for note in found.notes) is not is_known


def test_a_trial_that_came_to_the_stop_criterion_is_whole(tmp_path: Path) -> None:
    found = whatif(recorded(tmp_path, stop={"training_iteration": 2}), FIFOScheduler())
    assert (found.beyond, found.cut.n_results) == ([], 12)


def test_other_machines_have_a_price(tmp_path: Path) -> None:
    world = tune.World(tune.Machines(cpus=6, price_per_hour=3600.0))
    found = whatif(recorded(tmp_path), "asha", world=world)
    assert found.cut.cost == pytest.approx(found.cut.time_s, rel=0.05)


def test_machines_that_no_trial_fits_on_are_an_error(tmp_path: Path) -> None:
    path = recorded(tmp_path, resources_per_trial={"cpu": 2})
    with pytest.raises(OvertoneError, match="_00000 could not run in this world: a trial asks for cpu 2"):
        whatif(path, None, world=tune.World(tune.Machines(count=4, cpus=1)))


def test_a_time_budget_makes_it_uncertain(tmp_path: Path) -> None:
    found = whatif(recorded(tmp_path, time_budget_s=60), FIFOScheduler())
    assert not found.is_exact
    assert "time budget of 60 s" in found.notes[0]


def test_other_hyperparameters_bound_the_answer(tmp_path: Path) -> None:
    mutating = PopulationBasedTraining(
        time_attr="training_iteration", perturbation_interval=3, hyperparam_mutations={"x": [0.3, 0.8]}
    )
    found = whatif(recorded(tmp_path, max_concurrent_trials=6), mutating)
    assert found.changed
    assert set(found.changed) <= set(found.beyond)
    assert found.cut.n_results < found.extended.n_results <= 60
    assert found.found == (found.recorded.best, found.recorded.best)


def test_a_clone_is_known_as_long_as_it_has_its_sources_hyperparameters(tmp_path: Path) -> None:
    cloning = PopulationBasedTraining(
        time_attr="training_iteration", perturbation_interval=3, custom_explore_fn=dict, quantile_fraction=0.5
    )
    found = whatif(recorded(tmp_path), cloning)
    assert found.changed
    assert found.cut == found.extended


def test_a_schedule_changes_them_in_place(tmp_path: Path) -> None:
    found = whatif(recorded(tmp_path), HyperparameterSchedule({"x": Exponential(0.9)}))
    assert len(found.changed) == 6
    assert (found.cut.n_results, found.extended.n_results) == (6, 54)
    assert found.found == (1.1, found.recorded.best)


class Adding(FIFOScheduler):
    def review(self, trials: Any) -> Any:
        if len(trials.trials) < 7:
            yield next(iter(trials.trials)), Add({"x": 0.2}, None, Why("adding"))


@pytest.mark.parametrize(
    ("scheduler", "message"),
    [(DEHB(max_t=9), "DEHB makes configs"), (Adding(), "never run")],
)
def test_what_makes_configs_of_its_own_is_refused(tmp_path: Path, scheduler: Any, message: str) -> None:
    with pytest.raises(OvertoneError, match=message):
        whatif(recorded(tmp_path), scheduler)


def test_without_the_metric_nothing_can_be_told(tmp_path: Path) -> None:
    with pytest.raises(GoalError, match="accuracy"):
        whatif(recorded(tmp_path), FIFOScheduler(), metric="accuracy", mode="max")


def test_another_metric_may_be_asked_for(tmp_path: Path) -> None:
    found: WhatIf = whatif(recorded(tmp_path), FIFOScheduler(), metric="other", mode="max")
    assert found.found == (1.0, 1.0)


def partly(config: Any, t: int) -> Any:
    """Of the first two trials one never reports the loss, and one fails after its third result."""
    if config["x"] == 0.6 and t == 4:
        raise ValueError("diverged")
    point = curve(config, t)
    return ({"other": 1}, 1.0) if point and config["x"] == 0.5 else point


def test_trials_that_failed_and_such_without_the_metric_are_no_hindrance(tmp_path: Path) -> None:
    real = tune.run(
        partly, config=[{"x": x} for x in LOSSES], metric="loss", mode="min", engine=tune.Simulated(2), seed=1,
        verbose=0, storage_path=tmp_path, raise_on_failed_trial=False,
    )  # fmt: skip
    assert [trial.status for trial in real.trials[:3]] == ["ERROR", "ERROR", "TERMINATED"]
    found = whatif(real.experiment_path, FIFOScheduler())
    assert (found.cut.n_results, found.stopped, found.beyond) == (9 + 3 + 4 * 9, [], [])
    found = whatif(real.experiment_path, ASHAScheduler(max_t=9, grace_period=1, reduction_factor=3))
    assert {one.why.rule for one in found.stopped} == {"asha"}


def test_a_scheduler_may_name_the_goal(tmp_path: Path) -> None:
    found = whatif(recorded(tmp_path), ASHAScheduler(metric="other", mode="max", max_t=9))
    assert (found.metric, found.found) == ("other", (1.0, 1.0))


def test_an_experiment_that_goes_on_is_known_only_so_far(tmp_path: Path) -> None:
    class Breaks(FIFOScheduler):
        def on_result(self, trial: Any, result: Any) -> Any:
            if result.t == 5:
                raise RuntimeError("a bug")
            return super().on_result(trial, result)

    with pytest.raises(RuntimeError, match="a bug"):
        recorded(tmp_path, Breaks())
    found = whatif(tmp_path / "real", FIFOScheduler())
    assert not found.is_exact
    assert found.notes[0] == (
        "the experiment has not ended (6 of its 6 trials are open): what is still to come is not known"
    )
    assert "no recorded trial came to its own end" in found.notes[1]
    assert found.recorded.trial_s > 0
    assert (len(found.beyond), len(found.left_out)) == (2, 4)
