"""How trials and experiments end: failures, retries, limits, requests and Ctrl-C."""

import pytest

from overtone.core import messages as m
from overtone.core.decision import Pause, Restart
from overtone.core.endings import FAIL_FAST_S
from overtone.core.goal import Goal
from overtone.core.limits import Limits
from overtone.core.resources import Resources
from overtone.core.trial import Status, Template
from overtone.core.types import Why
from overtone.errors import GoalError
from overtone.testing.manual_controller import ByHand, Dictated, Saying, checkpoint


def demand(config):
    return Resources.of({"cpu": config.get("cpu", 1)})


# --- failures --------------------------------------------------------------------------


def failing(cause="raised", **limits):
    hand = ByHand(limits={"total": 1, **limits})
    trial = hand.run()
    hand.report(trial, 1, saves=True)
    return hand, trial, hand.ended(trial, cause, "ValueError: no")


@pytest.mark.parametrize("cause", ["raised", "killed", "limit"])
def test_a_failure_is_an_error(cause):
    hand, trial, commands = failing(cause)
    assert commands == []
    why = Why(cause, note="ValueError: no")
    assert hand.choices == (m.Moved(trial, "ERROR", 1, why, error="ValueError: no"),)
    found = hand.trial(trial)
    assert (found.status, found.failures, found.error) == (Status.ERROR, 1, "ValueError: no")
    assert hand.controller.is_done


def test_a_failed_trial_is_tried_again_from_its_checkpoint():
    hand, trial, commands = failing(max_failures=1)
    (again,) = commands
    assert (again.attempt, again.checkpoint) == (1, checkpoint(trial, 1))
    assert hand.choices[0] == m.Moved(
        trial, "PENDING", 1, Why("raised", note="ValueError: no"), error="ValueError: no"
    )
    hand.started(trial)
    assert hand.ended(trial, "raised", "again") == []
    assert (hand.status(trial), hand.trial(trial).failures) == (Status.ERROR, 2)


def test_minus_one_tries_again_for_ever():
    hand, trial, _ = failing(max_failures=-1)
    for attempt in range(1, 20):
        hand.started(trial)
        (again,) = hand.ended(trial, "killed", "E")
        assert again.attempt == attempt + 1


def test_a_lost_node_is_no_failure():
    hand, trial, commands = failing("lost")
    (again,) = commands
    assert (again.attempt, again.checkpoint) == (1, checkpoint(trial, 1))
    assert hand.trial(trial).failures == 0
    assert hand.choices[0] == m.Moved(trial, "PENDING", 1, Why("lost", note="ValueError: no"))


def test_a_limit_is_not_tried_again():
    hand, trial, commands = failing("limit", max_failures=-1)
    assert commands == []
    found = hand.trial(trial)
    assert (found.status, found.failures, found.why.rule) == (Status.ERROR, 1, "limit")


def test_what_is_hopeless_is_not_tried_again():
    hand = ByHand(limits={"total": 1, "max_failures": -1})
    trial = hand.run()
    error = "the process that imported the trainable's modules exited with code 1"
    hand.tell(m.Ended(hand.time, trial, 0, "raised", error, is_hopeless=True))
    assert (hand.status(trial), hand.trial(trial).error) == (Status.ERROR, error)


def lost(hand, trial, times):
    """The trial's process is killed, again and again, before it has a new result."""
    for _ in range(times):
        hand.ended(trial, "lost", "killed by signal 9 (SIGKILL); out of memory?")
        if hand.status(trial) is Status.STARTING:
            hand.started(trial)


def test_to_be_lost_again_and_again_without_a_new_result_is_a_failure():
    hand = ByHand(limits={"total": 1})
    trial = hand.run()
    hand.report(trial, 1, saves=True)
    lost(hand, trial, 2)
    assert (hand.status(trial), hand.trial(trial).failures) == (Status.RUNNING, 0)
    lost(hand, trial, 1)
    found = hand.trial(trial)
    assert (found.status, found.failures, found.why.rule) == (Status.ERROR, 1, "lost")
    assert found.error.startswith("lost 3 times in a row without a new result, the last time: killed by")
    assert "resources_per_trial" in found.error


