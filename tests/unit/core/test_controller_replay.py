"""A journal's records in a fresh controller: it knows what it knew, and the journal wins."""

from dataclasses import replace

import pytest

from overtone.core import messages as m
from overtone.core.decision import Add, Pause, Restart, Stop
from overtone.core.limits import Limits
from overtone.core.resources import Resources
from overtone.core.trial import Status, Template
from overtone.core.types import Why
from overtone.testing.manual_controller import ByHand, Dictated, Saying

WHY = Why("dictated", t=1)
SEARCH = {"lookahead": 2, "total": 4}


def replayed(records, scheduler=None, **options):
    """A fresh controller that went through the records, and where it would have chosen otherwise."""
    fresh = ByHand(scheduler or Dictated(), cpus=None, **options).controller
    found = [difference for record in records for difference in fresh.replay(record)[1]]
    return fresh, found


def facts(controller):
    return [
        (one.id, one.status, one.config, one.n_results, one.ruled_t, one.attempt, one.checkpoint)
        for one in controller.trials.values()
    ]


def story():
    """Three trials: one is paused, one is stopped, one runs; a fourth was added by a review."""
    scheduler = Dictated({(0, 1): Pause(WHY), (1, 1): Stop(WHY)})
    hand = ByHand(scheduler, cpus=2, limits=SEARCH)
    first = hand.run({"x": 1})
    second = hand.run({"x": 2})
    hand.report(first, 1, saves=True)
    hand.ended(first, "halted")
    scheduler.reviews = [[("", Add({"x": 9}, first, WHY))]]
    hand.report(second, 1)
    hand.ended(second, "halted")
    return hand


def test_it_knows_what_it_knew_without_deciding_anything_itself():
    hand = story()
    fresh, found = replayed(hand.records, limits=SEARCH)
    assert facts(fresh) == facts(hand.controller)
    assert found  # a scheduler that would have ruled nothing of this


def test_it_agrees_with_a_scheduler_that_rules_the_same():
    hand = story()
    same = Dictated({(0, 1): Pause(WHY), (1, 1): Stop(WHY)})
    n_reviews = hand.controller._scheduler.told.count(("review",))
    first = next(iter(hand.controller.trials))
    same.reviews = [()] * (n_reviews - 1) + [[("", Add({"x": 9}, first, WHY))]]
    _, found = replayed(hand.records, same, limits=SEARCH)
    assert found == []


def test_a_review_that_rules_twice_on_a_trial_agrees_with_its_own_record():
    """Only the first ruling had an effect."""
    search, scheduler, same = {"total": 3}, Dictated({(2, 1): Stop(WHY)}), Dictated({(2, 1): Stop(WHY)})
    hand = ByHand(scheduler, cpus=3, limits=search)
    first, second, third = hand.run({"x": 1}), hand.run({"x": 2}), hand.run({"x": 3})
    for trial in (first, second, third):
        hand.report(trial, 1)
    review = [(first, Pause(WHY)), (first, Pause(WHY)), (first, Restart({}, None, WHY)), (second, Stop(WHY))]
    scheduler.reviews = [review]
    hand.ended(third, "halted")
    assert [one.what for one in hand.choices if isinstance(one, m.Ruled)] == ["pause", "stop"]
    same.reviews = [()] * (scheduler.told.count(("review",)) - 1) + [review]
    assert replayed(hand.records, same, limits=search)[1] == []


def test_a_new_driver_finds_every_process_gone_and_runs_them_again():
    hand = ByHand(Dictated(), cpus=2, limits=SEARCH)
    first, second = hand.run({"x": 1}), hand.run({"x": 2})
    hand.report(first, 3, saves=True)
    hand.report(first, 4)
    fresh, _ = replayed(hand.records, limits=SEARCH)
    commands = fresh.handle(m.Resumed(9.0, Limits(**SEARCH))).commands
    assert [fresh.trials[one].status for one in (first, second)] == [Status.PENDING] * 2
    commands += fresh.handle(m.CapacityChanged(9.0, {"node": {"cpu": 2.0}})).commands
    starts = {one.trial_id: one for one in commands if isinstance(one, m.Start)}
    assert starts[first].checkpoint.t == 3
    assert starts[first].attempt == 1
    assert starts[second].checkpoint is None
    late = fresh.handle(m.Reported(9.5, first, 0, 5, {"score": 1.0}))
    assert late.is_stale
    fresh.handle(m.Started(10.0, first, 1, "node", 1))
    again = fresh.handle(m.Reported(10.0, first, 1, 4, {"score": 1.0}))
    assert [one.what for one in again.choices] == ["redone"]


def test_a_trial_that_was_to_stop_has_stopped_and_one_that_was_to_pause_is_paused():
    hand = ByHand(Dictated({(0, 1): Stop(WHY), (1, 1): Pause(WHY)}), cpus=2, limits=SEARCH)
    first, second = hand.run({"x": 1}), hand.run({"x": 2})
    hand.report(first, 1)
    hand.report(second, 1, saves=True)
    fresh, _ = replayed(hand.records, limits=SEARCH)
    fresh.handle(m.Resumed(9.0, Limits(**SEARCH)))
    assert [fresh.trials[one].status for one in (first, second)] == [Status.TERMINATED, Status.PAUSED]


