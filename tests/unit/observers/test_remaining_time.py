from __future__ import annotations

import random
from collections import Counter
from itertools import pairwise

import pytest

from overtone.observers.display.remaining_time import FIRST_SHARE, LengthModel, RemainingTime


def test_without_early_stopping_the_rest_is_what_is_left() -> None:
    model = LengthModel({}, {3: 2}, longest=10)
    assert model.expected_rest() == 10
    assert model.expected_rest(3) == 7
    model = LengthModel({10: 5}, {3: 2})
    assert model.expected_rest() == pytest.approx(10)
    assert model.expected_rest(3) == pytest.approx(7)


def test_trials_that_run_count_as_longer_than_they_are() -> None:
    model = LengthModel({1: 3}, {8: 1}, longest=9)  # 3 of 4 end at 1
    assert model.expected_rest() == pytest.approx(1 + 0.25 * 8)
    assert model.expected_rest(1) == pytest.approx(8)
    assert model.expected_rest(8) == 1
    assert model.median_rest(0) == 1
    assert model.median_rest(1) == 8


def test_a_trial_longer_than_all_ended_ones_is_not_taken_to_the_largest_length() -> None:
    model = LengthModel({1: 9}, {3: 1}, longest=1000)
    assert model.expected_rest(3) == pytest.approx(12 / 9)
    assert model.median_rest(3) == pytest.approx(12 / 9)
    assert LengthModel({}, {3: 1}, longest=1000).expected_rest(3) == 997


def test_lengths_are_those_of_the_complete_sample_where_none_is_cut_short() -> None:
    rng = random.Random(0)
    lengths = Counter(rng.choice([1, 3, 9, 27]) for _ in range(100))
    model = LengthModel(lengths, {})
    assert model.expected_rest() == pytest.approx(sum(one * n for one, n in lengths.items()) / 100)
    above = {one: n for one, n in lengths.items() if one > 3}
    mean = sum(one * n for one, n in above.items()) / sum(above.values())
    assert model.expected_rest(3) == pytest.approx(mean - 3)


def test_of_trials_that_all_have_the_same_length_the_rest_is_exact() -> None:
    left = RemainingTime()
    told = []
    for step in range(1, 200):  # 20 trials, two at a time, 10 iterations of 1 s each
        now = step / 2
        n_ended, t = 2 * int(now // 10), now % 10
        left.lengths.extend([10] * (n_ended - len(left.lengths)))
        running = [(int(t), t)] * 2
        told.append(
            (now, left.seconds(now, 10 * n_ended + 2 * int(t), n_ended, 20 - n_ended - 2, [], running, 10))
        )
    assert all(seconds is None for now, seconds in told if now < 10)
    assert all(abs(now + seconds - 100) < 12 for now, seconds in told if seconds is not None)
    assert all(abs(now + seconds - 100) < 5 for now, seconds in told[-100:] if seconds is not None)


def test_nothing_is_told_in_the_first_tenth_or_without_a_result() -> None:
    left = RemainingTime()
    assert left.seconds(1.0, 0, 0, 9, [], [(0, 1.0)], 10) is None
    assert RemainingTime().seconds(1.0, 1, 0, 9, [], [(1, 1.0)], None) is None
    assert RemainingTime().seconds(1.0, 1, 0, 9, [], [(1, 1.0)], 10) is None
    found = RemainingTime().seconds(10.0, 10, 1, 9, [], [], 10)
    assert found == pytest.approx(90.0)
    assert found * FIRST_SHARE <= 10.0


def test_an_estimate_does_not_jump_and_stays_once_it_is_shown() -> None:
    left = RemainingTime()
    left.lengths.extend([1] * 20)
    ends = []
    for i in range(100):
        now = 10 + i / 10
        if i == 1:
            left.lengths.extend([100] * 20)
        seconds = left.seconds(now, 100, 20, 20 if i == 0 else 10_000, [], [(50, 9.0)], 100)
        assert seconds is not None
        ends.append(now + seconds)
        assert left.seconds(now, 100, 20, 1, [], [(50, 9.0)], 100) == seconds  # asked twice at once
    assert all(after / before <= 1.0511 for before, after in pairwise(ends))
    assert ends[-1] > 10 * ends[0]


def test_a_time_budget_bounds_the_estimate() -> None:
    assert RemainingTime().seconds(10.0, 10, 1, 9, [], [], 10, budget_s=30.0) == pytest.approx(20.0)


@pytest.mark.parametrize(("n_resumed", "expected"), [(1, 1.1), (8, 99.0)])
def test_paused_trials_count_where_paused_trials_continue(n_resumed: int, expected: float) -> None:
    left = RemainingTime()
    left.n_pauses, left.n_resumed = 10, n_resumed
    assert left.seconds(20.0, 20, 0, 0, [1] * 10, [(1, 1.0)], 10) == pytest.approx(expected)
