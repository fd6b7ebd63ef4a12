from __future__ import annotations

from math import nan

import pytest

from overtone.analysis import ExperimentAnalysis, ResultGrid
from overtone.errors import GoalError, TrialError


@pytest.fixture
def grid(told):
    told.run({"lr": 1}, {"loss": 4}, {"loss": 3})
    told.run({"lr": 2}, {"loss": 1}, {"loss": 8})
    failed = told.add({"lr": 3})
    told.start(failed)
    told.fail(failed, "KeyError: 'x'", "Traceback")
    return ResultGrid(ExperimentAnalysis(told.write(), "loss", "min"))


def test_it_is_a_sequence_of_outcomes(grid):
    assert len(grid) == 3
    assert [one.config["lr"] for one in grid] == [1, 2, 3]
    assert (grid[0].config["lr"], grid[-1].config["lr"]) == (1, 3)
    assert [one.config["lr"] for one in grid[1:]] == [2, 3]
    with pytest.raises(IndexError):
        grid[3]


def test_the_best_result(grid):
    assert grid.get_best_result().config["lr"] == 1
    assert grid.get_best_result(scope="all").config["lr"] == 2
    assert grid.get_best_result("loss", "max").config["lr"] == 2
    with pytest.raises(GoalError, match="did you mean 'loss'"):
        grid.get_best_result("los", "max")


def test_failed_and_ended_trials_are_counted(grid):
    assert (grid.num_errors, grid.num_terminated) == (1, 2)
    assert len(grid.errors) == 1
    assert "KeyError: 'x'" in str(grid.errors[0])
    assert "3 trials, 1 failed" in repr(grid)


def test_frames(grid):
    assert grid.get_dataframe()["loss"].tolist() == [3, 8]
    assert grid.get_dataframe("loss", "min")["loss"].tolist() == [3, 1]


def test_where_there_is_no_best_result_the_error_says_why(told):
    told.run({}, {"loss": nan})
    told.run({}, {"loss": nan})
    grid = ResultGrid(ExperimentAnalysis(told.write(), "loss", "min"))
    with pytest.raises(GoalError, match="no best result among 2 trials by metric 'loss': 0 failed"):
        grid.get_best_result()
    assert grid.experiment_path == str(told.folder)


def test_the_only_trial_is_the_best_whatever_it_reported(told):
    told.run({"lr": 1}, {"a": 1, "b": 2})
    for default in (None, "c"):
        grid = ResultGrid(ExperimentAnalysis(told.write(), default))
        assert grid.get_best_result().config == {"lr": 1}
    with pytest.warns(UserWarning, match="only trial.*'c'"):
        assert grid.get_best_result("c", "max").config == {"lr": 1}


def test_no_best_result_is_also_a_runtime_error(grid):
    with pytest.raises(RuntimeError, match="no trial reported metric 'los'"):
        grid.get_best_result("los", "max")


def test_errors_are_of_the_type_that_was_raised(grid):
    (error,) = grid.errors
    assert isinstance(error, TrialError)
    assert (error.type_name, error.text) == ("KeyError", "'x'")


def test_the_file_system_is_the_local_one(grid):
    fs = pytest.importorskip("pyarrow.fs")
    assert isinstance(grid.filesystem, fs.LocalFileSystem)
    assert isinstance(grid[0].filesystem, fs.LocalFileSystem)
