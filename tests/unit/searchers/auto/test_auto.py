"""`auto` by its suggestions; what all searchers must do is in tests/conformance."""

import pytest

from overtone.core.goal import Goal
from overtone.core.resources import Resources
from overtone.core.trial import Status, Trial
from overtone.core.types import Result, Why
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
    assert searcher._told.observations[0].scores == (-0.5,)
    assert sorted(p[0] for p in searcher._distinct.taken) == [0.125, 0.375, 0.625, 0.875]


def test_trials_of_others_are_learnt_from_and_not_repeated():
    searcher = auto({"n": randint(0, 3)})
    known = Trial("earlier", -1, {"n": 1}, CPU, Status.TERMINATED)
    searcher.on_result(known, Result(1, 1.0, (1.0,), (), {}))
    searcher.on_trial_end(known)
    assert sorted(c["n"] for c in searched(searcher, 5, lambda c: 0.0)) == [0, 2]


def reported(searcher, trial, t, score, seconds):
    searcher.on_result(trial, Result(t, score, (score,), (), {"time_total_s": seconds}))


def ended(searcher, trial, rule):
    trial.status, trial.why = Status.TERMINATED, Why(rule)
    searcher.on_trial_end(trial)


def halved(searcher, n, asks=True, known=()):
    """The configs of n trials of up to 27 results, a third of which are run whole; others stop after 1 or 3.

    Args:
        asks: Whether to ask; False to tell what is `known`, as a resume does.
    """
    found = []
    for i in range(n):
        config = searcher.suggest(i) if asks else known[i]
        searcher.on_suggested(i, config)
        found.append(config)
        trial = Trial(str(i), i, config, CPU, Status.RUNNING, suggestion=i)
        last = (27, 1, 3)[i % 3]
        for t in range(1, last + 1):
            reported(searcher, trial, t, -((config["x"] - 0.7) ** 2) - 1 / t, 2.0 * t)
        ended(searcher, trial, "max_t" if last == 27 else "asha")
    return found


def test_a_resume_under_early_stopping_gives_the_suggestions_of_the_uncut_run():
    domains = {"x": uniform(0, 1), "y": uniform(0, 1)}
    uncut = auto(domains)
    known = halved(uncut, 20)
    resumed = auto(domains)
    halved(resumed, 20, asks=False, known=known)
    assert resumed.suggest(20) == uncut.suggest(20)


def test_a_trial_that_was_stopped_early_does_not_count_with_its_early_value():
    searcher = auto({"x": uniform(0, 1)})
    found = [config["x"] for config in halved(searcher, 40)]
    chosen = [x for i, x in enumerate(found) if abs(x - searcher._sobol.point(i)[0]) > 1e-9]
    # by the last values alone, the trials that were run whole are the best ones, wherever they are
    assert len(chosen) >= 5
    assert sum(0.5 < x < 0.9 for x in chosen) > 0.6 * len(chosen)


def test_suggestions_stay_spread_if_a_scheduler_stops_trials():
    domains = {"x": uniform(0, 1), "y": uniform(0, 1)}
    found = halved(auto(domains), 60)[20:]
    alone = searched(auto(domains), 60, lambda c: -((c["x"] - 0.7) ** 2))[20:]
    near = [sum(abs(c["x"] - 0.7) < 0.02 for c in some) for some in (found, alone)]
    assert near[0] < len(found) / 3 < near[1]


def test_suggestions_of_a_small_finite_space_are_the_best_of_a_few_if_a_scheduler_stops_trials():
    searcher = auto({"x": randint(0, 100), "y": randint(0, 5)})
    found = halved(searcher, 60)[20:]
    assert len({tuple(c.values()) for c in found}) == 40
    lowest = [c["x"] < 20 for c in found]  # the best ones
    assert 12 < sum(lowest) < 36


def test_half_of_the_suggestions_do_not_believe_early_values():
    searcher, found = auto({"x": uniform(0, 1), "y": uniform(0, 1)}), []
    for i in range(100):
        config = searcher.suggest(i)
        searcher.on_suggested(i, config)
        found.append(config["x"])
        trial = Trial(str(i), i, config, CPU, Status.RUNNING, suggestion=i)
        last = 1 if i % 5 else 27
        for t in range(1, last + 1):  # what is best early is worst at the end
            reported(searcher, trial, t, -abs(config["x"] - (0.2 if t < 20 else 0.8)), 2.0 * t)
        ended(searcher, trial, "max_t" if last == 27 else "asha")

    def near(group):
        some = [x for i, x in enumerate(found) if i >= 36 and i % 4 and i // 4 % 2 == group]
        return sum(abs(x - 0.8) < 0.15 for x in some) / len(some)

    assert near(1) > 0.8 > near(0)


def test_points_fill_the_space_until_a_trial_ends_if_a_scheduler_pauses_trials():
    searcher = auto({"x": uniform(0, 1), "y": uniform(0, 1)})
    trials = []
    for i in range(13):
        config = searcher.suggest(i)
        assert tuple(config.values()) == tuple(searcher._sobol.point(i))
        searcher.on_suggested(i, config)
        trials.append(Trial(str(i), i, config, CPU, Status.RUNNING, suggestion=i))
        reported(searcher, trials[i], 1, -config["x"], 2.0)
        trials[i].status, trials[i].why = Status.PAUSED, Why("hyperband", 1, 1)
    for trial in trials[:9]:
        ended(searcher, trial, "hyperband")
    chosen = searcher.suggest(13)
    assert tuple(chosen.values()) != tuple(searcher._sobol.point(13))


def test_a_dear_region_is_left_for_a_cheap_one_that_is_as_good():
    searcher = auto({"x": uniform(0, 1)})
    found = []
    for i in range(16):
        config = searcher.suggest(i)
        searcher.on_suggested(i, config)
        found.append(config["x"])
        trial = Trial(str(i), i, config, CPU, Status.RUNNING, suggestion=i)
        # two optima; the one at 0.8 takes 20 times as long
        reported(
            searcher,
            trial,
            1,
            -min(abs(config["x"] - 0.2), abs(config["x"] - 0.8)),
            1 + 19 * (config["x"] > 0.5),
        )
        ended(searcher, trial, "returned")
    assert sum(x < 0.5 for x in found[5:]) > sum(x > 0.5 for x in found[5:])
