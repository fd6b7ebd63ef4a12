"""Requests of people: pauses that hold, additions, limits, priorities and notes."""

import math
from dataclasses import replace

import pytest

from overtone.core import messages as m
from overtone.core.decision import Pause
from overtone.core.requests import Answered
from overtone.core.resources import Resources
from overtone.core.trial import Status, Template
from overtone.core.types import Why
from overtone.errors import SpaceError
from overtone.testing.manual_controller import ByHand, Dictated

WHO = "user1 from the dashboard"


def ask(hand, what, trial="", **more):
    return hand.tell(m.Requested(hand.time, what, trial, **more))


def objection(hand, what, trial="", **more):
    return hand.controller.objection(m.Requested(hand.time, what, trial, **more))


def paused_by_request(hand=None, saves=True):
    hand = hand or ByHand(limits={"total": 1})
    trial = hand.run()
    hand.report(trial, 1, saves=saves)
    ask(hand, "pause_trial", trial, who=WHO)
    hand.ended(trial, "halted")
    return hand, trial


# --- pause and resume ------------------------------------------------------------------------------


def test_a_running_trial_saves_and_is_held():
    hand = ByHand(cpus=2, limits={"total": 2})
    trial = hand.run()
    assert ask(hand, "pause_trial", trial, who=WHO) == [m.Halt(trial, 0, save=True, park=True)]
    assert hand.choices[0] == m.Steered(trial, is_held=True)
    hand.saved(trial, 1)
    assert hand.ended(trial, "halted") == []
    assert hand.trial(trial).why == Why("pause_trial", note=f"paused by {WHO}")
    assert hand.status(trial) is Status.PAUSED
    other = hand.run()
    assert hand.ended(other) == []
    assert hand.status(trial) is Status.PAUSED
    assert not hand.controller.is_done


def test_a_held_trial_goes_on_when_it_is_resumed():
    hand, trial = paused_by_request()
    (start,) = ask(hand, "resume_trial", trial)
    assert isinstance(start, m.Start)
    assert start.checkpoint.t == 1
    assert hand.choices[0] == m.Steered(trial, is_held=False)


def test_a_pending_trial_is_held_and_the_next_one_starts():
    hand = ByHand(limits={"total": 3, "lookahead": 3})
    first = hand.run()
    hand.suggest({})
    hand.suggest({})
    second, third = list(hand.controller.trials)[1:]
    assert ask(hand, "pause_trial", second) == []
    (start,) = (one for one in hand.ended(first) if isinstance(one, m.Start))
    assert start.trial_id == third
    assert ask(hand, "resume_trial", second) == []
    (start,) = (one for one in hand.ended(third) if isinstance(one, m.Start))
    assert start.trial_id == second


def test_a_held_newest_trial_leaves_its_slot_to_the_search():
    hand = ByHand(cpus=2, limits={"total": 3})
    trial = hand.run()
    ask(hand, "pause_trial", trial)
    hand.capacity(cpu=1)
    hand.suggest({})
    second = list(hand.controller.trials)[1]
    assert hand.status(second) is Status.PENDING
    assert ask(hand, "pause_trial", second) == []
    assert [one for one in hand.ended(trial, "halted") if isinstance(one, m.Suggest)] == [m.Suggest(2)]


def test_a_trial_that_its_scheduler_paused_stays_with_its_scheduler():
    hand = ByHand(Dictated({(0, 1): Pause(Why("dictated"))}, choose=lambda trials: None), limits={"total": 2})
    hand.controller._scheduler.choose = lambda trials: trials.first_runnable()
    trial = hand.run()
    hand.report(trial, 1, saves=True)
    hand.controller._scheduler.choose = lambda trials: next(
        (one for one in trials.runnable() if one.status is Status.PENDING), None
    )
    hand.ended(trial, "halted")
    assert "dictated" in objection(hand, "resume_trial", trial)
    ask(hand, "pause_trial", trial)
    assert ask(hand, "resume_trial", trial) == []
    assert hand.status(trial) is Status.PAUSED


def test_a_released_trial_starts_though_its_scheduler_chooses_none():
    hand = ByHand(
        Dictated(choose=lambda trials: next((one for one in trials.runnable() if one.n_results == 0), None))
    )
    _, trial = paused_by_request(hand)
    (start,) = (one for one in ask(hand, "resume_trial", trial) if isinstance(one, m.Start))
    assert start.trial_id == trial


