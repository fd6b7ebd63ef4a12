"""PASHA trains for longer only while rankings change."""

import pytest

from overtone.core.controller import Controller
from overtone.core.goal import Goal
from overtone.core.limits import Limits
from overtone.core.randomness import Random
from overtone.schedulers.pasha import PASHA, gap_of_crossing
from overtone.testing.world import World


def searched(scheduler, metric, n=27):
    controller = Controller(scheduler, Goal("score", "max", is_needed=True), limits=Limits(total=n))
    world = World(
        controller,
        Random(0),
        lambda i: {"length": 1000, "x": i},
        {"node": {"cpu": 2}},
        metrics=lambda config, t: {"score": metric(config["x"], t)},
    )
    world.run()
    return [trial.n_results for trial in controller.trials.values()]


def test_where_rankings_are_stable_nobody_trains_beyond_the_second_rung():
    scheduler = PASHA(max_t=81)
    assert max(searched(scheduler, lambda x, t: float(x))) == 3
    assert scheduler.describe().startswith("Using PASHA up to 3: num_stopped=27")


def test_where_they_change_the_top_rises_to_max_t():
    scheduler = PASHA(max_t=27)
    turning = {1: 1, 3: -1, 9: 1}
    counts = searched(scheduler, lambda x, t: float(x * turning.get(t, 1)), n=60)
    assert max(counts) == 27
    assert scheduler.top == 27


def test_trials_within_the_noise_may_change_places():
    # all curves cross all others again and again, by 0.1 at most
    scheduler = PASHA(max_t=81)
    waves = lambda x, t: 0.05 * (-1) ** (t * (x + 1))  # noqa: E731
    assert max(searched(scheduler, waves)) <= 9


def test_nan_ends_a_trial():
    assert searched(PASHA(max_t=9), lambda x, t: float("nan"), n=4) == [1] * 4


@pytest.mark.parametrize(
    ("one", "other", "gap"),
    [
        ([1, 2, 3], [0, 1, 2], None),
        ([1, 2, 3], [2, 1, 2], None),
        ([1, 2, 3], [2, 1, 5], 2),
        ([1, 2, 3], [2, 2, 1], None),
        ([1, 2, 3, 4], [0, 3, 3, 1], 3),
        ([], [1], None),
    ],
)
def test_the_gap_of_curves_that_cross_twice(one, other, gap):
    assert gap_of_crossing(dict(enumerate(one)), dict(enumerate(other))) == gap


def test_what_makes_no_sense():
    with pytest.raises(ValueError, match="reduction_factor=1"):
        PASHA(reduction_factor=1)
