"""Values from printed tables."""

from __future__ import annotations

import math

import pytest

from overtone.research.distributions import f_survival, incomplete_beta, studentised_range_quantile


@pytest.mark.parametrize(
    ("k", "q"),  # Demsar 2006, table 5: the quantile over sqrt(2), level 0.05
    [
        (2, 1.960),
        (3, 2.343),
        (4, 2.569),
        (5, 2.728),
        (6, 2.850),
        (7, 2.949),
        (8, 3.031),
        (9, 3.102),
        (10, 3.164),
    ],
)
def test_nemenyis_critical_values(k, q):
    assert studentised_range_quantile(0.95, k) / math.sqrt(2) == pytest.approx(q, abs=1.5e-3)


@pytest.mark.parametrize(
    ("f", "d1", "d2", "p"),
    [
        (4.747, 1, 12, 0.05),
        (2.866, 3, 36, 0.05),
        (4.377, 3, 36, 0.01),
        (3.326, 5, 10, 0.05),
        (161.45, 1, 1, 0.05),
    ],
)
def test_the_f_distributions_tails(f, d1, d2, p):
    assert f_survival(f, d1, d2) == pytest.approx(p, rel=2e-3)


def test_the_ends_of_the_f_distribution():
    assert f_survival(0.0, 3, 4) == 1.0
    assert f_survival(math.inf, 3, 4) == 0.0


@pytest.mark.parametrize("x", [0.0, 0.01, 0.3, 0.5, 0.9, 1.0])
def test_the_incomplete_beta_function_where_it_is_a_polynomial(x):
    assert incomplete_beta(x, 1, 1) == pytest.approx(x)
    assert incomplete_beta(x, 2, 1) == pytest.approx(x**2)
    assert incomplete_beta(x, 2, 3) == pytest.approx(1 - (1 - x) ** 4 - 4 * x * (1 - x) ** 3)
