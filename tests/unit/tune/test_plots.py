"""tune.plots: plots of an analysis, a result grid and a path."""

from __future__ import annotations

import inspect
import pickle
import sys
from pathlib import Path

import numpy as np
import pytest

from overtone import tune
from overtone.analysis import ResultGrid
from overtone.analysis.plot_sources import columns_of
from overtone.analysis.scenes.catalogue import ONE, SEVERAL
from overtone.errors import ArgumentError, MissingPackageError, StorageError
from overtone.reading import location
from overtone.tune import plots

pytest.importorskip("plotly")

OPTUNAS = {
    "optimization_history", "intermediate_values", "slice", "contour", "parallel_coordinate", "param_importances",
    "pareto_front", "edf", "rank", "timeline", "hypervolume_history", "terminator_improvement",
}  # fmt: skip
SEVERAL_OBJECTIVES = ("pareto_front", "hypervolume_history")


def train(config):
    for t in range(1, 4):
        tune.report({"loss": config["x"] + 1 / t, "size": config["y"]})


@pytest.fixture(scope="module")
def analysis(tmp_path_factory):
    space = {"x": tune.uniform(0, 1), "y": tune.randint(1, 5)}
    return tune.run(
        train, config=space, num_samples=12, metric="loss", mode="min", name="small", verbose=0,
        storage_path=str(tmp_path_factory.mktemp("results")), engine=tune.Simulated(),
    )  # fmt: skip


def functions():
    return {name.removeprefix("plot_"): one for name, one in vars(plots).items() if name.startswith("plot_")}


def test_each_plot_has_a_function():
    assert set(functions()) == {*ONE, *SEVERAL}
    assert set(functions()) >= OPTUNAS


@pytest.mark.parametrize("name", [*ONE, *SEVERAL])
def test_each_plot_is_a_figure_of_plotly(name, analysis):
    from plotly.graph_objects import Figure

    goals = {"goals": [("loss", "min"), ("size", "max")]} if name in SEVERAL_OBJECTIVES else {}
    assert isinstance(functions()[name](analysis, **goals), Figure)


@pytest.mark.parametrize("name", ["optimization_history", "rank"])
def test_matplotlib_is_drawn_on_request(name, analysis):
    matplotlib = pytest.importorskip("matplotlib.figure")
    assert isinstance(functions()[name](analysis, backend="matplotlib"), matplotlib.Figure)


def test_all_that_names_an_experiment_is_accepted(analysis):
    path = analysis.experiment_path
    sources = [analysis, ResultGrid(analysis), path, Path(path)]
    figures = [plots.plot_slice(source, ["x"]).to_json() for source in sources]
    assert len(set(figures)) == 1
    assert len(plots.plot_edf([analysis, path]).data) == 2


def test_a_run_is_shown_and_plotted(tmp_path):
    run = tune.start(
        train, config={"x": tune.uniform(0, 1), "y": 1}, num_samples=3, metric="loss", mode="min", name="run", verbose=0,
        storage_path=str(tmp_path), engine=tune.Simulated(),
    )  # fmt: skip
    run._repr_html_()  # whether or not it has a journal yet
    run.wait()
    assert len(plots.plot_timeline(run).data) == 1
    assert "3 trials" in run._repr_html_()


@pytest.mark.parametrize("source", [3, None, object()])
def test_what_is_no_experiment_is_refused(source):
    with pytest.raises(ArgumentError, match="is not an experiment"):
        plots.plot_slice(source)


def test_a_path_without_an_experiment_is_refused(tmp_path):
    with pytest.raises(StorageError):
        plots.plot_timeline(tmp_path)


