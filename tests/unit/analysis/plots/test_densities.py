"""Beyond 5,000 marks, densities and representatives stand for the trials."""

from __future__ import annotations

import numpy as np
import pytest

from overtone.analysis.hypervolume import hypervolume
from overtone.analysis.plots.contour import contour
from overtone.analysis.plots.hypervolume_history import hypervolume_history
from overtone.analysis.plots.importances import param_importances
from overtone.analysis.plots.optimization_history import optimization_history
from overtone.analysis.plots.parallel_coordinate import parallel_coordinate
from overtone.analysis.plots.pareto_front import pareto_front
from overtone.analysis.plots.rank import rank
from overtone.errors import ArgumentError
from overtone.reading.columns.trial_columns import Column, TrialColumns
from overtone.testing.trial_tables import category, number, table

RNG = np.random.default_rng(0)


def bowl(n: int, **others: object) -> TrialColumns:
    """Return trials whose loss is the square of the distance from (0.3, 0.7), whatever `z` is."""
    x, y, z = RNG.random((3, n))
    params = {name: Column(one, np.zeros(n, bool)) for name, one in {"x": x, "y": y, "z": z}.items()}
    return table(params, {"loss": (x - 0.3) ** 2 + (y - 0.7) ** 2, "size": x}, **others)  # type: ignore[arg-type]


def test_5_000_points_are_drawn_and_one_more_is_a_density() -> None:
    (drawn,) = optimization_history(bowl(5_000)).experiments
    assert drawn.points.density is None
    assert len(drawn.points.rows) == 5_000
    (dense,) = optimization_history(bowl(5_001)).experiments
    assert dense.points.density is not None
    assert dense.points.density.counts.sum() == 5_001
    assert dense.points.density.counts.size <= 5_000
    assert dense.points.shown.note == "density of 5,001 trials"


@pytest.mark.parametrize("n", [400, 20_000])
def test_a_contour_shows_the_bowl(n: int) -> None:
    panel = contour(bowl(n), ["x", "y"]).panels[0]
    assert len(panel.nodes) <= 500
    row, column = np.unravel_index(np.nanargmin(panel.z), panel.z.shape)
    assert (panel.grid_x[column], panel.grid_y[row]) == pytest.approx((0.3, 0.7), abs=0.15)
    corner = panel.z[0, -1]
    assert corner == pytest.approx(0.7**2 + 0.7**2, rel=0.35)


def test_a_contour_keeps_categories_apart() -> None:
    kind = category(["bad", "good"] * 50)
    columns = bowl(100)
    loss = np.where(kind.values == 0, 10.0, 1.0)
    panel = contour(table({"kind": kind, "x": columns.params["x"]}, {"loss": loss})).panels[0]
    assert panel.x.labels == ("bad", "good")
    assert panel.z[:, 0] == pytest.approx(10)
    assert panel.z[:, 1] == pytest.approx(1)


def test_the_density_of_ranks_has_their_mean_as_colour() -> None:
    panel = rank(bowl(20_000), ["x", "y"]).panels[0]
    assert panel.points.density is not None
    assert panel.points.density.color is not None
    row, column = np.unravel_index(np.nanargmin(panel.points.density.color), panel.points.density.color.shape)
    assert panel.points.density.x_edges[column] == pytest.approx(0.3, abs=0.1)
    assert panel.points.density.y_edges[row] == pytest.approx(0.7, abs=0.1)


def test_only_the_most_important_of_many_hyperparameters_are_paired() -> None:
    columns = bowl(300)
    noise = {f"n{i}": Column(RNG.random(300), np.zeros(300, bool)) for i in range(20)}
    wide = table({**noise, **columns.params}, {"loss": columns.metrics["loss"]})
    for plot in (contour(wide), rank(wide)):
        assert len(plot.params) == 6
        assert plot.n_params == 23
        assert {"x", "y"} <= set(plot.params)
        assert len(plot.panels) == 15


def test_lines_of_many_trials_are_the_best_ones_and_bundles() -> None:
    columns = bowl(10_000)
    lines = parallel_coordinate(columns)
    assert len(lines.rows) == 50
    loss = columns.metrics["loss"].last
    assert sorted(lines.rows.tolist()) == sorted(np.argsort(loss)[:50].tolist())
    assert lines.rows[-1] == np.argmin(loss)
    assert [one.counts.sum() for one in lines.bundles] == [10_000] * 3
    assert lines.color_range == (loss.min(), loss.max())


