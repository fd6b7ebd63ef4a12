"""The arguments of `tune.run`."""

from __future__ import annotations

import os
from datetime import timedelta
from pathlib import Path

import pytest
from subject import covers, part, tune


def once(config):
    return {"score": config.get("x", 0)}


def three_steps(config):
    for step in range(3):
        tune.report({"score": config.get("x", 0) + step, "loss": -step})


def endless(config):
    while True:
        tune.report({"score": 1})


class Counter(tune.Trainable):
    def setup(self, config):
        self.count = 0

    def step(self):
        self.count += 1
        return {"score": self.count, "done": self.count >= 6}

    def save_checkpoint(self, checkpoint_dir):
        Path(checkpoint_dir, "count").write_text(str(self.count))

    def load_checkpoint(self, checkpoint):
        self.count = int(Path(checkpoint, "count").read_text())


@covers("tune.run: run_or_experiment name storage_path", "tune.ExperimentAnalysis.experiment_path")
def test_the_results_are_below_storage_path_and_name(tmp_path):
    analysis = tune.run(once, name="mine", storage_path=str(tmp_path), verbose=0)
    assert Path(analysis.experiment_path) == tmp_path / "mine"
    assert (tmp_path / "mine").is_dir()


@covers("tune.run: config num_samples")
def test_each_sample_has_a_config_of_the_space(search):
    analysis = search(once, config={"x": tune.uniform(2, 3), "fixed": "a"}, num_samples=3)
    assert len(analysis.trials) == 3
    assert all(2 <= trial.config["x"] < 3 and trial.config["fixed"] == "a" for trial in analysis.trials)
    assert len({trial.config["x"] for trial in analysis.trials}) == 3


@covers("tune.run: config num_samples", "tune.grid_search: values")
def test_a_grid_is_tried_num_samples_times(search):
    analysis = search(once, config={"x": tune.grid_search([1, 2])}, num_samples=2)
    assert sorted(trial.config["x"] for trial in analysis.trials) == [1, 1, 2, 2]


@covers("tune.run: metric mode", "tune.ExperimentAnalysis.best_config")
@pytest.mark.parametrize(("mode", "best"), [("max", 3), ("min", 1)])
def test_metric_and_mode_are_those_of_the_analysis(search, mode, best):
    analysis = search(once, config={"x": tune.grid_search([1, 2, 3])}, metric="score", mode=mode)
    assert analysis.best_config == {"x": best}


@covers("tune.run: mode")
def test_a_mode_is_min_or_max(search):
    with pytest.raises(Exception, match="mode"):
        search(once, metric="score", mode="most")


@covers("tune.run: stop")
def test_a_dict_stops_trials_at_a_result(search):
    analysis = search(endless, stop={"training_iteration": 4})
    assert analysis.trials[0].last_result["training_iteration"] == 4


@covers("tune.run: stop", "tune.stopper.FunctionStopper: function")
def test_a_function_stops_trials(search):
    analysis = search(endless, stop=lambda trial_id, result: result["training_iteration"] >= 2)
    assert analysis.trials[0].last_result["training_iteration"] == 2


@covers("tune.run: time_budget_s")
@pytest.mark.parametrize("budget", [1, timedelta(seconds=1)])
def test_the_time_budget_ends_the_search(search, budget):
    def slow(config):
        import time

        while True:
            time.sleep(0.05)
            tune.report({"score": 1})

    analysis = search(slow, time_budget_s=budget)
    assert analysis.trials[0].status in ("TERMINATED", "PENDING")


@covers("tune.run: resources_per_trial")
def test_resources_are_those_of_the_trial(search):
    def told(config):
        return {"cpu": tune.get_context().get_trial_resources().required_resources["CPU"]}

    assert search(told, resources_per_trial={"cpu": 2}).trials[0].last_result["cpu"] == 2


@covers("tune.run: search_alg")
def test_a_searcher_suggests_the_configs(search):
    class Given(tune.search.Searcher):
        def __init__(self):
            super().__init__(metric="score", mode="max")
            self.left = [7, 8]

        def suggest(self, trial_id):
            return {"x": self.left.pop(0)} if self.left else tune.search.Searcher.FINISHED

        def on_trial_complete(self, trial_id, result=None, error=False):
            pass

    analysis = search(once, search_alg=Given(), num_samples=5)
    assert sorted(trial.config["x"] for trial in analysis.trials) == [7, 8]


