"""Stoppers: alone as their documentation calls them, and in a search."""

from __future__ import annotations

import pytest
from subject import covers, tune


def endless(config):
    step = 0
    while True:
        step += 1
        tune.report({"score": min(step, 4) + config.get("x", 0), "step": step})


def steps(analysis):
    return [trial.last_result["training_iteration"] for trial in analysis.trials]


@covers("tune.stopper.MaximumIterationStopper: max_iter")
def test_maximum_iteration(search):
    assert steps(search(endless, stop=tune.stopper.MaximumIterationStopper(max_iter=3))) == [3]


@covers("tune.stopper.MaximumIterationStopper: max_iter", "tune.Stopper.stop_all")
def test_a_stopper_is_called_with_results():
    stopper = tune.stopper.MaximumIterationStopper(max_iter=2)
    assert [stopper("a", {}), stopper("b", {}), stopper("a", {}), stopper.stop_all()] == [
        False,
        False,
        True,
        False,
    ]


@covers("tune.stopper.FunctionStopper: function", "tune.stopper.FunctionStopper.is_valid_function: fn")
def test_function_stopper(search):
    stopper = tune.stopper.FunctionStopper(lambda trial_id, result: result["step"] >= 2)
    assert steps(search(endless, stop=stopper)) == [2]
    assert stopper("a", {"step": 1}) is False
    assert tune.stopper.FunctionStopper.is_valid_function(lambda trial_id, result: True)
    assert not tune.stopper.FunctionStopper.is_valid_function(3)


@covers("tune.stopper.CombinedStopper")
def test_combined_stopper(search):
    combined = tune.stopper.CombinedStopper(
        tune.stopper.MaximumIterationStopper(max_iter=9),
        tune.stopper.FunctionStopper(lambda trial_id, result: result["step"] >= 2),
    )
    assert steps(search(endless, stop=combined)) == [2]


@covers("tune.stopper.NoopStopper")
def test_noop_stopper():
    stopper = tune.stopper.NoopStopper()
    assert stopper("a", {}) is False
    assert stopper.stop_all() is False


@covers("tune.stopper.TimeoutStopper: timeout")
@pytest.mark.parametrize("seconds", [0, 0.5])
def test_timeout_stopper(search, seconds):
    (trial,) = search(endless, stop=tune.stopper.TimeoutStopper(timeout=seconds or 0.5)).trials
    assert trial.status == "TERMINATED"


@covers("tune.stopper.TrialPlateauStopper: metric std num_results grace_period")
def test_trial_plateau(search):
    stopper = tune.stopper.TrialPlateauStopper(metric="score", std=0.01, num_results=3, grace_period=2)
    assert steps(search(endless, stop=stopper)) == [6]


@covers("tune.stopper.TrialPlateauStopper: grace_period num_results std")
def test_trial_plateau_settings(search):
    def reaches(**settings):
        return steps(search(endless, stop=tune.stopper.TrialPlateauStopper(metric="score", **settings)))[0]

    assert reaches(std=0.01, num_results=2, grace_period=2) == 5
    assert reaches(std=0.01, num_results=2, grace_period=9) == 9
    assert reaches(std=5, num_results=2, grace_period=2) == 2


@covers("tune.stopper.TrialPlateauStopper: metric_threshold mode")
@pytest.mark.parametrize(("threshold", "mode", "stops"), [(3, "max", 6), (5, "max", 8), (3, "min", 8)])
def test_trial_plateau_threshold(search, threshold, mode, stops):
    plateau = tune.stopper.TrialPlateauStopper(
        metric="score", std=0.01, num_results=3, grace_period=2, metric_threshold=threshold, mode=mode
    )
    combined = tune.stopper.CombinedStopper(plateau, tune.stopper.MaximumIterationStopper(8))
    assert steps(search(endless, stop=combined)) == [stops]


@covers(
    "tune.stopper.ExperimentPlateauStopper: metric std top mode patience",
    "tune.stopper.ExperimentPlateauStopper.has_plateaued",
)
def test_experiment_plateau():
    stopper = tune.stopper.ExperimentPlateauStopper(metric="score", std=0.01, top=3, mode="max", patience=1)
    answers = [stopper("a", {"score": value}) for value in (1, 2, 3, 3, 3, 3)]
    assert answers[:4] == [False] * 4
    assert answers[-1] is True
    assert stopper.stop_all() is True
    assert stopper.has_plateaued()


@covers("tune.stopper.ExperimentPlateauStopper: std top mode")
def test_experiment_plateau_in_a_search(search):
    def once(config):
        return {"score": config["x"] % 2}

    stopper = tune.stopper.ExperimentPlateauStopper(metric="score", std=0.01, top=2, mode="min")
    analysis = search(
        once, config={"x": tune.grid_search([2, 4, 6, 8, 10])}, stop=stopper, max_concurrent_trials=1
    )
    assert 1 <= sum(trial.status == "TERMINATED" and bool(trial.last_result) for trial in analysis.trials) < 5


@covers("tune.stopper.ExperimentPlateauStopper: mode top patience std")
@pytest.mark.parametrize("wrong", [{"mode": "most"}, {"top": 0}, {"patience": -1}, {"std": -1}])
def test_experiment_plateau_checks_its_settings(wrong):
    with pytest.raises(ValueError):
        tune.stopper.ExperimentPlateauStopper(**{"metric": "score", **wrong})


@covers("tune.Stopper", "tune.Stopper.stop_all")
def test_a_stopper_of_ones_own(search):
    class Own(tune.Stopper):
        def __init__(self):
            self.seen = 0

        def __call__(self, trial_id, result):
            self.seen += 1
            return False

        def stop_all(self):
            return self.seen >= 3

    (count,) = steps(search(endless, stop=Own()))
    assert count in (3, 4)  # a trial may report once more before it hears of the end


@covers("tune.run: stop")
def test_a_list_of_stoppers_stops_at_the_first(search):
    stops = [tune.stopper.MaximumIterationStopper(7), tune.stopper.MaximumIterationStopper(2)]
    assert steps(search(endless, stop=stops)) == [2]


@covers("tune.run: stop")
def test_a_dict_stops_when_a_metric_reaches_a_value(search):
    assert steps(search(endless, stop={"score": 3, "training_iteration": 50})) == [3]


@covers("tune.run: stop")
def test_nested_metrics_are_named_by_their_path(search):
    def nested(config):
        step = 0
        while True:
            step += 1
            tune.report({"deep": {"step": step}})

    assert steps(search(nested, stop={"deep/step": 2})) == [2]
