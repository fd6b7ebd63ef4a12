from __future__ import annotations

import math

import pytest

from overtone.analysis.summary import summarize, values_of
from overtone.core.goal import is_number


def test_six_numbers():
    assert summarize([float(one) for one in range(12)]) == {
        "max": 11,
        "min": 0,
        "avg": 5.5,
        "last": 11,
        "last-5-avg": 9,
        "last-10-avg": 6.5,
    }


def test_fewer_values_than_the_window_are_averaged_all():
    assert summarize([1, 3])["last-5-avg"] == 2


def test_nan_is_neither_max_nor_min_but_spoils_the_averages_over_it():
    found = summarize([math.nan, 1.0, 2.0, 3.0, 4.0, 5.0])
    assert (found["max"], found["min"], found["last-5-avg"]) == (5, 1, 3)
    assert math.isnan(found["avg"])


def test_nothing_but_nan_is_nan():
    assert all(math.isnan(one) for one in summarize([math.nan, math.nan]).values())


def test_values_are_found_in_nested_results_and_gaps_are_passed_over():
    results = [{"a": {"b": 1}}, {"c": 1}, {"a": {"b": 2}}]
    assert values_of(results, "a/b") == [1, 2]


@pytest.mark.parametrize(
    ("value", "expected"), [(1, True), (0.5, True), (True, False), ("1", False), (None, False)]
)
def test_what_can_be_ranked(value, expected):
    assert is_number(value) is expected
