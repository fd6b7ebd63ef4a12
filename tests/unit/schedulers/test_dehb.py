"""Differential evolution in HyperBand's brackets."""

import pytest

from overtone import tune
from overtone.core import messages as m
from overtone.core.goal import Goal
from overtone.engines.simulated import Simulated
from overtone.schedulers.dehb import DEHB
from overtone.testing.manual_controller import ByHand

SPACE = {"x": tune.uniform(0, 1), "k": tune.choice(["a", "b"]), "c": 3}


def dehb(cpus=1, **more):
    scheduler = DEHB(**{"max_t": 9, **more})
    scheduler.on_start(SPACE, 0)
    return scheduler, ByHand(scheduler, cpus=cpus, goal=Goal("score", "max", is_needed=True))


def train(scheduler, hand, score=lambda config: config["x"]):
    """One configuration to the end of its budget; its config and budget."""
    start = next(
        order for order in hand.suggest(scheduler.suggest(hand.asked[0])) if isinstance(order, m.Start)
    )
    hand.started(start.trial_id)
    budget = int(start.until_t)
    assert type(hand.report(start.trial_id, budget, score(start.config))[0]) is m.Halt
    hand.ended(start.trial_id, "halted")
    return start.config, budget


def test_the_first_brackets_are_hyperband():
    scheduler, hand = dehb()
    found = [train(scheduler, hand) for _ in range(22)]
    assert [budget for _, budget in found] == [1] * 9 + [3] * 3 + [9] + [3] * 5 + [9] + [9] * 3
    first = sorted((config["x"] for config, _ in found[:9]), reverse=True)
    assert [config["x"] for config, _ in found[9:12]] == first[:3]
    assert found[12][0]["x"] == first[0]
    assert scheduler.describe() == "Using DEHB: 3 brackets begun, populations by budget 1: 9, 3: 5, 9: 3"


def test_then_they_evolve():
    scheduler, hand = dehb()
    for _ in range(22):
        train(scheduler, hand)
    before = [sorted(one.score for one in population) for population in scheduler._populations]
    for _ in range(60):
        train(scheduler, hand)
    after = [sorted(one.score for one in population) for population in scheduler._populations]
    assert [len(one) for one in after] == [len(one) for one in before]
    assert all(new >= old for b, a in zip(before, after, strict=True) for old, new in zip(b, a, strict=True))
    assert sum(after[2]) > sum(before[2])


def test_no_worker_waits_for_a_rung():
    scheduler, hand = dehb(cpus=12)
    budgets = [hand.suggest(scheduler.suggest(hand.asked[0]))[0].until_t for _ in range(12)]
    assert budgets == [1] * 9 + [3] * 3  # the last of them are of the next bracket


def test_one_that_dies_counts_as_the_worst():
    scheduler, hand = dehb()
    start = hand.suggest(scheduler.suggest(hand.asked[0]))[0]
    hand.started(start.trial_id)
    hand.ended(start.trial_id, "raised", "boom")
    assert scheduler._populations[0][0].score == float("-inf")


def test_the_space_is_searched():
    scheduler, hand = dehb()
    configs = [train(scheduler, hand)[0] for _ in range(9)]
    assert {config["k"] for config in configs} == {"a", "b"}
    assert {config["c"] for config in configs} == {3}
    assert train(*dehb())[0] == configs[0]


def curve(config, t):
    return {"loss": (config["x"] - 0.3) ** 2 + 1 / t}


def test_it_is_scheduler_and_searcher(tmp_path):
    found = tune.run(
        curve, config={"x": tune.uniform(0, 1)}, scheduler=DEHB(max_t=9), num_samples=40, metric="loss", mode="min",
        engine=Simulated(workers=4), storage_path=str(tmp_path), verbose=0, seed=1,
    )  # fmt: skip
    assert len(found.trials) == 40
    assert {trial.last_result["training_iteration"] for trial in found.trials} == {1, 3, 9}
    assert found.best_config["x"] == pytest.approx(0.3, abs=0.05)


def test_what_makes_no_sense():
    with pytest.raises(ValueError, match="need 0 < grace_period <= max_t"):
        DEHB(max_t=1, grace_period=2)
    scheduler = DEHB()
    ByHand(scheduler)
    with pytest.raises(RuntimeError, match="omit search_alg"):
        scheduler.suggest(0)
