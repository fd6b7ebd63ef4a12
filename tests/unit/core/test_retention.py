"""Which checkpoints may be deleted, and when."""

from overtone.core.retention import Retention
from overtone.core.types import Checkpoint


def saved(t, trial="a"):
    return Checkpoint(trial, t, f"{trial}/{t}")


def test_all_are_kept_by_default():
    retention = Retention()
    assert [retention.add(saved(t), 0.0) for t in range(5)] == [[]] * 5
    assert retention.of("a") == [saved(t) for t in range(5)]


def test_the_best_few_and_the_latest_always():
    retention = Retention(2)
    assert retention.add(saved(1), 5.0) == []
    assert retention.add(saved(2), 9.0) == []
    assert retention.add(saved(3), 1.0) == []
    assert retention.add(saved(4), 2.0) == ["a/3"]
    assert retention.of("a") == [saved(1), saved(2), saved(4)]
    assert retention.add(saved(5), 20.0) == ["a/1", "a/4"]


def test_ties_go_to_the_newer():
    retention = Retention(1)
    retention.add(saved(1), 1.0)
    assert retention.add(saved(2), 1.0) == ["a/1"]


def test_at_least_the_latest():
    retention = Retention(0)
    retention.add(saved(1), 9.0)
    assert retention.add(saved(2), 1.0) == ["a/1"]
    assert retention.of("a") == [saved(2)]


def test_the_best_is_not_given_up_for_the_latest():
    retention = Retention(1)
    retention.add(saved(1), 9.0)
    assert retention.add(saved(2), 1.0) == []
    assert retention.add(saved(3), 2.0) == ["a/2"]
    assert retention.of("a") == [saved(1), saved(3)]


def test_each_trial_has_its_own():
    retention = Retention(1)
    retention.add(saved(1), 0.0)
    assert retention.add(saved(2, "b"), 0.0) == []
    assert retention.of("b") == [saved(2, "b")]
    assert retention.of("nobody") == []


def test_pinned_ones_wait():
    retention = Retention(1)
    retention.add(saved(1), 0.0)
    retention.pin(saved(1)), retention.pin(saved(1))
    assert retention.add(saved(2), 0.0) == []
    assert retention.unpin(saved(1)) == []
    assert retention.unpin(saved(1)) == ["a/1"]
    assert retention.unpin(saved(1)) == []


def test_unpinning_what_is_kept_deletes_nothing():
    retention = Retention(1)
    retention.add(saved(1), 0.0)
    retention.pin(saved(1))
    assert retention.unpin(saved(1)) == []
    assert retention.add(saved(2), 0.0) == ["a/1"]


def test_saving_to_the_same_place_again_replaces():
    retention = Retention(2)
    retention.add(saved(1), 3.0)
    assert retention.add(saved(1), 1.0) == []
    assert retention.of("a") == [saved(1)]


def test_one_that_was_due_and_is_saved_anew_is_kept():
    retention = Retention(1)
    retention.add(saved(3), 0.0)
    retention.pin(saved(3))
    assert retention.add(saved(4), 0.0) == []
    assert retention.add(saved(3), 9.0) == ["a/4"]
    assert retention.unpin(saved(3)) == []
    assert retention.of("a") == [saved(3)]
