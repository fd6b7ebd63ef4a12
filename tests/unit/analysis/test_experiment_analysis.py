from __future__ import annotations

import math
import sys
from math import inf, nan

import pytest

from overtone.analysis import ExperimentAnalysis
from overtone.core.goal import Goal
from overtone.errors import GoalError, MissingPackageError, OvertoneError, StorageError
from overtone.journal.codec import Codec


@pytest.fixture
def analysis(told):
    """Three trials: steady, early (best in between) and hopeless (NaN)."""
    told.run({"lr": 1, "opt": {"name": "a"}}, {"loss": 5}, {"loss": 4}, {"loss": 3})
    told.run({"lr": 2, "opt": {"name": "b"}}, {"loss": 1}, {"loss": 9}, {"loss": 8})
    told.run({"lr": 3, "opt": {"name": "c"}}, {"loss": 9}, {"loss": nan})
    return ExperimentAnalysis(told.write(), default_metric="loss", default_mode="min")


def lr(trial):
    return trial.config["lr"]


@pytest.mark.parametrize(
    ("mode", "scope", "expected"),
    [
        ("min", "last", 1),
        ("min", "avg", 1),
        ("min", "all", 2),
        ("max", "last", 2),
        ("max", "last-5-avg", 2),
        ("max", "all", 2),  # of two that reached 9 the older
    ],
)
def test_the_best_trial_by_scope(analysis, mode, scope, expected):
    assert lr(analysis.get_best_trial("loss", mode, scope)) == expected


def test_everything_of_the_best(analysis):
    best = analysis.trials[0]
    assert analysis.best_trial is best
    assert analysis.best_config == analysis.get_best_config() == {"lr": 1, "opt": {"name": "a"}}
    assert analysis.best_logdir == analysis.get_best_logdir() == best.local_path
    assert analysis.best_result["loss"] == 3
    assert analysis.best_result_df["config/opt/name"][best.trial_id] == "a"
    assert analysis.best_dataframe["loss"].tolist() == [5, 4, 3]


def test_a_wrong_scope_shows_what_is_allowed(analysis):
    with pytest.raises(GoalError, match=r"scope='best': choose one of 'last', 'avg'"):
        analysis.get_best_trial(scope="best")


@pytest.mark.parametrize("mode", ["min", "max"])
@pytest.mark.parametrize("is_filtered", [True, False])
def test_nan_never_wins(told, mode, is_filtered):
    told.run({"lr": 1}, {"loss": nan})
    told.run({"lr": 2}, {"loss": 5})
    told.run({"lr": 3}, {"loss": nan})
    found = ExperimentAnalysis(told.write()).get_best_trial("loss", mode, filter_nan_and_inf=is_filtered)
    assert lr(found) == 2


def test_nan_is_better_than_nothing_if_it_may_be(told):
    told.run({"lr": 1}, {"other": 1})
    told.run({"lr": 2}, {"loss": nan})
    told.run({"lr": 3}, {"loss": nan})
    found = ExperimentAnalysis(told.write()).get_best_trial("loss", "min", filter_nan_and_inf=False)
    assert lr(found) == 2


def test_the_mode_that_a_run_inferred_is_not_that_of_other_metrics(told):
    told.run({"lr": 1}, {"score": 1, "peak": 1})
    told.run({"lr": 2}, {"score": 2, "peak": 3})
    analysis = ExperimentAnalysis(told.write(), goal=Goal("score", "max"))
    assert analysis.best_config == {"lr": 2}
    with pytest.raises(GoalError, match="'peak' should grow or fall is not known"):
        analysis.get_best_trial("peak")
    assert ExperimentAnalysis(told.folder, "score", "max").get_best_config("peak") == {"lr": 2}


def test_infinity_wins_only_where_it_may(told):
    told.run({"lr": 1}, {"loss": 5})
    told.run({"lr": 2}, {"loss": -inf})
    analysis = ExperimentAnalysis(told.write())
    assert analysis.get_best_config("loss", "min")["lr"] == 1
    assert analysis.get_best_config("loss", "min", filter_nan_and_inf=False)["lr"] == 2


def test_where_no_trial_has_a_value_there_is_a_warning_and_no_best(told):
    told.run({"lr": 1}, {"loss": nan})
    told.run({"lr": 2}, {"loss": nan})
    analysis = ExperimentAnalysis(told.write(), "loss", "min")
    with pytest.warns(UserWarning, match="none reported 'loss' as a finite number"):
        assert analysis.get_best_config() is None
    with pytest.warns(UserWarning, match="no best trial"), pytest.raises(GoalError, match="among 2"):
        _ = analysis.best_config


