"""`auto` learns, and is the same again wherever its driver is killed."""

from overtone.core.resources import Resources
from overtone.core.trial import Status, Trial
from overtone.core.types import Result
from overtone.searchers import AutoSearch
from overtone.space import uniform
from overtone.testing.searcher_conformance import SearcherConformance

CPU = Resources.of({"cpu": 1})


class TestAuto(SearcherConformance):
    is_distinct = True

    def make_searcher(self, **arguments):
        return AutoSearch(num_samples=-1, **arguments)


class TestAutoWithSeveralObjectives(TestAuto):
    objectives = 2
    takes_rewards = False
    is_learning = False  # the second objective asks for the opposite


def searched(searcher, n, score, violation=None, start=0):
    """The configs of n trials, one after the other."""
    found = []
    for i in range(start, start + n):
        config = searcher.suggest(i)
        if config is None:
            break
        searcher.on_suggested(i, config)
        found.append(config)
        trial = Trial(str(i), i, config, CPU, Status.TERMINATED, suggestion=i)
        value = score(config)
        scores = value if isinstance(value, tuple) else (value,)
        violations = () if violation is None else (violation(config),)
        searcher.on_result(trial, Result(1, scores[0], scores, violations, {}))
        searcher.on_trial_end(trial)
    return found


def auto(domains, **arguments):
    searcher = AutoSearch(num_samples=-1, **arguments)
    searcher.on_start(domains, 3)
    return searcher


def test_it_comes_near_an_optimum():
    found = searched(
        auto({"x": uniform(0, 1), "y": uniform(0, 1)}),
        20,
        lambda c: -((c["x"] - 0.3) ** 2) - (c["y"] - 0.6) ** 2,
    )
    best = max(found, key=lambda c: -((c["x"] - 0.3) ** 2) - (c["y"] - 0.6) ** 2)
    assert abs(best["x"] - 0.3) < 0.05
    assert abs(best["y"] - 0.6) < 0.05


def test_a_constraint_metric_is_learnt():
    # the score pulls to 1, and more than 0.4 is not allowed
    found = searched(auto({"x": uniform(0, 1)}), 16, lambda c: c["x"], lambda c: c["x"] - 0.4)
    assert max(c["x"] for c in found if c["x"] <= 0.4) > 0.35
    assert sum(c["x"] <= 0.45 for c in found[6:]) >= 6


def test_several_objectives_are_spread_over_the_front():
    found = searched(
        auto({"x": uniform(0, 1)}), 20, lambda c: (-((c["x"] - 0.2) ** 2), -((c["x"] - 0.8) ** 2))
    )
    later = sorted(c["x"] for c in found[6:])
    assert later[0] < 0.4
    assert later[-1] > 0.6
    assert sum(0.1 < x < 0.9 for x in later) >= 10
