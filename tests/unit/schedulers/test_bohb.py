"""The scheduler of BOHB keeps what its searcher learns from."""

from overtone.core.goal import Goal
from overtone.schedulers.bohb import HyperBandForBOHB
from overtone.schedulers.hyperband import HyperBandScheduler
from overtone.testing.manual_controller import ByHand


def test_what_was_found_at_each_budget():
    scheduler = HyperBandForBOHB(max_t=3)
    hand = ByHand(scheduler, cpus=3, goal=Goal("loss", "min", is_needed=True), limits={"total": 3})
    trials = [hand.run() for _ in range(3)]
    assert scheduler.found == {1: {}, 3: {}}
    for trial, loss in zip(trials, (3.0, 1.0, 2.0), strict=True):
        hand.report(trial, 1, None, loss=loss, saves=True)
        hand.ended(trial, "halted")
    assert scheduler.found == {1: dict(zip(trials, (-3.0, -1.0, -2.0), strict=True)), 3: {}}
    hand.started(trials[1])
    hand.report(trials[1], 2, None, loss=0.5)
    hand.report(trials[1], 3, None, loss=0.25)
    assert scheduler.found[3] == {trials[1]: -0.25}
    assert list(scheduler.found[1].values()) == [-3.0, -1.0, -2.0]


def test_the_brackets_are_those_of_hyperband():
    assert HyperBandForBOHB(max_t=27).plans == HyperBandScheduler(max_t=27).plans
