"""Configurations that run several times."""

import math

import pytest

from overtone import tune
from overtone.core.goal import Goal
from overtone.core.protocols import Searcher
from overtone.core.randomness import keyed
from overtone.core.trial import Status
from overtone.core.types import WORST, Why
from overtone.engines.simulated import Simulated
from overtone.searchers import BasicVariantGenerator, Repeater
from overtone.testing.search_course import Course, resumed

SPACE = {"x": tune.uniform(0, 1)}


class Counted(Searcher):
    """Suggests 0, 1, 2, ..., and remembers what it was told."""

    def __init__(self):
        self.told, self.taken = [], []

    def suggest(self, index):
        return {"x": index / 8}

    def on_suggested(self, index, config):
        self.taken.append((index, config))

    def on_result(self, trial, result):
        self.told.append((trial.suggestion, trial.config, result.score))

    def on_trial_end(self, trial):
        self.told.append((trial.suggestion, trial.status.value))


def test_the_searcher_learns_of_the_mean():
    inner = Counted()
    course = Course(Repeater(inner, 3), SPACE)
    trials = [course.ask() for _ in range(4)]
    assert [one.config for one in trials] == [
        *({"x": 0.0, "__trial_index__": i} for i in range(3)), {"x": 0.125, "__trial_index__": 0},
    ]  # fmt: skip
    assert inner.taken == [(0, {"x": 0.0}), (1, {"x": 0.125})]
    course.end(trials[1], "value", 1.0)
    course.end(trials[0], "raised", 0.0)
    assert inner.told == []
    course.end(trials[2], "value", 4.0)
    assert inner.told == [(0, {"x": 0.0}, 2.5), (0, "TERMINATED")]


def test_all_failed_is_a_failure():
    inner = Counted()
    course = Course(Repeater(inner, 2, set_index=False), SPACE)
    trials = [course.ask(), course.ask()]
    assert [one.config for one in trials] == [{"x": 0.0}, {"x": 0.0}]
    for trial in trials:
        course.end(trial, "raised", 0.0)
    assert inner.told == [(0, "ERROR")]


@pytest.mark.parametrize(
    ("ends", "cause"),
    [
        ([None, "asha"], "asha"),
        (["asha", None], "asha"),
        (["returned", "stop"], None),
        (["raised", "returned"], None),
        (["returned", "raised"], None),
    ],
)
def test_the_mean_is_cut_short_if_one_of_its_repetitions_was(ends, cause):
    inner = Counted()
    inner.on_trial_end = lambda trial: inner.told.append(trial.why and trial.why.rule)
    course = Course(Repeater(inner, 2), SPACE)
    trials = [course.ask(), course.ask()]
    for trial, rule in zip(trials, ends, strict=True):
        trial.why = rule and Why(rule, t=2.0)
        course.end(trial, "raised" if rule == "raised" else "value", 1.0)
    assert inner.told[1:] == [cause]


def test_the_mean_of_nan_is_nan():
    inner, seen = Counted(), []
    repeater = Repeater(inner, 2)
    repeater.goal = inner.goal = Goal(["loss", "size"], ["min", "max"])
    inner.on_result = lambda trial, result: seen.append(result)
    course = Course(repeater, SPACE)
    trials = [course.ask(), course.ask()]
    for trial, loss in zip(trials, (math.nan, 3.0), strict=True):
        repeater.on_result(trial, repeater.goal.result({"loss": loss, "size": 4}))
        trial.status = Status.TERMINATED
        repeater.on_trial_end(trial)
    (mean,) = seen
    assert mean.scores == (WORST, 4.0)
    assert math.isnan(mean.metrics["loss"])
    assert mean.metrics["size"] == 4.0


def adaptive(noise, n=40):
    """How often each of eight configurations ran, whose true scores are their numbers."""
    course, times = Course(Repeater(Counted(), "adaptive"), SPACE), {}
    for i in range(n):
        trial = course.ask()
        x = trial.config["x"]
        times[x] = times.get(x, 0) + 1
        course.end(trial, "value", 8 * (x % 1) + keyed(i, "noise").gauss(0, noise))
        if len(times) == 9:
            break
    return course, [times.get(i / 8, 0) for i in range(8)]


def test_without_noise_hardly_anything_is_repeated():
    _, times = adaptive(0.0)
    assert sum(times) == 8 + 3  # three repeats to learn that there is none


def test_with_noise_those_are_repeated_that_could_be_best():
    _, small = adaptive(0.1)
    _, large = adaptive(1.0)
    assert sum(large) > sum(small)
    assert max(large) <= 5


def test_deviations_whose_squares_are_no_floats():
    course = Course(Repeater(Counted(), "adaptive", set_index=False), SPACE)
    for i in range(20):
        course.end(course.ask(), "value", 1e300 * (-1) ** i)
    assert len({one["x"] for one in course.configs}) < 20


def test_it_is_the_same_after_a_resume():
    course, _ = adaptive(1.0, n=20)
    for n in range(len(course.facts)):
        fresh = Course(Repeater(Counted(), "adaptive"), SPACE)
        for then, now in resumed(course.facts, n, fresh.searcher, at_most=2):
            assert now == then


def test_repetitions_are_trials(tmp_path):
    found = tune.run(
        lambda config, t: {"score": config["x"]} if t == 1 else None,
        config=SPACE, num_samples=6, search_alg=Repeater(BasicVariantGenerator(), 3), engine=Simulated(2),
        storage_path=str(tmp_path), verbose=0, seed=1, metric="score", mode="max",
    )  # fmt: skip
    assert len({one.config["x"] for one in found.trials}) == 2
    assert sorted(one.config["__trial_index__"] for one in found.trials) == [0, 0, 1, 1, 2, 2]


@pytest.mark.parametrize("repeat", [0, "often", 1.5, True])
def test_other_repeats_are_refused(repeat):
    with pytest.raises(ValueError, match="adaptive"):
        Repeater(BasicVariantGenerator(), repeat)


def test_the_searchers_own_limit_of_trials_counts():
    assert Repeater(BasicVariantGenerator(max_concurrent=3)).max_concurrent == 3
    assert tune.search.ConcurrencyLimiter(BasicVariantGenerator(max_concurrent=3), 2).max_concurrent == 2
