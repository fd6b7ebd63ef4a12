"""Volumes by hand, and beside a count of cells."""

from itertools import product
from random import Random

import pytest

from overtone.analysis.hypervolume import hypervolume


def test_by_hand():
    assert hypervolume([], (0, 0)) == 0.0
    assert hypervolume([(3,), (5,)], (1,)) == 4.0
    assert hypervolume([(3, 1), (1, 3), (1, 1)], (0, 0)) == 5.0
    assert hypervolume([(3, 1), (-1, 9)], (0, 0)) == 3.0
    assert hypervolume([(2, 2, 2), (3, 1, 1), (1, 3, 1)], (0, 0, 0)) == 10.0


@pytest.mark.parametrize("n", [2, 3, 4])
def test_beside_a_count_of_cells(n):
    rng = Random(n)
    points = [tuple(rng.randint(1, 5) for _ in range(n)) for _ in range(8)]
    cells = sum(
        any(all(c < x for c, x in zip(cell, point, strict=True)) for point in points)
        for cell in product(range(5), repeat=n)
    )
    assert hypervolume(points, (0,) * n) == cells
