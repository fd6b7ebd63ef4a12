"""What each decision leads to, and how trials pause, park, restart and are cloned."""

import pytest

from overtone.core import messages as m
from overtone.core.decision import CONTINUE, SAVE, Add, Continue, Pause, Restart, Save, Stop
from overtone.core.resources import Placement, Resources
from overtone.core.retention import Retention
from overtone.core.template import Template
from overtone.core.trial import Status
from overtone.core.types import Why
from overtone.errors import OvertoneError
from overtone.testing.by_hand import ByHand, Dictated, checkpoint

WHY = Why("dictated", t=1)
HERE = Placement(("node",), ((),))


def ruled(decision, **more):
    """A trial that reported once, with a checkpoint, and what it was then told."""
    scheduler = Dictated({(0, 1): decision})
    hand = ByHand(scheduler, **more)
    trial = hand.run()
    return hand, trial, hand.report(trial, 1, saves=True)


# --- one trial -------------------------------------------------------------------------


@pytest.mark.parametrize("decision", [CONTINUE, Continue(), "CONTINUE", "NOOP"])
def test_continue(decision):
    hand, trial, commands = ruled(decision)
    assert commands == [m.Proceed(trial, 0, 0.0)]
    assert hand.choices == ()


@pytest.mark.parametrize("decision", [SAVE, Save()])
def test_save(decision):
    hand, trial, commands = ruled(decision)
    assert commands == [m.Proceed(trial, 0, 0.0, save=True)]
    assert hand.choices == (m.Ruled(trial, 1, "save"),)
    assert hand.saved(trial, 1) == []


def test_save_reaches_a_trial_that_runs_ahead():
    hand = ByHand(Dictated({(0, 1): SAVE}, ahead=5.0))
    trial = hand.run()
    assert hand.report(trial, 1) == [m.Proceed(trial, 0, 5.0, save=True)]


def test_stop():
    hand, trial, commands = ruled(Stop(WHY))
    assert commands == [m.Halt(trial, 0)]
    assert hand.choices == (m.Ruled(trial, 1, "stop", WHY), m.Moved(trial, "HALTING", 0))
    assert hand.ended(trial, "halted") == [m.Suggest(1)]
    assert hand.choices == (m.Moved(trial, "TERMINATED", 1, WHY),)
    assert hand.trial(trial).why == WHY


@pytest.mark.parametrize("cause", ["returned", "raised", "killed", "lost", "limit"])
def test_a_trial_that_was_stopped_is_terminated_however_it_ends(cause):
    hand, trial, _ = ruled(Stop(WHY), limits={"max_failures": 3})
    hand.ended(trial, cause, "E")
    assert hand.status(trial) is Status.TERMINATED
    assert hand.trial(trial).failures == 0
    assert hand.trial(trial).why == WHY


def test_stop_as_text():
    hand, trial, commands = ruled("STOP")
    assert commands == [m.Halt(trial, 0)]
    assert hand.choices[0].why == Why("Dictated")


def test_pause_saves_and_waits_to_be_chosen_again():
    hand, trial, commands = ruled(Pause(WHY), limits={"total": 1})
    assert commands == [m.Halt(trial, 0, save=True, park=True)]
    assert hand.choices == (m.Ruled(trial, 1, "pause", WHY), m.Moved(trial, "HALTING", 0))
    (again,) = hand.ended(trial, "halted")
    assert (again.attempt, again.checkpoint) == (1, checkpoint(trial, 1))
    assert hand.choices == (
        m.Moved(trial, "PAUSED", 1, WHY),
        m.Moved(trial, "STARTING", 1, placement=HERE, checkpoint=checkpoint(trial, 1)),
    )


def test_a_paused_trial_comes_after_those_that_wait_for_the_first_time():
    hand, trial, _ = ruled("PAUSE", limits={"lookahead": 1})
    hand.suggest({"second": 1})
    (order, *_) = hand.ended(trial, "halted")
    assert order.config == {"second": 1}
    assert hand.status(trial) is Status.PAUSED


