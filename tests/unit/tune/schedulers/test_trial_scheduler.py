"""Schedulers of users: flags in, decisions out."""

import pytest

from overtone.core.decision import CONTINUE, SAVE, Pause, Stop
from overtone.core.types import Result, Why
from overtone.errors import OvertoneError
from overtone.tune.schedulers import TrialScheduler
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
