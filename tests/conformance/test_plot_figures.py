"""Every plot as a figure of every renderer, for experiments of every kind."""

from __future__ import annotations

import io
import warnings
import xml.etree.ElementTree as ET
from dataclasses import replace

import numpy as np
import pytest

from overtone.analysis.drawing.svg import svg
from overtone.analysis.page.tables import ranked_rows
from overtone.analysis.scenes.catalogue import ONE, SEVERAL, page_scenes, scene_of, useful_plots
from overtone.reading.columns.trial_columns import Column, MetricColumns, TrialColumns

STATUSES = ("PENDING", "RUNNING", "PAUSED", "TERMINATED", "ERROR")
HOSTILE = "<script>alert(1)</script>$x$"
LONG = "group/" * 2000 + "rate"
KINDS = (
    "one",
    "three",
    "nan",
    "constant",
    "missing",
    "log",
    "categories",
    "hostile",
    "three goals",
    "restarts",
    "many",
    "none",
)


def column(values, levels=None, missing=None):
    n = len(values)
    return Column(np.asarray(values), np.zeros(n, bool) if missing is None else missing, levels)


def experiment(kind, seed=0):
    """Return the columns of an experiment that is unusual in one way."""
    n = {"one": 1, "three": 3, "many": 6000, "none": 0}.get(kind, 40)
    rng = np.random.default_rng(seed)
    values = rng.random(n)
    params = {"lr": column(10 ** rng.uniform(-4, 0, n)), "units": column(rng.integers(1, 5, n).astype(float))}
    params["act"] = column(rng.integers(0, 2, n).astype(np.int32), ("relu", "tanh"))
    log_params = frozenset({"lr"})
    goals = (("loss", "min"),)
    if kind == "nan":
        values = np.full(n, np.nan)
    if kind == "constant":
        values = np.full(n, 0.5)
        params = {name: column(one.values * 0 + 1, one.levels) for name, one in params.items()}
    if kind == "missing":
        params["branch"] = column(rng.random(n), missing=rng.random(n) < 0.6)
    if kind == "log":
        params["lr"].values[:3] = [0.0, -1.0, 1e-300]
    if kind == "categories":
        params["act"] = column(
            rng.integers(0, 10_000, n).astype(np.int32), tuple(f"level {i}" for i in range(10_000))
        )
    if kind == "hostile":
        params |= {HOSTILE: column(rng.random(n)), LONG: column(rng.integers(0, 2, n).astype(np.int32), (HOSTILE, LONG)),
                   "a\nb\x00\u202e": column(rng.random(n)), "\ud800": column(rng.random(n))}  # fmt: skip
    t = rng.integers(1, 10, n)
    names = {"three goals": ("loss", "cost", "size"), "hostile": (LONG, HOSTILE, "loss", "cost")}.get(
        kind, ("loss", "cost")
    )
    metrics = {}
    for i, name in enumerate(names):
        its = values if not i else rng.random(n)
        metrics[name] = MetricColumns(its, its - 0.1, its + 0.1, t, t, t)
    if kind in ("three goals", "hostile"):
        goals = tuple(
            (name, ("min", "max", "min")[i]) for i, name in enumerate(names[: 2 if kind == "hostile" else 3])
        )
    source = np.where(rng.random(n) < 0.4, rng.integers(0, np.maximum(np.arange(n), 1)), -1).astype(np.int32) if n else np.zeros(0, np.int32)  # fmt: skip
    started = np.sort(rng.random(n) * 100)
    rung = np.where(rng.random(n) < 0.8, 3.0 ** rng.integers(0, 3, n), np.nan)

    def curve(row, metric):
        steps = np.arange(1, int(t[row]) + 1)
        if kind == "restarts" and row % 2:
            steps = np.concatenate([steps, steps[-2:]])
        return steps, metrics[metric].last[row] + 1 / steps

    return TrialColumns(
        [f"trial_{i}" for i in range(n)], params, metrics,
        column(rng.integers(0, 5, n).astype(np.int32), STATUSES),
        column(rng.integers(0, 2, n).astype(np.int32), ("finished", "asha")), started, started + rng.random(n) * 10,
        column(np.zeros(n, np.int32), ("node",)), rung, rng.integers(0, 4, n).astype(np.int32), source,
        t.astype(np.int32), rng.random(n) > 0.1, goals, log_params, HOSTILE if kind == "hostile" else "experiment", n, curve,
    )  # fmt: skip