def test_to_run_out_of_memory_again_and_again_is_a_failure_each_time_with_new_results_or_without():
    hand = ByHand(limits={"total": 1, "max_failures": 2})
    trial = hand.run()
    error = "out of memory: used 5 GB"
    for attempt in range(2):
        hand.report(trial, attempt + 1, saves=True)
        (again,) = hand.ended(trial, "killed", error)
        assert again.checkpoint == checkpoint(trial, attempt + 1)
        hand.started(trial)
    hand.report(trial, 3, saves=True)
    assert hand.ended(trial, "killed", error) == []
    found = hand.trial(trial)
    assert (found.status, found.failures, found.error) == (Status.ERROR, 3, error)
    assert hand.controller.is_done


def test_a_new_result_makes_good_for_losses_and_a_redone_one_does_not():
    hand = ByHand(limits={"total": 1})
    trial = hand.run()
    hand.report(trial, 1, saves=True)
    hand.report(trial, 2)
    for t in range(2, 12):
        lost(hand, trial, 2)
        hand.report(trial, t)  # redone at first
        hand.report(trial, t + 1)
    assert hand.trial(trial).failures == 0
    lost(hand, trial, 2)
    hand.report(trial, 2)
    lost(hand, trial, 1)
    assert hand.status(trial) is Status.ERROR


def test_a_trial_that_was_lost_too_often_has_its_retries_and_as_many_losses_each_time():
    hand = ByHand(limits={"total": 1, "max_failures": 1})
    trial = hand.run()
    lost(hand, trial, 5)
    assert (hand.status(trial), hand.trial(trial).failures) == (Status.RUNNING, 1)
    lost(hand, trial, 1)
    assert (hand.status(trial), hand.trial(trial).failures) == (Status.ERROR, 2)


def test_the_ends_of_drivers_are_no_losses_of_their_trials():
    hand = ByHand(limits={"total": 1})
    trial = hand.run()
    for _ in range(5):
        lost(hand, trial, 1)
        hand.tell(m.Resumed(hand.time, Limits(total=1)))
        hand.capacity(cpu=1)
        hand.started(trial)
    assert (hand.status(trial), hand.trial(trial).failures) == (Status.RUNNING, 0)


def test_a_lost_trial_goes_before_those_that_wait():
    hand = ByHand(cpus=1, limits={"total": 3, "lookahead": 2})
    trial = hand.run()
    hand.suggest({}), hand.suggest({})
    (again,) = [one for one in hand.ended(trial, "lost") if isinstance(one, m.Start)]
    assert (again.trial_id, again.attempt) == (trial, 1)


def test_a_trial_may_die_before_its_first_word():
    hand = ByHand(limits={"max_failures": 1, "total": 1})
    hand.suggest({})
    trial = next(iter(hand.controller.trials))
    (again,) = hand.ended(trial, "killed", "E")
    assert again.attempt == 1


def test_fail_fast_ends_the_search_and_gives_the_others_a_moment_to_save():
    hand = ByHand(cpus=3, limits={"fail_fast": True, "lookahead": 2})
    failing, running = hand.run(), hand.run()
    hand.suggest({}), hand.suggest({})
    starting, waiting = list(hand.controller.trials)[2:]
    assert hand.ended(failing, "raised", "E") == [
        m.Halt(running, 0, save=True, grace_s=FAIL_FAST_S), m.Halt(starting, 0, save=True, grace_s=FAIL_FAST_S)
    ]  # fmt: skip
    assert m.Noted(f"trial {failing} failed") in hand.choices
    assert hand.status(waiting) is Status.TERMINATED
    assert hand.suggest({}) == []  # an answer that was on its way
    assert len(hand.controller.trials) == 4
    hand.ended(running, "halted"), hand.ended(starting, "halted")
    assert hand.controller.is_done
    assert hand.trial(running).why == Why("fail_fast", note=f"trial {failing} failed")


def test_fail_fast_waits_for_the_last_retry():
    hand, trial, commands = failing(fail_fast=True, max_failures=1)
    assert [type(one) for one in commands] == [m.Start]
    assert not [one for one in hand.choices if isinstance(one, m.Noted)]


# --- what a trial must do --------------------------------------------------------------


@pytest.mark.parametrize(
    ("goal", "observes", "status"),
    [
        (Goal(), False, Status.TERMINATED),
        (Goal(), True, Status.ERROR),
        (Goal(is_needed=True), False, Status.ERROR),
        (Goal(constraints={"size": 4}), False, Status.ERROR),
    ],
)
def test_a_result_is_needed_where_somebody_decides_by_it(goal, observes, status):
    hand = ByHand(goal=goal, limits={"total": 1}, observes=observes)
    trial = hand.run()
    hand.ended(trial)
    assert hand.status(trial) is status
    assert hand.controller.is_done


