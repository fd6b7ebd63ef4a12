from __future__ import annotations

from math import nan

from overtone.analysis.ranking import best_first, best_result


def pairs(*values):
    return [(index, {"loss": value}) for index, value in enumerate(values)]


def order(found):
    return [one for one, _ in found]


def test_best_first_in_both_directions():
    assert order(best_first(pairs(2, 3, 1), "loss", "min")) == [2, 0, 1]
    assert order(best_first(pairs(2, 3, 1), "loss", "max")) == [1, 0, 2]


def test_ties_go_to_the_newer_pair():
    assert order(best_first(pairs(1, 1), "loss", "min")) == [1, 0]


def test_nan_and_what_is_no_number_are_left_out():
    assert order(best_first(pairs(nan, "1", 5, None), "loss", "max")) == [2]


def test_the_best_result_is_the_first_of_equals_and_never_nan():
    results = [{"loss": nan}, {"loss": 2, "n": 1}, {"loss": 2, "n": 2}, {"other": 9}]
    assert best_result(results, "loss", "max") == {"loss": 2, "n": 1}
    assert best_result(results, "loss", "min") == {"loss": 2, "n": 1}


def test_without_the_metric_there_is_no_best_result():
    assert best_result([{"loss": nan}, {}], "loss", "min") is None