def test_a_scheduler_that_chooses_a_held_trial_is_not_obeyed():
    hand = ByHand(limits={"total": 1})
    hand.controller._starts._scheduler.choose = lambda trials: next(iter(trials.trials.values()))
    hand, trial = paused_by_request(hand)
    assert hand.capacity(cpu=2) == []
    assert hand.status(trial) is Status.PAUSED


def test_the_experiment_waits_for_held_trials_and_says_so_once():
    hand, trial = paused_by_request()
    notes = [one for record in hand.records for one in record.choices if isinstance(one, m.Noted)]
    assert [note.is_warning for note in notes] == [True]
    assert "1 trial is held" in notes[0].text
    assert not hand.controller.is_done
    assert hand.tell(m.Tick(5.0)) == []
    assert hand.choices == ()
    ask(hand, "stop", who=WHO, note="enough")
    assert hand.controller.is_done
    assert hand.trial(trial).why.note == f"stopped by {WHO}: enough"


def test_an_interruption_ends_an_experiment_of_held_trials_and_a_resume_keeps_them():
    hand, trial = paused_by_request()
    hand.tell(m.Interrupted(1.0))
    assert hand.controller.is_done
    hand.tell(m.Resumed(2.0, hand.controller.limits))
    assert hand.capacity(cpu=1) == []
    assert not hand.controller.is_done
    assert ask(hand, "resume_trial", trial) != []


def test_a_driver_that_dies_between_a_pause_and_its_effect():
    hand = ByHand(limits={"total": 1})
    trial = hand.run()
    hand.report(trial, 1, saves=True)
    ask(hand, "pause_trial", trial)
    hand.tell(m.Resumed(2.0, hand.controller.limits))
    assert hand.capacity(cpu=1) == []
    assert hand.status(trial) is Status.PAUSED
    (start,) = ask(hand, "resume_trial", trial)
    assert start.checkpoint.t == 1


def test_a_trial_that_cannot_save_parks():
    hand = ByHand(limits={"total": 1, "max_parked": 0})
    trial = hand.run()
    hand.report(trial, 1)
    ask(hand, "pause_trial", trial)
    assert hand.save_failed(trial) == []
    assert hand.status(trial) is Status.PARKED
    assert ask(hand, "resume_trial", trial) == [m.Proceed(trial, 0, 0.0)]
    assert hand.status(trial) is Status.RUNNING


def test_a_released_trial_whose_parked_process_is_lost_goes_on_when_there_is_room():
    never = Dictated(
        choose=lambda trials: next((one for one in trials.runnable() if not one.n_results), None)
    )
    hand = ByHand(never, limits={"total": 1})
    trial = hand.run()
    hand.report(trial, 1)
    ask(hand, "pause_trial", trial)
    hand.save_failed(trial)
    hand.tell(m.CapacityChanged(0.0, {}))
    assert ask(hand, "resume_trial", trial) == []
    hand.ended(trial, "lost")
    assert hand.status(trial) is Status.PAUSED
    assert [type(one) for one in hand.capacity(cpu=1)] == [m.Start]


def test_a_trial_that_cannot_save_and_holds_a_gpu_goes_on():
    demand = Template(resources=lambda _: Resources.of({"gpu": 1}))
    hand = ByHand(cpus=None, limits={"total": 1}, template=demand)
    hand.capacity(gpu=1)
    trial = hand.run()
    hand.report(trial, 1)
    ask(hand, "pause_trial", trial)
    assert hand.save_failed(trial) == [m.Proceed(trial, 0, 0.0)]
    assert hand.status(trial) is Status.RUNNING
    assert m.Steered(trial, is_held=False) in hand.choices
    assert any("keep its GPU" in one.text for one in hand.choices if isinstance(one, m.Noted))
    assert hand.report(trial, 2) == [m.Proceed(trial, 0, 0.0)]


