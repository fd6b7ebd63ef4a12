"""Sobol' points by hand, and what makes them even."""

import pytest

from overtone.searchers.sobol import Sobol, SobolSearch
from overtone.space import randint, uniform


def test_the_plain_sequence():
    # Joe and Kuo's first dimensions; the point of index i is theirs of i's Gray code
    points = [Sobol(3, None).point(i) for i in range(4)]
    assert points == [[0, 0, 0], [0.5, 0.5, 0.5], [0.25, 0.75, 0.75], [0.75, 0.25, 0.25]]


@pytest.mark.parametrize("dimension", [0, 5, 20, 21, 60])
def test_each_axis_has_one_point_in_each_part(dimension):
    sequence = Sobol(dimension + 1, seed=3)
    parts = {int(sequence.point(i)[dimension] * 64) for i in range(64)}
    assert parts == set(range(64))


def test_two_dimensions_together_are_even():
    sequence = Sobol(2, seed=5)
    cells = [(int(x * 8), int(y * 8)) for x, y in (sequence.point(i) for i in range(64))]
    assert len(set(cells)) == 64


def test_another_seed_is_another_sequence():
    assert Sobol(2, seed=1).point(0) != Sobol(2, seed=2).point(0)
    assert Sobol(2, seed=1).point(9) == Sobol(2, seed=1).point(9)


def test_a_finite_space_is_gone_through_once():
    searcher = SobolSearch(num_samples=-1)
    searcher.on_start({"a": randint(0, 4), "b": randint(0, 3)}, 1)
    found = [searcher.suggest(i) for i in range(14)]
    assert len({tuple(one.values()) for one in found[:12]}) == 12
    assert found[12:] == [None, None]


def test_how_many():
    searcher = SobolSearch(num_samples=5)
    searcher.on_start({"x": uniform(0, 1)}, 1)
    assert searcher.total == 5
