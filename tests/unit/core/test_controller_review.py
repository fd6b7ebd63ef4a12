"""Rulings on trials that did not just report, and trials that are added."""

from overtone.core import messages as m
from overtone.core.decision import CONTINUE, SAVE, Add, Pause, Restart, Stop
from overtone.core.resources import Placement, Resources
from overtone.core.retention import Retention
from overtone.core.trial import Status, Template
from overtone.core.types import Why
from overtone.testing.manual_controller import ByHand, Dictated, checkpoint

WHY = Why("dictated", t=1)
HERE = Placement(("node",), ((),))


def test_review_is_asked_when_a_trial_ended_paused_or_was_withdrawn_and_when_the_search_is_over():
    def asked(hand):
        found = hand.controller._scheduler.told.count(("review",))
        hand.controller._scheduler.told.clear()
        return found

    hand = ByHand(Dictated({(0, 1): "PAUSE"}), cpus=1, limits={"lookahead": 2, "total": 3})
    trial = hand.run()
    hand.suggest({}), hand.suggest({})
    assert asked(hand) == 0
    hand.report(trial, 1)
    hand.ended(trial, "halted")
    assert asked(hand) == 1  # paused
    second, third = list(hand.controller.trials)[1:]
    hand.tell(m.Requested(1.0, "stop_trial", third))
    assert asked(hand) == 1  # withdrawn
    hand.started(second)
    hand.report(second, 1)
    hand.ended(second)
    assert asked(hand) == 1  # ended
    hand.started(trial)
    hand.report(trial, 2)
    hand.ended(trial)
    assert asked(hand) == 2  # ended; the search is over


def test_review_is_asked_when_a_trial_could_never_start():
    scheduler = Dictated()
    hand = ByHand(scheduler, template=Template(resources=lambda config: Resources.of(config)))
    hand.suggest({"cpu": 5})
    assert scheduler.told == [("add", 0), ("end", 0), ("review",)]


def test_review_rules_on_others():
    scheduler = Dictated({(2, 1): "STOP"})
    hand = ByHand(scheduler, cpus=3, limits={"lookahead": 1})
    running, saving, ending = hand.run(), hand.run(), hand.run()
    hand.suggest({})
    waiting = list(hand.controller.trials)[3]
    hand.report(running, 1), hand.report(saving, 1), hand.report(ending, 1)
    scheduler.reviews = [[
        (running, Stop(WHY)), (saving, SAVE), (waiting, Stop(WHY)), (ending, Stop(WHY)), (saving, CONTINUE)
    ]]  # fmt: skip
    commands = hand.ended(ending, "halted")
    assert commands[:2] == [m.Halt(running, 0), m.Proceed(saving, 0, 0.0, save=True)]
    assert [type(one) for one in commands[2:]] == [m.Suggest] * len(commands[2:])
    assert hand.status(waiting) is Status.TERMINATED
    assert hand.choices == (
        m.Moved(ending, "TERMINATED", 1, Why("Dictated")),
        m.Ruled(running, 1, "stop", WHY),
        m.Moved(running, "HALTING", 0),
        m.Ruled(saving, 1, "save"),
        m.Ruled(waiting, 0, "stop", WHY),
        m.Moved(waiting, "TERMINATED", 0, WHY),
    )


def test_review_may_add_a_trial_from_the_checkpoint_of_another():
    scheduler = Dictated({(1, 1): "STOP"})
    hand = ByHand(scheduler, cpus=2, limits={"total": 2}, retention=Retention(1))
    source, ending = hand.run(), hand.run()
    hand.report(source, 4, saves=True)
    hand.report(ending, 1)
    scheduler.reviews = [[("", Add({"x": 1}, source, WHY)), ("", Add({"x": 2}, None, WHY))]]
    (order,) = hand.ended(ending, "halted")
    assert (order.index, order.config, order.checkpoint) == (2, {"x": 1}, checkpoint(source, 4))
    added = [one for one in hand.choices if isinstance(one, m.Added)]
    assert [(one.index, one.source, one.why) for one in added] == [(2, source, WHY), (3, None, WHY)]
    assert hand.report(source, 5, saves=True) == [m.Proceed(source, 0, 0.0)]  # the clone needs 4
    clone = order.trial_id
    hand.started(clone)
    commands = hand.report(clone, 5, saves=True)
    assert commands == [m.Discard(f"{source}/4"), m.Proceed(clone, 0, 0.0)]
    assert hand.trial(clone).n_results == 1


def test_review_may_not_add_to_a_search_that_closes():
    scheduler = Dictated()
    hand = ByHand(scheduler)
    trial = hand.run()
    hand.tell(m.Interrupted(1.0))
    scheduler.reviews = [[("", Add({}, None, WHY))]]
    hand.ended(trial, "halted")
    assert len(hand.controller.trials) == 1
    assert hand.controller.is_done


def test_review_may_restart_and_pause_a_running_trial():
    scheduler = Dictated({(2, 1): "STOP"})
    hand = ByHand(scheduler, cpus=3, limits={"total": 3})
    one, other, ending = hand.run(), hand.run(), hand.run()
    hand.report(one, 1, saves=True), hand.report(other, 1, saves=True), hand.report(ending, 1)
    scheduler.reviews = [[(one, Restart({"x": 1}, other, WHY)), (other, Pause(WHY))]]
    commands = hand.ended(ending, "halted")
    assert commands == [m.Halt(one, 0, final=False), m.Halt(other, 0, save=True, park=True)]
    (again,) = hand.ended(one, "halted")
    assert (again.config, again.checkpoint) == ({"x": 1}, checkpoint(other, 1))


def test_the_checkpoint_of_a_trial_that_ended_can_be_gone_on_from():
    """A clone that ended without saving: its checkpoint is its source's, which must stay."""
    scheduler = Dictated({(1, 2): "STOP"})
    hand = ByHand(scheduler, cpus=3, limits={"total": 2}, retention=Retention(1))
    source, trial = hand.run(), hand.run()
    hand.report(source, 1, saves=True)
    scheduler.rulings[1, 1] = Restart({}, source, WHY)
    hand.report(trial, 1)
    hand.ended(trial, "halted")
    hand.started(trial)
    hand.report(trial, 2)
    hand.ended(trial, "halted")
    assert hand.status(trial) is Status.TERMINATED
    assert hand.report(source, 2, saves=True) == [m.Proceed(source, 0, 0.0)]  # and no Discard
