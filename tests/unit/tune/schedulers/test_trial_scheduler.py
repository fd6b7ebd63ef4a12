"""Schedulers of users: flags in, decisions out."""

import pytest

from overtone import tune
from overtone.core.decision import CONTINUE, SAVE, Pause, Stop
from overtone.core.types import Result, Why
from overtone.errors import OvertoneError
from overtone.tune.schedulers import (
    PB2,
    ASHAScheduler,
    FIFOScheduler,
    HyperparameterSchedule,
    Linear,
    ResourceChangingScheduler,
    TrialScheduler,
)
from overtone.tune.schedulers.trial_scheduler import refuse_old_hooks


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


def test_hooks_that_want_a_controller_are_answered_with_the_new_form():
    with pytest.raises(OvertoneError) as caught:

        class Old(TrialScheduler):
            def on_trial_result(self, tune_controller, trial, result):
                return self.STOP

            def on_trial_complete(self, tune_controller, trial, result):
                pass

    message = str(caught.value)
    assert "Old defines on_trial_result, on_trial_complete" in message
    assert "def on_result(self, trial, result)" in message
    assert "def on_trial_end(self, trial)" in message


def test_names_and_nothing_are_left_alone():
    assert refuse_old_hooks("asha") == "asha"
    assert refuse_old_hooks(None) is None


def test_an_added_trial_comes_without_a_controller():
    with pytest.raises(OvertoneError, match=r"(?s)Old defines on_trial_add.*def on_trial_add\(self, trial\)"):

        class Old(TrialScheduler):
            def on_trial_add(self, tune_controller, trial):
                pass


def test_a_scheduler_that_knows_its_trials_may_choose_without_being_shown_them():
    class Paper(Answers):
        def choose_trial_to_run(self):
            return "the first"

    assert Paper("NOOP").choose_trial_to_run("a view") == "the first"
    assert Paper("NOOP").on_result(None, Result(t=1, score=0.0)) == CONTINUE


@pytest.mark.parametrize("name", ["tune_controller", "trial_runner", "controller"])
def test_who_chooses_by_a_controller_is_shown_the_view(name):
    names = {"TrialScheduler": TrialScheduler}
    with pytest.raises(OvertoneError, match=r"def choose_trial_to_run\(self, trials\):.*trials.runnable"):
        exec(f"class Old(TrialScheduler):\n    def choose_trial_to_run(self, {name}): ...", names)


def test_results_with_a_runner_as_in_the_first_versions():
    with pytest.raises(OvertoneError, match=r"def on_result\(self, trial, result\)"):

        class Old(TrialScheduler):
            def on_result(self, trial_runner, trial, result):
                return self.STOP


def test_the_new_form_of_hooks_that_became_one_is_shown_once():
    class Old:
        def on_trial_complete(self, tune_controller, trial, result): ...
        def on_trial_error(self, tune_controller, trial): ...
        def on_trial_remove(self, tune_controller, trial): ...

    with pytest.raises(OvertoneError) as caught:
        refuse_old_hooks(Old())
    assert str(caught.value).count("def on_trial_end") == 1


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
