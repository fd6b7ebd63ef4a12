"""Asynchronous successive halving, by its worked examples."""

import math
from random import Random

import pytest

from overtone.core import messages as m
from overtone.core.controller import Controller
from overtone.core.goal import Goal
from overtone.core.limits import Limits
from overtone.core.trial import Status
from overtone.core.types import Why
from overtone.schedulers.asha import ASHAScheduler
from overtone.testing.manual_controller import ByHand
from overtone.testing.world import World
from overtone.tune import schedulers


def search(n=9, mode="max", metric="score", **more):
    scheduler = ASHAScheduler(**more)
    hand = ByHand(scheduler, cpus=n, goal=Goal(metric, mode, scheduler.time_attr, is_needed=True))
    return hand, [hand.run() for _ in range(n)]


def verdict(commands):
    return {m.Proceed: "continue", m.Halt: "stop"}[type(commands[0])]


def test_the_worked_example():
    hand, trials = search(max_t=3, reduction_factor=3)
    scores = [0.5, 0.6, 0.4, 0.7, 0.1, 0.9, 0.2, 0.8, 0.3]
    found = [verdict(hand.report(trial, 1, score=score)) for trial, score in zip(trials, scores, strict=True)]
    assert found == [
        "continue",
        "continue",
        "stop",
        "continue",
        "stop",
        "continue",
        "stop",
        "continue",
        "stop",
    ]


def test_the_same_with_a_metric_that_should_fall():
    hand, trials = search(max_t=3, reduction_factor=3, mode="min")
    scores = [-0.5, -0.6, -0.4, -0.7, -0.1, -0.9, -0.2, -0.8, -0.3]
    found = [verdict(hand.report(trial, 1, score=score)) for trial, score in zip(trials, scores, strict=True)]
    assert found == [
        "continue",
        "continue",
        "stop",
        "continue",
        "stop",
        "continue",
        "stop",
        "continue",
        "stop",
    ]


def test_why_a_trial_was_stopped():
    hand, trials = search(n=3, max_t=9, reduction_factor=3)
    for trial, score in zip(trials, (0.2, 0.8, 0.5), strict=True):
        hand.report(trial, 1, score=score)
    (ruled, _) = hand.choices
    assert ruled.why == Why("asha", 1, 1, pytest.approx(0.6), 2, 3)


def test_equal_scores_go_on():
    hand, trials = search(max_t=9, reduction_factor=3)
    assert {verdict(hand.report(trial, 1, score=0.5)) for trial in trials} == {"continue"}


@pytest.mark.parametrize("mode", ["max", "min"])
def test_nan_is_stopped_even_where_nobody_came_before(mode):
    hand, trials = search(n=3, max_t=9, mode=mode)
    assert verdict(hand.report(trials[0], 1, score=math.nan)) == "stop"
    assert verdict(hand.report(trials[1], 1, score=math.nan)) == "stop"
    assert verdict(hand.report(trials[2], 1, score=-1e9)) == "continue"


def test_rules_only_at_rungs_and_says_so():
    hand, (trial,) = search(n=1, max_t=100, grace_period=2, reduction_factor=3)
    assert hand.report(trial, 1) == []
    for t, until in ((2, 6), (6, 18), (18, 54), (54, 100)):
        assert hand.report(trial, t) == [m.Proceed(trial, 0, until)]
        assert hand.report(trial, t + 1) == []
    assert hand.report(trial, 99) == []
    assert hand.report(trial, 100) == [m.Halt(trial, 0)]
    assert hand.choices[0].why == Why("max_t", t=100, note="reached max_t=100")


@pytest.mark.parametrize("diverged", [math.nan, -math.inf])
def test_diverged_trials_stop_no_good_one(diverged):
    """Between a diverged score and a finite one no cutoff can be interpolated."""
    hand, trials = search(n=4, max_t=9, reduction_factor=3)
    found = [
        verdict(hand.report(trial, 1, score=one))
        for trial, one in zip(trials, (diverged, 0.5, 0.9, 0.4), strict=True)
    ]
    assert found == ["stop", "continue", "continue", "stop"]


def test_an_infinite_score_stops_no_good_one():
    hand, trials = search(n=3, max_t=9, reduction_factor=3)
    found = [
        verdict(hand.report(trial, 1, score=one))
        for trial, one in zip(trials, (0.5, math.inf, 0.6), strict=True)
    ]
    assert found == ["continue", "continue", "continue"]


