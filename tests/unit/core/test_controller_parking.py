"""Trials that cannot save wait in their process."""

from overtone.core import messages as m
from overtone.core.decision import Pause, Stop
from overtone.core.resources import Placement, Resources
from overtone.core.trial import Status, Template
from overtone.core.types import Why
from overtone.testing.manual_controller import ByHand, Dictated

WHY = Why("dictated", t=1)
HERE = Placement(("node",), ((),))


def ruled(decision, **more):
    """A trial that reported once, with a checkpoint, and what it was then told."""
    scheduler = Dictated({(0, 1): decision})
    hand = ByHand(scheduler, **more)
    trial = hand.run()
    return hand, trial, hand.report(trial, 1, saves=True)


def parked(**more):
    hand = ByHand(Dictated({(0, 1): Pause(WHY)}), limits={"total": 1, **more.pop("limits", {})}, **more)
    trial = hand.run()
    hand.report(trial, 1)
    return hand, trial


def test_a_trial_that_cannot_save_waits_in_its_process_and_goes_on_in_it():
    hand, trial = parked()
    assert hand.save_failed(trial) == [m.Proceed(trial, 0, 0.0)]  # nothing else is to be done
    assert hand.choices == (
        m.Moved(trial, "PARKED", 0, WHY),
        m.Moved(trial, "RUNNING", 0, placement=HERE),
    )
    assert hand.report(trial, 2) == [m.Proceed(trial, 0, 0.0)]


def test_a_parked_trial_gives_its_resources_to_others():
    hand = ByHand(Dictated({(0, 1): Pause(WHY)}), limits={"lookahead": 1})
    trial = hand.run()
    hand.suggest({"second": 1})
    hand.report(trial, 1)
    (order, *_) = hand.save_failed(trial)
    assert order.config == {"second": 1}
    assert hand.status(trial) is Status.PARKED
    assert hand.report(trial, 2) == []
    assert hand.is_stale
    assert hand.save_failed(trial) == []
    hand.started(order.trial_id)
    hand.report(order.trial_id, 1)
    assert m.Proceed(trial, 0, 0.0) in hand.ended(order.trial_id)


def test_too_many_parked_trials_redo_their_work_instead():
    hand, trial = parked(limits={"max_parked": 0})
    assert hand.save_failed(trial) == [m.Halt(trial, 0)]
    (again,) = hand.ended(trial, "halted")
    assert (again.attempt, again.checkpoint) == (1, None)
    hand.started(trial)
    assert hand.report(trial, 1) == [m.Proceed(trial, 1, 0.0)]
    assert hand.choices == (m.Ruled(trial, 1, "redone"),)


def test_a_trial_that_holds_a_gpu_never_parks():
    hand = ByHand(
        Dictated({(0, 1): Pause(WHY)}), cpus=None, limits={"total": 1},
        template=Template(resources=lambda _: Resources.of({"gpu": 1})),
    )  # fmt: skip
    hand.capacity(gpu=1)
    trial = hand.run()
    hand.report(trial, 1)
    assert hand.save_failed(trial) == [m.Halt(trial, 0)]


def test_a_trial_that_cannot_save_on_its_way_out_just_halts():
    hand, trial, _ = ruled(Stop(WHY))
    assert hand.save_failed(trial) == [m.Halt(trial, 0)]
    running = ByHand()
    trial = running.run()
    assert running.save_failed(trial) == []
    assert running.status(trial) is Status.RUNNING


def waiting_and_parked():
    hand = ByHand(Dictated({(0, 1): Pause(WHY)}), limits={"lookahead": 1, "total": 2, "max_failures": 1})
    trial = hand.run()
    hand.suggest({})
    hand.report(trial, 1)
    hand.save_failed(trial)
    return hand, trial, list(hand.controller.trials)[1]


def test_a_parked_process_that_dies_counts_and_starts_anew():
    hand, trial, other = waiting_and_parked()
    assert hand.ended(trial, "killed", "E") == []
    assert (hand.status(trial), hand.trial(trial).failures) == (Status.PENDING, 1)
    hand.started(other)
    hand.report(other, 1)
    (again,) = hand.ended(other)
    assert (again.trial_id, again.attempt) == (trial, 1)


def test_a_parked_process_that_is_lost_leaves_the_trial_paused():
    hand, trial, other = waiting_and_parked()
    assert hand.ended(trial, "lost", "E") == []
    assert (hand.status(trial), hand.trial(trial).failures) == (Status.PAUSED, 0)
    hand.started(other)
    hand.report(other, 1)
    (again,) = hand.ended(other)
    assert (again.trial_id, again.attempt) == (trial, 1)


def test_a_parked_process_that_dies_makes_room_for_another():
    scheduler = Dictated({(0, 1): Pause(WHY), (1, 1): Pause(WHY)})
    hand = ByHand(scheduler, limits={"lookahead": 1, "total": 2, "max_failures": 1, "max_parked": 1})
    trial = hand.run()
    hand.suggest({})
    hand.report(trial, 1)
    hand.save_failed(trial)
    other = list(hand.controller.trials)[1]
    hand.ended(trial, "killed", "E")
    hand.started(other)
    hand.report(other, 1)
    hand.save_failed(other)
    assert hand.status(other) is Status.PARKED


def test_a_parked_trial_can_be_stopped():
    hand, trial, other = waiting_and_parked()
    assert hand.tell(m.Requested(1.0, "stop_trial", trial)) == [m.Halt(trial, 0)]
    assert hand.status(trial) is Status.HALTING
    assert hand.ended(trial, "halted") == []
    assert hand.status(trial) is Status.TERMINATED
    hand.started(other)
    hand.report(other, 1)
    assert hand.ended(other) == []
    assert hand.controller.is_done
