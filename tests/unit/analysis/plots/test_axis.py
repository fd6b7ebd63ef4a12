from __future__ import annotations

import numpy as np
import pytest

from overtone.analysis.plots.axis import number_axis, param_axis, unique_texts, value_axis
from overtone.testing.trial_tables import category, number

ALL = np.ones(4, bool)


def test_an_axis_of_numbers_has_a_margin() -> None:
    axis = number_axis("x", np.array([0.0, 10.0, np.nan]))
    assert (axis.low, axis.high, axis.is_log) == (-0.5, 10.5, False)
    assert axis.unit(np.array([-0.5, 5.0, 10.5])).tolist() == [0.0, 0.5, 1.0]
    assert axis.at(np.array([0.0, 0.5, 1.0])).tolist() == [-0.5, 5.0, 10.5]


def test_a_logarithmic_axis_has_a_margin_in_decades() -> None:
    axis = number_axis("x", np.array([1e-4, 1e-2]), is_log=True)
    assert np.log10([axis.low, axis.high]) == pytest.approx([-4.1, -1.9])
    assert axis.unit(np.array([1e-3])) == pytest.approx([0.5])
    assert axis.at(np.array([0.5])) == pytest.approx([1e-3])


@pytest.mark.parametrize("values", [[0.0, 1.0], [-1.0, 1.0]])
def test_an_axis_with_values_that_have_no_logarithm_is_linear(values: list[float]) -> None:
    assert not number_axis("x", np.array(values), is_log=True).is_log


@pytest.mark.parametrize("value", [0.0, 1e-9, -3.0, 1e308])
@pytest.mark.parametrize("is_log", [False, True])
def test_one_value_has_room_on_both_sides(value: float, is_log: bool) -> None:
    axis = number_axis("x", np.array([value]), is_log)
    assert axis.low < value < axis.high


def test_a_loss_of_three_decades_is_logarithmic() -> None:
    assert value_axis("loss", np.array([0.001, 1.0]), "min").is_log
    assert not value_axis("loss", np.array([0.0, 1.0]), "min").is_log
    assert not value_axis("loss", np.array([0.01, 1.0]), "min").is_log
    assert not value_axis("accuracy", np.array([0.0001, 1.0]), "max").is_log


def test_categories_have_positions_in_the_order_of_the_column() -> None:
    axis, values = param_axis("x", category(["b", None, "a", "b"], ["c", "b", "a"]), ALL, False)
    assert axis.labels == ("b", "a")
    assert values.tolist() == pytest.approx([0, np.nan, 1, 0], nan_ok=True)
    assert (axis.low, axis.high) == (-0.5, 1.5)


def test_categories_that_are_numbers_ascend_or_are_numbers() -> None:
    column = category([64, 16, 32, 16], [64, 16, 32])
    axis, values = param_axis("x", column, ALL, False)
    assert axis.labels == ("16", "32", "64")
    assert values.tolist() == [2, 0, 1, 0]
    axis, values = param_axis("x", column, ALL, False, numbers=True)
    assert axis.labels is None
    assert values.tolist() == [64, 16, 32, 16]


def test_many_categories_become_the_frequent_ones_and_others() -> None:
    names = ["often"] * 3 + [f"rare {i}" for i in range(99)]
    axis, values = param_axis("x", category(names), np.ones(len(names), bool), False)
    assert axis.labels is not None
    assert (len(axis.labels), axis.labels[0], axis.labels[-1]) == (50, "often", "51 others")
    assert axis.n_categories == 100
    assert np.bincount(values.astype(int)).tolist() == [3, *[1] * 48, 51]


def test_trials_that_do_not_count_give_no_category_and_no_limit() -> None:
    used = np.array([True, False, True])
    assert param_axis("x", category(["a", "b", "c"]), used, False)[0].labels == ("a", "c")
    axis, values = param_axis("x", number([1.0, 100.0, 2.0]), used, False)
    assert axis.high < 3
    assert np.isnan(values[1])


def test_texts_are_short_and_differ() -> None:
    texts = unique_texts(["a", "a", "a (2)", "b" * 60, "b" * 59 + "c", "b" * 61])
    assert len(set(texts)) == 6
    assert texts[:3] == ("a", "a (2)", "a (2) (2)")
    assert max(map(len, texts)) <= 44


@pytest.mark.parametrize("ends", [(1e-300, 1e308), (5e-324, np.finfo(float).max), (0.1, np.finfo(float).max)])
def test_the_largest_and_the_least_numbers_are_on_a_logarithmic_axis(ends: tuple[float, float]) -> None:
    axis = value_axis("loss", np.array(ends), "min")
    assert axis.is_log
    assert 0 < axis.low <= ends[0] < ends[1] <= axis.high < np.inf
    assert np.isfinite(axis.at(np.array([0.0, 0.5, 1.0]))).all()