@pytest.mark.parametrize("metric", ["loss", "los", None])
def test_the_only_trial_is_the_best_and_there_is_a_warning(told, metric):
    told.run({"lr": 1}, {"loss": nan, "other": 1})
    analysis = ExperimentAnalysis(told.write())
    with pytest.warns(UserWarning, match=r"the only trial is the best one, although"):
        assert analysis.get_best_config(metric, "min") == {"lr": 1}
    with pytest.raises(GoalError, match="mode='low'"):
        analysis.get_best_trial(metric, "low")


def test_the_only_trial_is_not_the_best_if_it_breaks_a_constraint(tell):
    told = tell(metric=["loss"], mode=["min"], constraints={"size": 10})
    told.run({"lr": 1}, {"loss": 1, "size": 11})
    with pytest.warns(UserWarning, match="none that keeps the constraints"):
        assert ExperimentAnalysis(told.write()).get_best_trial() is None


def test_the_mode_of_the_run_is_that_of_every_metric(analysis):
    assert analysis.get_best_config("training_iteration")["lr"] == 3
    assert analysis.get_best_config("training_iteration", "max")["lr"] == 1


def test_the_best_trial_is_searched_for_once(analysis, monkeypatch):
    best = analysis.best_trial
    monkeypatch.setattr(type(best), "value", None)
    assert analysis.best_trial is best
    assert analysis.best_config["lr"] == 1
    with pytest.raises(TypeError):
        analysis.get_best_trial(mode="max")


def test_a_typo_in_a_metric_lists_the_metrics(analysis):
    for ask in (
        lambda: analysis.get_best_trial("los", "min"),
        lambda: analysis.dataframe("los", "min"),
        lambda: analysis.dataframe("los"),
        lambda: analysis.get_best_checkpoint(analysis.trials[0], "los", "min"),
    ):
        with pytest.raises(GoalError, match=r"'los'; there are 'loss', .*did you mean 'loss'"):
            ask()


def test_the_goal_is_that_of_the_journal_unless_it_is_named(tell):
    told = tell(metric=["score"], mode=["min"])
    told.run({"lr": 1}, {"score": 1})
    told.run({"lr": 2}, {"score": 2})
    assert ExperimentAnalysis(told.write()).best_config == {"lr": 1}
    assert ExperimentAnalysis(told.folder, default_mode="max").best_config == {"lr": 2}


def test_a_goal_that_nobody_named_is_the_only_metric(told):
    told.run({"lr": 1}, {"mean_accuracy": 0.1})
    told.run({"lr": 2}, {"mean_accuracy": 0.9})
    assert ExperimentAnalysis(told.write()).best_config == {"lr": 2}


def test_results_are_the_last_ones_by_trial_id(analysis):
    found = analysis.results
    assert list(found) == [one.trial_id for one in analysis.trials]
    assert found[analysis.trials[1].trial_id]["loss"] == 8


def test_results_df_has_a_row_for_every_trial(told):
    reported, failed = told.run({"lr": 1}, {"loss": 1}, {"loss": 2, "eval": {"f1": 3}}), told.add({"lr": 2})
    made = ExperimentAnalysis(told.write()).results_df
    assert made.index.tolist() == [reported, failed]
    assert made.index.name == "trial_id"
    assert made["config/lr"].tolist() == [1, 2]
    assert made.loc[reported, ["loss", "eval/f1"]].tolist() == [2, 3]
    assert math.isnan(made.loc[failed, "loss"])


def test_dataframe_has_the_last_or_the_best_result_of_each_trial(analysis):
    assert analysis.dataframe()["loss"].tolist()[:2] == [3, 8]
    assert analysis.dataframe("loss")["loss"].tolist()[:2] == [3, 8]
    best = analysis.dataframe("loss", "min")
    assert best["loss"].tolist() == [3, 1, 9]
    assert best["config/lr"].tolist() == [1, 2, 3]
    assert best["training_iteration"].tolist() == [3, 1, 1]
    assert best["logdir"].tolist() == [one.local_path for one in analysis.trials]
    assert analysis.dataframe("loss", "max")["loss"].tolist() == [5, 9, 9]


