"""`auto` by its suggestions; what all searchers must do is in tests/conformance."""

import pytest

from overtone.core.goal import Goal
from overtone.core.resources import Resources
from overtone.core.trial import Status, Trial
from overtone.core.types import Result
from overtone.errors import GoalError
from overtone.searchers import AutoSearch
from overtone.space import choice, randint, space, uniform

CPU = Resources.of({"cpu": 1})


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


def test_a_finite_space_ends_with_64_in_parallel():
    searcher = auto({"n": randint(0, 5), "a": choice(["x", "y"])})
    found = [searcher.suggest(i) for i in range(64)]
    assert len({tuple(one.values()) for one in found if one}) == 10
    assert found[10:] == [None] * 54


def test_a_constraint_of_the_space_is_kept():
    searcher = auto(
        space({"x": uniform(0, 1), "y": uniform(0, 1)}, constraint=lambda c: c["x"] + c["y"] < 0.5)
    )
    assert all(c["x"] + c["y"] < 0.5 for c in searched(searcher, 6, lambda c: c["x"] + c["y"]))


def test_known_points_need_a_mode_and_are_not_tried_again():
    points = {"points_to_evaluate": [{"n": 1}, {"n": 2}], "evaluated_rewards": [0.5]}
    with pytest.raises(GoalError, match="evaluated_rewards needs mode"):
        auto({"n": randint(0, 4)}, **points)
    searcher = AutoSearch(num_samples=-1, **points)
    searcher.goal = Goal("loss", "min")
    searcher.on_start({"n": randint(0, 4)}, 3)
    assert next(iter(searched(searcher, 9, lambda c: 0.0))) == {"n": 2}
    assert searcher._told.outcomes[0].scores == (-0.5,)
    assert sorted(p[0] for p in searcher._distinct.taken) == [0.125, 0.375, 0.625, 0.875]


def test_trials_of_others_are_learnt_from_and_not_repeated():
    searcher = auto({"n": randint(0, 3)})
    known = Trial("earlier", -1, {"n": 1}, CPU, Status.TERMINATED)
    searcher.on_result(known, Result(1, 1.0, (1.0,), (), {}))
    searcher.on_trial_end(known)
    assert sorted(c["n"] for c in searched(searcher, 5, lambda c: 0.0)) == [0, 2]