def test_a_restart_that_was_on_its_way_happens():
    scheduler = Dictated()
    hand = ByHand(scheduler, cpus=2, limits=SEARCH)
    first, second = hand.run({"x": 1}), hand.run({"x": 2})
    hand.report(first, 2, saves=True)
    scheduler.rulings[1, 2] = Restart({"x": 3}, first, WHY)
    hand.report(second, 2)
    fresh, _ = replayed(hand.records, limits=SEARCH)
    fresh.handle(m.Resumed(9.0, Limits(**SEARCH)))
    trial = fresh.trials[second]
    assert (trial.status, trial.config, trial.checkpoint.trial_id) == (Status.PENDING, {"x": 3}, first)


def test_what_was_interrupted_waits_like_new_and_what_the_scheduler_paused_stays_paused():
    def only_new(view):
        return next((one for one in view.runnable() if one.status is Status.PENDING), None)

    hand = ByHand(Dictated({(0, 1): Pause(WHY)}, choose=only_new), cpus=2, limits=SEARCH)
    first, second = hand.run({"x": 1}), hand.run({"x": 2})
    hand.report(first, 1, saves=True)
    hand.ended(first, "halted")
    hand.tell(m.Interrupted(2.0))
    hand.ended(second, "halted")
    fresh, _ = replayed(hand.records, limits=SEARCH)
    fresh.handle(m.Resumed(9.0, Limits(**SEARCH)))
    assert [fresh.trials[one].status for one in (first, second)] == [Status.PAUSED, Status.PENDING]
    assert not fresh.is_done


def test_questions_without_an_answer_are_asked_again():
    hand = ByHand(Dictated(), cpus=2, limits=SEARCH)
    hand.run({"x": 1})
    fresh, _ = replayed(hand.records, limits=SEARCH)
    commands = fresh.handle(m.Resumed(9.0, Limits(**SEARCH))).commands
    assert [one.index for one in commands if isinstance(one, m.Suggest)] == [1, 2]


def test_a_finished_search_goes_on_when_there_is_more_to_suggest():
    hand = ByHand(Dictated(), cpus=1, limits={"total": 1})
    hand.ended(hand.run({"x": 1}))
    fresh, found = replayed(hand.records, limits={"total": 1})
    assert fresh.is_done
    assert not found
    fresh.handle(m.Resumed(9.0, Limits(total=2)))
    commands = fresh.handle(m.CapacityChanged(9.0, {"node": {"cpu": 1.0}})).commands
    assert [one.index for one in commands if isinstance(one, m.Suggest)] == [1]


@pytest.mark.parametrize(("how", "t"), [("", None), ("resume", 2), ("restart", 0)])
def test_failed_trials_are_tried_again_where_that_is_asked(how, t):
    hand = ByHand(Dictated(), cpus=1, limits={"total": 1})
    first = hand.run({"x": 1})
    hand.report(first, 2, saves=True)
    hand.ended(first, "raised")
    fresh, _ = replayed(hand.records, limits={"total": 1})
    fresh.handle(m.Resumed(9.0, Limits(total=1), how))
    trial = fresh.trials[first]
    if not how:
        assert trial.status is Status.ERROR
    else:
        assert (trial.status, trial.failures, trial.ruled_t) == (Status.PENDING, 0, t)
        assert (trial.checkpoint is None) == (how == "restart")


def test_trials_keep_the_demand_that_they_were_made_with():
    hand = ByHand(
        Dictated(), cpus=4, limits=SEARCH, template=Template(lambda config: Resources.of({"cpu": 2}))
    )
    first = hand.run({"x": 1})
    fresh, found = replayed(hand.records, limits=SEARCH)
    assert fresh.trials[first].resources == Resources.of({"cpu": 2})
    assert found == []


@pytest.mark.parametrize("metrics", [{"done": True}, {"met": 1}])
def test_a_journal_in_which_a_trial_that_had_ended_was_paused_wins(metrics):
    """Earlier versions did not rule on results that came while a trial halted."""
    stops = {"stoppers": [Saying(lambda trial, result: "met" if result.get("met") else None)]}
    hand = ByHand(**stops)
    trial = hand.run()
    hand.tell(m.Interrupted(2.0))
    hand.report(trial, 1, **metrics)
    hand.ended(trial, "halted")
    assert hand.status(trial) is Status.TERMINATED
    fresh, found = replayed(hand.records, **stops)
    assert (facts(fresh), found) == (facts(hand.controller), [])

    *before, reported, ended = hand.records
    closed = m.Moved(trial, "PAUSED", 0, Why("interrupted", note="interrupted"))
    old = [*before, replace(reported, choices=()), replace(ended, choices=(closed,))]
    fresh, _ = replayed(old, **stops)
    assert fresh.trials[trial].status is Status.PAUSED