def test_a_rung_that_was_jumped_over_is_judged_late_and_once():
    hand, (one, other) = search(n=2, max_t=100, reduction_factor=4)
    hand.report(one, 3, score=1.0)
    assert verdict(hand.report(other, 2, score=0.0)) == "stop"
    assert hand.report(one, 5, score=1.0) == [m.Proceed(one, 0, 16)]


def test_a_trial_may_go_on_past_max_t():
    hand, (trial,) = search(n=1, max_t=4, reduction_factor=4, stop_last_trials=False)
    assert hand.report(trial, 1) == [m.Proceed(trial, 0, m.NEVER)]
    assert hand.report(trial, 9) == []
    assert hand.status(trial) is Status.RUNNING


@pytest.mark.parametrize("stops", [True, False])
def test_without_any_rung(stops):
    hand, (trial,) = search(n=1, max_t=1, stop_last_trials=stops)
    hand.report(trial, 1)
    assert hand.status(trial) is (Status.HALTING if stops else Status.RUNNING)
    hand.report(trial, 2)
    assert hand.controller._scheduler.describe() == "Using AsyncHyperBand: num_stopped=0\nBracket: "


def test_another_clock():
    hand, (one, other) = search(n=2, max_t=100, grace_period=10, reduction_factor=2, time_attr="epochs")
    assert hand.report(one, 1, epochs=9.5) == [m.Proceed(one, 0, 0.0)]
    hand.report(one, 2, epochs=10.0, score=2.0)
    assert verdict(hand.report(other, 1, epochs=10.5, score=1.0)) == "stop"


def test_a_report_without_the_metric_is_no_visit_to_a_rung():
    hand, (one, other) = search(n=2, max_t=9, reduction_factor=3)
    assert hand.report(one, 1, score=None) == [m.Proceed(one, 0, 1)]
    assert verdict(hand.report(other, 1, score=0.1)) == "continue"
    assert verdict(hand.report(one, 2, score=0.0)) == "stop"


def test_brackets_start_with_longer_grace_periods():
    scheduler = ASHAScheduler(max_t=81, reduction_factor=3, brackets=3)
    hand = ByHand(scheduler, cpus=200, goal=Goal("score", "max", is_needed=True), seed=3)
    firsts = [hand.suggest({})[0].until_t for _ in range(200)]
    shares = {rung: firsts.count(rung) for rung in (1, 3, 9)}
    assert sum(shares.values()) == 200
    assert shares[1] > shares[3] > shares[9] > 0
    again = ByHand(ASHAScheduler(max_t=81, reduction_factor=3, brackets=3), cpus=200, seed=3)
    assert [again.suggest({})[0].until_t for _ in range(200)] == firsts


def test_brackets_beyond_max_t_hold_no_rung():
    hand, trials = search(n=9, max_t=4, reduction_factor=4, brackets=3)
    for trial in trials:
        hand.report(trial, 4)
        assert hand.status(trial) is Status.HALTING


def test_the_status_line_of_the_articles():
    hand, trials = search(n=5, max_t=100, metric="loss", mode="min")
    hand.report(trials[0], 1, loss=0.1129)
    hand.report(trials[0], 4, loss=0.1129)
    for trial in trials[1:4]:
        hand.report(trial, 1, loss=0.2)
        hand.ended(trial, "halted")
    assert hand.controller._scheduler.describe().splitlines()[0] == "Using AsyncHyperBand: num_stopped=3"
    fresh, (trial,) = search(n=1, max_t=100, metric="loss", mode="min")
    assert fresh.controller._scheduler.describe() == (
        "Using AsyncHyperBand: num_stopped=0\n"
        "Bracket: Iter 64.000: None | Iter 16.000: None | Iter 4.000: None | Iter 1.000: None"
    )
    fresh.report(trial, 1, loss=0.1129)
    fresh.report(trial, 4, loss=0.1129)
    assert fresh.controller._scheduler.describe().splitlines()[1] == (
        "Bracket: Iter 64.000: None | Iter 16.000: None | Iter 4.000: 0.1129 | Iter 1.000: 0.1129"
    )


def test_a_stop_of_somebody_else_is_not_counted():
    hand, (trial, _) = search(n=2)
    hand.tell(m.Requested(1.0, "stop_trial", trial))
    hand.ended(trial, "halted")
    assert hand.controller._scheduler.describe().startswith("Using AsyncHyperBand: num_stopped=0")


