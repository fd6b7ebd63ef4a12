"""Demsar's own worked example, and his table of critical values."""

from __future__ import annotations

import math

import pytest

from overtone.research.rank_test import friedman, groups, ranks

# Demsar 2006, table 6: AUC of C4.5 and its variants on 14 data sets
AUC = [
    (0.763, 0.768, 0.771, 0.798), (0.599, 0.591, 0.590, 0.569), (0.954, 0.971, 0.968, 0.967),
    (0.628, 0.661, 0.654, 0.657), (0.882, 0.888, 0.886, 0.898), (0.936, 0.931, 0.916, 0.931),
    (0.661, 0.668, 0.609, 0.685), (0.583, 0.583, 0.563, 0.625), (0.775, 0.838, 0.866, 0.875),
    (1.000, 1.000, 1.000, 1.000), (0.940, 0.962, 0.965, 0.962), (0.619, 0.666, 0.614, 0.669),
    (0.972, 0.981, 0.9751, 0.975), (0.957, 0.978, 0.946, 0.970),
]  # fmt: skip


def test_the_papers_example():
    found = friedman([[-one for one in row] for row in AUC])
    assert found.mean_ranks == pytest.approx((3.143, 2.000, 2.893, 1.964), abs=5e-4)
    assert found.chi2 == pytest.approx(9.28, abs=0.005)
    assert found.critical_difference == pytest.approx(1.25, abs=0.005)
    assert found.p == pytest.approx(0.0197, abs=2e-4)  # F = 3.69 with 3 and 39 degrees of freedom
    assert friedman([[-one for one in row] for row in AUC], alpha=0.1).critical_difference == pytest.approx(
        1.12, abs=0.005
    )


def test_methods_that_are_always_in_the_same_order_differ_for_certain():
    found = friedman([[1.0, 2.0, 3.0]] * 5)
    assert found.mean_ranks == (1.0, 2.0, 3.0)
    assert found.p == 0.0


def test_methods_that_are_all_equal_do_not_differ():
    found = friedman([[1.0, 1.0, math.inf]] * 2 + [[1.0, math.inf, 1.0]] * 2 + [[math.inf, 1.0, 1.0]] * 2)
    assert found.mean_ranks == (2.0, 2.0, 2.0)
    assert found.p == 1.0


@pytest.mark.parametrize("losses", [[], [[1.0, 2.0]], [[1.0], [2.0]]])
def test_one_problem_or_one_method_is_too_few(losses):
    with pytest.raises(ValueError, match="needs two problems and two methods"):
        friedman(losses)


def test_equal_values_share_their_ranks_and_nan_is_as_bad_as_never():
    assert ranks([3.0, 1.0, 1.0]) == [3.0, 1.5, 1.5]
    assert ranks([math.nan, 1.0, math.inf]) == [2.5, 1.0, 2.5]


@pytest.mark.parametrize(
    ("mean_ranks", "difference", "expected"),
    [
        ((1.0, 2.0, 3.0), 1.0, [(1.0, 2.0), (2.0, 3.0)]),
        ((1.0, 2.0, 3.0), 2.0, [(1.0, 3.0)]),
        ((1.0, 2.0, 3.0), 0.5, []),
        ((1.5, 1.5, 3.0), 0.5, [(1.5, 1.5)]),
        ((4.0, 1.0, 1.5, 3.8), 1.0, [(1.0, 1.5), (3.8, 4.0)]),
    ],
)
def test_groups_are_the_widest_that_do_not_differ(mean_ranks, difference, expected):
    assert groups(mean_ranks, difference) == expected
