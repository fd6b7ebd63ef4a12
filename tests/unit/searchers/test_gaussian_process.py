"""A Gaussian process beside what can be computed by hand."""

import numpy as np
import pytest

from overtone.searchers.gaussian_process import Kernel, Process, _cost, fit


def test_the_kernel():
    # (1 + sqrt(5) r + 5/3 r^2) exp(-sqrt(5) r) at r = 0.5 / 0.5 = 1
    value = Kernel(np.array([0.5]), 0.0)(np.array([[0.0]]), np.array([[0.5]]))[0, 0]
    assert value == pytest.approx((1 + 5**0.5 + 5 / 3) * np.exp(-(5**0.5)))


def test_the_gradient_is_that_of_the_cost():
    rng = np.random.default_rng(0)
    x, y, groups = rng.random((12, 3)), rng.standard_normal(12), np.array([0, 1, 1])
    theta = np.array([-0.4, 0.3, -3.0])
    slope = _cost(theta, x, y, groups, -0.4)[1]
    for i in range(3):
        step = np.eye(3)[i] * 1e-5
        change = _cost(theta + step, x, y, groups, -0.4)[0] - _cost(theta - step, x, y, groups, -0.4)[0]
        assert slope[i] == pytest.approx(change / 2e-5, rel=1e-4)


def test_it_goes_through_what_it_saw_and_is_unsure_elsewhere():
    x, y = np.array([[0.1], [0.5], [0.6]]), np.array([-1.0, 0.5, 0.5])
    process = Process(Kernel(np.array([0.1]), 1e-6), x, y)
    mean, sd = process.predict(np.array([[0.1], [0.5], [0.95]]))
    assert mean[:2] == pytest.approx(y[:2], abs=1e-3)
    assert sd[0] < 0.01 < 0.3 < sd[2]


def test_points_that_are_tried_narrow_it_and_leave_its_mean():
    x, y = np.array([[0.1], [0.5]]), np.array([-1.0, 1.0])
    kernel, at = Kernel(np.array([0.2]), 1e-4), np.array([[0.9], [0.3]])
    alone, waiting = Process(kernel, x, y), Process(kernel, x, y, np.array([[0.9]]))
    assert waiting.predict(at)[0] == pytest.approx(alone.predict(at)[0])
    assert waiting.predict(at)[1][0] < 0.1 * alone.predict(at)[1][0]


def test_a_fit_tells_what_matters():
    rng = np.random.default_rng(1)
    x = rng.random((30, 2))
    y = np.sin(6 * x[:, 0])
    kernel = fit(x, (y - y.mean()) / y.std(), np.array([0, 1]))
    assert kernel.lengths[0] < 0.5 * kernel.lengths[1]
    assert kernel.noise < 1e-2
    noisy = fit(x, rng.standard_normal(30), np.array([0, 1]))
    assert noisy.noise > 0.1