def test_a_trial_without_a_result_has_failed():
    hand = ByHand(limits={"total": 1, "max_failures": 5})
    trial = hand.run()
    hand.ended(trial)
    assert hand.status(trial) is Status.ERROR
    assert "without a result: call tune.report" in hand.trial(trial).error
    assert hand.trial(trial).failures == 0


def test_a_trial_without_the_metric_has_failed_and_the_nearest_name_is_told():
    hand = ByHand(goal=Goal("accuracy", "max"), limits={"total": 1})
    trial = hand.run()
    hand.report(trial, 1, score=None, acuracy=0.9, loss=1.0, time_total_s=3.0)
    hand.ended(trial)
    assert hand.trial(trial).error == (
        "the trial ended without reporting a number as 'accuracy': it reported 'acuracy', 'loss'; "
        "'accuracy' and 'acuracy' are similar: use the same name in both places"
    )


def test_a_trial_without_a_constraint_metric_has_failed():
    goal = Goal("accuracy", "max", constraints={"size": 4})
    for sizes, text in ({}, "the constraint metric 'size': it reported 'accuracy'"), ({"size": 9}, ""):
        hand = ByHand(goal=goal, limits={"total": 1})
        trial = hand.run()
        hand.report(trial, 1, score=None, accuracy=0.9, **sizes)
        hand.ended(trial)
        assert text in hand.trial(trial).error
        assert (hand.status(trial) is Status.ERROR) == bool(text)


def test_a_trial_that_was_stopped_need_not_have_reported():
    hand = ByHand(goal=Goal("accuracy", "max"))
    trial = hand.run()
    hand.tell(m.Requested(1.0, "stop_trial", trial, "by me"))
    hand.ended(trial, "halted")
    assert hand.status(trial) is Status.TERMINATED
    assert hand.trial(trial).why == Why("stop_trial", note="by me")


def test_a_trial_that_reports_the_metric_now_and_then_is_fine():
    hand = ByHand()
    trial = hand.run()
    for t in range(1, 6):
        hand.report(trial, t, score=1.0 if t == 5 else None, other=1)
    hand.ended(trial)
    assert hand.status(trial) is Status.TERMINATED


def test_an_inferred_metric_that_nobody_needs_binds_nobody():
    hand = ByHand(goal=Goal(), cpus=2)
    one, other = hand.run(), hand.run()
    hand.report(one, 1, score=None, loss=1.0)
    hand.report(other, 1, score=None, reward=1.0)
    hand.ended(one), hand.ended(other)
    assert [hand.status(trial) for trial in (one, other)] == [Status.TERMINATED] * 2


def test_an_inferred_metric_that_is_needed_binds_all():
    hand = ByHand(goal=Goal(is_needed=True), cpus=2)
    one, other = hand.run(), hand.run()
    hand.report(one, 1, score=None, loss=1.0)
    hand.report(other, 1, score=None, reward=1.0)
    hand.ended(other)
    assert hand.status(other) is Status.ERROR


def test_a_needed_metric_that_cannot_be_told_ends_the_run():
    hand = ByHand(goal=Goal(is_needed=True))
    trial = hand.run()
    with pytest.raises(GoalError, match="the trial reported 'a', 'b'"):
        hand.report(trial, 1, score=None, a=1, b=2)


def test_what_a_scheduler_raises_is_raised():
    class Broken(Dictated):
        def on_result(self, trial, result):
            raise ZeroDivisionError("in on_result")

    hand = ByHand(Broken())
    trial = hand.run()
    with pytest.raises(ZeroDivisionError, match="in on_result"):
        hand.report(trial, 1)


# --- demands that can never be met -----------------------------------------------------


def test_a_demand_above_what_there_is_fails_and_the_search_goes_on():
    scheduler = Dictated()
    hand = ByHand(scheduler, cpus=2, template=Template(resources=demand), observes=True)
    commands = hand.suggest({"cpu": 3})
    trial = next(iter(hand.controller.trials))
    assert commands == [m.Observe(hand.trial(trial), None), m.Suggest(1)]
    assert hand.status(trial) is Status.ERROR
    assert hand.trial(trial).error == (
        "a trial asks for cpu 3, but this machine has cpu 2: ask for less, or use a larger machine"
    )
    assert [type(one) for one in hand.suggest({"cpu": 2})] == [m.Start]
    assert scheduler.told[:2] == [("add", 0), ("end", 0)]