@pytest.fixture(scope="module", params=KINDS)
def columns(request):
    return experiment(request.param)


def drawn(name, columns):
    """Return the scene of a plot; plots of several objectives take two metrics."""
    options = {}
    if name in ("pareto_front", "hypervolume_history") and len(columns.goals) < 2:
        options["goals"] = (("loss", "min"), ("cost", "max"))
    return scene_of(name, [columns], **options)


@pytest.mark.parametrize("name", [*SEVERAL, *ONE])
def test_every_plot_is_drawn_of_every_experiment(name, columns):
    scene = drawn(name, columns)
    for width in (868.0, 358.0):
        text = svg(scene, width)
        ET.fromstring(text)
        assert "<script" not in text
        assert len(text) < 2_000_000


@pytest.mark.parametrize("name", [*SEVERAL, *ONE])
def test_plotly_draws_every_plot(name, columns):
    pytest.importorskip("plotly")
    from overtone.analysis.drawing.plotly_figure import plotly_figure

    text = plotly_figure(drawn(name, columns)).to_json()
    assert "<script" not in text
    assert len(text) < 5_000_000


@pytest.mark.parametrize("name", [*SEVERAL, *ONE])
def test_matplotlib_draws_every_plot(name):
    pytest.importorskip("matplotlib")
    from overtone.analysis.drawing.matplotlib_figure import matplotlib_figure

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph|.*missing from font")
        matplotlib_figure(drawn(name, experiment("hostile"))).savefig(io.BytesIO(), format="png", dpi=40)


@pytest.mark.parametrize("name", SEVERAL)
def test_plots_of_several_experiments_name_each(name):
    scene = scene_of(
        name, [experiment("three"), experiment("hostile", 1), experiment("one", 2)], metric="loss", mode="min"
    )
    ET.fromstring(svg(scene))


@pytest.mark.parametrize(
    "name",
    ["optimization_history", "slice", "timeline", "pareto_front", "rank", "contour", "parallel_coordinate"],
)
def test_titles_say_what_is_aggregated(name):
    title = drawn(name, experiment("many")).title
    assert "trials" in title
    assert "000" in title or "5," in title, title


def test_a_page_has_the_plots_that_say_something():
    assert useful_plots(experiment("none")) == ["optimization_history"]
    names = useful_plots(experiment("missing"))
    assert {"optimization_history", "learning_curves", "rungs", "lineage", "param_importances"} <= set(names)
    assert useful_plots(experiment("three goals"))[0] == "pareto_front"
    assert "slice" not in useful_plots(experiment("constant"))
    for kind in KINDS:
        for scene in page_scenes(experiment(kind)).values():
            ET.fromstring(svg(scene))


def test_tables_and_plots_rank_the_same_trials():
    columns = experiment("three")
    name, mode = columns.goals[0]
    one = replace(columns.metrics[name], is_finite=np.array([True, False, True]))
    columns = replace(columns, metrics={**columns.metrics, name: one})
    assert 1 not in ranked_rows(columns, name, mode).tolist()
    assert len(ranked_rows(columns, name, mode)) == 2


def test_with_several_objectives_the_front_is_the_best():
    scene = scene_of("parallel_coordinate", [experiment("three goals")])
    labels = [mark.label for mark in scene.panels[0].marks if getattr(mark, "role", "") == "best"]
    assert labels == ["Pareto front"]