def test_a_trial_that_is_resumed_before_it_paused_goes_on():
    hand = ByHand(limits={"total": 1})
    trial = hand.run()
    hand.report(trial, 1)
    ask(hand, "pause_trial", trial)
    assert ask(hand, "resume_trial", trial) == []
    assert hand.save_failed(trial) == [m.Proceed(trial, 0, 0.0)]
    assert not hand.controller._queue.released
    ask(hand, "pause_trial", trial)
    ask(hand, "resume_trial", trial)
    assert [type(one) for one in hand.ended(trial, "halted")] == [m.Start]


def test_a_result_on_the_way_to_a_pause_meets_its_stop_criterion():
    from overtone.testing.manual_controller import Saying

    stopper = Saying(lambda trial, result: "done" if result.t >= 2 else None)
    hand = ByHand(limits={"total": 1}, stoppers=[stopper])
    trial = hand.run()
    hand.report(trial, 1)
    ask(hand, "pause_trial", trial)
    hand.report(trial, 2)
    hand.ended(trial, "halted")
    assert hand.status(trial) is Status.TERMINATED
    assert hand.controller.is_done


def test_a_searcher_that_observes_pauses_is_told():
    hand = ByHand(limits={"total": 1}, observes=True, observes_pauses=True)
    _, trial = paused_by_request(hand)
    ask(hand, "resume_trial", trial)
    assert [one.why.note for one in hand.records[-2].choices if isinstance(one, m.Moved)]
    hand = ByHand(limits={"total": 1}, observes=True, observes_pauses=True)
    trial = hand.run()
    ask(hand, "pause_trial", trial)
    observed = [one.pause for one in hand.ended(trial, "halted") if isinstance(one, m.Observe)]
    observed += [one.pause for one in ask(hand, "resume_trial", trial) if isinstance(one, m.Observe)]
    assert observed == ["begins", "ends"]


# --- stop, save, note --------------------------------------------------------------------------------


def test_who_stopped_a_trial_is_in_its_reason():
    hand = ByHand()
    trial = hand.run()
    ask(hand, "stop_trial", trial, who=WHO)
    hand.ended(trial, "halted")
    assert hand.trial(trial).why == Why("stop_trial", note=f"stopped by {WHO}")


def test_a_held_trial_can_be_stopped():
    hand, trial = paused_by_request()
    ask(hand, "stop_trial", trial)
    assert hand.status(trial) is Status.TERMINATED
    assert hand.controller.is_done
    assert not hand.controller._queue.held


def test_a_note_changes_nothing():
    hand = ByHand()
    trial = hand.run()
    for about in ("", trial):
        assert ask(hand, "note", about, note="look at this") == []
        assert not hand.is_stale
        assert hand.choices == ()


# --- add ---------------------------------------------------------------------------------------------


def test_an_added_trial_goes_past_the_searcher():
    hand = ByHand(limits={"total": 1}, observes=True)
    first = hand.run({"lr": 1})
    ask(hand, "add", config={"lr": 2}, who=WHO, note="try this")
    (added,) = (one for one in hand.choices if isinstance(one, m.Added))
    assert (added.config, added.source) == ({"lr": 2}, None)
    assert added.why == Why("add", note=f"added by {WHO}: try this")
    hand.ended(first)
    hand.started(added.trial_id)
    assert any(isinstance(one, m.Observe) for one in hand.report(added.trial_id, 1))
    hand.ended(added.trial_id)
    assert hand.controller.is_done
    assert len(hand.controller.trials) == 2


def test_a_trial_is_added_after_the_last_one_ended():
    hand = ByHand(limits={"total": 1})
    hand.ended(hand.run())
    assert hand.controller.is_done
    (start,) = ask(hand, "add", config={"lr": 2})
    assert isinstance(start, m.Start)
    assert not hand.controller.is_done
    hand.started(start.trial_id)
    hand.ended(start.trial_id)
    assert hand.controller.is_done


def test_a_clone_has_the_config_with_changes_and_may_begin_from_a_checkpoint():
    hand = ByHand(limits={"total": 1})
    first = hand.run({"lr": 1, "model": {"depth": 2, "width": 3}})
    hand.report(first, 3, saves=True)
    demand = Resources.of({"cpu": 0.5})
    change = {"lr": 5, "model": {"depth": 4}, "model/width": 9}
    ask(hand, "add", first, config=change, source=first, resources=demand, priority=2.0)
    clone = list(hand.controller.trials.values())[1]
    assert clone.config == {"lr": 5, "model": {"depth": 4, "width": 9}}
    assert (clone.checkpoint.t, clone.ruled_t, clone.resources, clone.priority) == (3, 3, demand, 2.0)
    assert hand.trial(first).config["model"] == {"depth": 2, "width": 3}
    assert clone.why is None
    assert hand.choices[0].why.note == f"clone of {first}, added by a request"
    ask(hand, "add", first)
    assert list(hand.controller.trials.values())[2].config == hand.trial(first).config


