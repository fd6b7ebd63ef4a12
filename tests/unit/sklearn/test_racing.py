"""A race over folds: the incumbent gets one fold for every four candidates."""

import math
import random

import pytest

from overtone.core.controller import Controller
from overtone.core.goal import Goal
from overtone.core.limits import Limits
from overtone.core.randomness import Random
from overtone.sklearn.racing import FoldRacing
from overtone.testing.scheduler_conformance import SchedulerConformance
from overtone.testing.world import World


def raced(scores, cpus=1, seed=0, n_folds=5):
    """Run a race of candidates with these scores of folds; return the trials."""
    controller = Controller(
        FoldRacing(n_folds), Goal("mean", "max", is_needed=True), limits=Limits(total=len(scores))
    )
    world = World(
        controller,
        Random(seed),
        lambda i: {"length": n_folds, "x": i} if i < len(scores) else None,
        {"node": {"cpu": cpus}},
        metrics=lambda config, t: {"mean": math.fsum(scores[config["x"]][:t]) / t},
    )
    world.run()
    return list(controller.trials.values())


def test_candidates_are_compared_before_any_is_complete():
    trials = raced([[0.5] * 5, [0.4] * 5, [0.9] * 5, [0.6] * 5, [0.7] * 5])
    assert [trial.n_results for trial in trials] == [1, 1, 5, 1, 1]
    assert [trial.why.rule for trial in trials] == ["racing", "racing", "returned", "racing", "racing"]
    assert trials[1].why.against == (trials[0].id,)
    assert trials[0].why.against == (trials[2].id,)


def test_the_best_one_sees_a_further_fold_for_every_four_candidates():
    better = [[0.5 + i / 100] * 5 for i in range(20)]
    n_folds = [trial.n_results for trial in raced(better)]  # Each candidate replaces the best one.
    assert n_folds == [1] * 3 + [2] * 4 + [3] * 4 + [4] * 4 + [5] * 5


def test_a_single_candidate_sees_all_folds():
    assert [trial.n_results for trial in raced([[0.5] * 5])] == [5]


def test_folds_that_differ_stop_nobody():
    hard = [0.0, 0.4, 0.1, 0.3, 0.2]
    better = [one + 0.01 for one in hard]
    assert [trial.n_results for trial in raced([hard, better])] == [1, 5]


def test_equal_candidates_go_on_until_they_differ():
    first, better, worse = [0.5, 0.5, 0.5, 0.5], [0.5, 0.5, 0.6, 0.5], [0.5, 0.4, 0.9, 0.9]
    assert [trial.n_results for trial in raced([first, better, worse], n_folds=4)] == [3, 4, 2]
    assert [trial.n_results for trial in raced([first] * 3, cpus=2, n_folds=4)] == [4, 4, 4]


def test_within_the_margin_a_challenger_of_a_complete_one_goes_on():
    first = [0.5, 0.6, 0.4, 0.5, 0.5]
    nearly = [0.49, 0.6, 0.4, 0.5, 0.7]
    others = [[0.0] * 5] * 16  # while they are stopped the first becomes complete
    assert raced([first, *others, nearly])[-1].n_results == 5


def test_nan_ends_a_candidate_and_not_the_race():
    nan = [math.nan] * 5
    assert [trial.n_results for trial in raced([nan, [0.5] * 5, nan])] == [1, 5, 1]


@pytest.mark.parametrize("cpus", [1, 3])
@pytest.mark.parametrize("seed", range(20))
def test_every_race_ends_with_a_complete_candidate_among_the_best(seed, cpus):
    draw = random.Random(seed)
    qualities = [draw.random() for _ in range(12)]
    scores = [[quality + draw.gauss(0, 0.001) for _ in range(5)] for quality in qualities]
    trials = raced(scores, cpus, seed)
    assert all(trial.status.is_final for trial in trials)
    complete = [i for i, trial in enumerate(trials) if trial.n_results == 5]
    best = max(range(12), key=lambda i: sum(scores[i]))
    assert best in complete
    assert len(complete) < 12


class TestFoldRacing(SchedulerConformance):
    """Races end, whatever is reported and whatever dies, and decide again as they did."""

    def make_scheduler(self):
        return FoldRacing(self.length)
