"""The analysis, the ResultGrid and the results."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest
from subject import covers, part, tune


def rises_and_falls(config):
    """Report x, 3x and 2x, with a checkpoint each."""
    import tempfile

    for step, factor in enumerate((1, 3, 2)):
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "step").write_text(str(step))
            tune.report(
                {"score": factor * config["x"], "other": -factor},
                checkpoint=tune.Checkpoint.from_directory(folder),
            )


def falls(config):
    """Best at first, or at last: scopes disagree about which trial is best."""
    for value in config["values"]:
        tune.report({"score": value})


@pytest.fixture(scope="module")
def analysis(tmp_path_factory):
    return tune.run(
        rises_and_falls, config={"x": tune.grid_search([1, 3, 2])}, metric="score", mode="max", name="mine", verbose=0,
        storage_path=str(tmp_path_factory.mktemp("results")),
    )  # fmt: skip


@pytest.fixture(scope="module")
def grid(tmp_path_factory):
    return tune.Tuner(
        rises_and_falls,
        param_space={"x": tune.grid_search([1, 3, 2])},
        tune_config=tune.TuneConfig(metric="score", mode="max"),
        run_config=tune.RunConfig(
            name="mine", storage_path=str(tmp_path_factory.mktemp("results")), verbose=0
        ),
    ).fit()


@pytest.fixture(scope="module")
def scopes(tmp_path_factory):
    space = {"values": tune.grid_search([[9, 1, 1, 1], [2, 2, 2, 8], [5, 5, 5, 5]])}
    return tune.run(falls, config=space, verbose=0, storage_path=str(tmp_path_factory.mktemp("results")))


@covers(
    "tune.ExperimentAnalysis.best_trial",
    "tune.ExperimentAnalysis.best_config",
    "tune.ExperimentAnalysis.best_result",
)
def test_the_best(analysis):
    assert analysis.best_trial.config == analysis.best_config == {"x": 3}
    assert analysis.best_result["score"] == 6


@covers("tune.ExperimentAnalysis.best_checkpoint", "tune.ExperimentAnalysis.get_best_checkpoint: trial")
def test_the_best_checkpoint(analysis):
    assert (Path(analysis.best_checkpoint.path) / "step").read_text() == "1"
    checkpoint = analysis.get_best_checkpoint(analysis.best_trial)
    assert (Path(checkpoint.path) / "step").read_text() == "1"


@covers("tune.ExperimentAnalysis.get_best_checkpoint: metric mode")
@pytest.mark.parametrize(
    ("metric", "mode", "step"), [("score", "max", "1"), ("score", "min", "0"), ("other", "max", "0")]
)
def test_the_best_checkpoint_by_another_metric(analysis, metric, mode, step):
    checkpoint = analysis.get_best_checkpoint(analysis.best_trial, metric=metric, mode=mode)
    assert (Path(checkpoint.path) / "step").read_text() == step


@covers("tune.ExperimentAnalysis.get_last_checkpoint: trial metric mode")
def test_the_last_checkpoint(analysis):
    assert (Path(analysis.get_last_checkpoint(analysis.trials[0]).path) / "step").read_text() == "2"
    best = analysis.get_last_checkpoint(metric="score", mode="min")
    assert Path(best.path).parent == Path(
        next(trial.path for trial in analysis.trials if trial.config["x"] == 1)
    )


@covers("tune.ExperimentAnalysis.best_dataframe", "tune.ExperimentAnalysis.best_result_df", "tune.ExperimentAnalysis.results_df",
        "tune.ExperimentAnalysis.trial_dataframes", "tune.ExperimentAnalysis.results")  # fmt: skip
def test_frames(analysis):
    assert list(analysis.best_dataframe["score"]) == [3, 9, 6]
    assert list(analysis.best_result_df["score"]) == [6]
    assert sorted(analysis.results_df["score"]) == [2, 4, 6]
    assert sorted(len(frame) for frame in analysis.trial_dataframes.values()) == [3, 3, 3]
    assert {result["score"] for result in analysis.results.values()} == {2, 4, 6}


@covers("tune.ExperimentAnalysis.dataframe: metric mode")
def test_the_frame_of_the_trials(analysis):
    assert sorted(analysis.dataframe()["score"]) == [2, 4, 6]
    assert sorted(analysis.dataframe(metric="score", mode="max")["score"]) == [3, 6, 9]
    assert sorted(analysis.dataframe(metric="score", mode="min")["score"]) == [1, 2, 3]
    assert sorted(analysis.dataframe()["config/x"]) == [1, 2, 3]


@covers("tune.ExperimentAnalysis.get_all_configs: prefix")
def test_all_configs(analysis):
    assert sorted(config["x"] for config in analysis.get_all_configs().values()) == [1, 2, 3]
    assert sorted(config["config/x"] for config in analysis.get_all_configs(prefix=True).values()) == [
        1,
        2,
        3,
    ]


@covers(
    "tune.ExperimentAnalysis.get_best_config: metric mode",
    "tune.ExperimentAnalysis.get_best_trial: metric mode",
)
def test_the_best_by_another_mode(analysis):
    assert analysis.get_best_config(metric="score", mode="min") == {"x": 1}
    assert analysis.get_best_trial("score", "min").config == {"x": 1}
    assert analysis.get_best_config(metric="score") == {"x": 3}


@covers("tune.ExperimentAnalysis.get_best_trial: scope", "tune.ExperimentAnalysis.get_best_config: scope")
@pytest.mark.parametrize(("scope", "first"), [("last", 2), ("all", 9), ("avg", 5), ("last-5-avg", 5)])
def test_the_scopes(scopes, scope, first):
    assert scopes.get_best_trial("score", "max", scope=scope).config["values"][0] == first
    assert scopes.get_best_config("score", "max", scope=scope)["values"][0] == first


@covers("tune.ExperimentAnalysis.get_best_trial: filter_nan_and_inf scope")
def test_infinite_results_are_left_out_or_not(search):
    analysis = search(falls, config={"values": tune.grid_search([[1], [float("inf")], [float("nan")]])})
    assert analysis.get_best_trial("score", "max").config["values"] == [1]
    assert analysis.get_best_trial("score", "max", filter_nan_and_inf=False).config["values"] != [1]


@covers(
    "tune.ExperimentAnalysis: experiment_checkpoint_path default_metric default_mode",
    "tune.analysis.ExperimentAnalysis",
    "tune.ExperimentAnalysis.experiment_path",
)
def test_an_analysis_is_read_from_a_folder(analysis):
    again = tune.ExperimentAnalysis(analysis.experiment_path, default_metric="score", default_mode="min")
    assert again.best_config == {"x": 1}
    assert Path(again.experiment_path) == Path(analysis.experiment_path)
    assert len(again.trials) == 3


@covers("tune.ExperimentAnalysis: storage_filesystem")
def test_an_analysis_is_read_from_a_filesystem(analysis):
    LocalFileSystem = pytest.importorskip("pyarrow.fs").LocalFileSystem
    again = tune.ExperimentAnalysis(analysis.experiment_path, storage_filesystem=LocalFileSystem())
    assert len(again.trials) == 3


@covers("tune.ExperimentAnalysis: trials")
def test_an_analysis_takes_trials(analysis):
    again = tune.ExperimentAnalysis(
        analysis.experiment_path, trials=analysis.trials[:1], default_metric="score", default_mode="max"
    )
    assert len(again.trials) == 1


@covers("tune.ExperimentAnalysis")
def test_an_analysis_can_be_pickled(analysis):
    again = pickle.loads(pickle.dumps(analysis))
    assert again.best_config == {"x": 3}


@covers("tune.experiment.Trial.last_result", "tune.experiment.Trial.metric_analysis", "tune.experiment.Trial.local_path", "tune.experiment.Trial.checkpoint",
        "tune.experiment.Trial.has_checkpoint", "tune.experiment.Trial.TERMINATED", "tune.experiment.Trial.is_finished", "tune.experiment.Trial.path")  # fmt: skip
def test_trials_tell_about_themselves(analysis):
    trial = analysis.best_trial
    assert trial.last_result["score"] == 6
    assert trial.metric_analysis["score"]["max"] == 9
    assert trial.metric_analysis["score"]["min"] == 3
    assert trial.metric_analysis["score"]["last"] == 6
    assert trial.metric_analysis["score"]["avg"] == 6
    assert Path(trial.path).parent == Path(analysis.experiment_path)
    assert Path(trial.local_path).name == Path(trial.path).name
    assert trial.has_checkpoint()
    assert trial.checkpoint
    assert trial.status == part("tune.experiment").Trial.TERMINATED
    assert trial.is_finished()
    assert trial.trainable_name == "rises_and_falls"
    assert trial.evaluated_params == {"x": 3}
    assert "x=3" in trial.experiment_tag
    assert trial.placement_group_factory.required_resources["CPU"] == 1


@covers(
    "tune.experiment.Trial.ERROR",
    "tune.experiment.Trial.PAUSED",
    "tune.experiment.Trial.PENDING",
    "tune.experiment.Trial.RUNNING",
)
def test_statuses_have_names():
    Trial = part("tune.experiment").Trial
    assert (Trial.PENDING, Trial.RUNNING, Trial.PAUSED, Trial.TERMINATED, Trial.ERROR) == (
        "PENDING",
        "RUNNING",
        "PAUSED",
        "TERMINATED",
        "ERROR",
    )


@covers(
    "tune.experiment.Trial.error_file",
    "tune.experiment.Trial.num_failures",
    "tune.experiment.Trial.get_error",
)
def test_a_failed_trial_has_its_error(search):
    def fails(config):
        raise RuntimeError("broken")

    (trial,) = search(fails, raise_on_failed_trial=False).trials
    assert trial.status == "ERROR"
    assert "broken" in Path(trial.error_file).read_text()
    assert trial.num_failures == 1
    assert "broken" in str(trial.get_error())


@covers("tune.experiment.Trial.local_dir", "tune.experiment.Trial.local_path")
def test_a_trial_s_folder_is_in_the_experiment_s(search):
    (trial,) = search(lambda config: {"score": 1}).trials
    assert Path(trial.local_dir, trial.relative_logdir) == Path(trial.local_path)


@covers("tune.experiment.Trial.experiment_dir_name")
def test_a_trial_has_what_callbacks_read(search):
    seen = {}

    class Looks(tune.Callback):
        def on_trial_result(self, iteration, trials, trial, result, **info):
            seen.update(
                config=trial.config,
                id=trial.trial_id,
                status=trial.status,
                path=trial.path,
                experiment=trial.experiment_dir_name,
            )

    def once(config):
        return {"score": 5}

    (trial,) = search(once, config={"x": 3}, callbacks=[Looks()]).trials
    assert seen["config"] == {"x": 3}
    assert seen["id"] == trial.trial_id
    assert seen["status"] == "RUNNING"
    assert seen["path"] == trial.path
    assert seen["experiment"] == trial.experiment_dir_name == Path(trial.path).parent.name


@covers("tune.ResultGrid", "tune.ResultGrid.get_best_result: metric mode")
def test_the_best_of_a_grid(grid):
    assert grid.get_best_result().config == {"x": 3}
    assert grid.get_best_result(metric="score", mode="min").config == {"x": 1}
    assert len(grid) == 3
    assert sorted(result.config["x"] for result in grid) == [1, 2, 3]
    assert grid[0].metrics["training_iteration"] == 3


@covers("tune.ResultGrid.get_best_result: scope filter_nan_and_inf")
def test_the_scopes_of_a_grid(tuned):
    grid = tuned(falls, {"values": tune.grid_search([[9, 1], [2, 8], [float("nan")]])})
    assert grid.get_best_result("score", "max", scope="all").config["values"] == [9, 1]
    assert grid.get_best_result("score", "max", scope="last").config["values"] == [2, 8]
    assert grid.get_best_result("score", "max", scope="last", filter_nan_and_inf=True).config["values"] == [
        2,
        8,
    ]


@covers("tune.ResultGrid.get_dataframe: filter_metric filter_mode")
def test_the_frame_of_a_grid(grid):
    assert sorted(grid.get_dataframe()["score"]) == [2, 4, 6]
    assert sorted(grid.get_dataframe(filter_metric="score", filter_mode="max")["score"]) == [3, 6, 9]
    assert sorted(grid.get_dataframe(filter_metric="score", filter_mode="min")["score"]) == [1, 2, 3]
    assert "config/x" in grid.get_dataframe().columns


@covers("tune.ResultGrid.errors", "tune.ResultGrid.num_errors", "tune.ResultGrid.num_terminated")
def test_the_errors_of_a_grid(tuned, grid):
    def fails(config):
        if config["x"] == 1:
            raise RuntimeError("broken")
        return {"score": 1}

    found = tuned(fails, {"x": tune.grid_search([1, 2, 3])})
    assert (found.num_errors, found.num_terminated) == (1, 2)
    assert len(found.errors) == 1
    assert "broken" in str(found.errors[0])
    assert (grid.num_errors, grid.errors) == (0, [])


@covers("tune.ResultGrid.experiment_path", "tune.ResultGrid")
def test_the_path_of_a_grid(grid):
    assert Path(grid.experiment_path).name == "mine"
    assert Path(grid[0].path).parent == Path(grid.experiment_path)


@covers("tune.ResultGrid.filesystem")
def test_the_filesystem_of_a_grid(grid):
    assert "LocalFileSystem" in type(grid.filesystem).__name__


@covers("tune.ResultGrid", "air.Result")
def test_a_grid_can_be_pickled(grid):
    again = pickle.loads(pickle.dumps(grid))
    assert again.get_best_result().config == {"x": 3}


@covers(
    "air.Result: metrics checkpoint error path metrics_dataframe best_checkpoints",
    "air.Result.config",
    "train.Result",
)
def test_a_result(grid):
    best = grid.get_best_result()
    assert best.metrics["score"] == 6
    assert best.config == {"x": 3}
    assert best.error is None
    assert (Path(best.checkpoint.path) / "step").read_text() == "2"
    assert Path(best.path).parent == Path(grid.experiment_path)
    assert list(best.metrics_dataframe["score"]) == [3, 9, 6]
    assert sorted(metrics["score"] for _, metrics in best.best_checkpoints) == [3, 6, 9]


@covers("air.Result.get_best_checkpoint: metric mode")
def test_the_best_checkpoint_of_a_result(grid):
    best = grid.get_best_result()
    assert (Path(best.get_best_checkpoint("score", "max").path) / "step").read_text() == "1"
    assert (Path(best.get_best_checkpoint("score", "min").path) / "step").read_text() == "0"
    with pytest.raises(Exception):
        best.get_best_checkpoint("score", "most")


@covers(
    "air.Result.from_path: path",
    "air.result.EXPR_RESULT_FILE",
    "air.result.EXPR_PROGRESS_FILE",
    "air.result.Result",
)
def test_a_result_is_read_from_its_folder(grid):
    path = grid.get_best_result().path
    again = part("air.result").Result.from_path(path)
    assert again.metrics["score"] == 6
    assert len(again.best_checkpoints) == 3
    assert (Path(path) / part("air.result").EXPR_RESULT_FILE).exists()


@covers("air.Result.from_path: storage_filesystem", "air.Result.filesystem")
def test_a_result_is_read_from_a_filesystem(grid):
    LocalFileSystem = pytest.importorskip("pyarrow.fs").LocalFileSystem
    again = tune.Result.from_path(grid.get_best_result().path, storage_filesystem=LocalFileSystem())
    assert again.metrics["score"] == 6


@covers("air.Result: error")
def test_the_error_of_a_result_is_what_was_raised(tuned):
    def fails(config):
        raise ZeroDivisionError("broken")

    (result,) = tuned(fails)
    assert "broken" in str(result.error)
    assert isinstance(result.error, Exception)


@covers("tune.ExperimentAnalysis: experiment_checkpoint_path")
def test_there_is_no_analysis_of_nothing(tmp_path):
    with pytest.raises(Exception):
        tune.ExperimentAnalysis(str(tmp_path / "nowhere"))


@covers("tune.report: metrics", "tune.ExperimentAnalysis.results")
def test_values_that_json_lacks_come_back(search):
    import datetime as dt
    import decimal
    import pathlib
    import uuid

    given = {
        "at": dt.datetime(2024, 1, 2, 3),
        "sum": decimal.Decimal("1.5"),
        "id": uuid.UUID(int=3),
        "at_path": pathlib.Path("/x"),
    }

    def once(config):
        tune.report(given)

    last = search(once).trials[0].last_result
    assert {name: last[name] for name in given} == given
