"""`Tuner` and its configs."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from subject import air, covers, part, train, tune


def once(config):
    return {"score": config.get("x", 0)}


def endless(config):
    while True:
        tune.report({"score": config.get("x", 0)})


class Counter(tune.Trainable):
    def setup(self, config):
        self.count = 0

    def step(self):
        self.count += 1
        return {
            "score": (self.count - 3) ** 2,
            "count": self.count,
            "here": os.getcwd(),
            "done": self.count >= 6,
        }

    def save_checkpoint(self, checkpoint_dir):
        Path(checkpoint_dir, "count").write_text(str(self.count))

    def load_checkpoint(self, checkpoint):
        self.count = int(Path(checkpoint, "count").read_text())


@covers("tune.Tuner: trainable param_space tune_config run_config", "tune.Tuner.fit", "tune.TuneConfig: metric mode",
        "tune.RunConfig: name storage_path verbose")  # fmt: skip
def test_a_tuner_finds_the_best_config(tmp_path):
    results = tune.Tuner(
        once,
        param_space={"x": tune.grid_search([1, 3, 2])},
        tune_config=tune.TuneConfig(metric="score", mode="max"),
        run_config=tune.RunConfig(name="mine", storage_path=str(tmp_path), verbose=0),
    ).fit()
    assert results.get_best_result().config == {"x": 3}
    assert (tmp_path / "mine").is_dir()


@covers("tune.TuneConfig: num_samples")
def test_num_samples(tuned):
    assert len(tuned(once, {"x": tune.uniform(0, 1)}, {"num_samples": 3})) == 3


@covers("tune.TuneConfig: mode")
def test_mode_min(tuned):
    results = tuned(once, {"x": tune.grid_search([2, 1])}, {"metric": "score", "mode": "min"})
    assert results.get_best_result().metrics["score"] == 1


@covers("tune.TuneConfig: search_alg")
def test_search_alg(tuned):
    searcher = tune.search.BasicVariantGenerator(points_to_evaluate=[{"x": 0.25}])
    results = tuned(once, {"x": tune.uniform(0, 1)}, {"search_alg": searcher})
    assert results[0].metrics["score"] == 0.25


@covers("tune.TuneConfig: scheduler", "tune.schedulers.ASHAScheduler: max_t")
def test_scheduler(tuned):
    scheduler = tune.schedulers.ASHAScheduler(max_t=3)
    results = tuned(endless, {}, {"metric": "score", "mode": "max", "scheduler": scheduler})
    assert results[0].metrics["training_iteration"] == 3


@covers("tune.TuneConfig: max_concurrent_trials")
def test_max_concurrent_trials(tuned):
    class Most(tune.Callback):
        most = 0

        def on_trial_result(self, iteration, trials, trial, result, **info):
            self.most = max(self.most, sum(each.status == "RUNNING" for each in trials))

    most = Most()
    tuned(once, {}, {"num_samples": 3, "max_concurrent_trials": 1}, callbacks=[most])
    assert most.most == 1


@covers("tune.TuneConfig: reuse_actors")
@pytest.mark.parametrize("reuse", [True, False])
def test_trainables_are_reused_where_asked(tuned, tmp_path, reuse):
    class Resets(tune.Trainable):
        def setup(self, config):
            (tmp_path / f"setup_{config['x']}").touch()

        def step(self):
            return {"x": self.config["x"], "done": True}

        def reset_config(self, new_config):
            self.config = new_config
            return True

        def save_checkpoint(self, checkpoint_dir):
            return {}

        def load_checkpoint(self, checkpoint):
            pass

    results = tuned(
        Resets, {"x": tune.grid_search([1, 2, 3])}, {"reuse_actors": reuse, "max_concurrent_trials": 1}
    )
    assert sorted(result.metrics["x"] for result in results) == [1, 2, 3]
    assert len(list(tmp_path.glob("setup_*"))) == (1 if reuse else 3)


@covers("tune.TuneConfig: time_budget_s")
def test_time_budget(tuned):
    def slow(config):
        import time

        while True:
            time.sleep(0.05)
            tune.report({"score": 1})

    results = tuned(slow, {}, {"time_budget_s": 1})
    assert len(results) == 1
    assert results.num_errors == 0


@covers("tune.TuneConfig: trial_name_creator trial_dirname_creator")
def test_names(tuned):
    names = {
        "trial_name_creator": lambda trial: f"n_{trial.trial_id}",
        "trial_dirname_creator": lambda trial: f"d_{trial.trial_id}",
    }
    (result,) = tuned(once, {}, names)
    assert Path(result.path).name.startswith("d_")
    assert Path(result.path).name[2:] == result.metrics["trial_id"]


@covers("tune.TuneConfig: chdir_to_trial_dir")
@pytest.mark.parametrize("changes", [True, False])
def test_chdir(tuned, changes):
    def where(config):
        return {"folder": os.getcwd()}

    try:
        (result,) = tuned(where, {}, {"chdir_to_trial_dir": changes})
    except DeprecationWarning as error:
        assert "RAY_CHDIR_TO_TRIAL_DIR" in str(error)
        return
    assert (Path(result.metrics["folder"]).name == Path(result.path).name) == changes


@covers("tune.RunConfig: stop")
@pytest.mark.parametrize(
    "stop", [{"training_iteration": 2}, lambda trial_id, result: result["training_iteration"] >= 2]
)
def test_stop(tuned, stop):
    assert tuned(endless, {}, stop=stop)[0].metrics["training_iteration"] == 2


@covers("tune.RunConfig: failure_config", "tune.FailureConfig: max_failures")
@pytest.mark.parametrize(("tries", "errors"), [(0, 1), (2, 0), (-1, 0)])
def test_max_failures(tuned, tmp_path, tries, errors):
    def fails_twice(config):
        marks = len(list(tmp_path.glob("mark_*")))
        (tmp_path / f"mark_{marks}").touch()
        if marks < 2:
            raise RuntimeError("not yet")
        return {"score": marks}

    results = tuned(fails_twice, {}, failure_config=tune.FailureConfig(max_failures=tries))
    assert results.num_errors == errors


@covers("tune.FailureConfig: fail_fast")
def test_fail_fast(tuned):
    def fails(config):
        if config["x"] == 0:
            raise RuntimeError("broken")
        while True:
            tune.report({"score": 1})

    config = {"max_concurrent_trials": 1}
    results = tuned(
        fails, {"x": tune.grid_search([0, 1])}, config, failure_config=tune.FailureConfig(fail_fast=True)
    )
    assert results.num_errors == 1
    assert results.num_terminated <= 1


@covers("tune.FailureConfig: fail_fast max_failures")
def test_fail_fast_and_retries_contradict(tuned):
    with pytest.raises(Exception, match="max_failures"):
        tuned(once, {}, failure_config=tune.FailureConfig(fail_fast=True, max_failures=2))


@covers("tune.RunConfig: checkpoint_config", "tune.CheckpointConfig: num_to_keep checkpoint_frequency")
def test_num_to_keep(tuned):
    config = tune.CheckpointConfig(num_to_keep=2, checkpoint_frequency=1)
    (result,) = tuned(Counter, {}, checkpoint_config=config)
    kept = sorted(int(path.read_text()) for path in Path(result.path).glob("checkpoint_*/count"))
    assert kept == [5, 6]


@covers("tune.CheckpointConfig: checkpoint_score_attribute checkpoint_score_order num_to_keep")
@pytest.mark.parametrize(("order", "best"), [("max", 6), ("min", 3)])
def test_the_best_are_kept(tuned, order, best):
    config = tune.CheckpointConfig(
        num_to_keep=1,
        checkpoint_score_attribute="score",
        checkpoint_score_order=order,
        checkpoint_frequency=1,
    )
    (result,) = tuned(Counter, {}, checkpoint_config=config)
    kept = sorted(int(path.read_text()) for path in Path(result.path).glob("checkpoint_*/count"))
    assert kept == sorted({best, 6})


@covers("tune.CheckpointConfig: checkpoint_at_end")
@pytest.mark.parametrize(("at_end", "saved"), [(True, [6]), (False, [])])
def test_checkpoint_at_end(tuned, at_end, saved):
    config = tune.CheckpointConfig(checkpoint_at_end=at_end, checkpoint_frequency=0)
    (result,) = tuned(Counter, {}, checkpoint_config=config)
    assert [int(path.read_text()) for path in Path(result.path).glob("checkpoint_*/count")] == saved


@covers("tune.CheckpointConfig: num_to_keep checkpoint_score_order")
@pytest.mark.parametrize(
    "wrong", [{"num_to_keep": 0}, {"num_to_keep": -1}, {"checkpoint_score_order": "most"}]
)
def test_checkpoint_configs_are_checked(wrong):
    with pytest.raises(ValueError):
        tune.CheckpointConfig(**wrong)


@covers("tune.RunConfig: callbacks")
def test_callbacks(tuned):
    class Counts(tune.Callback):
        ends = 0

        def on_trial_complete(self, iteration, trials, trial, **info):
            self.ends += 1

    counts = Counts()
    tuned(once, {}, {"num_samples": 2}, callbacks=[counts])
    assert counts.ends == 2


@covers("tune.RunConfig: progress_reporter")
def test_progress_reporter(tuned):
    told = []

    class Told(tune.ProgressReporter):
        def should_report(self, trials, done=False):
            return done

        def report(self, trials, done, *sys_info):
            told.append([trial.status for trial in trials])

    tuned(once, {}, progress_reporter=Told(), verbose=1)
    assert told == [["TERMINATED"]]


@covers("tune.RunConfig: log_to_file")
def test_log_to_file(tuned):
    def prints(config):
        print("to the one")
        return {"here": os.getcwd()}

    (result,) = tuned(prints, {}, log_to_file="all.txt")
    assert "to the one" in Path(result.metrics["here"], "all.txt").read_text()


@covers("tune.RunConfig: sync_config", "tune.SyncConfig: sync_period sync_timeout sync_artifacts")
def test_sync_config(tuned):
    config = tune.SyncConfig(sync_period=10, sync_timeout=20, sync_artifacts=True)
    assert (config.sync_period, config.sync_timeout, config.sync_artifacts) == (10, 20, True)
    assert len(tuned(once, {}, sync_config=config)) == 1


@covers("tune.RunConfig: storage_filesystem")
def test_storage_filesystem(tuned, tmp_path):
    LocalFileSystem = pytest.importorskip("pyarrow.fs").LocalFileSystem

    (result,) = tuned(once, {}, storage_path=str(tmp_path), name="mine", storage_filesystem=LocalFileSystem())
    assert (tmp_path / "mine").is_dir()
    assert result.metrics["score"] == 0


@covers("tune.RunConfig: verbose")
def test_verbose(tuned, capfd):
    tuned(once, {}, verbose=0)
    assert "TERMINATED" not in capfd.readouterr().out


@covers("tune.Tuner.get_results")
def test_results_can_be_had_again(tmp_path):
    tuner = tune.Tuner(once, run_config=tune.RunConfig(storage_path=str(tmp_path), verbose=0))
    assert len(tuner.fit()) == len(tuner.get_results()) == 1


@covers("tune.Tuner.restore: path trainable", "tune.Tuner.can_restore: path", "tune.Tuner.get_results")
def test_a_tuner_is_restored(tuned, tmp_path):
    results = tuned(once, {"x": tune.grid_search([1, 2])}, name="mine")
    assert tune.Tuner.can_restore(results.experiment_path)
    assert not tune.Tuner.can_restore(str(tmp_path / "nowhere"))
    restored = tune.Tuner.restore(results.experiment_path, trainable=once)
    assert sorted(result.metrics["score"] for result in restored.get_results()) == [1, 2]
    assert len(restored.fit()) == 2


@covers("tune.Tuner.restore: restart_errored resume_errored")
@pytest.mark.parametrize(("option", "first"), [("restart_errored", 1), ("resume_errored", 3)])
def test_failed_trials_begin_again_or_resume(tuned, tmp_path, option, first):
    class Fails(Counter):
        def step(self):
            (tmp_path / f"{(tmp_path / 'mark').exists()}_{self.count + 1}").touch()
            if self.count == 3 and not (tmp_path / "mark").exists():
                (tmp_path / "mark").touch()
                raise RuntimeError("once")
            return super().step()

    config = tune.CheckpointConfig(checkpoint_frequency=2)
    results = tuned(Fails, {}, name="mine", checkpoint_config=config)
    assert results.num_errors == 1
    again = tune.Tuner.restore(results.experiment_path, trainable=Fails, **{option: True}).fit()
    assert again.num_errors == 0
    assert (tmp_path / f"True_{first}").exists()
    assert (tmp_path / "True_1").exists() == (option == "restart_errored")


@covers("tune.Tuner.restore: path resume_errored")
def test_failed_trials_stay_failed_by_default(tuned):
    def fails(config):
        raise RuntimeError("broken")

    results = tuned(fails, {}, name="mine")
    assert tune.Tuner.restore(results.experiment_path, trainable=fails).fit().num_errors == 1


@covers("tune.Tuner.restore: param_space")
def test_a_space_is_given_again(tuned):
    class Thing:
        value = 3

    def reads(config):
        return {"score": config["thing"].value}

    results = tuned(reads, {"thing": tune.grid_search([Thing()])}, name="mine")
    restored = tune.Tuner.restore(
        results.experiment_path, trainable=reads, param_space={"thing": tune.grid_search([Thing()])}
    )
    assert restored.fit()[0].metrics["score"] == 3


@covers("tune.Tuner.restore: param_space")
def test_a_space_with_other_keys_is_refused(tuned):
    results = tuned(once, {"x": tune.grid_search([1])}, name="mine")
    with pytest.raises(ValueError):
        tune.Tuner.restore(results.experiment_path, trainable=once, param_space={"y": tune.grid_search([1])})


@covers("tune.Tuner.restore: trainable")
def test_another_trainable_is_refused(tuned):
    results = tuned(once, {"x": 1}, name="mine")
    with pytest.raises(ValueError):
        tune.Tuner.restore(results.experiment_path, trainable=endless)


@covers("tune.Tuner.restore: storage_filesystem", "tune.Tuner.can_restore: storage_filesystem")
def test_a_tuner_is_restored_from_a_filesystem(tuned):
    LocalFileSystem = pytest.importorskip("pyarrow.fs").LocalFileSystem

    results = tuned(once, {"x": 1}, name="mine")
    assert tune.Tuner.can_restore(results.experiment_path, storage_filesystem=LocalFileSystem())
    restored = tune.Tuner.restore(
        results.experiment_path, trainable=once, storage_filesystem=LocalFileSystem()
    )
    assert len(restored.get_results()) == 1


@covers("tune.ResumeConfig: finished unfinished errored")
def test_resume_configs_have_defaults():
    kinds = tune.ResumeConfig.ResumeType
    config = tune.ResumeConfig()
    assert (config.finished, config.unfinished, config.errored) == (kinds.SKIP, kinds.RESUME, kinds.SKIP)
    assert tune.ResumeConfig(finished=kinds.RESTART).finished == kinds.RESTART


@covers("tune.ResumeConfig: finished", "tune.run: resume_config")
def test_finished_trials_are_run_again_where_asked(search, tmp_path):
    def marks(config):
        (tmp_path / f"mark_{len(list(tmp_path.glob('mark_*')))}").touch()
        return {"score": 1}

    search(marks, name="mine")
    restart = tune.ResumeConfig.ResumeType.RESTART
    search(marks, name="mine", resume=True, resume_config=tune.ResumeConfig(finished=restart))
    assert len(list(tmp_path.glob("mark_*"))) == 2


@covers("air.RunConfig: name stop storage_path failure_config checkpoint_config callbacks verbose log_to_file sync_config progress_reporter storage_filesystem local_dir",
        "air.FailureConfig: max_failures fail_fast", "air.CheckpointConfig: num_to_keep checkpoint_score_attribute checkpoint_score_order checkpoint_frequency checkpoint_at_end",
        "train.RunConfig", "train.FailureConfig", "train.CheckpointConfig", "air.config.RunConfig", "air.config.FailureConfig", "air.config.CheckpointConfig")  # fmt: skip
@pytest.mark.parametrize("home", ["train", "air", "air.config"])
def test_older_homes_of_the_configs(tmp_path, home):
    home = part(home)

    class Counts(tune.Callback):
        ends = 0

        def on_trial_complete(self, iteration, trials, trial, **info):
            self.ends += 1

    counts = Counts()
    run_config = home.RunConfig(
        name="mine", stop={"training_iteration": 4}, storage_path=str(tmp_path / "results"), verbose=0,
        failure_config=home.FailureConfig(max_failures=1, fail_fast=False), callbacks=[counts],
        checkpoint_config=home.CheckpointConfig(
            num_to_keep=1, checkpoint_frequency=1, checkpoint_score_attribute="score", checkpoint_score_order="min",
            checkpoint_at_end=False,
        ),
        log_to_file="all.txt", progress_reporter=None, sync_config=None, storage_filesystem=None,
    )  # fmt: skip
    (result,) = tune.Tuner(Counter, run_config=run_config).fit()
    assert result.metrics["count"] == 4
    assert counts.ends == 1
    kept = sorted(int(path.read_text()) for path in Path(result.path).glob("checkpoint_*/count"))
    assert kept == [3, 4]
    assert Path(result.path).parent == tmp_path / "results" / "mine"
    assert Path(result.metrics["here"], "all.txt").exists()


@covers("air.ScalingConfig: num_workers use_gpu resources_per_worker trainer_resources placement_strategy accelerator_type",
        "air.ScalingConfig.total_resources", "air.ScalingConfig.num_cpus_per_worker", "air.ScalingConfig.num_gpus_per_worker",
        "air.ScalingConfig.additional_resources_per_worker", "train.ScalingConfig", "air.config.ScalingConfig")  # fmt: skip
@pytest.mark.parametrize("home", ["train", "air", "air.config"])
def test_a_scaling_config_adds_up_its_resources(home):
    config = part(home).ScalingConfig(
        num_workers=2, use_gpu=True, resources_per_worker={"CPU": 3, "GPU": 1, "other": 1}, trainer_resources={"CPU": 1},
        placement_strategy="SPREAD",
    )  # fmt: skip
    assert dict(config.total_resources) == {"CPU": 7, "GPU": 2, "other": 2}
    assert config.num_cpus_per_worker == 3
    assert config.num_gpus_per_worker == 1
    assert config.additional_resources_per_worker == {"other": 1}


@covers("air.ScalingConfig.as_placement_group_factory", "air.ScalingConfig.from_placement_group_factory: pgf")
def test_a_scaling_config_is_a_placement_group_factory():
    config = train.ScalingConfig(
        num_workers=2,
        resources_per_worker={"CPU": 3},
        trainer_resources={"CPU": 1},
        placement_strategy="SPREAD",
    )
    factory = config.as_placement_group_factory()
    assert factory.bundles == [{"CPU": 4}, {"CPU": 3}]
    assert factory.strategy == "SPREAD"
    again = train.ScalingConfig.from_placement_group_factory(factory)
    assert again.num_workers == 2
    assert again.resources_per_worker == {"CPU": 3}


@covers("air.RunConfig", "air.Result")
def test_air_has_the_names_of_its_time():
    assert {"RunConfig", "ScalingConfig", "CheckpointConfig", "FailureConfig", "Result"} <= set(dir(air))


@covers("tune.Checkpoint: path")
def test_a_checkpoint_is_made_of_a_path(tmp_path):
    (tmp_path / "model").write_text("weights")
    with tune.Checkpoint(path=str(tmp_path)).as_directory() as folder:
        assert Path(folder, "model").read_text() == "weights"


@covers("air.DataBatchType")
def test_batches_are_arrays_or_tables():
    assert all(kind in str(air.DataBatchType) for kind in ("ndarray", "Table", "DataFrame"))
