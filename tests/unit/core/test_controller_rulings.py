"""What each decision on a trial leads to."""

import pytest

from overtone.core import messages as m
from overtone.core.decision import CONTINUE, SAVE, Add, Continue, Pause, Restart, Save, Stop
from overtone.core.protocols import Stopper
from overtone.core.resources import Placement, Resources
from overtone.core.retention import Retention
from overtone.core.table import TrialTable
from overtone.core.trial import Status, Template
from overtone.core.types import Why
from overtone.errors import OvertoneError
from overtone.testing.manual_controller import ByHand, Dictated, Saying, checkpoint

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
    assert commands == [m.Halt(trial, 0, save=True, final=False)]
    assert hand.choices == (
        m.Ruled(trial, 1, "restart", WHY, {"x": 2}, None),
        m.Moved(trial, "HALTING", 0),
    )
    (again, *_) = hand.ended(trial, "halted")
    assert (again.config, again.attempt, again.checkpoint) == ({"x": 2}, 1, checkpoint(trial, 1))
    assert hand.choices[0] == m.Moved(trial, "PENDING", 1, WHY, config={"x": 2})


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
    assert hand.report(trial, 3) == [m.Halt(trial, 0, final=False)]
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
    table = TrialTable()
    for record in hand.records:
        table.apply(record)
    assert table.rows[trial].resources == Resources.of({"cpu": 2})
    assert table.used == {"cpu": 2}


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


def test_a_restart_from_oneself_goes_on_from_what_is_saved_on_the_way_out():
    hand = ByHand(Dictated({(0, 5): Restart({"x": 2}, None, WHY)}))
    trial = hand.run()
    hand.report(trial, 1, saves=True)
    assert hand.report(trial, 5) == [m.Halt(trial, 0, save=True, final=False)]
    hand.saved(trial, 5)
    (again, *_) = hand.ended(trial, "halted")
    assert (again.config, again.checkpoint) == ({"x": 2}, checkpoint(trial, 5))
    hand.started(trial)
    hand.report(trial, 6)
    assert hand.choices == ()


def test_a_restart_from_nobody_says_who_there_is():
    hand = ByHand(Dictated({(0, 1): Restart({}, "nobody", WHY)}))
    trial = hand.run()
    with pytest.raises(OvertoneError, match="trial 'nobody' does not exist; there are 1 trials"):
        hand.report(trial, 1)


def test_a_restart_without_a_checkpoint_says_what_to_add():
    hand = ByHand(Dictated({(0, 1): Restart({}, None, WHY)}))
    trial = hand.run()
    hand.report(trial, 1)
    hand.save_failed(trial)
    with pytest.raises(OvertoneError, match="which has none. Save one with each report"):
        hand.ended(trial, "halted")
    other = ByHand(Dictated(), cpus=2)
    source, trial = other.run(), other.run()
    other.controller._scheduler.rulings[1, 1] = Restart({}, source, WHY)
    with pytest.raises(OvertoneError, match=f"checkpoint of {source}, which has none"):
        other.report(trial, 1)


@pytest.mark.parametrize("decision", [Pause(WHY), SAVE, Restart({}, None, WHY)])
def test_a_result_that_says_done_is_the_last_and_only_a_stop_matters(decision):
    hand = ByHand(Dictated({(0, 1): decision}))
    trial = hand.run()
    assert hand.report(trial, 1, done=True) == [m.Proceed(trial, 0, 0.0)]
    stopped = ByHand(Dictated({(0, 1): Stop(WHY)}))
    trial = stopped.run()
    assert stopped.report(trial, 1, done=True) == [m.Halt(trial, 0)]


def test_on_result_cannot_add():
    with pytest.raises(TypeError, match=r"Add is for review\(\)"):
        ruled(Add({}, None, WHY))


def test_what_is_no_decision_is_refused():
    with pytest.raises(TypeError, match="Dictated.on_result returned 'GO'"):
        ruled("GO")


def test_the_scheduler_hears_what_took_effect():
    scheduler = Dictated({(0, 1): SAVE})
    hand = ByHand(scheduler, stoppers=[Saying(lambda trial, result: "enough")])
    trial = hand.run()
    assert hand.report(trial, 1) == [m.Halt(trial, 0)]
    assert hand.choices[0] == m.Ruled(trial, 1, "stop", Why("stop", t=1, note="enough"))
    assert ("rule", 0, "Stop") in scheduler.told
    assert ("rule", 0, "Save") not in scheduler.told


def test_the_first_stopper_with_a_reason_is_the_last_that_is_asked():
    asked = []
    hand = ByHand(
        stoppers=[
            Saying(lambda trial, result: asked.append(1)),
            Saying(lambda *_: "two"),
            Saying(lambda *_: asked.append(3)),
        ]
    )
    hand.report(hand.run(), 1)
    assert asked == [1]


def test_a_stopper_may_end_the_search():
    class Enough(Stopper):
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


def test_a_restart_of_one_that_was_killed_before_it_ever_saved_begins_anew():
    hand = ByHand(Dictated({(0, 1): Restart({"x": 2}, None, WHY)}))
    trial = hand.run()
    hand.report(trial, 1)
    (again, *_) = hand.ended(trial, "killed", "killed by signal 9")
    assert (again.config, again.checkpoint) == ({"x": 2}, None)
    assert hand.trial(trial).ruled_t == 0
