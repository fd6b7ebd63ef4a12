"""How much goes to space-filling points if a scheduler stops trials."""

from overtone.core.resources import Resources
from overtone.core.trial import Status, Trial
from overtone.core.types import Result, Why
from overtone.searchers.auto.exploration import SHARE, Exploration

CPU = Resources.of({"cpu": 1})


def trial_of(index):
    return Trial(str(index), index, {}, CPU, Status.RUNNING, suggestion=index)


def run(exploration, index, seconds, rule):
    trial = trial_of(index)
    exploration.on_result(trial, Result(1, 0.0, (0.0,), (), {"time_total_s": seconds}))
    trial.status, trial.why = Status.TERMINATED, Why(rule)
    exploration.on_trial_end(trial)


def stopping():
    """An exploration whose scheduler stopped one trial early, and in whose time all trials explored."""
    exploration = Exploration()
    exploration.add(0, True)
    run(exploration, 0, 10.0, "asha")
    return exploration


def test_nothing_explores_before_a_scheduler_stops_a_trial():
    exploration = Exploration()
    for index in range(4):
        exploration.add(index, False)
    run(exploration, 0, 10.0, "max_t")
    run(exploration, 1, 10.0, "racing")  # against the best one, wherever the others are
    assert not exploration.is_due


def test_chosen_points_do_not_take_every_slot_before_their_time_counts():
    exploration = stopping()
    for index in (1, 2):
        exploration.add(index, True)
    assert not exploration.is_due
    exploration.add(3, False)
    assert exploration.is_due  # the fourth of four slots
    exploration.on_trial_end(trial_of(3))
    assert not exploration.is_due


def test_one_trial_at_a_time_takes_turns_by_time():
    exploration = stopping()
    n_explored = 0
    for index in range(1, 101):
        explores = exploration.is_due
        n_explored += explores
        exploration.add(index, explores)
        run(exploration, index, 10.0, "asha")
    assert abs(n_explored / 100 - SHARE) < 0.05
