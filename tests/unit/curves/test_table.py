"""Tables of curves: what they hold, how they end, and from which row a config takes its curve."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest

from overtone.curves import CurveTable
from overtone.errors import SpaceError

CONFIGS = [{"lr": 0.1, "kind": "a"}, {"lr": 0.2, "kind": "a"}, {"lr": 0.3, "kind": "b"}]


def made(**more: Any) -> CurveTable:
    arguments: dict[str, Any] = {"seconds": [[1, 3], [2, 4], [5]], **more}
    return CurveTable(
        CONFIGS, {"acc": [[0.1, 0.2], [0.3, 0.4], [0.5]], "loss": [[3, 2], [2, 1], [1]]}, **arguments
    )


def test_points_have_all_metrics_and_the_seconds_of_their_iteration() -> None:
    curve = made().curve_of({"row": 0})
    assert [curve(1), curve(2), curve(3)] == [
        ({"acc": 0.1, "loss": 3.0}, 1.0),
        ({"acc": 0.2, "loss": 2.0}, 2.0),
        None,
    ]


def test_arrays_are_padded_with_nan() -> None:
    table = CurveTable(None, {"acc": np.array([[0.1, np.nan], [0.1, 0.2]])})
    assert table.lengths == [1, 2]
    assert table.curve_of({"row": 1})(2) == ({"acc": 0.2}, 1.0)


def test_a_row_that_diverged_reports_nan_to_its_given_length() -> None:
    table = CurveTable(None, {"acc": np.array([[0.1, np.nan]])}, lengths=[2])
    metrics, _ = table.curve_of({"row": 0})(2)  # type: ignore[misc]
    assert math.isnan(metrics["acc"])


def test_configs_may_be_a_frame_and_name_a_row_too() -> None:
    table = CurveTable(pd.DataFrame(CONFIGS), {"acc": [[0.1], [0.2], [0.3]]})
    assert table({"lr": 0.3, "kind": "b"}, 1) == ({"acc": 0.3}, 1.0)
    assert table.best("acc") == 0.3
    assert table.best("acc", "min") == 0.1


def test_a_config_without_a_row_is_refused_without_a_surrogate() -> None:
    with pytest.raises(SpaceError, match='surrogate="nearest"'):
        made().curve_of({"lr": 0.15, "kind": "a"})
    with pytest.raises(SpaceError, match="rows 0 to 2"):
        made().curve_of({"row": 3})


def test_the_nearest_row_lends_its_curve() -> None:
    table = made(surrogate="nearest")
    assert table({"lr": 0.13, "kind": "a"}, 1) == ({"acc": 0.1, "loss": 3.0}, 1.0)
    assert table({"lr": 0.29, "kind": "b"}, 2) is None


def test_a_mixture_is_weighted_by_the_inverse_of_distances() -> None:
    table = made(surrogate=2)
    metrics, seconds = table({"lr": 0.15, "kind": "a"}, 1)  # type: ignore[misc]
    assert metrics == {"acc": pytest.approx(0.2), "loss": pytest.approx(2.5)}
    assert seconds == pytest.approx(1.5)


def test_the_space_is_the_rows_or_what_the_hyperparameters_span() -> None:
    assert list(made().space()) == ["row"]
    assert list(made().space(hyperparameters=True)) == ["row", "lr", "kind"]
    space = made(surrogate="nearest").space()
    assert (space["lr"].lower, space["lr"].upper) == (0.1, 0.3)
    assert space["kind"].categories == ["a", "b"]


def test_rows_in_the_order_of_a_seed() -> None:
    assert made().rows() == [{"row": 0}, {"row": 1}, {"row": 2}]
    assert sorted(one["row"] for one in made().rows(seed=1)) == [0, 1, 2]
    assert made().rows(seed=1) == made().rows(seed=1)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"metrics": {}}, "at least one metric"),
        ({"surrogate": "best"}, "surrogate='best'"),
        ({"space": [1]}, r"space=\[1\]: give domains"),
        ({"seconds": [[1, 2]]}, "seconds has 1 rows"),
        ({"metrics": {"a": [[1.0], [1.0, 2.0]]}, "seconds": [[1], [1]]}, "row 1 has 1 iterations"),
        ({"metrics": {"a": np.zeros(3)}}, "array of shape"),
        ({"lengths": [3, 2]}, "row 0: lengths says 3"),
    ],
)
def test_what_does_not_fit_together_is_said(arguments: dict[str, Any], message: str) -> None:
    given = {"configs": None, "metrics": {"a": [[1.0, 2.0], [3.0, 4.0]]}, **arguments}
    with pytest.raises(ValueError, match=message):
        CurveTable(**given)


def test_time_that_runs_backwards_is_said_with_its_row() -> None:
    with pytest.raises(ValueError, match="row 0: iteration 2 ends after 1"):
        CurveTable(None, {"a": [[1.0, 2.0]]}, [[2, 1]])
    with pytest.raises(ValueError, match="row 1: iteration 1 ends after nan"):
        CurveTable(None, {"a": np.ones((2, 2))}, np.array([[1.0, 2.0], [np.nan, 2.0]]))
    CurveTable(
        None, {"a": np.ones((1, 2))}, np.array([[1.0, np.nan]]), lengths=[1]
    )  # what is beyond is not read


@pytest.mark.parametrize("values", [[1, 2], [["high"], ["low"]], [None, [1]]])
def test_what_is_no_list_of_numbers_is_said(values: Any) -> None:
    with pytest.raises(ValueError, match="row 0 is .* it must be a list of numbers"):
        CurveTable([{"x": 1}, {"x": 2}], {"a": values})


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"metrics": {"a": np.array([["x", "y"]])}}, "a: an array of <U1: it must be one of numbers"),
        ({"metrics": {"a": np.zeros((0, 3))}}, "a: a table needs at least one row"),
        ({"metrics": np.zeros((1, 2))}, r"metrics=array.*: a table needs at least one metric"),
        ({"seconds": 3.0}, "seconds is 3.0: it must be an array"),
        ({"seconds": [1.0, 2.0]}, "seconds: row 0 is 1.0"),
        ({"configs": {"x": [1]}}, r"configs=\{'x': \[1\]\}: give a dict for each row"),
        ({"lengths": [2, 2]}, r"lengths=\[2, 2\]: give one for each of the 1 rows"),
        ({"lengths": 2}, "lengths=2: give one for each"),
    ],
)
def test_what_is_no_table_is_said_with_the_name_of_what_is_wrong(arguments: Any, message: str) -> None:
    whole: dict[str, Any] = {"configs": [{"x": 1}], "metrics": {"a": [[0.1, 0.2]]}}
    with pytest.raises(ValueError, match=message):
        CurveTable(**{**whole, **arguments})


def test_a_frame_of_metrics_has_a_row_for_each_config() -> None:
    pd = pytest.importorskip("pandas")
    table = CurveTable(None, {"a": pd.DataFrame([[0.1, 0.2, 0.3], [0.4, 0.5, 0.6]])})
    assert table.lengths == [3, 3]
    assert table({"row": 1}, 3) == ({"a": 0.6}, 1.0)
