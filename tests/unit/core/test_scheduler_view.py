"""What schedulers see."""

import pytest

from overtone.core import messages as m
from overtone.testing.manual_controller import ByHand, Dictated


def viewing(**more):
    hand = ByHand(Dictated({(0, 1): "PAUSE"}), cpus=2, limits={"lookahead": 2, "total": 4}, **more)
    trials = [hand.run(), hand.run()]
    hand.suggest({}), hand.suggest({})
    hand.report(trials[0], 1, saves=True)
    hand.ended(trials[0], "halted")
    return hand, hand.controller.view


def test_trials_by_what_they_do():
    hand, view = viewing()
    ids = list(view.trials)
    assert [trial.index for trial in view.running()] == [1, 2]
    assert [trial.index for trial in view.paused()] == [0]
    assert [trial.index for trial in view.live()] == [0, 1, 2, 3]
    assert view.first_runnable() is None
    assert not view.fits(view.trials[ids[3]])
    hand.report(ids[1], 1)
    hand.ended(ids[1])
    assert [trial.index for trial in view.live()] == [0, 2, 3]


def test_resources():
    _, view = viewing()
    assert (view.free, view.total) == ({"cpu": 0.0}, {"cpu": 2.0})


def test_runnable_is_in_order():
    hand, view = viewing()
    hand.controller._scheduler.choose = lambda _: None
    hand.capacity(cpu=5)
    assert [trial.index for trial in view.runnable()] == [3, 0]
    assert view.first_runnable().index == 3


def test_random_is_keyed():
    _, view = viewing(seed=7)
    draws = [view.random("a", "t", 1).random() for _ in range(2)]
    assert draws[0] == draws[1] != view.random("a", "t", 2).random()
    assert viewing(seed=8)[1].random("a", "t", 1).random() != draws[0]


def test_earlier_experiments():
    _, view = viewing()
    with pytest.raises(LookupError, match="old: earlier experiments cannot be read here"):
        view.earlier("old")
    _, view = viewing(earlier=lambda path: path.upper())
    assert view.earlier("old") == "OLD"


def test_the_search_is_over_once_all_is_suggested_and_nothing_runs():
    hand = ByHand(limits={"total": 1})
    trial = hand.run()
    assert not hand.controller.view.search_is_over
    hand.report(trial, 1)
    hand.ended(trial)
    assert hand.controller.view.search_is_over
    assert hand.tell(m.Tick(1.0)) == []
