"""HyperBand by the tables of its paper, and in a world where trials die."""

from collections import Counter
from random import Random

import pytest

from overtone.core import messages as m
from overtone.core.controller import Controller
from overtone.core.goal import Goal
from overtone.core.limits import Limits
from overtone.core.trial import Status
from overtone.schedulers.hyperband import HyperBandScheduler, plans
from overtone.testing.manual_controller import ByHand
from overtone.testing.world import World
from overtone.tune import schedulers

ALGORITHM_1 = [
    [(81, 1), (27, 3), (9, 9), (3, 27), (1, 81)],
    [(34, 3), (11, 9), (3, 27), (1, 81)],
    [(15, 9), (5, 27), (1, 81)],
    [(8, 27), (2, 81)],
    [(5, 81)],
]
TABLE_1 = [
    [(81, 1), (27, 3), (9, 9), (3, 27), (1, 81)],
    [(27, 3), (9, 9), (3, 27), (1, 81)],
    [(9, 9), (3, 27), (1, 81)],
    [(6, 27), (2, 81)],
    [(5, 81)],
]


def searched(scheduler, configs, cpus=8, mode="max", **limits):
    """The trials of a whole search, and their controller; each config has a score, which stays."""
    controller = Controller(
        scheduler, Goal("score", mode, is_needed=True), limits=Limits(total=len(configs), **limits)
    )
    base = {"length": 1000, "slope": 0}
    world = World(controller, Random(0), lambda i: base | configs[i], {"node": {"cpu": cpus}})
    world.run(200_000)
    return list(controller.trials.values()), world


def reached(trials):
    return Counter(trial.n_results for trial in trials)


@pytest.mark.parametrize(("sizes", "rounds"), [("algorithm", ALGORITHM_1), ("table", TABLE_1)])
def test_the_sizes_of_the_paper(sizes, rounds):
    assert plans(81, 3, sizes) == rounds
    assert plans(81, 3.0, sizes) == rounds


@pytest.mark.parametrize(("sizes", "rounds"), [("algorithm", ALGORITHM_1), ("table", TABLE_1)])
def test_every_rung_of_a_round_is_as_in_the_paper(sizes, rounds):
    order = Random(1)
    scores = [order.random() for _ in range(sum(plan[0][0] for plan in rounds))]
    trials, world = searched(HyperBandScheduler(sizes=sizes), [{"score": score} for score in scores])
    first = 0
    for plan in rounds:
        bracket = trials[first : first + plan[0][0]]
        first += len(bracket)
        ranked = sorted(bracket, key=lambda trial: -trial.config["score"])
        for (n, t), (following, _) in zip(plan, [*plan[1:], (0, 0)], strict=True):
            assert {trial.n_results for trial in ranked[following:n]} == {t}
            assert {trial.why.rule for trial in ranked[following:n]} == {
                "hyperband" if following else "max_t"
            }
    assert first == len(trials)


def test_no_rung_is_lost_to_floating_point():
    assert [len(plan) for plan in plans(243, 3)] == [6, 5, 4, 3, 2, 1]
    assert [t for _, t in plans(243, 3)[0]] == [1, 3, 9, 27, 81, 243]
    assert [t for _, t in plans(10**6, 10)[0]] == [10**k for k in range(7)]
    assert [len(plan) for plan in plans(242, 3)] == [5, 4, 3, 2, 1]


@pytest.mark.parametrize("sizes", ["algorithm", "table"])
def test_a_minimum_resource_is_the_unit_of_the_paper(sizes):
    for unit in (1, 5, 10):
        expected = [[(n, t * unit) for n, t in plan] for plan in plans(81, 3, sizes)]
        assert plans(81 * unit, 3, sizes, grace_period=unit) == expected
    # R / r = 27 and 26: the brackets of s_max = 3 and 2, and no rung below r
    assert plans(81, 3, grace_period=3)[0] == [(27, 3), (9, 9), (3, 27), (1, 81)]
    assert plans(81, 3, "table", grace_period=3) == [
        [(27, 3), (9, 9), (3, 27), (1, 81)], [(9, 9), (3, 27), (1, 81)], [(6, 27), (2, 81)], [(4, 81)],
    ]  # fmt: skip
    assert [len(plan) for plan in plans(78, 3, grace_period=3)] == [3, 2, 1]
    assert plans(50, 3, grace_period=50) == [[(1, 50)]]


def test_no_rung_lies_below_the_minimum_resource():
    for max_t in range(1, 60):
        for eta in (1.5, 2, 2.5, 3, 4):
            for least in range(1, max_t + 1):
                rungs = [t for plan in plans(max_t, eta, grace_period=least) for _, t in plan]
                assert min(rungs) >= least
    scheduler = HyperBandScheduler(max_t=81, grace_period=9)
    trials, _ = searched(scheduler, [{"score": i} for i in range(9)])
    assert min(trial.n_results for trial in trials) == 9


@pytest.mark.parametrize(
    ("grace_period", "text"), [(82, "need 0 < grace_period <= max_t"), (0.5, "whole numbers")]
)
def test_a_minimum_resource_that_makes_no_sense(grace_period, text):
    with pytest.raises(ValueError, match=text):
        HyperBandScheduler(max_t=81, grace_period=grace_period)


def test_rungs_are_whole_numbers():
    assert plans(100, 3)[0] == [(81, 1), (27, 3), (9, 11), (3, 33), (1, 100)]
    assert plans(10, 2.5)[0] == [(7, 1), (2, 4), (1, 10)]
    assert plans(1, 3) == [[(1, 1)]]