def test_a_clone_of_a_trial_without_a_checkpoint_begins_anew():
    hand = ByHand(limits={"total": 1})
    first = hand.run({"lr": 1})
    ask(hand, "add", first, source=first)
    (added,) = (one for one in hand.choices if isinstance(one, m.Added))
    assert (added.source, hand.trial(added.trial_id).checkpoint) == (None, None)
    assert "has no checkpoint" in objection(hand, "add", added.trial_id, source=first)


def test_the_space_completes_an_added_config_or_refuses_it():
    def complete(values, index, source):
        if "typo" in values:
            raise SpaceError("'typo' is not in the space")
        return {"lr": 1, "index": index, **values}

    hand = ByHand(limits={"total": 1}, template=Template(complete=complete))
    first = hand.run({"lr": 1})
    ask(hand, "add", config={"lr": 7})
    assert list(hand.controller.trials.values())[1].config == {"lr": 7, "index": 1}
    assert objection(hand, "add", config={"typo": 1}) == "'typo' is not in the space"
    assert objection(hand, "add", first, config={"typo": 1}) == "'typo' is not in the space"
    ask(hand, "add", config={"typo": 1})
    assert hand.is_stale


# --- limits and priorities ---------------------------------------------------------------------------


def test_fewer_at_once_halt_nothing():
    hand = ByHand(cpus=3, limits={"total": 9})
    trials = [hand.run() for _ in range(3)]
    assert ask(hand, "set_limits", limits={"max_concurrent": 1}) == []
    assert hand.choices == (m.Steered(limits=hand.controller.limits),)
    assert hand.ended(trials[0]) == []
    assert hand.ended(trials[1]) == []
    assert hand.ended(trials[2]) == [m.Suggest(3)]
    assert ask(hand, "set_limits", limits={"max_concurrent": None}) == [m.Suggest(4), m.Suggest(5)]


def test_more_samples_reopen_the_search_and_fewer_end_it():
    hand = ByHand(limits={"total": 1}, total_for=lambda n: 2 * n)
    hand.ended(hand.run())
    assert hand.controller.is_done
    assert ask(hand, "set_limits", limits={"num_samples": 2}) == [m.Suggest(1)]
    assert hand.controller.limits.total == 4
    trial = hand.run()
    assert ask(hand, "set_limits", limits={"num_samples": 1}) == []
    hand.ended(trial)
    assert hand.controller.is_done
    assert hand.controller.view.search_is_over


def test_fewer_samples_end_the_newest_trials_that_have_not_started():
    hand = ByHand(limits={"total": 6, "lookahead": 9})
    for i in range(6):
        hand.suggest({"lr": i})
    first, second, third, *_ = trials = list(hand.controller.trials)
    ask(hand, "pause_trial", third)
    assert ask(hand, "set_limits", limits={"num_samples": 3}, who=WHO) == []
    ended = [one.trial_id for one in hand.choices if isinstance(one, m.Moved)]
    assert ended == trials[:2:-1]
    assert hand.trial(ended[0]).why == Why("set_limits", note=f"num_samples lowered by {WHO}")
    assert m.Noted("num_samples is lower now: 3 trials that have not started end") in hand.choices
    assert ask(hand, "set_limits", limits={"num_samples": 1}) == []
    assert hand.trial(second).status is Status.TERMINATED
    assert not hand.trial(first).status.is_final
    assert not hand.trial(third).status.is_final
    assert ask(hand, "set_limits", limits={"num_samples": 4}) == [m.Suggest(1), m.Suggest(3)]
    ask(hand, "add", config={"lr": 9})
    ask(hand, "set_limits", limits={"num_samples": 1})
    assert not list(hand.controller.trials.values())[-1].status.is_final