def test_a_trial_whose_node_is_lost_while_it_pauses_is_paused():
    hand, trial, _ = ruled("PAUSE", limits={"lookahead": 1})
    hand.suggest({})
    hand.ended(trial, "lost")
    assert hand.status(trial) is Status.PAUSED


def test_a_trial_that_fails_while_it_pauses_has_failed():
    hand, trial, _ = ruled("PAUSE")
    hand.ended(trial, "raised", "E")
    assert hand.status(trial) is Status.ERROR


def test_a_trial_that_returns_while_it_pauses_is_done():
    hand, trial, _ = ruled("PAUSE")
    hand.ended(trial)
    assert hand.status(trial) is Status.TERMINATED


def test_restart_goes_on_from_its_own_checkpoint_with_another_config():
    hand, trial, commands = ruled(Restart({"x": 2}, None, WHY))
    assert commands == [m.Halt(trial, 0)]
    assert hand.choices == (
        m.Ruled(trial, 1, "restart", WHY, {"x": 2}, None),
        m.Moved(trial, "HALTING", 0),
    )
    (again, *_) = hand.ended(trial, "halted")
    assert (again.config, again.attempt, again.checkpoint) == ({"x": 2}, 1, checkpoint(trial, 1))
    assert hand.choices[0] == m.Moved(trial, "PENDING", 1, WHY)


@pytest.mark.parametrize("cause", ["killed", "lost"])
def test_a_restart_happens_even_where_the_old_process_had_to_be_killed(cause):
    hand, trial, _ = ruled(Restart({"x": 2}, None, WHY))
    (again, *_) = hand.ended(trial, cause, "did not halt within 10 s")
    assert again.config == {"x": 2}
    assert hand.trial(trial).failures == 0


def test_a_restart_forgets_what_its_source_has_not_done_yet():
    scheduler = Dictated({(1, 3): Restart({"x": 9}, "of 0", WHY)})
    hand = ByHand(scheduler, cpus=2, retention=Retention(1))
    source, trial = hand.run(), hand.run()
    scheduler.rulings[1, 3] = Restart({"x": 9}, source, WHY)
    hand.report(source, 1, saves=True)
    for t in (1, 2):
        hand.report(trial, t, saves=True)
    assert hand.report(trial, 3) == [m.Halt(trial, 0)]
    assert hand.report(source, 2, saves=True) == [m.Proceed(source, 0, 0.0)]  # 1 is pinned
    commands = hand.ended(trial, "halted")
    assert [one.checkpoint for one in commands if isinstance(one, m.Start)] == [checkpoint(source, 1)]
    hand.started(trial)
    assert hand.report(trial, 2, saves=True) == [m.Discard(f"{source}/1"), m.Proceed(trial, 1, 0.0)]
    assert hand.choices == ()  # not redone: its source had only come to 1
    assert hand.trial(trial).checkpoint == checkpoint(trial, 2)


def test_what_a_restart_pinned_is_let_go_when_it_is_stopped_instead():
    scheduler = Dictated()
    hand = ByHand(scheduler, cpus=2, retention=Retention(1))
    source, trial = hand.run(), hand.run()
    scheduler.rulings[1, 1] = Restart({}, source, WHY)
    hand.report(source, 1, saves=True)
    hand.report(trial, 1)
    hand.report(source, 2, saves=True)
    hand.tell(m.Requested(1.0, "stop_trial", trial))
    assert m.Discard(f"{source}/1") in hand.ended(trial, "halted")


def test_a_restart_may_ask_for_other_resources():
    template = Template(resources=lambda config: Resources.of({"cpu": config["cpu"]}))
    hand = ByHand(
        Dictated({(0, 1): Restart({"cpu": 2}, None, WHY)}), cpus=2, template=template, limits={"total": 1}
    )
    trial = hand.run({"cpu": 1})
    hand.report(trial, 1, saves=True)
    (again,) = hand.ended(trial, "halted")
    assert again.resources == Resources.of({"cpu": 2})


