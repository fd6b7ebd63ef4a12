"""`show` takes each of the objects that it names."""

from __future__ import annotations

from pathlib import Path

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
