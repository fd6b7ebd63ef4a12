"""A trial whose node goes away saves, halts and continues elsewhere, and that is not a failure."""

import pytest

from overtone.core import messages as m
from overtone.core.decision import Pause
from overtone.core.trial import Status
from overtone.core.types import Why
from overtone.testing.manual_controller import ByHand, Dictated, checkpoint


def leaving(**options):
    hand = ByHand(Dictated(ahead=5.0), limits={"total": 1}, **options)
    trial = hand.run()
    assert hand.tell(m.Noticed(1.0, trial, 0, 30.0, moves=True)) == [m.Proceed(trial, 0, 5.0, save=True)]
    return hand, trial


def test_a_trial_whose_node_goes_away_halts_once_it_has_saved_and_goes_on():
    hand, trial = leaving()
    assert hand.tell(m.Reported(1.0, trial, 0, 1, {"score": 1})) == [m.Proceed(trial, 0, 5.0, save=True)]
    assert hand.tell(m.Saved(1.0, trial, 0, checkpoint(trial, 1))) == [m.Halt(trial, 0)]
    (again,) = hand.ended(trial, "halted")
    assert (again.attempt, again.checkpoint) == (1, checkpoint(trial, 1))
    assert hand.choices[0] == m.Moved(trial, "PENDING", 1, Why("moved", note="its node goes away"))
    assert hand.trial(trial).failures == 0
    hand.started(trial)
    hand.tell(m.Saved(1.0, trial, 1, checkpoint(trial, 2)))
    assert hand.status(trial) is Status.RUNNING


def test_a_trial_whose_node_goes_away_halts_at_a_report_with_a_checkpoint():
    hand, trial = leaving()
    assert hand.report(trial, 1, saves=True) == [m.Halt(trial, 0)]


def test_a_trial_that_has_not_begun_on_a_node_that_goes_away_does_not():
    hand = ByHand(limits={"total": 1})
    hand.suggest({})
    trial = next(iter(hand.controller.trials))
    assert hand.tell(m.Noticed(1.0, trial, 0, 30.0, moves=True)) == [m.Halt(trial, 0)]
    (again,) = hand.ended(trial, "halted")
    assert again.attempt == 1


@pytest.mark.parametrize("cause", ["lost", "killed"])
def test_leaving_nodes_is_never_a_failure(cause):
    hand, trial = leaving()
    for attempt in range(5):
        if cause == "killed":  # it did not obey in time
            hand.tell(m.Saved(1.0, trial, attempt, checkpoint(trial, attempt)))
        (again,) = hand.ended(trial, cause, "gone")
        assert again.attempt == attempt + 1
        hand.started(trial)
        hand.tell(m.Noticed(1.0, trial, attempt + 1, 30.0, moves=True))
    assert hand.trial(trial).failures == 0


@pytest.mark.parametrize("cause", ["raised", "killed", "limit"])
def test_a_failure_on_a_node_that_goes_away_is_one(cause):
    hand, trial = leaving()
    assert hand.ended(trial, cause, "its own fault") == []
    assert (hand.status(trial), hand.trial(trial).failures) == (Status.ERROR, 1)


def test_a_second_notice_is_stale_and_a_stopped_trial_stays_stopped():
    hand, trial = leaving()
    assert hand.tell(m.Noticed(1.0, trial, 0, 30.0, moves=True)) == []
    assert hand.is_stale
    hand.tell(m.Requested(1.0, "stop_trial", trial))
    hand.ended(trial, "lost")
    assert hand.status(trial) is Status.TERMINATED


def test_a_parked_trial_whose_node_goes_away_stays_paused():
    hand = ByHand(Dictated({(0, 1): Pause(Why("it pauses"))}), limits={"lookahead": 1, "total": 2})
    trial = hand.run()
    hand.suggest({})
    hand.report(trial, 1)
    hand.save_failed(trial)
    assert hand.status(trial) is Status.PARKED
    assert hand.tell(m.Noticed(1.0, trial, 0, 30.0, moves=True)) == []
    hand.ended(trial, "lost", "its node is gone")
    assert (hand.status(trial), hand.trial(trial).failures) == (Status.PAUSED, 0)