@covers("tune.run: search_alg scheduler")
def test_searcher_and_scheduler_may_be_names(search):
    analysis = search(three_steps, config={"x": tune.uniform(0, 1)}, search_alg="random", scheduler="fifo")
    assert analysis.trials[0].last_result["training_iteration"] == 3


@covers("tune.run: scheduler")
def test_a_scheduler_stops_trials(search):
    scheduler = tune.schedulers.ASHAScheduler(metric="score", mode="max", max_t=5, grace_period=1)
    analysis = search(endless, scheduler=scheduler)
    assert analysis.trials[0].last_result["training_iteration"] == 5


@covers("tune.run: progress_reporter")
def test_a_reporter_is_asked_during_the_run(search):
    told = []

    class Told(tune.ProgressReporter):
        def should_report(self, trials, done=False):
            return True

        def report(self, trials, done, *sys_info):
            told.append((len(trials), done))

    search(once, progress_reporter=Told(), verbose=1)
    assert told[-1] == (1, True)


@covers("tune.run: log_to_file")
def test_output_goes_to_files(search):
    def prints(config):
        import sys

        print("to the one")
        print("to the other", file=sys.stderr)
        return {"here": os.getcwd()}

    (trial,) = search(prints, log_to_file=True).trials
    assert "to the one" in Path(trial.last_result["here"], "stdout").read_text()
    assert "to the other" in Path(trial.last_result["here"], "stderr").read_text()


@covers("tune.run: log_to_file")
@pytest.mark.parametrize("names", ["all.txt", ("all.txt", "err.txt")])
def test_files_of_output_have_names(search, names):
    def prints(config):
        print("to the one")
        return {"here": os.getcwd()}

    (trial,) = search(prints, log_to_file=names).trials
    assert "to the one" in Path(trial.last_result["here"], "all.txt").read_text()


@covers("tune.run: trial_name_creator")
def test_trials_have_the_names_that_a_function_makes(search):
    (trial,) = search(once, trial_name_creator=lambda trial: f"mine_{trial.trial_id}").trials
    assert str(trial) == f"mine_{trial.trial_id}"


@covers("tune.run: trial_dirname_creator")
def test_folders_have_the_names_that_a_function_makes(search):
    (trial,) = search(once, trial_dirname_creator=lambda trial: f"in_{trial.trial_id}").trials
    assert Path(trial.path).name == f"in_{trial.trial_id}"


@covers("tune.run: max_failures")
def test_a_failed_trial_is_tried_again(search, tmp_path):
    def fails_twice(config):
        marks = len(list(tmp_path.glob("mark_*")))
        (tmp_path / f"mark_{marks}").touch()
        if marks < 2:
            raise RuntimeError("not yet")
        return {"score": marks}

    assert search(fails_twice, max_failures=2).trials[0].last_result["score"] == 2


@covers("tune.run: raise_on_failed_trial", "tune.TuneError")
def test_a_failed_trial_raises_at_the_end(search):
    def fails(config):
        raise RuntimeError("broken")

    with pytest.raises(tune.TuneError):
        search(fails)
    assert search(fails, raise_on_failed_trial=False).trials[0].status == "ERROR"


@covers("tune.run: fail_fast")
def test_fail_fast_ends_the_search_at_the_first_failure(search):
    def fails(config):
        if config["x"] == 0:
            raise RuntimeError("broken")
        while True:
            tune.report({"score": 1})

    analysis = search(
        fails, config={"x": tune.grid_search([0, 1])}, fail_fast=True, raise_on_failed_trial=False,
        max_concurrent_trials=1,
    )  # fmt: skip
    assert next(trial.status for trial in analysis.trials) == "ERROR"


@covers("tune.run: fail_fast")
def test_fail_fast_raise_raises_the_error_itself(search):
    def fails(config):
        raise ZeroDivisionError("by itself")

    with pytest.raises(ZeroDivisionError, match="by itself"):
        search(fails, fail_fast="raise")


