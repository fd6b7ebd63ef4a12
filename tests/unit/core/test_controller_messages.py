"""Messages that come late, twice or again, and the checkpoints that they carry."""

import pytest

from overtone.core import messages as m
from overtone.core.controller import _HANDLERS
from overtone.core.decision import Stop
from overtone.core.resources import Placement, Resources
from overtone.core.retention import MetricWorth, Retention
from overtone.core.trial import Status
from overtone.core.types import Checkpoint, Why
from overtone.testing.manual_controller import ByHand, Dictated, Saying, checkpoint

ONE_CPU = Resources.of({"cpu": 1})
HERE = Placement(("node",), ((),))


def start(trial, index=0, attempt=0, config=None, **more):
    return m.Start(
        trial, attempt, index, config or {}, ONE_CPU, HERE, more.pop("saved", None),
        more.pop("until_t", 0.0), str(index), more.pop("name", ""),
    )  # fmt: skip


@pytest.mark.parametrize(
    "event",
    [
        m.Started(1.0, "nobody", 0, "node", 1),
        m.Reported(1.0, "nobody", 0, 1, {}),
        m.Saved(1.0, "nobody", 0, checkpoint("nobody", 1)),
        m.SaveFailed(1.0, "nobody", 0, ""),
        m.Noticed(1.0, "nobody", 0, 5.0),
        m.Ended(1.0, "nobody", 0, "returned"),
        m.Requested(1.0, "stop_trial", "nobody"),
        m.Requested(1.0, "save_trial", "nobody"),
    ],
)
def test_messages_of_unknown_trials_are_stale(event):
    hand = ByHand()
    assert hand.tell(event) == []
    assert hand.is_stale
    assert hand.choices == ()


def test_messages_of_an_earlier_attempt_are_stale():
    hand = ByHand(limits={"max_failures": 1})
    trial = hand.run()
    hand.report(trial, 1, saves=True)
    hand.ended(trial, "raised", "E")
    hand.started(trial)
    before = hand.status(trial), hand.trial(trial).n_results
    for late in (
        lambda: hand.started(trial, attempt=0),
        lambda: hand.report(trial, 2, attempt=0),
        lambda: hand.saved(trial, 1, attempt=0),
        lambda: hand.ended(trial, attempt=0),
        lambda: hand.report(trial, 2, attempt=2),
    ):
        assert late() == []
        assert hand.is_stale
    assert (hand.status(trial), hand.trial(trial).n_results) == before


def test_of_two_checkpoints_at_the_same_t_the_first_does_not_become_the_newest_again():
    hand = ByHand()
    trial = hand.run()
    hand.report(trial, 1)
    first, second = (Checkpoint(trial, 1, f"{trial}/1_{name}", 100) for name in "ab")
    for saved in (first, second):
        hand.tell(m.Saved(hand.time, trial, 0, saved))
        assert not hand.is_stale
    for late in (first, second):
        assert hand.tell(m.Saved(hand.time, trial, 0, late)) == []
        assert hand.is_stale
    assert hand.trial(trial).checkpoint == second


def test_messages_that_come_twice_are_stale_the_second_time():
    hand = ByHand()
    trial = hand.run()
    assert hand.started(trial) == []
    assert hand.is_stale
    hand.report(trial, 1, saves=True)
    hand.report(trial, 2, saves=True)
    for twice in (
        lambda: hand.report(trial, 2, saves=True),
        lambda: hand.report(trial, 1, saves=True),
        lambda: hand.saved(trial, 1),
        lambda: hand.saved(trial, 2),
    ):
        assert twice() == []
        assert hand.is_stale
    assert hand.trial(trial).checkpoint == checkpoint(trial, 2)
    hand.ended(trial)
    assert hand.ended(trial, attempt=0) == []
    assert hand.is_stale


