"""MOASHA ranks by fronts, and within a front by distance."""

import math
from random import Random

import pytest

from overtone.core import messages as m
from overtone.core.goal import Goal
from overtone.schedulers.moasha import MOASHA, FrontRung, dominates, spread
from overtone.testing.manual_controller import ByHand


def peeled(points):
    """The fronts, by their definition."""
    left, fronts = list(points), []
    while left:
        front = [one for one in left if not any(dominates(other, one) for other in left)]
        fronts.append(front)
        left = [one for one in left if one not in front]
    return fronts


@pytest.mark.parametrize("n_objectives", [1, 2, 3])
def test_fronts_that_grow_are_those_of_the_definition(n_objectives):
    draw, rung, points = Random(n_objectives), FrontRung(1), []
    for k in range(60):
        points.append(tuple(float(draw.randrange(12)) + draw.random() / 100 for _ in range(n_objectives)))
        rung.enter(points[-1])
        if k % 10 == 9:
            assert [[scores for _, scores in front] for front in rung._fronts] == peeled(points)


def test_the_order_within_a_front():
    assert spread([(0.0, 10.0), (9.0, 1.0), (10.0, 0.0), (5.0, 5.0)]) == [2, 0, 3, 1]
    assert spread([(1.0,)]) == [0]


def search(n, **arguments):
    scheduler = MOASHA(**arguments)
    goal = Goal(["accuracy", "latency"], ["max", "min"], is_needed=True)
    hand = ByHand(scheduler, cpus=n, goal=goal)
    return hand, [hand.run() for _ in range(n)]


def rule(hand, trial, accuracy, latency, t=1):
    (command,) = hand.report(trial, t, None, accuracy=accuracy, latency=latency)
    return {m.Proceed: "continue", m.Halt: "stop"}[type(command)]


def test_who_is_dominated_is_stopped_and_who_leads_in_anything_goes_on():
    hand, (a, b, c, d) = search(4, max_t=9, reduction_factor=3)
    assert rule(hand, a, 0.9, 10.0) == "continue"
    assert rule(hand, b, 0.8, 20.0) == "stop"
    assert rule(hand, c, 0.7, 30.0) == "stop"
    why = hand.choices[0].why
    assert (why.rule, why.rung, why.of) == ("moasha", 1, 3)
    assert rule(hand, d, 0.5, 1.0) == "continue"


def test_nan_in_any_objective_is_the_worst():
    hand, (a, b, c) = search(3, max_t=9)
    assert rule(hand, a, math.nan, 1.0) == "stop"
    assert rule(hand, b, 0.9, math.nan) == "stop"
    assert rule(hand, c, 0.1, 99.0) == "continue"


def test_it_ends_at_max_t_and_rules_at_rungs_only():
    hand, (a, *_) = search(2, max_t=9, reduction_factor=3)
    assert rule(hand, a, 0.5, 1.0) == "continue"
    assert hand.report(a, 2, None, accuracy=0.0, latency=9.0) == []
    assert rule(hand, a, 0.5, 1.0, t=9) == "stop"
    assert hand.choices[0].why.rule == "max_t"
    assert hand.controller._scheduler.describe().startswith(
        "Using MOASHA: num_stopped=0\nBracket: Iter 3.000"
    )