def test_an_endless_search_draws_no_suggestions_early():
    hand = ByHand(cpus=None, limits={"total": 2, "lookahead": 9})
    assert ask(hand, "set_limits", limits={"num_samples": -1}) == []
    assert hand.controller.limits.lookahead == 0
    ask(hand, "set_limits", limits={"num_samples": 5})
    assert hand.controller.limits.lookahead == 9


def test_the_time_budget():
    hand = ByHand(limits={"total": 1})
    trial = hand.run()
    hand.time = 10.0
    assert ask(hand, "set_limits", limits={"time_budget_s": 30.0}) == [m.Wake(30.0)]
    hand.tell(m.Tick(20.0))
    assert hand.controller.is_running
    assert ask(hand, "set_limits", limits={"time_budget_s": 5}) == [m.Wake(5), m.Halt(trial, 0, save=True)]
    assert not hand.controller.is_running


def test_of_limits_that_were_set_without_a_driver_the_last_counts():
    hand = ByHand(limits={"total": 2})
    hand.ended(hand.run())
    hand.tell(m.Interrupted(1.0))
    for limits in ({"time_budget_s": 1, "max_concurrent": 3}, {"num_samples": 4}, {"time_budget_s": None}):
        ask(hand, "set_limits", limits=limits, deferred=True)
    hand.tell(m.Resumed(9.0, hand.controller.bounds.given))
    assert hand.controller.is_running
    now = hand.controller.limits
    assert (now.total, now.max_concurrent, now.time_budget_s) == (4, 3, None)
    assert not any(isinstance(one, m.Noted) and one.is_warning for one in hand.choices)


def test_limits_of_a_resume():
    hand = ByHand(limits={"total": 4, "max_concurrent": 1})
    ask(hand, "set_limits", limits={"num_samples": 8, "max_concurrent": 2})
    given = hand.controller.bounds.given
    hand.tell(m.Resumed(1.0, given))
    assert (hand.controller.limits.total, hand.controller.limits.max_concurrent) == (8, 2)
    assert m.Steered(limits=hand.controller.limits) in hand.choices
    hand.tell(m.Resumed(2.0, replace(given, total=6)))
    assert (hand.controller.limits.total, hand.controller.limits.max_concurrent) == (6, 2)
    hand.tell(m.Resumed(3.0, replace(given, total=6, max_failures=3)))
    assert (hand.controller.limits.total, hand.controller.limits.max_failures) == (6, 3)


def test_a_priority_counts_in_the_queue():
    hand = ByHand(limits={"total": 3, "lookahead": 3})
    first = hand.run()
    hand.suggest({})
    hand.suggest({})
    second, third = list(hand.controller.trials)[1:]
    assert ask(hand, "set_priority", third, priority=5) == []
    assert hand.choices == (m.Steered(third, priority=5.0),)
    ask(hand, "set_priority", first, priority=1)
    assert [one.trial_id for one in hand.ended(first)] == [third]


# --- what is refused, and what is repeated -------------------------------------------------------------


@pytest.mark.parametrize(
    ("what", "more", "says"),
    [
        ("note", {"note": " "}, "needs a text"),
        ("pause_trial", {}, "needs a trial_id"),
        ("stop_trial", {"trial_id": "x"}, "'x' does not exist: the trials are"),
        ("add", {}, "needs a config"),
        ("add", {"config": [1]}, "must be a mapping"),
        ("add", {"config": {}, "source": "x"}, "'x' does not exist"),
        ("add", {"config": {}, "resources": Resources.of({"cpu": 9})}, "asks for"),
        ("add", {"config": {}, "priority": math.nan}, "must be a number"),
        ("set_limits", {}, "must be a mapping"),
        ("set_limits", {"limits": {"gpus": 1}}, "it may have max_concurrent, num_samples"),
        ("set_limits", {"limits": {"num_samples": 10**400}}, "a whole number"),
        ("set_limits", {"limits": {"time_budget_s": 10**400}}, "positive number of seconds"),
        ("set_limits", {"limits": {"max_concurrent": 0}}, "at least 1"),
        ("set_limits", {"limits": {"max_concurrent": 3}}, "this engine runs at most 2"),
        ("set_limits", {"limits": {"num_samples": None}}, "-1 for no limit"),
        ("set_limits", {"limits": {"time_budget_s": math.inf}}, "positive number of seconds"),
        ("set_limits", {"limits": {"time_budget_s": True}}, "positive number of seconds"),
    ],
)
def test_objections(what, more, says):
    hand = ByHand(most_concurrent=2)
    hand.run()
    assert says in objection(hand, what, more.pop("trial_id", ""), **more)


