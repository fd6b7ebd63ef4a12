"""Densities from points."""

from random import Random

import numpy as np
import pytest

from overtone.searchers.library.kernel_density import KernelDensity


def test_one_axis_by_hand():
    density = KernelDensity(np.array([[0.2], [0.4]]), [0])
    width = 1.06 * 2 ** (-1 / 5) * 0.1
    assert density.widths == pytest.approx([width])
    expected = np.log((np.exp(-0.5 * (0.1 / width) ** 2) + np.exp(-0.5 * (0.3 / width) ** 2)) / 2 / width)
    assert density.log([[0.5]]) == pytest.approx([expected])


def test_options_by_hand():
    density = KernelDensity(np.array([[0.0], [0.0], [2.0]]), [3])
    width = density.widths[0]
    expected = [np.log((2 * (1 - width) + width / 2) / 3), np.log(width / 2)]
    assert density.log([[0], [1]]) == pytest.approx(expected)


def test_equal_points_have_the_narrowest_kernels():
    assert KernelDensity(np.full((4, 2), 0.5), [0, 0], narrowest=0.01).widths == pytest.approx([0.01, 0.01])


def test_draws_stay_within_the_bounds_and_near():
    density, rng = KernelDensity(np.array([[0.01, 1.0], [0.03, 1.0]]), [0, 2]), Random(1)
    drawn = [density.drawn(rng) for _ in range(200)]
    assert all(0 <= x <= 0.1 for x, _ in drawn)
    assert {option for _, option in drawn} <= {0.0, 1.0}
    assert sum(option for _, option in drawn) > 190