def test_an_infeasible_demand_and_fail_fast():
    hand = ByHand(cpus=2, template=Template(resources=demand), limits={"fail_fast": True})
    assert hand.suggest({"cpu": 3}) == []
    assert hand.controller.is_done


# --- requests --------------------------------------------------------------------------


def test_a_requested_stop_saves_what_runs_and_withdraws_what_waits():
    hand = ByHand(limits={"lookahead": 2})
    running = hand.run()
    hand.suggest({})
    waiting = list(hand.controller.trials)[1]
    assert hand.tell(m.Requested(9.0, "stop", note="enough")) == [m.Halt(running, 0, save=True)]
    assert hand.choices[0] == m.Noted("enough")
    assert hand.status(waiting) is Status.TERMINATED
    assert hand.suggest({}) == []
    hand.saved(running, 3)
    hand.ended(running, "halted")
    assert hand.controller.is_done
    assert hand.trial(running).checkpoint == checkpoint(running, 3)
    assert hand.trial(running).why == Why("stop", note="enough")


def test_a_stop_is_requested_twice():
    hand = ByHand()
    trial = hand.run()
    hand.tell(m.Requested(1.0, "stop", note="one"))
    assert hand.tell(m.Requested(2.0, "stop", note="two")) == []
    assert hand.tell(m.Interrupted(3.0)) == []
    hand.ended(trial, "halted")
    assert hand.trial(trial).why.note == "one"


def test_one_trial_is_stopped_by_request_and_another_starts():
    hand = ByHand(limits={"lookahead": 1})
    running = hand.run()
    hand.suggest({})
    waiting = list(hand.controller.trials)[1]
    assert hand.tell(m.Requested(9.0, "stop_trial", running)) == [m.Halt(running, 0)]
    (order,) = [one for one in hand.ended(running, "halted") if isinstance(one, m.Start)]
    assert order.trial_id == waiting
    assert hand.tell(m.Requested(9.0, "stop_trial", running)) == []
    assert hand.is_stale


def test_a_stop_replaces_the_reason_of_a_trial_that_halts_already():
    hand = ByHand(Dictated({(0, 1): Pause(Why("paused"))}))
    trial = hand.run()
    hand.report(trial, 1)
    assert hand.tell(m.Requested(1.0, "stop_trial", trial, "no")) == []
    assert hand.save_failed(trial) == [m.Halt(trial, 0)]
    hand.ended(trial, "halted")
    assert hand.trial(trial).why == Why("stop_trial", note="no")


# --- Ctrl-C ----------------------------------------------------------------------------


def interrupted(**options):
    hand = ByHand(limits={"lookahead": 2, **options.pop("limits", {})}, **options)
    trial = hand.run()
    hand.suggest({})
    return hand, trial, hand.tell(m.Interrupted(9.0))


def test_ctrl_c_saves_and_keeps_trials_unended():
    hand, trial, commands = interrupted()
    waiting = list(hand.controller.trials)[1]
    assert commands == [m.Halt(trial, 0, save=True)]
    hand.saved(trial, 4)
    assert hand.ended(trial, "halted") == []
    hand.suggest(None)
    assert hand.status(trial) is Status.PAUSED
    assert hand.trial(trial).why == Why("interrupted", note="interrupted")
    assert hand.status(waiting) is Status.PENDING
    assert hand.controller.is_done


@pytest.mark.parametrize("cause", ["killed", "lost"])
def test_a_trial_that_does_not_survive_ctrl_c_is_unended_too(cause):
    hand, trial, _ = interrupted()
    hand.ended(trial, cause, "SIGINT")
    assert hand.status(trial) is Status.PAUSED
    assert hand.trial(trial).failures == 0


def test_a_trial_that_returns_after_ctrl_c_is_done():
    hand, trial, _ = interrupted()
    hand.report(trial, 1)
    hand.ended(trial)
    assert hand.status(trial) is Status.TERMINATED


def test_a_trial_that_was_done_when_ctrl_c_came_is_done():
    for order in ((m.Interrupted(9.0), None), (None, m.Interrupted(9.0))):
        hand = ByHand()
        trial = hand.run()
        for when in order:
            if when is None:
                hand.report(trial, 1, done=True)
            else:
                hand.tell(when)
        hand.ended(trial, "halted")
        assert hand.status(trial) is Status.TERMINATED
        assert hand.controller.is_finished is False


