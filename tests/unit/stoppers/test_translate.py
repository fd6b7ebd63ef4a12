import pytest

from overtone.core.resources import Resources
from overtone.core.trial import Trial
from overtone.core.types import Result
from overtone.stoppers import (
    Adapter,
    CombinedStopper,
    Criteria,
    FunctionStopper,
    MaximumIterationStopper,
    NoopStopper,
    Stopper,
    TimeoutStopper,
    stop,
    time_budget_s,
)

TRIAL = Trial("t1", 0, {"lr": 0.1}, Resources.of({"cpu": 1}), tag="0_lr=0.1")


class TooLong(Stopper):
    def __init__(self):
        self.seen = []

    def __call__(self, trial_id, result):
        self.seen.append((trial_id, dict(result)))
        return result["loss"] > 1

    def stop_all(self):
        return len(self.seen) > 1


def result(**metrics):
    return Result(t=1, score=0.0, metrics=metrics)


def test_nothing():
    assert stop(None) == []
    assert stop({}) == []


def test_a_dict():
    (criteria,) = stop({"loss": 1}, "loss", "min")
    assert isinstance(criteria, Criteria)
    assert (criteria.goal_metric, criteria.goal_mode) == ("loss", "min")


def test_a_function_gets_the_id_and_a_dict_with_the_trials_facts():
    seen = []

    def enough(trial_id, given):
        seen.append((trial_id, given))
        return given["loss"] > 1

    (stopper,) = stop(enough)
    assert stopper(TRIAL, result(loss=1)) is None
    assert "enough" in stopper(TRIAL, result(loss=2))
    assert seen[0] == (
        "t1",
        {"loss": 1, "trial_id": "t1", "experiment_tag": "0_lr=0.1", "config": {"lr": 0.1}},
    )
    assert stopper.stop_all() is None
    assert stopper.next_decision(TRIAL) == 0


def test_a_function_may_give_its_reason():
    (stopper,) = stop(lambda trial_id, given: "too hot")
    assert stopper(TRIAL, result()) == "too hot"


def test_a_users_stopper():
    (stopper,) = stop(TooLong())
    assert stopper(TRIAL, result(loss=0)) is None
    assert stopper.stop_all() is None
    assert stopper(TRIAL, result(loss=2)) == "TooLong"
    assert stopper.stop_all() == "TooLong"
    assert stopper.next_decision(TRIAL) == 0


def test_a_stopper_needs_only_a_call():
    class Bad(Stopper):
        def __call__(self, trial_id, result):
            return result["loss"] > 1

    (stopper,) = stop(Bad())
    assert stopper(TRIAL, result(loss=2)) == "Bad"
    assert stopper.stop_all() is None


def test_anything_that_looks_like_a_stopper():
    class Foreign:
        def __call__(self, trial_id, result):
            return trial_id == "t1"

        def stop_all(self):
            return False

    (stopper,) = stop(Foreign())
    assert stopper(TRIAL, result()) == "Foreign"


def test_a_plain_class_is_enough_anywhere():
    class Foreign:
        awaits, timeout_s = ("loss",), 5

        def __call__(self, trial_id, result):
            return trial_id == "t1"

        def stop_all(self):
            return True

    class Own(CombinedStopper):
        pass

    for spec in (Foreign(), [Foreign()], CombinedStopper(Foreign()), Own(NoopStopper(), Foreign())):
        (stopper,) = (one for one in stop(spec) if one.ends_trials)
        assert (stopper.awaits, time_budget_s([stopper])) == (("loss",), 5)
        assert stopper.next_decision(TRIAL) == 0
        assert stopper(TRIAL, result())
        assert stopper.stop_all()


def test_lists_and_combinations_are_taken_apart_so_that_reasons_are_exact():
    stoppers = stop(
        [{"loss": 9}, CombinedStopper(MaximumIterationStopper(1), TooLong()), stop({"acc": 1})[0]]
    )
    assert [type(each) for each in stoppers] == [Criteria, Adapter, Adapter, Criteria]
    assert stoppers[1](TRIAL, result(training_iteration=1)) == "MaximumIterationStopper(max_iter=1)"
    assert stoppers[1].next_decision(TRIAL) == 1


def test_the_time_budget_is_found_wherever_it_is():
    class Own(CombinedStopper):
        pass

    assert time_budget_s(stop(None)) is None
    assert time_budget_s(stop([TooLong(), TimeoutStopper(9)])) == 9
    assert time_budget_s(stop(Own(TimeoutStopper(9), TimeoutStopper(7)))) == 7


@pytest.mark.parametrize("spec", [lambda: True, lambda result: True, lambda a, b, c: True, int])
def test_a_function_of_other_arguments_is_an_error_before_it_is_called(spec):
    with pytest.raises(ValueError, match=r"must be a function of \(trial_id, result\)"):
        FunctionStopper(spec)


@pytest.mark.parametrize("spec", [3, "loss", [3], TooLong])
def test_anything_else_is_an_error(spec):
    with pytest.raises(ValueError, match="neither a dict of bounds"):
        stop(spec)