def test_dataframe_finds_a_metric_that_the_last_results_lack(told):
    told.run({}, {"loss": 1, "eval": 2}, {"loss": 1})
    analysis = ExperimentAnalysis(told.write())
    assert analysis.dataframe("eval")["loss"].tolist() == [1]
    assert analysis.dataframe("eval", "max")["eval"].tolist() == [2]


def test_dataframe_refuses_half_a_goal(analysis):
    with pytest.raises(GoalError, match="needs a metric"):
        analysis.dataframe(mode="min")
    with pytest.raises(GoalError, match=r"mode='least'"):
        analysis.dataframe("loss", "least")


def test_trial_dataframes_are_by_folder_and_by_id(analysis):
    frames, second = analysis.trial_dataframes, analysis.trials[1]
    assert list(frames) == [one.trial_id for one in analysis.trials]
    assert frames[second.local_path] is frames[second.trial_id]
    assert frames[second.local_path]["loss"].tolist() == [1, 9, 8]
    assert frames[second.local_path]["training_iteration"].tolist() == [1, 2, 3]
    assert analysis.trial_dataframes is frames
    assert analysis.fetch_trial_dataframes() is not frames


def test_without_pandas_everything_but_frames_works(analysis, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    assert analysis.best_config["lr"] == 1
    with pytest.raises(MissingPackageError, match="pandas"):
        _ = analysis.results_df


def test_all_configs(analysis):
    by_folder = analysis.get_all_configs()
    second = analysis.trials[1].local_path
    assert by_folder[second] == {"lr": 2, "opt": {"name": "b"}}
    assert by_folder[analysis.trials[1].trial_id] == by_folder[second]
    assert list(by_folder) == [one.trial_id for one in analysis.trials]
    assert analysis.get_all_configs(prefix=True)[second] == {"config/lr": 2, "config/opt/name": "b"}


@pytest.fixture
def saved(told):
    """One trial with four checkpoints, the second of them with NaN, the last before it was evaluated."""
    trial = told.add({"lr": 1})
    told.start(trial)
    for step, loss in enumerate([2, nan, 1], start=1):
        told.report(trial, loss=loss, checkpoint=told.at(trial, step))
    told.report(trial, other=1, checkpoint=told.at(trial, 4))
    return ExperimentAnalysis(told.write(), "loss", "min")


def test_the_best_checkpoint_is_that_of_the_best_result(saved):
    trial = saved.trials[0]
    path = f"{trial.local_path}/checkpoint_00000"
    assert saved.get_best_checkpoint(trial).path == f"{path}3"
    assert saved.get_best_checkpoint(trial.trial_id, mode="max").path == f"{path}1"
    assert saved.get_best_checkpoint(trial.local_path, "training_iteration", "max").path == f"{path}4"
    assert saved.get_best_checkpoint(trial, return_path=True) == f"{path}3"
    assert saved.get_last_checkpoint(trial).path == saved.get_last_checkpoint().path == f"{path}4"


def test_checkpoint_paths_come_with_the_metric(saved):
    found = saved.get_trial_checkpoints_paths(saved.trials[0])
    assert [path[-1] for path, _ in found] == ["1", "2", "3", "4"]
    assert [found[0][1], found[2][1]] == [2, 1]
    assert found[3][1] is None
    assert [
        value for _, value in saved.get_trial_checkpoints_paths(saved.trials[0], "training_iteration")
    ] == [1, 2, 3, 4]


def test_the_best_trial_may_have_no_checkpoint(analysis):
    assert analysis.best_checkpoint is None
    assert analysis.get_best_checkpoint(analysis.best_trial, return_path=True) is None


def test_an_unknown_trial_lists_some_that_exist(analysis):
    with pytest.raises(
        OvertoneError, match=r"no trial 'x'; there are 358bb_00000, 358bb_00001, 358bb_00002$"
    ):
        analysis.get_last_checkpoint("x")


def test_refresh_shows_what_a_running_experiment_recorded_since(told):
    trial = told.add({"lr": 1})
    told.start(trial)
    told.report(trial, loss=5)
    analysis = ExperimentAnalysis(told.write(), "loss", "min")
    shown = analysis.best_trial
    before = analysis.trial_dataframes[trial]
    told.report(trial, loss=4)
    second = told.run({"lr": 2}, {"loss": 1})
    told.write()
    assert (shown.last_result["loss"], len(analysis.trials)) == (5, 1)
    assert analysis.refresh() == 6
    assert (shown.last_result["loss"], shown.num_results) == (4, 2)
    assert analysis.trials[0] is shown
    assert analysis.best_trial.trial_id == second
    assert len(before) == 1
    assert len(analysis.trial_dataframes[trial]) == 2


def test_it_may_be_opened_before_the_first_trial(told):
    analysis = ExperimentAnalysis(told.write())
    assert analysis.trials == []
    assert analysis.results == {}
    assert len(analysis.results_df) == len(analysis.dataframe()) == 0
    with pytest.raises(GoalError, match="the trial reported no number"):
        analysis.get_best_trial()


def test_a_wrong_path_is_an_error_at_once(tmp_path):
    with pytest.raises(StorageError, match="there is no experiment"):
        ExperimentAnalysis(tmp_path / "nowhere")


def test_a_choice_of_trials_hides_the_others(analysis):
    chosen = ExperimentAnalysis(
        analysis.experiment_path, "loss", "min", trials=[analysis.trials[1], "358bb_00002"]
    )
    assert [lr(one) for one in chosen.trials] == [2, 3]
    assert chosen.best_config["lr"] == 2


def test_a_codec_gives_back_what_is_not_data(told):
    told.run({"kind": "<0>"}, {"loss": 1})
    codec = Codec(decode_config=lambda config: {"kind": {"<0>": dict}[config["kind"]]})
    assert ExperimentAnalysis(told.write(), codec=codec).best_config == {"kind": dict}


def test_stats_and_runner_data(told):
    told.time = 3.5
    told.run({}, {"loss": 1}, {"loss": 2})
    told.add({})
    analysis = ExperimentAnalysis(told.write())
    found = analysis.stats()
    assert (found["num_results"], found["num_trials"]) == (2, {"TERMINATED": 1, "PENDING": 1})
    assert found["timestamp"] - found["start_time"] == pytest.approx(found["total_time"]) == 3.5
    assert analysis.runner_data()["parts"]["name"] == "train"
    assert analysis.experiment_path == str(told.folder)


def test_file_types_of_older_scripts_are_accepted(analysis):
    analysis.set_filetype("csv")
    analysis.set_filetype()
    with pytest.raises(ValueError, match="'parquet'"):
        analysis.set_filetype("parquet")


def test_the_arguments_of_ray_tune(told):
    told.run({"lr": 1}, {"loss": 1})
    local = type("LocalFileSystem", (), {"type_name": "local"})()
    found = ExperimentAnalysis(experiment_checkpoint_path=told.write(), storage_filesystem=local)
    assert len(found.trials) == 1
    other = type("S3FileSystem", (), {"type_name": "s3"})()
    with pytest.raises(StorageError, match="pass the URL"):
        ExperimentAnalysis(told.folder, storage_filesystem=other)
    with pytest.raises(TypeError, match="needs the folder"):
        ExperimentAnalysis()


def test_trials_are_one_list_until_there_are_more(told):
    told.run({"lr": 1}, {"loss": 1})
    analysis = ExperimentAnalysis(told.write())
    trials = analysis.trials
    assert analysis.trials is trials
    told.run({"lr": 2}, {"loss": 2})
    told.write()
    analysis.refresh()
    assert [lr(one) for one in analysis.trials] == [1, 2]
    assert analysis.trials[0] is trials[0]
    assert len(trials) == 1


def test_a_checkpoint_without_a_known_metric_is_the_newest(told):
    trial = told.add({})
    told.start(trial)
    for step in (1, 2):
        told.report(trial, a=step, b=step, checkpoint=told.at(trial, step))
    analysis = ExperimentAnalysis(told.write())
    found = analysis.trials[0]
    assert analysis.get_best_checkpoint(found).path.endswith("2")
    assert analysis.get_best_checkpoint(found, mode="min").path.endswith("1")
    with pytest.raises(GoalError, match="mode='low'"):
        analysis.get_best_checkpoint(found, mode="low")


def test_the_last_checkpoint_is_that_of_the_longest_trial(told):
    for lr, losses in ((1, [5]), (2, [9, 9])):
        trial = told.add({"lr": lr})
        told.start(trial)
        for step, loss in enumerate(losses, start=1):
            told.report(trial, loss=loss, checkpoint=told.at(trial, step))
    analysis = ExperimentAnalysis(told.write(), "loss", "min")
    assert analysis.get_last_checkpoint().path.endswith("00001/checkpoint_000002")
    assert analysis.get_last_checkpoint(metric="loss").path.endswith("00000/checkpoint_000001")
    assert analysis.get_last_checkpoint(analysis.trials[0].trial_id).path.endswith("00000/checkpoint_000001")