def test_results_that_are_done_again_after_a_restore_are_shown_to_nobody():
    scheduler, seen = Dictated({(0, 2): "CONTINUE"}), []
    hand = ByHand(
        scheduler,
        limits={"max_failures": 1},
        observes=True,
        stoppers=[Saying(lambda trial, result: seen.append(result.t))],
    )
    trial = hand.run()
    hand.report(trial, 1, saves=True)
    hand.report(trial, 2)
    hand.report(trial, 3)
    (again, *_) = hand.ended(trial, "raised", "E")
    assert again == start(trial, attempt=1, saved=checkpoint(trial, 1))
    hand.started(trial)
    told = list(scheduler.told)
    assert hand.report(trial, 2, score=99.0) == [m.Proceed(trial, 1, 0.0)]
    assert hand.choices == (m.Ruled(trial, 2, "redone"),)
    assert hand.report(trial, 3, saves=True) == [m.Proceed(trial, 1, 0.0)]
    assert scheduler.told == told
    assert seen == [1, 2, 3]
    found = hand.trial(trial)
    assert (found.n_results, found.best.score, found.checkpoint) == (3, 1.0, checkpoint(trial, 3))
    (observed, _) = hand.report(trial, 4)
    assert isinstance(observed, m.Observe)
    assert seen == [1, 2, 3, 4]


def test_a_trial_runs_ahead_through_what_it_does_again():
    hand = ByHand(Dictated(ahead=9.0), limits={"max_failures": 1})
    trial = hand.run()
    hand.report(trial, 1)
    hand.ended(trial, "killed", "E")
    hand.started(trial)
    assert hand.report(trial, 1) == []
    assert hand.choices == (m.Ruled(trial, 1, "redone"),)


def test_a_report_of_a_trial_that_was_told_to_halt_is_on_record_only():
    scheduler = Dictated({(0, 1): Stop(Why("enough"))})
    hand = ByHand(scheduler)
    trial = hand.run()
    hand.report(trial, 1)
    told = list(scheduler.told)
    assert hand.report(trial, 2, score=5.0, saves=True) == []
    assert not hand.is_stale
    assert scheduler.told == told
    assert (hand.trial(trial).n_results, hand.trial(trial).best.score) == (2, 5.0)
    assert hand.trial(trial).checkpoint == checkpoint(trial, 2)


def test_a_trial_told_to_halt_before_its_first_word_stays_so():
    hand = ByHand()
    hand.suggest({})
    trial = next(iter(hand.controller.trials))
    assert hand.tell(m.Requested(1.0, "stop_trial", trial)) == [m.Halt(trial, 0)]
    assert hand.started(trial) == []
    assert not hand.is_stale
    assert hand.status(trial) is Status.HALTING
    hand.started(trial)
    assert hand.is_stale


# --- checkpoints -----------------------------------------------------------------------


def test_only_the_newest_checkpoint_is_kept():
    hand = ByHand(retention=Retention(1))
    trial = hand.run()
    hand.report(trial, 1, saves=True)
    assert hand.report(trial, 2, saves=True) == [m.Discard(f"{trial}/1"), m.Proceed(trial, 0, 0.0)]
    assert hand.saved(trial, 3) == [m.Discard(f"{trial}/2")]
    assert hand.trial(trial).checkpoint == checkpoint(trial, 3)


def test_checkpoints_are_kept_by_worth_and_the_newest_always():
    hand = ByHand(retention=Retention(2), checkpoint_worth=MetricWorth("score"))
    trial = hand.run()
    hand.report(trial, 1, score=9.0, saves=True)
    hand.report(trial, 2, score=5.0, saves=True)
    assert hand.report(trial, 3, score=1.0, saves=True) == [m.Proceed(trial, 0, 0.0)]
    assert hand.report(trial, 4, score=2.0, saves=True)[0] == m.Discard(f"{trial}/3")


def test_a_notice_lets_a_running_trial_save():
    hand = ByHand(Dictated(ahead=5.0))
    trial = hand.run()
    assert hand.tell(m.Noticed(1.0, trial, 0, 30.0)) == [m.Proceed(trial, 0, 5.0, save=True)]
    hand.tell(m.Requested(1.0, "stop_trial", trial))
    assert hand.tell(m.Noticed(1.0, trial, 0, 30.0)) == []
    assert hand.is_stale


def test_a_running_trial_saves_where_it_is_asked_to():
    hand = ByHand(Dictated(ahead=5.0))
    trial = hand.run()
    assert hand.tell(m.Requested(1.0, "save_trial", trial)) == [m.Proceed(trial, 0, 5.0, save=True)]
    hand.ended(trial, "returned")
    assert hand.tell(m.Requested(2.0, "save_trial", trial)) == []
    assert hand.is_stale
    assert not hand.controller.is_done or hand.status(trial).is_final


def test_handlers_for_all_events():
    assert set(_HANDLERS) == set(m.Event.__args__)