def test_a_trial_that_starts_cannot_save_yet():
    hand = ByHand()
    hand.suggest({})
    (trial,) = hand.controller.trials
    assert objection(hand, "save_trial", trial) == f"trial {trial} is starting: only a running trial can save"


def test_objections_by_the_state_of_a_trial():
    hand = ByHand(cpus=2)
    trial, other = hand.run(), hand.run()
    assert "no checkpoint" in objection(hand, "add", config={}, source=trial)
    assert objection(hand, "add", trial, source=trial) is None
    assert "must be a number" in objection(hand, "set_priority", trial)
    assert "must be a number" in objection(hand, "set_priority", trial, priority=10**400)
    assert "is not held: it is running" in objection(hand, "resume_trial", trial)
    ask(hand, "pause_trial", trial)
    assert "is held already" in objection(hand, "pause_trial", trial)
    assert "only a running trial can save" in objection(hand, "save_trial", trial)
    ask(hand, "stop_trial", other)
    assert "is ending already" in objection(hand, "pause_trial", other)
    hand.ended(other, "halted")
    for what in ("stop_trial", "pause_trial", "resume_trial", "save_trial", "set_priority"):
        assert "clone it" in objection(hand, what, other)
    assert objection(hand, "note", other, note="why?") is None
    ask(hand, "stop")
    assert "the experiment is ending (stop): resume it first" in objection(hand, "add", config={})
    assert objection(hand, "note", note="why?") is None


def test_a_finished_experiment_cannot_be_stopped():
    hand = ByHand(limits={"total": 1})
    hand.ended(hand.run())
    assert objection(hand, "stop") == "the experiment has ended"
    assert objection(hand, "set_limits", limits={"num_samples": 2}) is None


def test_one_request_has_one_effect():
    hand = ByHand()
    hand.run()
    ask(hand, "add", config={}, request="1")
    assert hand.controller.answered.get("1") == 0
    hand.controller.answered.note("1", 7)
    ask(hand, "add", config={}, request="1")
    assert hand.is_stale
    assert hand.controller.answered.get("1") == 7
    ask(hand, "add", config={}, request="2")
    assert len(hand.controller.trials) == 3
    again = ByHand(cpus=None)
    for record in hand.records:
        again.controller.replay(record)
    assert again.controller.answered.get("2") == hand.records[-1].n


def test_few_ids_are_kept():
    answered = Answered()
    for n in range(Answered.MOST + 5):
        answered.note(str(n), n)
    answered.note("", 1)
    assert "4" not in answered
    assert "" not in answered
    assert answered.get("5") == 5


# --- while no driver runs ------------------------------------------------------------------------------


def test_a_request_without_a_driver_waits_for_the_next():
    hand = ByHand(limits={"total": 1})
    trial = hand.run()
    hand.tell(m.Interrupted(1.0))
    hand.ended(trial, "halted")
    assert ask(hand, "add", config={"lr": 3}, deferred=True) == []
    ask(hand, "stop_trial", "nobody", deferred=True)
    ask(hand, "set_limits", limits={"max_concurrent": 1}, deferred=True)
    ask(hand, "note", note="later", deferred=True)
    assert hand.choices == ()
    assert hand.controller.has_deferred
    hand.tell(m.Resumed(2.0, hand.controller.limits))
    assert not hand.controller.has_deferred
    assert [one.config for one in hand.choices if isinstance(one, m.Added)] == [{"lr": 3}]
    (note,) = (one.text for one in hand.choices if isinstance(one, m.Noted))
    assert "has no effect (stop_trial): trial 'nobody' does not exist" in note
    assert hand.controller.limits.max_concurrent == 1
    again = ByHand(limits={"total": 1}, cpus=None)
    for record in hand.records:
        outcome, differs = again.controller.replay(record)
        assert (outcome.choices, differs) == (record.choices, [])
