"""The default that stops as far as early values are seen to predict late ones."""

import math
from random import Random
from types import SimpleNamespace

import pytest

from overtone import tune
from overtone.core import messages as m
from overtone.core.decision import CONTINUE
from overtone.core.goal import Goal
from overtone.core.types import Result
from overtone.schedulers.auto import FACTOR, AutoScheduler
from overtone.testing.by_hand import ByHand

LENGTH = 16


def search(curve, n, seed=1):
    """Trials one after the other; how long each ran."""
    hand = ByHand(AutoScheduler(), cpus=1, goal=Goal("score", "max", is_needed=True))
    random, lengths = Random(seed), []
    for _ in range(n):
        quality, trial = random.random(), hand.run()
        for t in range(1, LENGTH + 1):
            commands = hand.report(trial, t, curve(quality, t, random))
            if any(type(one) is m.Halt for one in commands):
                break
        lengths.append(t)
        hand.ended(trial, "halted" if t < LENGTH else "returned")
    return lengths, hand.controller._scheduler


def test_it_begins_by_believing_early_values():
    hand = ByHand(AutoScheduler(), cpus=1, goal=Goal("score", "max", is_needed=True))
    best = hand.run()
    for t in range(1, LENGTH + 1):
        assert not any(type(one) is m.Halt for one in hand.report(best, t, 1.0))
    hand.ended(best, "returned")
    assert any(type(one) is m.Halt for one in hand.report(hand.run(), 1, 0.5))


def test_where_early_values_tell_all_most_are_stopped_early():
    lengths, scheduler = search(lambda quality, t, random: quality + t, 60)
    later = lengths[20:]
    assert sum(length < LENGTH for length in later) > len(later) * (1 - 1.5 / FACTOR)
    assert sum(later) < 0.5 * LENGTH * len(later)
    assert scheduler._rho(0) > 0.8


def test_where_they_tell_nothing_few_are_once_it_knows():
    n_stopped = []
    for seed in (0, 2, 3):
        lengths, scheduler = search(
            lambda quality, t, random: random.random() if t < LENGTH else quality + 1, 180, seed
        )
        n_stopped.append(sum(length < LENGTH for length in lengths[120:]))
        assert scheduler._rho(0) < 0.5
    assert sorted(n_stopped)[1] < 0.2 * 60


def test_noise_is_soon_seen_for_what_it_is():
    wasted = []
    for seed in range(5):
        lengths, _ = search(
            lambda quality, t, random: random.random() if t < LENGTH else quality + 1, 90, seed
        )
        wasted.append(sum(length for length in lengths if length < LENGTH) / sum(lengths))
    assert sorted(wasted)[2] < 0.1  # of the time of the median search


def test_the_best_are_not_stopped():
    hits = 0
    for seed in range(10):
        lengths, _ = search(lambda quality, t, _: quality + t, 30, seed)
        draws = Random(seed)
        qualities = [draws.random() for _ in range(30)]
        hits += lengths[max(range(30), key=qualities.__getitem__)] == LENGTH
    assert hits == 10


def test_nan_is_stopped_at_once():
    hand = ByHand(AutoScheduler(), cpus=1, goal=Goal("score", "max", is_needed=True))
    trial = hand.run()
    assert type(hand.report(trial, 1, math.nan)[0]) is m.Halt
    assert hand.choices[0].why.note == "the metric is NaN"


def test_it_rules_again_an_eighth_further():
    hand = ByHand(AutoScheduler(), cpus=1, goal=Goal("score", "max", is_needed=True))
    trial = hand.run()
    orders = [order.until_t for t in range(1, 33) for order in hand.report(trial, t)]
    assert orders[-5:] == [23.625, 27, 30.375, 32, 36]


def test_who_was_early_is_judged_again_among_those_that_came_since():
    hand = ByHand(AutoScheduler(), cpus=4, goal=Goal("score", "max", is_needed=True))
    early, *later = [hand.run() for _ in range(4)]
    assert not any(type(one) is m.Halt for one in hand.report(early, 1, 0.1))
    for n, trial in enumerate(later):
        hand.report(trial, 1, 0.5 + n)
    assert [type(one) for one in hand.report(early, 2, 0.2)] == [m.Halt]
    why = hand.choices[0].why
    assert (why.rung, why.rank, why.t) == (1, None, 2)  # the numbers are not those of its score at 2
    assert why.note == "its 0.1 there is number 4 of 4 by now, it took 2.5; rho=0.80"


def test_it_computes_no_more_for_each_report_after_many_trials(monkeypatch):
    _, scheduler = search(lambda quality, t, random: quality + t, 100)
    computed = []
    monkeypatch.setattr(scheduler, "_rho", lambda k: computed.append(k) or 0.5)
    for n in range(200):
        scheduler._bar(0)
        scheduler._rungs[0].append(float(100 + n))
    assert len(computed) <= 10


def test_a_reason_is_given():
    curve = lambda quality, t, random: quality + t  # noqa: E731
    hand = ByHand(AutoScheduler(), cpus=1, goal=Goal("score", "max", is_needed=True))
    for quality in (0.9, 0.8, 0.7, 0.6, 0.5, 0.4):
        trial = hand.run()
        for t in range(1, LENGTH + 1):
            if any(type(one) is m.Halt for one in hand.report(trial, t, curve(quality, t, None))):
                why = hand.choices[0].why
                assert (why.rule, why.rank, why.rung in (1, 2, 4, 8)) == ("auto", why.of, True)
                assert why.note.startswith("rho=")
                return
        hand.ended(trial, "returned")
    pytest.fail("nothing was stopped")


def test_its_name(tmp_path):
    assert type(tune.create_scheduler("auto")) is AutoScheduler
    assert AutoScheduler(metric="loss", mode="min").arguments == ((), {"metric": "loss", "mode": "min"})


def test_equals_all_go_on():
    lengths, _ = search(lambda quality, t, random: 1.0, 8)
    assert lengths == [LENGTH] * 8


def test_a_clock_at_infinity_is_no_loop():
    scheduler, trial = AutoScheduler(), SimpleNamespace(id="a", best=None)
    scheduler.on_start(None)
    scheduler.on_trial_add(trial)
    assert scheduler.on_result(trial, Result(math.inf, 1.0)) is CONTINUE
