"""BOHB's model."""

import pytest

from overtone import tune
from overtone.core.types import Result
from overtone.engines.simulated import Simulated
from overtone.searchers.library.bohb import TuneBOHB
from overtone.testing.search_course import Course

SPACE = {"x": tune.uniform(0, 1), "act": tune.choice(["a", "b"])}


def told(searcher, trial, t, score):
    searcher.on_result(trial, Result(t, score, (score,)))


def test_it_learns_from_the_largest_budget_that_has_enough():
    course = Course(TuneBOHB(), SPACE)
    searcher, trials = course.searcher, [course.ask() for _ in range(6)]
    for trial in trials:
        told(searcher, trial, 1, 0.0)
    assert searcher._budget() == 1
    for trial in trials[:4]:
        told(searcher, trial, 3, 0.0)
    assert searcher._budget() == 1  # two dimensions need 3 + 2 points
    told(searcher, trials[4], 3, 0.0)
    assert searcher._budget() == 3
    assert set(searcher._found) == {3}


def test_it_suggests_where_the_good_ones_are():
    course = Course(TuneBOHB(bohb_config={"random_fraction": 0.0}), SPACE)
    for _ in range(60):
        trial = course.ask()
        course.end(trial, "value", -abs(trial.config["x"] - 0.8) - (trial.config["act"] == "a"))
    late = course.configs[-20:]
    assert sum(abs(one["x"] - 0.8) for one in late) / 20 < 0.2  # 0.34 where drawn at random
    assert sum(one["act"] == "b" for one in late) >= 15


def test_unknown_numbers_of_the_model_are_refused():
    with pytest.raises(ValueError, match=r"'eta' \(known: min_points_in_model"):
        TuneBOHB(bohb_config={"eta": 3})


def test_it_is_the_partner_of_the_scheduler(tmp_path):
    found = tune.run(
        lambda config, t: {"loss": (config["x"] - 0.3) ** 2 + 1 / t} if t <= 9 else None,
        config=SPACE, num_samples=30, search_alg="bohb", scheduler="hb_bohb", metric="loss", mode="min",
        engine=Simulated(4), storage_path=str(tmp_path), verbose=0, seed=1,
    )  # fmt: skip
    assert len(found.trials) == 30
    assert abs(found.best_config["x"] - 0.3) < 0.1


def test_what_failed_is_no_good_at_any_budget_whatever_it_reported():
    course = Course(TuneBOHB(bohb_config={"random_fraction": 0.0}), {"x": tune.uniform(0, 1)})
    for _ in range(60):
        trial = course.ask()
        fails = trial.config["x"] > 0.5
        if fails:
            told(course.searcher, trial, 1, trial.config["x"])
        course.end(trial, "raised" if fails else "value", trial.config["x"])
    assert sum(one["x"] > 0.5 for one in course.configs[-20:]) <= 6
    worst = {score for found in course.searcher._found.values() for _, score in found.values() if score < -1}
    assert worst == {float("-inf")}


def test_a_warm_start_is_learnt_from():
    course = Course(TuneBOHB(), SPACE)
    for i in range(6):
        course.end(course.added({"x": i / 8, "act": "a"}), "value", 1.0)
    assert len(course.searcher._found[2]) == 6
    assert course.searcher._budget() == 2
