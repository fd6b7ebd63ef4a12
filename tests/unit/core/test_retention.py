"""Which checkpoints may be deleted, and when."""

import pytest

from overtone.core.retention import Retention
from overtone.core.types import Checkpoint


def saved(t, trial="a", size=0, is_automatic=False):
    return Checkpoint(trial, t, f"{trial}/{t}", size, is_automatic)


def automatic(t):
    return saved(t, is_automatic=True)


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


# --- those that nobody asked for ----------------------------------------------------------


def test_of_automatic_ones_the_best_and_the_two_newest_are_kept():
    retention = Retention()
    gone = [
        retention.add(automatic(t), score) for t, score in ((1, 3.0), (2, 9.0), (3, 1.0), (4, 2.0), (5, 4.0))
    ]
    assert gone == [[], [], ["a/1"], [], ["a/3"]]
    assert retention.of("a") == [automatic(2), automatic(4), automatic(5)]


def test_where_the_newest_is_the_best_two_are_enough():
    retention = Retention()
    gone = [retention.add(automatic(t), float(t)) for t in range(1, 5)]
    assert gone == [[], [], ["a/1"], ["a/2"]]


def test_they_take_no_place_of_those_that_were_asked_for():
    retention = Retention()
    for t in range(1, 9):
        retention.add(saved(t) if t % 2 else automatic(t), float(t))
    assert [one.t for one in retention.of("a")] == [1, 3, 5, 6, 7, 8]


def test_with_a_number_all_are_alike():
    retention = Retention(1)
    retention.add(saved(1), 1.0)
    assert retention.add(automatic(2), 2.0) == ["a/1"]


# --- pins ---------------------------------------------------------------------------------


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


# --- room ---------------------------------------------------------------------------------


def test_where_there_is_no_room_the_worst_of_all_trials_go():
    retention = Retention(most_bytes=100)
    assert retention.add(saved(1, "a", 40), 0.0, merit=3.0) == []
    assert retention.add(saved(1, "b", 40), 0.0, merit=1.0) == []
    assert retention.add(saved(2, "a", 40), 0.0, merit=2.0) == ["b/1"]
    assert retention.add(saved(2, "b", 80), 0.0, merit=9.0) == ["a/2", "a/1"]


def test_and_not_those_that_are_needed():
    retention = Retention(most_bytes=100)
    first, second = saved(1, "a", 60), saved(1, "b", 60)
    for one in (first, second):
        retention.pin(one)
        assert retention.add(one, 0.0, 0.0) == []
    third = saved(2, "a", 60)
    retention.pin(third)
    assert retention.add(third, 0.0, 5.0) == []
    assert retention.unpin(first) == ["a/1"]
    assert retention.unpin(third) == ["a/2"], "120 are still too many"
    assert retention.unpin(second) == []
    assert retention.of("b") == [second]


def test_what_ended_trials_have_goes_where_there_is_no_room_and_only_then():
    retention = Retention(most_bytes=100)
    for name, merit in (("a", 2.0), ("b", 1.0)):
        one = saved(1, name, 50)
        retention.pin(one)
        retention.add(one, 0.0, merit)
        assert retention.rest(one) == []
    retention.wake(saved(1, "b", 50))  # it is run again
    runs = saved(1, "c", 50)
    retention.pin(runs)
    assert retention.add(runs, 0.0, 0.0) == ["a/1"]


def test_a_clone_needs_what_its_source_could_do_without():
    retention = Retention(most_bytes=10)
    source = saved(1, "a", 20)
    retention.pin(source), retention.pin(source)
    assert retention.add(source, 0.0) == []
    assert retention.rest(source) == []
    assert retention.unpin(source) == ["a/1"]


def test_sizes_that_nobody_counted_do_not_count():
    retention = Retention(most_bytes=10)
    assert retention.add(saved(1), 0.0) == []
    assert retention.add(saved(2, size=20), 0.0) == ["a/2"]


# --- what a restore may fall back on --------------------------------------------------------


def test_the_earlier_ones_newest_first():
    retention = Retention()
    for t in (1, 2, 5, 3):  # it went back, and saved again
        retention.add(saved(t), 0.0)
    assert retention.before(saved(3)) == (saved(2), saved(1))
    assert retention.before(saved(2)) == (saved(1),)
    assert retention.before(saved(1)) == ()


@pytest.mark.parametrize(("t", "found"), [(4, [3, 2, 1]), (2, [2, 1])])
def test_even_of_one_that_is_kept_no_longer(t, found):
    retention = Retention()
    for earlier in (1, 2, 3):
        retention.add(saved(earlier), 0.0)
    unknown = Checkpoint("a", t, "elsewhere")
    assert [one.t for one in retention.before(unknown)] == found