@covers("tune.run: reuse_actors", "tune.Trainable.reset_config: new_config")
@pytest.mark.parametrize("reuse", [True, False])
def test_reused_trainables_are_reset(search, tmp_path, reuse):
    class Resets(tune.Trainable):
        def setup(self, config):
            (tmp_path / f"setup_{config['x']}").touch()

        def step(self):
            return {"x": self.config["x"], "done": True}

        def reset_config(self, new_config):
            self.config = new_config
            return True

    analysis = search(
        Resets, config={"x": tune.grid_search([1, 2, 3])}, reuse_actors=reuse, max_concurrent_trials=1
    )
    assert sorted(trial.last_result["x"] for trial in analysis.trials) == [1, 2, 3]
    assert len(list(tmp_path.glob("setup_*"))) == (1 if reuse else 3)


@covers("tune.run: callbacks")
def test_callbacks_are_called(search):
    class Counts(tune.Callback):
        def __init__(self):
            self.results = 0

        def on_trial_result(self, iteration, trials, trial, result, **info):
            self.results += 1

    counts = Counts()
    search(three_steps, callbacks=[counts])
    assert counts.results == 3


@covers("tune.run: max_concurrent_trials")
def test_no_more_trials_run_at_once(search):
    class Most(tune.Callback):
        most = 0

        def on_trial_result(self, iteration, trials, trial, result, **info):
            self.most = max(self.most, sum(each.status == "RUNNING" for each in trials))

    most = Most()
    search(three_steps, num_samples=3, max_concurrent_trials=1, callbacks=[most])
    assert most.most == 1


@covers("tune.run: checkpoint_config", "tune.CheckpointConfig: checkpoint_frequency")
def test_the_checkpoint_config_says_how_often_trials_save(search):
    config = tune.CheckpointConfig(checkpoint_frequency=2, checkpoint_at_end=False)
    (trial,) = search(Counter, checkpoint_config=config).trials
    assert len(list(Path(trial.path).glob("checkpoint_*"))) == 3


@covers("tune.run: checkpoint_freq checkpoint_at_end")
@pytest.mark.parametrize(
    ("frequency", "at_end", "saved"), [(3, False, 2), (0, True, 1), (0, False, 0), (4, True, 2)]
)
def test_older_arguments_say_how_often_trials_save(search, frequency, at_end, saved):
    (trial,) = search(Counter, checkpoint_freq=frequency, checkpoint_at_end=at_end).trials
    assert len(list(Path(trial.path).glob("checkpoint_*"))) == saved


@covers("tune.run: keep_checkpoints_num checkpoint_score_attr")
def test_the_best_checkpoints_are_kept(search):
    (trial,) = search(
        Counter, checkpoint_freq=1, keep_checkpoints_num=2, checkpoint_score_attr="min-score"
    ).trials
    counts = {int(path.read_text()) for path in Path(trial.path).glob("checkpoint_*/count")}
    assert {1, 6} <= counts  # the lowest, and the newest
    assert len(counts) <= 3


@covers("tune.run: chdir_to_trial_dir")
@pytest.mark.parametrize("changes", [True, False])
def test_trials_work_in_their_own_folder(search, changes):
    def where(config):
        return {"folder": os.getcwd()}

    try:
        (trial,) = search(where, chdir_to_trial_dir=changes).trials
    except DeprecationWarning as error:
        assert "RAY_CHDIR_TO_TRIAL_DIR" in str(error)
        return
    assert (Path(trial.last_result["folder"]).name == Path(trial.path).name) == changes


@covers("tune.run: chdir_to_trial_dir")
def test_trials_work_in_their_own_folder_by_default(search):
    def where(config):
        Path("model.txt").write_text("mine")
        return {"original": os.environ["TUNE_ORIG_WORKING_DIR"]}

    here = os.getcwd()
    trials = search(where, num_samples=2).trials
    assert [trial.last_result["original"] for trial in trials] == [here, here]


@covers("tune.run: restore")
def test_a_trial_starts_from_a_given_checkpoint(search):
    (first,) = search(Counter, checkpoint_freq=4).trials
    (saved,) = list(Path(first.path).glob("checkpoint_*"))[:1]
    (second,) = search(Counter, restore=str(saved)).trials
    assert second.last_result["score"] == 6
    assert second.last_result["iterations_since_restore"] == 6 - int((saved / "count").read_text())


