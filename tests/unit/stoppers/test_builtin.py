"""The stoppers that users construct, called as users call them."""

from datetime import timedelta

import pytest

from overtone.stoppers import (
    CombinedStopper,
    ExperimentPlateauStopper,
    FunctionStopper,
    MaximumIterationStopper,
    NoopStopper,
    TimeoutStopper,
    TrialPlateauStopper,
)


def first_stop(stopper, values, metric="loss", trial_id="a"):
    """How many results it took; None where none was enough."""
    for i, value in enumerate(values, 1):
        if stopper(trial_id, {metric: value, "training_iteration": i}):
            return i
    return None


def test_maximum_iteration():
    stopper = MaximumIterationStopper(max_iter=3)
    assert first_stop(stopper, [0] * 9) == 3
    assert stopper.next_decision(None) == 3
    assert not stopper.stop_all()
    assert repr(stopper) == "MaximumIterationStopper(max_iter=3)"


def test_maximum_iteration_counts_results_that_do_not():
    stopper = MaximumIterationStopper(2)
    assert [stopper("a", {}), stopper("b", {}), stopper("a", {})] == [False, False, True]


def test_trial_plateau():
    assert first_stop(TrialPlateauStopper("loss"), [5, 4, 3, 3, 3, 3]) == 6
    assert first_stop(TrialPlateauStopper("loss", num_results=2), [3, 3, 3, 3]) == 4
    assert first_stop(TrialPlateauStopper("loss", num_results=2, grace_period=0), [3, 3]) == 2
    assert first_stop(TrialPlateauStopper("loss", std=1), [1, 2, 1, 2]) == 4
    assert first_stop(TrialPlateauStopper("loss"), [float("nan")] * 9) is None
    assert first_stop(TrialPlateauStopper("loss"), [3] * 9, metric="other") is None
    assert first_stop(TrialPlateauStopper("a/b"), [{"b": 1}] * 9, metric="a") == 4


def test_trial_plateau_keeps_trials_apart():
    stopper = TrialPlateauStopper("loss", num_results=2, grace_period=2)
    assert not stopper("a", {"loss": 1})
    assert not stopper("b", {"loss": 1})
    assert stopper("a", {"loss": 1})


def test_trial_plateau_with_a_threshold():
    low = TrialPlateauStopper("loss", metric_threshold=2, mode="min")
    assert first_stop(low, [3] * 5 + [2] * 5) == 9
    high = TrialPlateauStopper("acc", metric_threshold=0, mode="max")
    assert first_stop(high, [-1] * 5 + [0] * 5, metric="acc") == 9


def test_trial_plateau_cannot_rule_before_it_has_its_results():
    assert TrialPlateauStopper("loss", num_results=9).next_decision(None) == 9
    assert TrialPlateauStopper("loss", grace_period=7).next_decision(None) == 7


def test_experiment_plateau():
    stopper = ExperimentPlateauStopper("loss", top=3)
    assert first_stop(stopper, [9, 1, 8, 1, float("nan"), 7, 1]) == 7
    assert stopper.stop_all()
    stopper("a", {"loss": 0})
    assert not stopper.stop_all()


def test_experiment_plateau_with_patience():
    values = [1, 1, 1, 1, 1]
    assert first_stop(ExperimentPlateauStopper("loss", top=2), values) == 2
    assert first_stop(ExperimentPlateauStopper("loss", top=2, patience=2), values) == 4


def test_experiment_plateau_looks_at_the_best():
    assert first_stop(ExperimentPlateauStopper("loss", top=2, mode="max"), [9, 0, 0, 9]) == 4
    assert first_stop(ExperimentPlateauStopper("loss", top=2, mode="min"), [9, 0, 0]) == 3


def test_timeout():
    assert TimeoutStopper(90).timeout_s == 90
    stopper = TimeoutStopper(timedelta(minutes=2))
    assert stopper.timeout_s == 120
    assert first_stop(stopper, [1, 2]) is None
    assert not stopper.stop_all()
    assert stopper.next_decision(None) == float("inf")


def test_combined():
    seen = []
    function = FunctionStopper(lambda trial_id, result: seen.append(trial_id))
    stopper = CombinedStopper(MaximumIterationStopper(2), function, ExperimentPlateauStopper("loss", top=2))
    assert first_stop(stopper, [3, 3]) == 2
    assert seen == ["a", "a"]
    assert stopper.stop_all()
    assert stopper.next_decision(None) == 0
    assert CombinedStopper(MaximumIterationStopper(2), NoopStopper()).next_decision(None) == 2


def test_function():
    assert first_stop(FunctionStopper(lambda trial_id, result: result["loss"] > 2), [1, 2, 3]) == 3
    assert not FunctionStopper(max).stop_all()
    assert FunctionStopper.is_valid_function(len)
    assert not FunctionStopper.is_valid_function(NoopStopper())
    assert not FunctionStopper.is_valid_function(int)


def test_noop():
    assert first_stop(NoopStopper(), [1]) is None
    assert not NoopStopper().stop_all()
    assert NoopStopper().next_decision(None) == float("inf")


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: MaximumIterationStopper(0), "max_iter=0"),
        (lambda: TrialPlateauStopper("loss", metric_threshold=1), "mode=None"),
        (lambda: TrialPlateauStopper("loss", num_results=0), "num_results=0"),
        (lambda: ExperimentPlateauStopper("loss", mode="least"), "mode='least'"),
        (lambda: ExperimentPlateauStopper("loss", top=1), "top=1"),
        (lambda: ExperimentPlateauStopper("loss", std=0), "std=0"),
        (lambda: ExperimentPlateauStopper("loss", patience=-1), "patience=-1"),
        (lambda: TimeoutStopper(0), "timeout=0"),
        (lambda: TimeoutStopper("1m"), "timeout='1m'"),
        (lambda: FunctionStopper(3), "stop=3"),
    ],
)
def test_arguments_that_cannot_be_used(make, says):
    with pytest.raises(ValueError, match=says):
        make()
