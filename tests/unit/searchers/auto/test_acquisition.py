"""Expected improvement beside its definition, near and far."""

from math import erfc, exp, log, pi, sqrt

import numpy as np
import pytest

from overtone.searchers.auto.acquisition import log_feasible, log_improvement


def cdf(z):
    return 0.5 * erfc(-z / sqrt(2))


@pytest.mark.parametrize("z", [-5.0, -1.0, 0.0, 2.0])
def test_log_improvement_by_its_definition(z):
    density = exp(-0.5 * z * z) / sqrt(2 * pi)
    found = log_improvement(np.array([2 * z + 1.0]), np.array([2.0]), 1.0)[0]
    assert found == pytest.approx(log(2.0 * (density + z * cdf(z))), rel=1e-6)


def test_the_far_tail_goes_on_where_the_near_part_ends():
    z = np.array([-6.001, -5.999, -60.0, -600.0])
    found = log_improvement(z, np.ones(4), 0.0)
    assert found[0] == pytest.approx(found[1], abs=0.02)
    assert found[2] > found[3] > -np.inf


def test_log_feasible():
    found = log_feasible(np.array([-1.0, 0.0, 3.0, 50.0]), np.ones(4))
    assert found[:3] == pytest.approx([log(cdf(1.0)), log(0.5), log(cdf(-3.0))])
    assert -np.inf < found[3] < -1000
    near, far = log_feasible(np.array([5.999, 6.001]), np.ones(2))
    assert near == pytest.approx(far, abs=0.02)