@covers("tune.run: resume name")
@pytest.mark.parametrize("resume", [True, "AUTO"])
def test_a_search_is_resumed_by_its_name(search, resume):
    first = search(once, name="again", config={"x": tune.grid_search([1, 2])})
    second = search(once, name="again", config={"x": tune.grid_search([1, 2])}, resume=resume)
    assert sorted(t.trial_id for t in second.trials) == sorted(t.trial_id for t in first.trials)


@covers("tune.run: resume")
def test_auto_begins_anew_where_there_is_nothing(search):
    assert len(search(once, name="new", resume="AUTO").trials) == 1


@covers("tune.run: resume raise_on_failed_trial")
@pytest.mark.parametrize(
    ("resume", "status"),
    [("AUTO+ERRORED", "TERMINATED"), ("AUTO+RESTART_ERRORED", "TERMINATED"), (True, "ERROR")],
)
def test_failed_trials_are_resumed_where_asked(search, tmp_path, resume, status):
    def fails_once(config):
        mark = tmp_path / "mark"
        if not mark.exists():
            mark.touch()
            raise RuntimeError("once")
        return {"score": 1}

    search(fails_once, name="again", raise_on_failed_trial=False)
    assert (
        search(fails_once, name="again", raise_on_failed_trial=False, resume=resume).trials[0].status
        == status
    )


@covers("tune.run: resume_config", "tune.ResumeConfig: errored")
def test_a_resume_config_says_what_happens_to_failed_trials(search, tmp_path):
    def fails_once(config):
        mark = tmp_path / "mark"
        if not mark.exists():
            mark.touch()
            raise RuntimeError("once")
        return {"score": 1}

    search(fails_once, name="again", raise_on_failed_trial=False)
    config = tune.ResumeConfig(errored=tune.ResumeConfig.ResumeType.RESTART)
    again = search(fails_once, name="again", raise_on_failed_trial=False, resume=True, resume_config=config)
    assert again.trials[0].status == "TERMINATED"


@covers("tune.run: verbose")
def test_verbose_0_prints_no_table(tmp_path, capfd):
    tune.run(three_steps, storage_path=str(tmp_path), verbose=0)
    assert "TERMINATED" not in capfd.readouterr().out
    tune.run(three_steps, storage_path=str(tmp_path), verbose=2)
    assert "TERMINATED" in "".join(capfd.readouterr())


@covers("tune.run: sync_config", "tune.SyncConfig: sync_artifacts sync_artifacts_on_checkpoint")
def test_a_sync_config_is_taken(search):
    config = tune.SyncConfig(sync_artifacts=True, sync_artifacts_on_checkpoint=False)
    assert config.sync_artifacts is True
    assert config.sync_artifacts_on_checkpoint is False
    assert search(once, sync_config=config).trials[0].status == "TERMINATED"


@covers("tune.run: storage_filesystem")
def test_a_filesystem_takes_the_results(tmp_path):
    LocalFileSystem = pytest.importorskip("pyarrow.fs").LocalFileSystem

    analysis = tune.run(
        once, name="mine", storage_path=str(tmp_path), storage_filesystem=LocalFileSystem(), verbose=0
    )
    assert (tmp_path / "mine").is_dir()
    assert len(analysis.trials) == 1


@covers("tune.run: export_formats", "tune.Trainable.export_model: export_formats export_dir", "tune.experiment.trial.ExportFormat",
        "tune.experiment.trial.ExportFormat.MODEL", "tune.experiment.trial.ExportFormat.CHECKPOINT")  # fmt: skip
def test_a_trial_exports_its_model(search, tmp_path):
    formats = part("tune.experiment.trial").ExportFormat

    class Exports(tune.Trainable):
        def step(self):
            return {"done": True}

        def _export_model(self, export_formats, export_dir):
            assert Path(export_dir).is_dir()
            (tmp_path / "exported").write_text(",".join(export_formats))
            return {}

    search(Exports, export_formats=[formats.MODEL])
    assert (tmp_path / "exported").read_text() == "model"


