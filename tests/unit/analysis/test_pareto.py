"""Fronts by hand."""

from math import nan

from overtone.analysis.pareto import dominates, pareto_front


def test_who_dominates():
    assert dominates((1, 2), (1, 1))
    assert not dominates((1, 2), (1, 2))
    assert not dominates((1, 2), (2, 1))


def test_fronts():
    assert pareto_front([]) == []
    assert pareto_front([(1,), (3,), (2,), (3,)]) == [1, 3]
    assert pareto_front([(1, 3), (2, 2), (1, 2), (3, 1), (nan, 9)]) == [0, 1, 3]
    assert pareto_front([(0, 0, 1), (0, 1, 0), (0, 0, 0), (1, 0, 0)]) == [0, 1, 3]
