"""The gradient beside differences, and fits of functions that are known."""

import numpy as np
import pytest

from overtone.searchers.auto.kernel_fit import cost, fit


def test_the_gradient_is_that_of_thecost():
    rng = np.random.default_rng(0)
    x, y, groups = rng.random((12, 3)), rng.standard_normal(12), np.array([0, 1, 1])
    theta = np.array([-0.4, 0.3, -3.0])
    slope = cost(theta, x, y, groups, -0.4)[1]
    for i in range(3):
        step = np.eye(3)[i] * 1e-5
        change = cost(theta + step, x, y, groups, -0.4)[0] - cost(theta - step, x, y, groups, -0.4)[0]
        assert slope[i] == pytest.approx(change / 2e-5, rel=1e-4)


def test_a_fit_tells_what_matters():
    rng = np.random.default_rng(1)
    x = rng.random((30, 2))
    y = np.sin(6 * x[:, 0])
    kernel = fit(x, (y - y.mean()) / y.std(), np.array([0, 1]))
    assert kernel.lengths[0] < 0.5 * kernel.lengths[1]
    assert kernel.noise < 1e-2
    noisy = fit(x, rng.standard_normal(30), np.array([0, 1]))
    assert noisy.noise > 0.1
