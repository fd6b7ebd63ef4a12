"""Schedulers of users: flags in, decisions out."""

import pytest

from overtone import tune
from overtone.core.decision import CONTINUE, SAVE, Pause, Stop
from overtone.core.types import Result, Why
from overtone.errors import OvertoneError
from overtone.schedulers.base import WithController
from overtone.tune.schedulers import (
    PB2,
    ASHAScheduler,
    FIFOScheduler,
    HyperparameterSchedule,
    Linear,
    ResourceChangingScheduler,
    TrialScheduler,
)


class Answers(TrialScheduler):
    def __init__(self, answer):
        self.answer = answer

    def on_result(self, trial, result):
        return self.answer


@pytest.mark.parametrize(
    ("flag", "decision"),
    [
        (TrialScheduler.CONTINUE, CONTINUE),
        (TrialScheduler.SAVE, SAVE),
        (TrialScheduler.PAUSE, Pause(Why(rule="Answers", t=3))),
        (TrialScheduler.STOP, Stop(Why(rule="Answers", t=3))),
        (CONTINUE, CONTINUE),
    ],
)
def test_a_flag_becomes_a_decision(flag, decision):
    assert Answers(flag).on_result(None, Result(t=3, score=0.0)) == decision


def test_an_unknown_flag_is_an_error_that_shows_it():
    with pytest.raises(ValueError, match="'GO'"):
        Answers("GO").on_result(None, Result(t=3, score=0.0))


def test_a_subclass_of_a_subclass_may_ask_its_parent():
    class Careful(Answers):
        def on_result(self, trial, result):
            return super().on_result(trial, result) if result.t > 1 else self.CONTINUE

    careful = Careful(TrialScheduler.STOP)
    assert careful.on_result(None, Result(t=1, score=0.0)) == CONTINUE
    assert careful.on_result(None, Result(t=2, score=0.0)) == Stop(Why(rule="Answers", t=2))


@pytest.mark.parametrize("base", [TrialScheduler, FIFOScheduler, ASHAScheduler])
def test_a_class_with_hooks_that_take_a_controller_may_call_its_parents(base):
    class Old(base):
        def on_trial_add(self, tune_controller, trial):
            super().on_trial_add(tune_controller, trial)

    class Older(Old):
        def on_trial_complete(self, tune_controller, trial, result): ...

    assert Older.__mro__.index(Old) < Older.__mro__.index(WithController) < Older.__mro__.index(base)
    assert Older.__mro__.count(WithController) == 1
    assert Older().on_result is not None  # and it is not abstract


@pytest.mark.parametrize("name", ["tune_controller", "trial_runner", "controller"])
def test_who_chooses_by_a_controller_is_in_that_form(name):
    names = {"TrialScheduler": TrialScheduler}
    exec(f"class Old(TrialScheduler):\n    def choose_trial_to_run(self, {name}): ...", names)
    assert issubclass(names["Old"], WithController)


def test_a_mixin_with_such_hooks_comes_before_the_parents():
    class Logs:
        def on_trial_result(self, tune_controller, trial, result):
            return super().on_trial_result(tune_controller, trial, result)

    class Both(Logs, ASHAScheduler): ...

    assert Both.__mro__.index(Logs) < Both.__mro__.index(WithController) < Both.__mro__.index(ASHAScheduler)


def test_a_scheduler_that_knows_its_trials_may_choose_without_being_shown_them():
    class Paper(Answers):
        def choose_trial_to_run(self):
            return "the first"

    assert Paper("NOOP").choose_trial_to_run("a view") == "the first"
    assert Paper("NOOP").on_result(None, Result(t=1, score=0.0)) == CONTINUE


class StopsFIFO(FIFOScheduler):
    def on_result(self, trial, result):
        return TrialScheduler.STOP if result.t == 2 else TrialScheduler.CONTINUE


class StopsASHA(ASHAScheduler):
    def on_result(self, trial, result):
        return TrialScheduler.STOP if result.t == 5 else super().on_result(trial, result)


class SaysWhen(StopsFIFO):
    rules_from = 2

    def on_result(self, trial, result):
        return super().on_result(trial, result)


@pytest.mark.parametrize(
    ("scheduler", "last"),
    [
        (StopsFIFO(), 2),
        (SaysWhen(), 2),
        (StopsASHA(grace_period=4, max_t=16), 5),
        (HyperparameterSchedule({"x": Linear(2, over=4)}, StopsFIFO()), 2),
        (HyperparameterSchedule({"x": {4: 2}}, StopsFIFO()), 2),
    ],
)
def test_who_overrides_what_a_scheduler_rules_is_asked_at_each_report(scheduler, last, tmp_path):
    found = tune.run(
        lambda config, t: {"score": t} if t < 20 else None,
        config={"x": 1}, metric="score", mode="max", scheduler=scheduler, engine=tune.Simulated(1),
        verbose=0, storage_path=str(tmp_path),
    )  # fmt: skip
    assert found.trials[0].num_results == last


def test_who_inherits_it_all_waits_no_more_often_than_its_parent():
    class Named(ASHAScheduler):
        shown = "mine"

    assert not Named.rules_anywhere
    assert not PB2.rules_anywhere
    assert not SaysWhen.rules_anywhere
    assert StopsASHA.rules_anywhere


def test_base_schedulers_are_schedulers():
    assert isinstance(HyperparameterSchedule({}, StopsFIFO)._base, StopsFIFO)
    with pytest.raises(
        OvertoneError, match=r"HyperparameterSchedule\(base_scheduler='asha'\): give a scheduler"
    ):
        HyperparameterSchedule({}, "asha")
    with pytest.raises(OvertoneError, match=r"ResourceChangingScheduler\(base_scheduler=3\)"):
        ResourceChangingScheduler(3)