def test_a_bracket_waits_for_its_last_trial_and_then_goes_on():
    hand = ByHand(
        HyperBandScheduler(max_t=3), cpus=3, goal=Goal("score", "max", is_needed=True), limits={"total": 3}
    )
    a, b, c = (hand.run() for _ in range(3))
    for trial, score in ((a, 0.2), (b, 0.9)):
        assert hand.report(trial, 1, score, saves=True) == [m.Halt(trial, 0, save=True, park=True)]
        hand.ended(trial, "halted")
        assert hand.status(trial) is Status.PAUSED
    hand.report(c, 1, 0.5, saves=True)
    commands = hand.ended(c, "halted")
    assert [(type(one), one.trial_id, one.until_t) for one in commands] == [(m.Start, b, 3)]
    assert hand.status(a) is hand.status(c) is Status.TERMINATED
    why = hand.trial(a).why
    assert (why.rule, why.rung, why.cutoff, why.rank, why.of) == ("hyperband", 1, 0.9, 3, 3)
    hand.started(b)
    hand.report(b, 3, 0.9)
    assert hand.choices[0].why.rule == "max_t"


def test_a_bracket_does_not_wait_for_the_dead():
    hand = ByHand(
        HyperBandScheduler(max_t=3), cpus=3, goal=Goal("score", "max", is_needed=True), limits={"total": 3}
    )
    a, b, c = (hand.run() for _ in range(3))
    for trial, score in ((a, 0.2), (b, 0.9)):
        hand.report(trial, 1, score, saves=True)
        hand.ended(trial, "halted")
    (start, *_) = hand.ended(c, "raised", "out of luck")
    assert (start.trial_id, hand.status(a)) == (b, Status.TERMINATED)


def test_a_trial_that_ends_below_its_rung_counts_there():
    configs = [{"score": score, "length": length} for score, length in ((5, 1), (4, 99), (3, 99), (2, 1))]
    trials, _ = searched(HyperBandScheduler(max_t=4, reduction_factor=2), [*configs, *configs])
    # the first bracket of 4 judges at 1, 2, 4: trial 0 keeps its place at 2, where it never comes
    assert [trial.n_results for trial in trials[:4]] == [1, 2, 1, 1]
    trials, _ = searched(
        HyperBandScheduler(max_t=9), [{"score": k, "length": 1 + (k == 8)} for k in range(9)]
    )
    assert reached(trials) == {1: 8, 2: 1}
    assert {trial.status for trial in trials} == {Status.TERMINATED}


def test_nan_is_stopped_at_once():
    trials, _ = searched(HyperBandScheduler(max_t=9), [{"score": float("nan")}] * 9)
    assert reached(trials) == {1: 9}
    trials, _ = searched(HyperBandScheduler(max_t=9), [{"score": float("nan")}] * 8 + [{"score": -5}])
    assert reached(trials) == {1: 8, 9: 1}


def test_an_unfilled_bracket_is_halved_when_the_search_closes():
    trials, _ = searched(HyperBandScheduler(), [{"score": k} for k in range(6)])
    assert [trial.n_results for trial in trials] == [1, 1, 1, 1, 3, 81]


def test_equals_rank_by_age():
    trials, _ = searched(HyperBandScheduler(max_t=9), [{"score": 1}] * 9)
    assert [trial.n_results for trial in trials] == [9, 3, 3, 1, 1, 1, 1, 1, 1]


def test_a_lower_metric_may_be_better():
    trials, _ = searched(HyperBandScheduler(max_t=9), [{"score": k} for k in range(9)], mode="min")
    assert [trial.n_results for trial in trials] == [9, 3, 3, 1, 1, 1, 1, 1, 1]


def test_trials_may_run_on_after_the_last_rung():
    scheduler = HyperBandScheduler(max_t=4, reduction_factor=2, stop_last_trials=False)
    trials, _ = searched(scheduler, [{"score": k, "length": 10} for k in range(4)])
    assert [trial.n_results for trial in trials] == [1, 1, 2, 10]


def test_the_status_lines():
    scheduler = HyperBandScheduler(max_t=4, reduction_factor=2)
    hand = ByHand(scheduler, cpus=5, goal=Goal("score", "max", is_needed=True), limits={"total": 5})
    trials = [hand.run() for _ in range(5)]
    assert scheduler.describe() == (
        "Using HyperBand: num_stopped=0 total_brackets=2\n"
        "Round #0:\n"
        "  Bracket(Max Size (n)=4, Milestone (r)=1, completed=0.0%): {RUNNING: 4}\n"
        "  Bracket(Max Size (n)=3, Milestone (r)=2, completed=0.0%): {RUNNING: 1}"
    )
    for trial in trials[:4]:
        hand.report(trial, 1, saves=True)
        hand.ended(trial, "halted")
    assert scheduler.describe().splitlines()[2] == (
        "  Bracket(Max Size (n)=2, Milestone (r)=2, completed=50.0%): {RUNNING: 2, TERMINATED: 2}"
    )
    assert scheduler.describe().startswith("Using HyperBand: num_stopped=2 total_brackets=2")


@pytest.mark.parametrize("wrong", [{"max_t": 0}, {"reduction_factor": 1}, {"sizes": "tables"}])
def test_what_makes_no_sense(wrong):
    with pytest.raises(ValueError, match='above 0|above 1|"algorithm" or "table"'):
        HyperBandScheduler(**wrong)


def test_names():
    assert schedulers.HyperBand is schedulers.HyperBandScheduler is HyperBandScheduler