@pytest.mark.parametrize(
    "wrong", [{"grace_period": 0}, {"grace_period": 200}, {"reduction_factor": 1}, {"brackets": 0}]
)
def test_what_makes_no_sense(wrong):
    with pytest.raises(ValueError, match="need 0 < grace_period <= max_t|above 1|1 or more"):
        ASHAScheduler(**wrong)


def test_names_and_arguments():
    assert schedulers.ASHA is schedulers.AsyncHyperBandScheduler is schedulers.ASHAScheduler is ASHAScheduler
    assert ASHAScheduler(max_t=9, metric="acc").arguments == ((), {"max_t": 9, "metric": "acc"})
    assert ASHAScheduler().needs_metric


def promoted(losses, cpus=1, **arguments):
    """The jobs of a search by promotion, in order, as "c2@3": the second config ran to 3."""
    scheduler = ASHAScheduler(rule="promote", **arguments)
    controller = Controller(scheduler, Goal("loss", "min", is_needed=True), limits=Limits(total=len(losses)))
    world = World(
        controller,
        Random(0),
        lambda i: {"length": 99, "loss": losses[i]},
        {"node": {"cpu": cpus}},
        metrics=lambda config, t: {"loss": config["loss"]},
    )
    rungs = (1, 3, 9)
    jobs = [
        f"c{controller.trials[record.event.trial_id].index + 1}@{record.event.t}"
        for record in world.run()
        if isinstance(record.event, m.Reported) and record.event.t in rungs
    ]
    return jobs, list(controller.trials.values())


def test_the_worked_example_of_promotion():
    jobs, trials = promoted([5, 2, 8, 1, 9, 3, 7, 4, 6], max_t=9, reduction_factor=3)
    assert " ".join(jobs) == "c1@1 c2@1 c3@1 c2@3 c4@1 c4@3 c5@1 c6@1 c7@1 c8@1 c9@1 c6@3 c4@9"
    assert [trial.n_results for trial in trials] == [1, 3, 1, 9, 1, 3, 1, 1, 1]
    assert trials[3].why.rule == "max_t"
    assert {trial.why.rule for trial in trials if trial is not trials[3]} == {"asha"}


def test_equals_are_promoted_in_order_and_no_more_than_their_share():
    jobs, _ = promoted([1] * 9, max_t=9, reduction_factor=3)
    assert sorted(jobs) == sorted([*(f"c{k}@1" for k in range(1, 10)), "c1@3", "c2@3", "c3@3", "c1@9"])


def test_nan_is_never_promoted():
    jobs, trials = promoted([math.nan] * 9, max_t=9, reduction_factor=3)
    assert jobs == [f"c{k}@1" for k in range(1, 10)]
    assert {trial.status for trial in trials} == {Status.TERMINATED}


def test_a_trial_that_ends_below_its_rung_counts_there():
    hand, (one, other, third) = search(n=3, max_t=16, reduction_factor=4)
    hand.report(one, 1, score=1.0)
    hand.report(one, 3, score=9.0)
    hand.ended(one)
    hand.report(other, 1, score=2.0)
    assert verdict(hand.report(other, 4, score=8.0)) == "stop"
    hand.ended(other, "halted")
    assert (
        hand.controller._scheduler.describe().splitlines()[1]
        == "Bracket: Iter 4.000: 8.75 | Iter 1.000: 1.75"
    )


def test_a_trial_that_failed_does_not_count():
    hand, (one, other) = search(n=2, max_t=16, reduction_factor=4)
    hand.report(one, 1, score=1.0)
    hand.report(one, 3, score=9.0)
    hand.ended(one, "raised", "out of luck")
    hand.report(other, 1, score=2.0)
    assert verdict(hand.report(other, 4, score=8.0)) == "continue"


def test_a_rule_that_there_is_not():
    with pytest.raises(ValueError, match="rule='pause': give"):
        ASHAScheduler(rule="pause")


def test_there_are_no_more_brackets_than_differ():
    hand, _ = search(n=2, max_t=9, reduction_factor=3, brackets=10**6)
    lines = hand.controller._scheduler.describe().splitlines()
    assert lines[1:] == [
        "Bracket: Iter 3.000: None | Iter 1.000: None",
        "Bracket: Iter 3.000: None",
        "Bracket: ",
    ]