@pytest.mark.parametrize("is_leaving", [False, True])
def test_a_stop_criterion_that_is_met_while_a_trial_halts_ends_it(is_leaving):
    hand = ByHand(stoppers=[Saying(lambda trial, result: "enough" if result.t >= 2 else None)])
    trial = hand.run()
    hand.report(trial, 1)
    hand.tell(m.Noticed(8.0, trial, 0, 5.0, moves=True) if is_leaving else m.Interrupted(9.0))
    if is_leaving:
        hand.saved(trial, 1)
    assert hand.report(trial, 2) == []
    assert hand.choices == (m.Ruled(trial, 2, "stop", Why("stop", t=2, note="enough")),)
    hand.ended(trial, "halted")
    assert (hand.status(trial), hand.trial(trial).why.note) == (Status.TERMINATED, "enough")


def test_a_trial_that_halts_without_meeting_a_criterion_is_resumed():
    hand = ByHand(stoppers=[Saying(lambda trial, result: "enough" if result.t >= 3 else None)])
    trial = hand.run()
    hand.tell(m.Interrupted(9.0))
    hand.report(trial, 1)
    assert hand.choices == ()
    hand.ended(trial, "halted")
    assert hand.status(trial) is Status.PAUSED


def test_a_trial_that_fails_after_ctrl_c_fails_or_keeps_its_retry():
    hand, trial, _ = interrupted()
    hand.ended(trial, "raised", "E")
    assert hand.status(trial) is Status.ERROR
    hand, trial, _ = interrupted(limits={"max_failures": 1})
    assert hand.ended(trial, "raised", "E") == []
    assert hand.status(trial) is Status.PENDING


def test_ctrl_c_leaves_a_restart_to_be_gone_on_from():
    hand = ByHand(Dictated({(0, 1): Restart({"x": 2}, None, Why("pbt"))}))
    trial = hand.run({"x": 1})
    hand.report(trial, 1, saves=True)
    assert hand.tell(m.Interrupted(9.0)) == []
    assert hand.ended(trial, "halted") == []
    assert (hand.status(trial), hand.trial(trial).config) == (Status.PENDING, {"x": 2})
    assert hand.controller.is_done


def test_ctrl_c_and_a_trial_that_pauses():
    hand = ByHand(Dictated({(0, 1): Pause(Why("rung"))}))
    trial = hand.run()
    hand.report(trial, 1)
    assert hand.tell(m.Interrupted(9.0)) == []
    assert hand.save_failed(trial) == [m.Halt(trial, 0)]
    hand.ended(trial, "halted")
    assert (hand.status(trial), hand.trial(trial).why) == (Status.PAUSED, Why("rung"))


def test_ctrl_c_lets_parked_processes_go():
    hand = ByHand(Dictated({(0, 1): Pause(Why("rung"))}), limits={"lookahead": 1})
    trial = hand.run()
    hand.suggest({})
    hand.report(trial, 1)
    hand.save_failed(trial)
    other = list(hand.controller.trials)[1]
    assert hand.tell(m.Interrupted(9.0)) == [m.Halt(trial, 0, save=True), m.Halt(other, 0, save=True)]
    assert hand.save_failed(trial) == [m.Halt(trial, 0)]
    hand.ended(trial, "halted"), hand.ended(other, "halted")
    hand.suggest(None)
    assert hand.controller.is_done
    assert [hand.status(one) for one in (trial, other)] == [Status.PAUSED] * 2


def test_schedulers_do_not_review_what_ctrl_c_paused():
    scheduler = Dictated()
    hand = ByHand(scheduler, cpus=2)
    one, other = hand.run(), hand.run()
    hand.tell(m.Interrupted(9.0))
    hand.ended(one, "halted"), hand.ended(other, "halted")
    assert ("review",) not in scheduler.told


def test_a_suggestion_that_comes_after_an_interruption_is_tried_after_the_resume() -> None:
    hand = ByHand(limits={"total": 1})
    hand.tell(m.CapacityChanged(0.0, {"a": {"cpu": 1.0}}))
    hand.tell(m.Interrupted(0.1))
    assert not [one for one in hand.tell(m.Suggested(0.2, 0, {"x": 1})) if isinstance(one, m.Start)]
    (trial,) = hand.controller.trials.values()
    assert trial.status is Status.PENDING
    hand.tell(m.Resumed(0.3, hand.controller.limits))
    commands = hand.tell(m.CapacityChanged(0.4, {"a": {"cpu": 1.0}}))
    assert [one.trial_id for one in commands if isinstance(one, m.Start)] == [trial.id]
