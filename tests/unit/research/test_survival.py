"""The remission times that Kaplan and Meier's estimate is taught with (Freireich et al. 1963)."""

from __future__ import annotations

import math

import pytest

from overtone.research.survival import kaplan_meier, median_time

WEEKS = [6, 6, 6, 6, 7, 9, 10, 10, 11, 13, 16, 17, 19, 20, 22, 23, 25, 32, 32, 34, 35]
RELAPSED = [1, 1, 1, 0, 1, 0, 1, 0, 0, 1, 1, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0]


def test_the_textbook_curve():
    curve = kaplan_meier(WEEKS, map(bool, RELAPSED))
    assert [at for at, _ in curve] == [6, 7, 10, 13, 16, 22, 23]
    assert [1 - share for _, share in curve] == pytest.approx(
        [0.857, 0.807, 0.753, 0.690, 0.627, 0.538, 0.448], abs=5e-4
    )
    assert median_time(WEEKS, map(bool, RELAPSED)) == 23


@pytest.mark.parametrize(
    ("times", "median"), [([3, 1, 2], 2), ([4, 1, 3, 2], 2.5), ([5], 5), ([2, 2, 2, 9], 2), ([1, 1, 7, 7], 4)]
)
def test_without_censoring_it_is_the_ordinary_median(times, median):
    assert median_time(times, [True] * len(times)) == median


def test_a_median_that_was_not_seen_is_infinite():
    assert median_time([1, 2, 3, 4], [True, False, False, False]) == math.inf
    assert median_time([5, 6], [False, False]) == math.inf
    assert kaplan_meier([5, 6], [False, False]) == []


def test_who_is_lost_at_the_time_of_an_event_was_there_for_it():
    assert kaplan_meier([1, 1], [True, False]) == [(1, 0.5)]


def test_a_half_that_nobody_follows_is_reached_then():
    assert median_time([1, 2], [True, False]) == 1
