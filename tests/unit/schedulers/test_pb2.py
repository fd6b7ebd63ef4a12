"""Population-based bandits: what they learn, and what they choose by it."""

import math
from random import Random

import pytest

from overtone import tune
from overtone.core import messages as m
from overtone.core.controller import Controller
from overtone.core.goal import Goal
from overtone.core.limits import Limits
from overtone.schedulers.pb2 import PB2, _best
from overtone.testing.manual_controller import ByHand
from overtone.testing.world import World


def pb2(**more):
    given = {"perturbation_interval": 2, "hyperparam_bounds": {"lr": [0.0, 1.0]}, **more}
    return PB2("training_iteration", "score", "max", **given)


def test_it_takes_what_improved_most():
    seen = [(t, [u], 1 - abs(u - 0.7)) for t in (1, 2, 3) for u in (0.0, 0.2, 0.4, 0.6, 0.7, 0.8, 1.0)]
    (found,) = _best(seen, [], [[i / 100] for i in range(101)], 4)
    assert found == pytest.approx(0.7, abs=0.1)


def test_old_intervals_are_forgotten():
    points = [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
    seen = [(t, [u], -abs(u - (0.2 if t < 8 else 0.8))) for t in range(1, 13) for u in points]
    (found,) = _best(seen, [], [[i / 100] for i in range(101)], 13)
    assert found == pytest.approx(0.8, abs=0.15)


def test_what_another_just_took_is_less_uncertain():
    seen = [(1, [0.5], 0.0), (1, [0.5], 0.1)]
    candidates = [[0.0], [1.0]]
    first = _best(seen, [], candidates, 2)
    assert _best(seen, [first], candidates, 2) != first


def test_a_clone_gets_values_inside_of_the_bounds():
    hand = ByHand(
        pb2(hyperparam_bounds={"lr": [0.1, 0.2], "in": {"n": [1, 9]}}), cpus=4,
        goal=Goal("score", "max", is_needed=True),
    )  # fmt: skip
    trials = [hand.run({"lr": 0.15, "in": {"n": 4, "other": 1}, "index": i}) for i in range(4)]
    for t in (2, 4, 6):
        for trial, gain in zip(trials[1:], (2.0, 3.0, 4.0), strict=True):
            hand.report(trial, t, gain * t, saves=True)
    hand.report(trials[0], 6, 0.0, saves=True)
    (ruled, _) = hand.choices
    assert (ruled.what, ruled.config["index"], ruled.config["in"]["other"]) == ("restart", 3, 1)
    assert 0.1 <= ruled.config["lr"] <= 0.2
    assert type(ruled.config["in"]["n"]) is int
    assert len(hand.controller._scheduler._seen) == 6


def test_nan_teaches_nothing():
    hand = ByHand(pb2(), cpus=1, goal=Goal("score", "max", is_needed=True))
    trial = hand.run({"lr": 0.5})
    for t, score in ((2, 1.0), (4, math.nan), (6, 1.0)):
        hand.report(trial, t, score, saves=True)
    assert hand.controller._scheduler._seen == []


def test_a_replay_is_equal_and_the_seed_decides():
    def run(seed):
        fresh = [
            Controller(
                pb2(synch=True),
                Goal("score", "max", is_needed=True),
                limits=Limits(total=6, lookahead=6),
                seed=seed,
            )
            for _ in range(2)
        ]
        configs = [{"lr": i / 5, "length": 8} for i in range(6)]
        gain = lambda config, t: {"score": t * (1 - abs(config["lr"] - 0.5))}  # noqa: E731
        records = World(fresh[0], Random(1), configs.__getitem__, metrics=gain).run()
        assert [fresh[1].replay(record)[1] for record in records] == [[]] * len(records)
        return [
            one.config
            for record in records
            for one in record.choices
            if isinstance(one, m.Ruled) and one.config
        ]

    assert run(1) == run(1) != run(2)


def test_the_space_is_completed():
    assert pb2().complete({"x": 1}) == {"x": 1, "lr": tune.uniform(0.0, 1.0)}


@pytest.mark.parametrize("bounds", [None, {}, {"lr": 0.1}, {"lr": [1]}])
def test_bounds_that_are_none(bounds):
    with pytest.raises(ValueError, match=r"hyperparam_bounds"):
        pb2(hyperparam_bounds=bounds)


def test_its_model_leaves_the_other_cores_to_the_trials(monkeypatch):
    from threadpoolctl import threadpool_info

    seen = []

    def best(*_):
        seen.extend(one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas")
        return [0.5]

    monkeypatch.setattr("overtone.schedulers.pb2._best", best)
    hand = ByHand(pb2(), cpus=4, goal=Goal("score", "max", is_needed=True))
    trials = [hand.run({"lr": 0.5}) for _ in range(4)]
    for t in (2, 4, 6):
        for gain, trial in enumerate(trials[1:], 2):
            hand.report(trial, t, float(gain * t), saves=True)
    hand.report(trials[0], 6, 0.0, saves=True)
    assert set(seen) == {1}
