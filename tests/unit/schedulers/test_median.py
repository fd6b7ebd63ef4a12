"""The median stopping rule, by its worked example and on real learning curves."""

import math
import os
from pathlib import Path
from random import Random

import pytest

from overtone.core import messages as m
from overtone.core.controller import Controller
from overtone.core.goal import Goal
from overtone.core.limits import Limits
from overtone.core.trial import Status
from overtone.schedulers.median import MedianStoppingRule
from overtone.testing.manual_controller import ByHand
from overtone.testing.world import World

CURVES = Path(os.environ.get("OVERTONE_TEST_DATA", Path(__file__).parents[4] / "shared/data")) / "curves"


def search(n, mode="max", time_attr="step", **more):
    scheduler = MedianStoppingRule(time_attr, **more)
    hand = ByHand(scheduler, cpus=n, goal=Goal("score", mode, time_attr, is_needed=True))
    trials = [hand.run() for _ in range(n)]
    counts = dict.fromkeys(trials, 0)

    def report(trial, step, score):
        counts[trial] += 1
        (command,) = hand.report(trial, counts[trial], score, step=step)
        return {m.Proceed: "continue", m.Halt: "stop"}[type(command)]

    return hand, trials, report


@pytest.mark.parametrize("sign", [1, -1])
def test_the_worked_example(sign):
    mode = "max" if sign > 0 else "min"
    hand, (one, other), report = search(2, mode, grace_period=0, min_samples_required=1)
    assert {report(one, t, sign * 100.0 * t) for t in range(11)} == {"continue"}
    hand.ended(one)
    assert {report(other, t, sign * 450.0) for t in range(6)} == {"continue"}
    assert report(other, 6, sign * 0.0) == "continue"
    assert report(other, 10, sign * 450.0) == "stop"
    why = hand.choices[0].why
    assert (why.rule, why.t, why.cutoff, why.of) == ("median", 10, sign * 500.0 * sign, 1)
    assert hand.controller._scheduler.describe() == "Using MedianStoppingRule: num_stopped=1."


def test_nobody_is_stopped_before_the_grace_period_or_among_too_few():
    hand, (one, two, three, four), report = search(4, grace_period=3, min_samples_required=3)
    for trial in (one, two, three):
        assert {report(trial, t, 10.0) for t in range(1, 6)} == {"continue"}
    assert [report(four, t, 1.0) for t in (1, 2, 3)] == ["continue", "continue", "stop"]


def test_averages_begin_at_the_grace_period():
    hand, (one, other), report = search(2, grace_period=2, min_samples_required=1)
    for t, score in ((1, 100.0), (2, 4.0), (3, 6.0)):
        report(one, t, score)
    assert [report(other, t, 4.5) for t in (1, 2, 3)] == ["continue", "continue", "stop"]
    assert hand.choices[0].why.cutoff == 5.0


def test_the_median_of_an_even_number():
    hand, trials, report = search(5, grace_period=1, min_samples_required=4)
    for trial, score in zip(trials, (1.0, 2.0, 4.0, 8.0), strict=False):
        report(trial, 1, score)
    assert report(trials[4], 1, 2.9) == "stop"
    assert hand.choices[0].why.cutoff == 3.0


def test_nan_is_stopped_whatever_came_before():
    _, (one, other), report = search(2, grace_period=1)
    assert report(one, 1, math.nan) == "stop"
    assert report(other, 1, 5.0) == "continue"
    assert report(other, 2, math.nan) == "stop"


def test_clocks_that_nobody_shares_are_compared_where_the_furthest_reported():
    hand, (one, other), report = search(2, grace_period=0, min_samples_required=1)
    for t, score in ((1.0, 2.0), (2.1, 4.0), (3.3, 6.0)):  # averages 2, 3, 4
        report(one, t, score)
    assert report(other, 0.9, 2.5) == "continue"  # nobody to compare with yet
    assert report(other, 1.7, 2.5) == "continue"  # 2 at 1.0
    assert report(other, 1.8, 2.5) == "continue"  # compared there already
    assert report(other, 2.2, 2.5) == "stop"  # 3 at 2.1
    assert hand.choices[0].why.cutoff == 3.0


def test_a_trial_yields_to_those_that_wait_only_where_it_is_asked_to():
    for time_slice, halts in ((0, 0), (2, 1)):
        scheduler = MedianStoppingRule("training_iteration", grace_period=1, min_time_slice=time_slice)
        goal = Goal("score", "max", is_needed=True)
        hand = ByHand(scheduler, goal=goal, limits={"total": 2, "lookahead": 2})
        first = hand.run()
        hand.suggest({})
        commands = [command for t in (1, 2) for command in hand.report(first, t, saves=True)]
        assert sum(isinstance(command, m.Halt) for command in commands) == halts
        if halts:
            assert [one.index for one in hand.ended(first, "halted")] == [1]
            assert hand.status(first) is Status.PAUSED


def test_soft_stops_go_on_when_all_others_are_done():
    scheduler = MedianStoppingRule(
        "training_iteration", grace_period=1, min_samples_required=1, hard_stop=False
    )
    controller = Controller(scheduler, Goal("score", "max", is_needed=True), limits=Limits(total=4))
    configs = [{"length": 5, "slope": 0, "score": -k} for k in range(4)]
    world = World(controller, Random(0), configs.__getitem__, {"node": {"cpu": 1}})
    records = world.run()
    seen = [(int(r.event.trial_id[-1]), r.event.t) for r in records if isinstance(r.event, m.Reported)]
    first = [(0, t) for t in range(1, 6)] + [(1, 1), (2, 1), (3, 1)]
    assert seen == first + [(k, t) for k in (1, 2, 3) for t in range(2, 6)]
    assert scheduler.describe().endswith("num_stopped=3.")


@pytest.mark.skipif(
    not (CURVES / "lcbench.npz").exists() and not os.environ.get("CI"), reason="no LCBench curves"
)
def test_the_best_of_lcbench_is_hardly_ever_stopped():
    numpy = pytest.importorskip("numpy")
    accuracy = numpy.load(CURVES / "lcbench.npz")["val_acc_x100"]
    stopped = [best_is_stopped(curves, Random(seed)) for seed in range(4) for curves in accuracy]
    assert sum(stopped) <= 0.05 * len(stopped)


def best_is_stopped(curves, order, n=25):
    """Whether the rule stops the best of `n` trials, one after the other in random order.

    A fifth of a trial's 50 epochs is its grace period: the best of two of the eight tasks begin
    among the worse half, which no rule that looks at the first epochs could forgive.
    """
    chosen = [curves[k] for k in order.sample(range(len(curves)), n)]
    best = max(range(n), key=lambda k: chosen[k][-1])
    scheduler = MedianStoppingRule("training_iteration", grace_period=10)
    hand = ByHand(scheduler, goal=Goal("score", "max", is_needed=True), limits={"total": best + 1})
    for curve in chosen[: best + 1]:
        trial = hand.run()
        for t, score in enumerate(curve.tolist(), 1):
            if any(isinstance(one, m.Halt) for one in hand.report(trial, t, score)):
                break
        stopped = hand.status(trial) is Status.HALTING
        hand.ended(trial, "halted" if stopped else "returned")
    return stopped