def test_dominated_trials_that_lie_together_share_a_mark() -> None:
    front = pareto_front(bowl(20_000, goals=[("loss", "min"), ("size", "min")]))
    assert len(front.others) == len(front.counts) <= 5_000
    assert front.counts.sum() + len(front.front) == 20_000
    assert front.shown.is_aggregated


def test_importance_is_where_the_bowl_is() -> None:
    found = param_importances(bowl(100_000)).targets[0]
    assert set(found.params[:2]) == {"x", "y"}
    assert found.values[2] < 0.001
    assert found.values[:2] == pytest.approx([0.5, 0.5], abs=0.05)
    assert np.all(found.high - found.low < 0.05)
    few = param_importances(bowl(40)).targets[0]
    assert np.mean(few.high - few.low) > 0.1


def test_importance_counts_the_share_of_best_trials_that_was_asked_for() -> None:
    x = np.linspace(0, 1, 1000)
    y = np.where(x < 0.05, 0.0, np.arange(1000) % 2)  # all that the best 5 % have in common, too
    params = {name: Column(one, np.zeros(1000, bool)) for name, one in {"x": x, "y": y}.items()}
    columns = table(params, {"loss": x})
    shares = {q: param_importances(columns, quantile=q, n_bootstrap=0).targets[0] for q in (0.05, 0.5)}
    of_y = {q: dict(zip(one.params, one.values, strict=True))["y"] for q, one in shares.items()}
    assert of_y[0.05] > 0.02 > of_y[0.5]


@pytest.mark.parametrize("quantile", [0, 1, -0.1, float("nan"), "0.1", True])
def test_a_quantile_is_above_0_and_below_1(quantile: object) -> None:
    with pytest.raises(ArgumentError, match="quantile=.*must be above 0 and below 1"):
        param_importances(bowl(10), quantile=quantile)  # type: ignore[arg-type]


def test_a_contour_of_many_trials_has_values_for_each_category() -> None:
    columns = bowl(6_000)
    kind = category(["a", "b", "c"] * 2_000)
    panel = contour(
        table({"x": columns.params["x"], "kind": kind}, {"loss": columns.metrics["loss"]})
    ).panels[0]
    assert np.isfinite(panel.z).any(axis=1).tolist() == [True, True, True]
    assert set(panel.nodes[:, 1].tolist()) == {0.0, 1.0, 2.0}


def test_a_contour_of_losses_of_many_decades_is_smoothed_in_logarithms() -> None:
    columns = bowl(400)
    loss = columns.metrics["loss"].last + 0.1
    loss[columns.params["x"].values > 0.9] *= 1e10
    found = contour(table(dict(columns.params), {"loss": loss}), ["x", "y"])
    panel = found.panels[0]
    assert found.value.is_log
    row, column = np.unravel_index(np.nanargmin(panel.z), panel.z.shape)
    assert (panel.grid_x[column], panel.grid_y[row]) == pytest.approx((0.3, 0.7), abs=0.15)
    assert panel.z[row, column] < 1


def test_ticks_of_values_that_are_close_differ() -> None:
    columns = table({"x": number([0.1, 0.2])}, {"score": [0.99841, 0.99973]}, [("score", "max")])
    labels = parallel_coordinate(columns).dimensions[0].tick_labels
    assert len(set(labels)) == 5
    assert max(map(len, labels)) <= 7


@pytest.mark.parametrize("n", [1_500, 2_500])
def test_the_volume_of_a_large_front_is_close_to_the_exact_one(n: int) -> None:
    points = np.abs(np.random.default_rng(0).normal(size=(n, 3)))
    points /= np.linalg.norm(points, axis=1)[:, None]
    goals = [(name, "max") for name in "abc"]
    found = hypervolume_history(table({}, dict(zip("abc", points.T, strict=True)), goals), (0.0, 0.0, 0.0))
    exact = hypervolume(points.tolist(), (0.0, 0.0, 0.0))
    assert found.steps.y[-1] == pytest.approx(exact, rel=0.03 if n > 2_000 else 1e-9)
    assert (np.diff(found.steps.y) >= 0).all()
