"""What a trial goes on from: the newest checkpoint, or one before it where that is damaged."""

from overtone.core import messages as m
from overtone.core.retention import Retention
from overtone.core.trial import Status
from overtone.core.types import Checkpoint
from overtone.testing.manual_controller import ByHand, checkpoint


def failed_after(n, **options):
    """A trial that saved with each of n reports, and failed; its next Start."""
    hand = ByHand(limits={"max_failures": 9}, **options)
    trial = hand.run()
    for t in range(1, n + 1):
        hand.report(trial, t, saves=True)
    (start,) = hand.ended(trial, "killed")
    return hand, trial, start


def restored(hand, trial, t):
    """It says that it goes on from the checkpoint of t."""
    found = checkpoint(trial, t) if t else None
    return hand.tell(m.Started(hand.time, trial, hand.trial(trial).attempt, "node", 1, "", found))


def test_a_start_carries_what_came_before():
    _, trial, start = failed_after(3)
    assert start.checkpoint == checkpoint(trial, 3)
    assert start.fallbacks == (checkpoint(trial, 2), checkpoint(trial, 1))


def test_where_one_is_kept_there_is_nothing_before():
    _, trial, start = failed_after(3, retention=Retention(1))
    assert (start.checkpoint, start.fallbacks) == (checkpoint(trial, 3), ())


def test_a_first_start_has_nothing():
    hand = ByHand()
    (start,) = hand.suggest({})
    assert (start.checkpoint, start.fallbacks) == (None, ())


def test_what_a_fallback_does_again_is_redone():
    hand, trial, _ = failed_after(3)
    restored(hand, trial, 1)
    assert hand.trial(trial).checkpoint == checkpoint(trial, 1)
    assert hand.report(trial, 2) == [m.Proceed(trial, 1, 0.0)]
    assert hand.choices == (m.Ruled(trial, 2, "redone"),)
    hand.report(trial, 3), hand.report(trial, 4)
    assert hand.trial(trial).n_results == 4


def test_the_next_start_goes_on_from_there_unless_it_saved():
    hand, trial, _ = failed_after(3)
    restored(hand, trial, 2)
    (start,) = hand.ended(trial, "killed")
    assert (start.checkpoint, start.fallbacks) == (checkpoint(trial, 2), (checkpoint(trial, 1),))
    restored(hand, trial, 2)
    newer = Checkpoint(trial, 3, f"{trial}/3_a3")
    hand.tell(m.Saved(hand.time, trial, 2, newer))
    (start,) = hand.ended(trial, "killed")
    assert start.checkpoint == newer
    assert start.fallbacks == tuple(checkpoint(trial, t) for t in (3, 2, 1))


def test_one_that_begins_anew_does_all_again():
    hand, trial, _ = failed_after(2)
    restored(hand, trial, 0)
    assert hand.trial(trial).checkpoint is None
    assert hand.trial(trial).status is Status.RUNNING
    hand.report(trial, 1)
    assert hand.choices == (m.Ruled(trial, 1, "redone"),)
    (start,) = hand.ended(trial, "killed")
    assert (start.checkpoint, start.fallbacks) == (None, ())


def test_the_damaged_one_is_pinned_no_longer():
    hand, trial, _ = failed_after(3, retention=Retention(2))  # 2 and 3
    restored(hand, trial, 2)
    assert hand.report(trial, 4, saves=True) == [m.Discard(f"{trial}/2"), m.Proceed(trial, 1, 0.0)]
    assert hand.report(trial, 5, saves=True) == [m.Discard(f"{trial}/3"), m.Proceed(trial, 1, 0.0)]


def test_where_there_is_no_room_an_ended_trial_loses_its_last_one():
    hand = ByHand(cpus=1, limits={"total": 2}, retention=Retention(most_bytes=10))

    def save(trial, t):
        saved = Checkpoint(trial, t, f"{trial}/{t}", size_bytes=8)
        return hand.tell(m.Saved(hand.time, trial, hand.trial(trial).attempt, saved))

    first = hand.run()
    assert save(first, 1) == []
    hand.report(first, 1)
    hand.ended(first)
    assert hand.trial(first).checkpoint is not None
    second = hand.run()
    assert save(second, 1) == [m.Discard(f"{first}/1")]
    assert hand.trial(first).checkpoint is None
    assert save(second, 2) == [m.Discard(f"{second}/1")]
