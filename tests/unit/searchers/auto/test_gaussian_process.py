"""A Gaussian process beside what can be computed by hand."""

import numpy as np
import pytest

from overtone.searchers.auto.gaussian_process import Kernel, Process, inverse


def test_the_kernel():
    # (1 + sqrt(5) r + 5/3 r^2) exp(-sqrt(5) r) at r = 0.5 / 0.5 = 1
    value = Kernel(np.array([0.5]), 0.0)(np.array([[0.0]]), np.array([[0.5]]))[0, 0]
    assert value == pytest.approx((1 + 5**0.5 + 5 / 3) * np.exp(-(5**0.5)))


def test_it_goes_through_what_it_saw_and_is_unsure_elsewhere():
    x, y = np.array([[0.1], [0.5], [0.6]]), np.array([-1.0, 0.5, 0.5])
    process = Process(Kernel(np.array([0.1]), 1e-6), x, y)
    mean, sd = process.predict(np.array([[0.1], [0.5], [0.95]]))
    assert mean[:2] == pytest.approx(y[:2], abs=1e-3)
    assert sd[0] < 0.01 < 0.3 < sd[2]


def test_points_that_are_tried_narrow_it_and_leave_its_mean():
    x, y = np.array([[0.1], [0.5]]), np.array([-1.0, 1.0])
    kernel, at = Kernel(np.array([0.2]), 1e-4), np.array([[0.9], [0.3]])
    alone, waiting = Process(kernel, x, y), Process(kernel, x, y, pending=np.array([[0.9]]))
    assert waiting.predict(at)[0] == pytest.approx(alone.predict(at)[0])
    assert waiting.predict(at)[1][0] < 0.1 * alone.predict(at)[1][0]


@pytest.mark.parametrize("n", [1, 10, 11, 57, 130])
def test_the_inverse_of_a_triangle(n):
    rng = np.random.default_rng(0)
    lower = np.tril(rng.standard_normal((n, n))) * 0.2 + np.eye(n)
    assert inverse(lower) @ lower == pytest.approx(np.eye(n), abs=1e-9)


def test_the_mean_where_it_saw_and_what_is_pending_by_the_whole_matrix():
    rng = np.random.default_rng(0)
    x, y, pending, at = rng.random((90, 3)), rng.standard_normal(90), rng.random((5, 3)), rng.random((70, 3))
    kernel = Kernel(np.array([0.3, 0.5, 0.9]), 0.01)
    process = Process(kernel, x, y, pending=pending)
    mean, sd = process.predict(at)
    assert process.predict(x)[0] == pytest.approx(process.seen_mean)
    every = np.vstack([x, pending])
    cross = kernel(at, every)
    left = 1 - np.sum(cross * np.linalg.solve(kernel(every, every) + 0.01 * np.eye(95), cross.T).T, axis=1)
    assert sd == pytest.approx(np.sqrt(process._variance * left), rel=1e-4)
    assert mean == pytest.approx(Process(kernel, x, y).predict(at)[0])


def test_re_interpolation_keeps_the_mean_and_promises_nothing_where_it_saw():
    rng = np.random.default_rng(0)
    x, y, at = rng.random((30, 2)), rng.standard_normal(30), rng.random((20, 2))
    kernel, extra = Kernel(np.array([0.3, 0.5]), 0.2), rng.random(30)
    noisy, other = Process(kernel, x, y, extra), Process(kernel, x, y, extra, interpolates=True)
    assert other.predict(at)[0] == pytest.approx(noisy.predict(at)[0])
    assert (other.predict(x)[1] < 0.02).all()
    assert (noisy.predict(x)[1] > 0.1).all()


def test_a_value_with_much_noise_of_its_own_hardly_counts():
    x, y = np.array([[0.2], [0.5]]), np.array([1.0, -1.0])
    kernel = Kernel(np.array([0.05]), 1e-4)
    sure, unsure = (Process(kernel, x, y, np.array([0.0, extra])) for extra in (0.0, 9.0))
    at = np.array([[0.5]])
    assert sure.predict(at)[0] == pytest.approx(-1, abs=0.01)
    assert unsure.predict(at)[0] > -0.3
    assert unsure.predict(at)[1] > 0.9 * unsure.predict(np.array([[0.9]]))[1]