def test_a_target_is_a_function_of_a_trial(analysis):
    figure = plots.plot_slice(
        analysis, params=["x"], target=lambda trial: trial.config["x"] * 10, target_name="ten x"
    )
    found = sorted(np.asarray(figure.data[0].y).tolist())
    assert found == pytest.approx(sorted(10 * trial.config["x"] for trial in analysis.trials))
    assert figure.layout.yaxis.title.text == "ten x"
    assert plots.plot_slice(analysis, target="size").layout.yaxis.title.text == "size"
    with pytest.raises(ArgumentError, match="target=3"):
        plots.plot_slice(analysis, target=3)


def test_the_backend_is_what_is_installed(analysis, monkeypatch):
    from overtone.analysis.drawing import backends

    with pytest.raises(ArgumentError, match="bokeh"):
        plots.plot_slice(analysis, backend="bokeh")
    monkeypatch.setattr(backends, "find_spec", lambda name: None)
    with pytest.raises(MissingPackageError, match=r'pip install "overtone\[plot\]"'):
        plots.plot_slice(analysis)


def test_a_page_needs_no_package(analysis, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "plotly", None)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    page = analysis.plot()
    assert "optimization_history" in page.names
    path = page.save(tmp_path / "plots.html")
    assert Path(path).read_text().count("<figure>") == len(page.names)
    assert "<svg" in page._repr_html_()
    assert ResultGrid(analysis).plot().names == page.names


def test_a_notebook_shows_the_best_configuration(analysis):
    html = analysis._repr_html_()
    best = analysis.best_trial
    assert best.trial_id in html
    assert "&quot;x&quot;: " + repr(best.config["x"]) in html
    assert ResultGrid(analysis)._repr_html_() == html
    assert "<style" not in html


@pytest.mark.parametrize("name", ["slice", "contour", "rank", "parallel_coordinate"])
def test_params_may_be_given_as_in_optuna(name):
    assert list(inspect.signature(functions()[name]).parameters)[1] == "params"


def test_a_run_without_a_journal_is_shown(tmp_path, monkeypatch):
    run = tune.start(
        train, config={"x": tune.uniform(0, 1), "y": 1}, num_samples=1, metric="loss", mode="min", name="run", verbose=0,
        storage_path=str(tmp_path), engine=tune.Simulated(),
    )  # fmt: skip
    run.wait()

    def missing(*args, **options):
        raise StorageError("no journal.jsonl")

    monkeypatch.setattr("overtone.analysis.ExperimentAnalysis._repr_html_", missing)
    with pytest.raises(StorageError):
        run._repr_html_()
    monkeypatch.setattr(run, "_is_over", False)
    monkeypatch.setattr(type(run), "has_results", property(lambda self: False))
    assert run._repr_html_() == "<div><b>run</b>: starting</div>"


def test_a_notebook_shows_figures_of_matplotlib(analysis):
    figure = plots.plot_slice(analysis, backend="matplotlib")
    assert figure._repr_png_().startswith(b"\x89PNG")
    assert pickle.loads(pickle.dumps(figure)).axes


def test_given_trials_alone_are_plotted(analysis):
    some = [one.trial_id for one in analysis.trials[3:9]]
    part = tune.ExperimentAnalysis(analysis.experiment_path, trials=some)
    columns = columns_of(part)
    assert list(columns.ids) == some
    assert columns.metrics["loss"].last.tolist() == [one.last_result["loss"] for one in part.trials]
    assert columns.curve(1, "loss")[1].tolist() == [one["loss"] for one in part.trials[1].results()]
    assert columns.params["x"].values.tolist() == [one.config["x"] for one in part.trials]
    assert len(plots.plot_optimization_history(part).data[0].x) == 6
    assert list(columns_of(ResultGrid(part)).ids) == some


def test_a_name_is_looked_up_below_the_folder_of_all_experiments(analysis, monkeypatch, tmp_path):
    monkeypatch.setattr(location, "RESULTS", str(Path(analysis.experiment_path).parent))
    monkeypatch.chdir(tmp_path)
    assert len(columns_of("small")) == 12
    with pytest.raises(StorageError, match="no experiment"):
        columns_of("smal")
