"""`show` takes each of the objects that it names."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import pytest

from overtone import tune
from overtone.analysis import ExperimentAnalysis
from overtone.ui import widget


@pytest.fixture
def grid(tmp_path):
    tuner = tune.Tuner(
        lambda config: tune.report({"loss": config["x"]}),
        param_space={"x": tune.grid_search([1.0, 2.0])},
        tune_config=tune.TuneConfig(metric="loss", mode="min"),
        run_config=tune.RunConfig(
            name="grid", storage_path=str(tmp_path), verbose=0, engine=tune.Simulated()
        ),
    )
    return tuner.fit()


def test_results_analyses_and_folders_are_shown_with_their_table(grid, monkeypatch):
    shown = []
    monkeypatch.setattr(widget, "display_experiment", lambda *given: shown.append(given))
    for one in (grid, ExperimentAnalysis(grid.experiment_path), grid.experiment_path):
        widget.show(one)
    assert {Path(folder) for folder, _ in shown} == {Path(grid.experiment_path)}
    assert all("<table" in summary() for _, summary in shown)


def test_marimo_is_given_the_widget_of_a_run(tmp_path):
    pytest.importorskip("anywidget", reason="needs the extra notebook")
    run = tune.start(lambda config: tune.report({"loss": 1.0}), storage_path=tmp_path, name="exp", verbose=0)
    first = run._display_()
    try:
        assert run._display_() is first  # two displays of one widget
        run.wait()
        first.pushing.join(60)
        assert '"state":"finished"' in first.overview.replace(" ", "")
    finally:
        first.close()


def test_marimo_is_given_html_without_the_extra(grid, monkeypatch):
    marimo = ModuleType("marimo")
    marimo.Html = lambda text: ("html", text)
    monkeypatch.setitem(sys.modules, "marimo", marimo)
    monkeypatch.setattr(widget, "find_spec", lambda name: None)
    kind, text = widget.display_value(grid.experiment_path, grid._repr_html_)
    assert kind == "html"
    assert "<table" in text
