"""Kernels by the number of results."""

import numpy as np

from overtone.searchers.auto.kernels import Kernels, _fits, _last

GROUPS = np.array([0, 1])


def seen(n):
    rng = np.random.default_rng(0)
    points = rng.random((500, 2))[:n][-120:]
    return points, np.sin(5 * points[:, 0]) - points[:, 1], 0.0


def test_fits_are_at_fixed_numbers_of_results():
    assert [_last(8, n) for n in (4, 9, 16, 17, 18, 100)] == [4, 9, 16, 16, 18, 91]


def test_quick_kernels_follow_from_each_other():
    first, second = [n for n in _fits(16) if n > 120][:2]
    kernels = Kernels(GROUPS)
    found = {n: kernels.of("y", n, seen, True) for n in range(first - 1, second + 1)}
    assert found[first - 1] is not found[first]
    assert found[first] is found[second - 1]
    assert found[second] is not found[first]
    again = Kernels(GROUPS).of("y", second, seen, True)
    assert again.noise == found[second].noise
    assert (again.lengths == found[second].lengths).all()