@covers(
    "tune.run_experiments: experiments verbose",
    "tune.Experiment: name run stop config num_samples storage_path",
)
def test_experiments_run_one_after_the_other(tmp_path):
    made = [
        tune.Experiment(
            name, run=endless, stop={"training_iteration": steps}, config={"x": 1}, num_samples=2,
            storage_path=str(tmp_path),
        )
        for name, steps in (("one", 2), ("two", 3))
    ]  # fmt: skip
    trials = tune.run_experiments(made, verbose=0)
    assert sorted(trial.last_result["training_iteration"] for trial in trials) == [2, 2, 3, 3]
    assert all(trial.config == {"x": 1} for trial in trials)
    assert {path.name for path in tmp_path.iterdir()} >= {"one", "two"}


@covers("tune.run_experiments: experiments concurrent scheduler")
def test_experiments_run_at_once_from_a_dict(tmp_path):
    spec = {"run": endless, "stop": {"training_iteration": 2}, "storage_path": str(tmp_path)}
    trials = tune.run_experiments(
        {"one": spec, "two": spec}, concurrent=True, verbose=0, scheduler=tune.schedulers.FIFOScheduler()
    )
    assert [trial.last_result["training_iteration"] for trial in trials] == [2, 2]


@covers("tune.run_experiments: raise_on_failed_trial callbacks progress_reporter")
def test_experiments_take_callbacks(tmp_path):
    def fails(config):
        raise RuntimeError("broken")

    class Counts(tune.Callback):
        errors = 0

        def on_trial_error(self, iteration, trials, trial, **info):
            Counts.errors += 1

    made = tune.Experiment("one", run=fails, storage_path=str(tmp_path))
    trials = tune.run_experiments(
        made,
        verbose=0,
        raise_on_failed_trial=False,
        callbacks=[Counts()],
        progress_reporter=tune.CLIReporter(),
    )
    assert [trial.status for trial in trials] == ["ERROR"]
    assert Counts.errors == 1


@covers(
    "tune.Experiment: time_budget_s resources_per_trial checkpoint_config max_failures log_to_file trial_name_creator trial_dirname_creator"
)
def test_an_experiment_has_the_arguments_of_run(tmp_path):
    class Fails(Counter):
        def step(self):
            result = {**super().step(), "here": os.getcwd()}
            if self.count == 3 and not (tmp_path / "mark").exists():
                (tmp_path / "mark").touch()
                raise RuntimeError("once")
            return result

    made = tune.Experiment(
        "one", run=Fails, time_budget_s=60, resources_per_trial={"cpu": 2}, max_failures=1, log_to_file=True,
        checkpoint_config=tune.CheckpointConfig(checkpoint_frequency=2), storage_path=str(tmp_path),
        trial_name_creator=lambda trial: "named", trial_dirname_creator=lambda trial: "folder",
    )  # fmt: skip
    (trial,) = tune.run_experiments(made, verbose=0)
    assert trial.last_result["score"] == 6
    assert str(trial) == "named"
    assert (
        sorted(path.name for path in (tmp_path / "one" / "folder").glob("checkpoint_*/count"))
        == ["count"] * 3
    )
    assert Path(trial.last_result["here"], "stdout").exists()
    assert trial.placement_group_factory.required_resources["CPU"] == 2


@covers("tune.run: run_or_experiment", "tune.Experiment")
def test_run_takes_an_experiment(tmp_path):
    made = tune.Experiment("one", run=three_steps, storage_path=str(tmp_path))
    assert tune.run(made, verbose=0).trials[0].last_result["training_iteration"] == 3


@covers("tune.register_trainable: name trainable", "tune.run: run_or_experiment")
def test_a_registered_name_is_run(search):
    tune.register_trainable("behaviour_once", once)
    (trial,) = search("behaviour_once").trials
    assert trial.trainable_name == "behaviour_once"


@covers("tune.run: local_dir")
def test_local_dir_is_refused_or_the_old_name_of_storage_path(tmp_path):
    try:
        tune.run(once, name="mine", local_dir=str(tmp_path), verbose=0)
    except (DeprecationWarning, ValueError) as error:
        assert "storage_path" in str(error)
    else:
        assert (tmp_path / "mine").is_dir()
