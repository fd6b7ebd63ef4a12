"""What `auto` suggests if a scheduler stops trials."""

from overtone.core.resources import Resources
from overtone.core.trial import Status, Trial
from overtone.core.types import Why
from overtone.searchers.auto.exploration import Exploration

CPU = Resources.of({"cpu": 1})


def ended(rule):
    return Trial("0", 0, {}, CPU, Status.TERMINATED, suggestion=0, why=Why(rule))


def after(rule):
    exploration = Exploration()
    exploration.on_trial_end(ended(rule))
    return exploration


def test_nothing_explores_before_a_scheduler_stops_a_trial():
    assert not after("max_t").is_stopping
    assert not after("racing").is_stopping  # against the best one, wherever the others are
    assert not any(after("max_t").is_due(index) for index in range(8))


def test_one_suggestion_in_four_fills_the_space_if_a_scheduler_stops_trials():
    assert [after("asha").is_due(index) for index in range(8)] == [True, False, False, False] * 2


def test_the_draw_is_far_in_every_second_group_between_space_filling_points():
    assert after("max_t").draw(1) is None
    turns = [after("asha").draw(index).is_far for index in (1, 3, 5, 7, 9)]
    assert turns == [False, False, True, True, False]


def test_a_trial_that_continues_after_a_pause_at_a_rung_shows_such_a_scheduler():
    exploration, trial = Exploration(), Trial("0", 0, {}, CPU, Status.RUNNING, suggestion=0)
    exploration.on_result(trial)
    assert not exploration.is_stopping
    trial.why = Why("hyperband", 1, 1)
    exploration.on_result(trial)
    assert exploration.is_stopping