def test_a_restart_that_asks_for_more_than_there_is_fails():
    template = Template(resources=lambda config: Resources.of({"cpu": config["cpu"]}))
    hand = ByHand(
        Dictated({(0, 1): Restart({"cpu": 8}, None, WHY)}), cpus=2, template=template, limits={"total": 1}
    )
    trial = hand.run({"cpu": 1})
    hand.report(trial, 1, saves=True)
    assert hand.ended(trial, "halted") == []
    assert hand.status(trial) is Status.ERROR
    assert "asks for cpu 8" in hand.trial(trial).error
    assert hand.controller.is_done


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("nobody", "trial 'nobody' does not exist"),
        (None, "which has none. Save one with each report"),
    ],
)
def test_a_restart_from_nothing_says_what_to_add(source, message):
    hand = ByHand(Dictated({(0, 1): Restart({}, source, WHY)}))
    trial = hand.run()
    with pytest.raises(OvertoneError, match=message):
        hand.report(trial, 1)


def test_on_result_cannot_add():
    with pytest.raises(TypeError, match=r"Add is for review\(\)"):
        ruled(Add({}, None, WHY))


def test_what_is_no_decision_is_refused():
    with pytest.raises(TypeError, match="Dictated.on_result returned 'GO'"):
        ruled("GO")


def test_the_scheduler_hears_what_took_effect():
    scheduler = Dictated({(0, 1): SAVE})
    hand = ByHand(scheduler, stoppers=[lambda trial, result: "enough"])
    trial = hand.run()
    assert hand.report(trial, 1) == [m.Halt(trial, 0)]
    assert hand.choices[0] == m.Ruled(trial, 1, "stop", Why("stop", t=1, note="enough"))
    assert ("rule", 0, "Stop") in scheduler.told
    assert ("rule", 0, "Save") not in scheduler.told


def test_the_first_stopper_with_a_reason_is_the_last_that_is_asked():
    asked = []
    hand = ByHand(
        stoppers=[lambda trial, result: asked.append(1), lambda *_: "two", lambda *_: asked.append(3)]
    )
    hand.report(hand.run(), 1)
    assert asked == [1]


def test_a_stopper_may_end_the_search():
    class Enough:
        def __call__(self, trial, result):
            return None

        def stop_all(self):
            return "all is known"

    hand = ByHand(stoppers=[Enough()], cpus=2)
    one, other = hand.run(), hand.run()
    commands = hand.report(one, 1)
    assert commands == [
        m.Proceed(one, 0, 0.0), m.Halt(one, 0, save=True), m.Halt(other, 0, save=True)
    ]  # fmt: skip
    hand.ended(one, "halted")
    assert not hand.controller.is_done
    hand.ended(other, "halted")
    assert hand.controller.is_done
    assert hand.trial(other).why == Why("stop_all", note="all is known")


# --- parking ---------------------------------------------------------------------------


def parked(**more):
    hand = ByHand(Dictated({(0, 1): Pause(WHY)}), limits={"total": 1, **more.pop("limits", {})}, **more)
    trial = hand.run(more.get("config"))
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
    hand = ByHand(Dictated({(0, 1): Pause(WHY)}))
    trial = hand.run()
    hand.report(trial, 1)
    assert hand.save_failed(trial) == [m.Proceed(trial, 0, 0.0)]
    waiting = ByHand(Dictated({(0, 1): Pause(WHY)}), limits={"lookahead": 1})
    trial = waiting.run()
    waiting.suggest({"second": 1})
    waiting.report(trial, 1)
    (order, *_) = waiting.save_failed(trial)
    assert order.config == {"second": 1}
    assert waiting.status(trial) is Status.PARKED
    assert waiting.report(trial, 2) == []
    assert waiting.is_stale
    assert waiting.save_failed(trial) == []
    other = order.trial_id
    waiting.started(other)
    waiting.report(other, 1)
    assert m.Proceed(trial, 0, 0.0) in waiting.ended(other)


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


# --- review ----------------------------------------------------------------------------


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
    assert commands == [m.Halt(one, 0), m.Halt(other, 0, save=True, park=True)]
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
