"""Smaller parts that scripts and extensions use by themselves."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from subject import covers, part, train, tune


def once(config):
    tune.report({"score": config.get("x", 0)})


class Counter(tune.Trainable):
    def setup(self, config):
        self.count = 0

    def step(self):
        self.count += 1
        return {"count": self.count, "done": self.count >= 3}

    def save_checkpoint(self, checkpoint_dir):
        Path(checkpoint_dir, "count").write_text(str(self.count))

    def load_checkpoint(self, checkpoint):
        self.count = int(Path(checkpoint, "count").read_text())

    def reset_config(self, new_config):
        self.count = 0
        return True


@covers("tune.Experiment.stopper", "tune.Experiment.public_spec", "tune.Experiment.path", "tune.Experiment.local_path", "tune.Experiment.run_identifier",
        "tune.Experiment.checkpoint_config", "tune.Experiment.PUBLIC_KEYS")  # fmt: skip
def test_an_experiment_tells_about_itself(tmp_path):
    made = tune.Experiment(
        "one", run=once, stop={"training_iteration": 2}, config={"x": 1}, num_samples=3, storage_path=str(tmp_path),
        checkpoint_config=tune.CheckpointConfig(num_to_keep=2),
    )  # fmt: skip
    assert Path(made.path) == tmp_path / "one"
    assert made.local_path
    assert made.run_identifier == "once"
    assert made.checkpoint_config.num_to_keep == 2
    assert made.public_spec == {"stop": {"training_iteration": 2}, "num_samples": 3, "time_budget_s": None}
    assert set(made.public_spec) == set(made.PUBLIC_KEYS)
    assert made.stopper is None or callable(made.stopper)


@covers("tune.Experiment.from_json: name spec")
def test_an_experiment_is_made_of_a_dict(tmp_path):
    tune.register_trainable("behaviour_once", once)
    made = tune.Experiment.from_json(
        "one", {"run": "behaviour_once", "config": {"x": 3}, "storage_path": str(tmp_path)}
    )
    (trial,) = tune.run_experiments(made, verbose=0)
    assert trial.last_result["score"] == 3


@covers("tune.Experiment.get_trainable_name: run_object", "tune.Experiment.register_if_needed: run_object")
def test_an_experiment_names_its_trainable():
    assert tune.Experiment.get_trainable_name(once) == "once"
    assert tune.Experiment.get_trainable_name(Counter) == "Counter"
    assert tune.Experiment.register_if_needed(once) == "once"


@covers("tune.Experiment: export_formats sync_config")
def test_an_experiment_exports(tmp_path):
    class Exports(Counter):
        def _export_model(self, export_formats, export_dir):
            (tmp_path / "exported").write_text(",".join(export_formats))
            return {}

    made = tune.Experiment(
        "one",
        run=Exports,
        export_formats=["model"],
        sync_config=tune.SyncConfig(sync_artifacts=True),
        storage_path=str(tmp_path),
    )
    tune.run_experiments(made, verbose=0)
    assert (tmp_path / "exported").read_text() == "model"


@covers("tune.Experiment: restore")
def test_an_experiment_starts_from_a_checkpoint(tmp_path, search):
    (first,) = search(Counter, checkpoint_freq=2, checkpoint_at_end=False).trials
    (saved,) = Path(first.path).glob("checkpoint_*")
    made = tune.Experiment("one", run=Counter, restore=str(saved), storage_path=str(tmp_path))
    (trial,) = tune.run_experiments(made, verbose=0)
    assert trial.last_result["count"] == 3
    assert trial.last_result["iterations_since_restore"] == 1


@covers("tune.Experiment: storage_filesystem")
def test_an_experiment_takes_a_filesystem(tmp_path):
    LocalFileSystem = pytest.importorskip("pyarrow.fs").LocalFileSystem
    made = tune.Experiment("one", run=once, storage_path=str(tmp_path), storage_filesystem=LocalFileSystem())
    tune.run_experiments(made, verbose=0)
    assert (tmp_path / "one").is_dir()


@covers("tune.run_experiments: resume")
def test_experiments_are_resumed(tmp_path):
    def made():
        return tune.Experiment(
            "one", run=once, config={"x": tune.grid_search([1, 2])}, storage_path=str(tmp_path)
        )

    first = tune.run_experiments(made(), verbose=0)
    second = tune.run_experiments(made(), verbose=0, resume=True)
    assert sorted(trial.trial_id for trial in first) == sorted(trial.trial_id for trial in second)


@covers("tune.run_experiments: resume_config")
def test_experiments_are_resumed_with_a_config(tmp_path):
    def fails_once(config):
        if not (tmp_path / "mark").exists():
            (tmp_path / "mark").touch()
            raise RuntimeError("once")
        return {"score": 1}

    made = tune.Experiment("one", run=fails_once, storage_path=str(tmp_path))
    tune.run_experiments(made, verbose=0, raise_on_failed_trial=False)
    restart = tune.ResumeConfig(errored=tune.ResumeConfig.ResumeType.RESTART)
    (trial,) = tune.run_experiments(
        made, verbose=0, raise_on_failed_trial=False, resume=True, resume_config=restart
    )
    assert trial.status == "TERMINATED"


@covers("tune.run_experiments: reuse_actors")
def test_experiments_reuse_actors(tmp_path):
    class Marks(Counter):
        def setup(self, config):
            super().setup(config)
            (tmp_path / f"setup_{config['x']}").touch()

    made = tune.Experiment(
        "one",
        run=Marks,
        config={"x": tune.grid_search([1, 2])},
        storage_path=str(tmp_path),
        resources_per_trial={"cpu": 2},
    )
    tune.run_experiments(made, verbose=0, reuse_actors=True)
    assert len(list(tmp_path.glob("setup_*"))) <= 2


@covers("tune.search.sample.Sampler.sample: domain config size random_state")
def test_a_sampler_samples_a_domain():
    domain = tune.uniform(2, 3)
    sampler = domain.get_sampler()
    first, second = (sampler.sample(domain, config={}, size=4, random_state=5) for _ in range(2))
    assert list(first) == list(second)
    assert all(2 <= value < 3 for value in first)


@covers("tune.search.Searcher.set_max_concurrency: max_concurrent")
def test_a_searcher_is_told_of_the_limit(search):
    class Own(tune.search.Searcher):
        limit = None

        def set_max_concurrency(self, max_concurrent):
            Own.limit = max_concurrent
            return True

        def suggest(self, trial_id):
            return {"x": 1}

        def on_trial_complete(self, trial_id, result=None, error=False):
            pass

    search(once, search_alg=Own(metric="score", mode="max"), max_concurrent_trials=1)
    assert Own.limit == 1


@covers("tune.search.SearchAlgorithm.set_search_properties: metric mode config", "tune.search.SearchAlgorithm.on_trial_result: trial_id result",
        "tune.search.SearchAlgorithm.on_trial_complete: trial_id result error", "tune.search.SearchAlgorithm.metric", "tune.search.SearchAlgorithm.has_checkpoint: dirpath",
        "tune.search.SearchAlgorithm.save_to_dir: dirpath", "tune.search.SearchAlgorithm.restore_from_dir: dirpath", "tune.search.SearchGenerator.get_state",
        "tune.search.SearchGenerator.set_state: state", "tune.search.SearchGenerator.CKPT_FILE_TMPL", "tune.search.SearchGenerator.save_to_dir: dirpath session_str",
        "tune.search.SearchGenerator.create_trial_if_possible: experiment_spec")  # fmt: skip
def test_a_generator_passes_on_to_its_searcher(tmp_path):
    told = []

    class Own(tune.search.Searcher):
        def set_search_properties(self, metric, mode, config, **spec):
            told.append(("properties", metric, mode, config))
            self._metric, self._mode = metric, mode
            return True

        def suggest(self, trial_id):
            return {"x": 1}

        def on_trial_result(self, trial_id, result):
            told.append(("result", trial_id, result))

        def on_trial_complete(self, trial_id, result=None, error=False):
            told.append(("complete", trial_id, result, error))

        def save(self, checkpoint_path):
            Path(checkpoint_path).write_text("{}")

        def restore(self, checkpoint_path):
            told.append("restore")

    generator = tune.search.SearchGenerator(Own())
    assert generator.set_search_properties("score", "max", {"x": 1})
    assert generator.metric == "score"
    generator.on_trial_result("a", {"score": 1})
    generator.on_trial_complete("a", result={"score": 2}, error=False)
    assert told == [
        ("properties", "score", "max", {"x": 1}),
        ("result", "a", {"score": 1}),
        ("complete", "a", {"score": 2}, False),
    ]
    assert isinstance(generator.get_state(), dict)
    generator.set_state(generator.get_state())
    assert not generator.has_checkpoint(str(tmp_path))
    generator.save_to_dir(str(tmp_path), "one")
    assert generator.has_checkpoint(str(tmp_path))
    generator.restore_from_dir(str(tmp_path))
    assert "restore" in told


@covers("tune.search.searcher.ConcurrencyLimiter: searcher max_concurrent batch")
def test_the_limiter_has_an_older_home():
    older = part("tune.search.searcher").ConcurrencyLimiter
    assert older.__name__ == "ConcurrencyLimiter"


@covers(
    "tune.search.ConcurrencyLimiter.on_pause: trial_id",
    "tune.search.ConcurrencyLimiter.on_unpause: trial_id",
    "tune.search.Repeater.on_trial_complete: trial_id result",
)
def test_wrappers_pass_on_pauses():
    told = []

    class Own(tune.search.Searcher):
        def suggest(self, trial_id):
            return {"x": 1}

        def on_pause(self, trial_id):
            told.append(("pause", trial_id))

        def on_unpause(self, trial_id):
            told.append(("unpause", trial_id))

        def on_trial_complete(self, trial_id, result=None, error=False):
            told.append(("complete", result["score"]))

    limited = tune.search.ConcurrencyLimiter(Own("score", "max"), max_concurrent=2)
    limited.suggest("a")
    limited.on_pause("a")
    limited.on_unpause("a")
    assert told == [("pause", "a"), ("unpause", "a")]
    told.clear()
    repeated = tune.search.Repeater(Own("score", "max"), repeat=2)
    repeated.suggest("a")
    repeated.suggest("b")
    repeated.on_trial_complete("a", {"score": 1.0})
    repeated.on_trial_complete("b", {"score": 3.0})
    assert told == [("complete", 2.0)]


@covers("train.DataConfig: datasets_to_split execution_options enable_shard_locality")
def test_a_data_config_is_made():
    if part("tune").__name__.startswith("ray"):
        pytest.importorskip("ray.data")
    assert train.DataConfig(datasets_to_split=["train"]) is not None
    with pytest.raises(TypeError):
        train.DataConfig(datasets_to_split=5)


@covers("tune.ResultGrid: experiment_analysis")
def test_a_grid_is_made_of_an_analysis(search):
    analysis = search(once, config={"x": tune.grid_search([1, 2])})
    assert len(tune.ResultGrid(analysis)) == 2


@covers("tune.RunConfig: local_dir")
def test_local_dir_of_a_run_config_is_refused_or_works(tmp_path):
    try:
        config = tune.RunConfig(name="mine", local_dir=str(tmp_path), verbose=0)
    except (DeprecationWarning, ValueError) as error:
        assert "storage_path" in str(error)
    else:
        tune.Tuner(once, run_config=config).fit()
        assert (tmp_path / "mine").is_dir()


@covers("tune.progress_reporter.TuneReporterBase: metric_columns parameter_columns total_samples max_progress_rows max_error_rows max_column_length max_report_frequency infer_limit print_intermediate_tables metric mode sort_by_metric",
        "tune.progress_reporter.TuneReporterBase.DEFAULT_COLUMNS", "tune.progress_reporter.TuneReporterBase.set_search_properties: metric mode",
        "tune.progress_reporter.TuneReporterBase.set_start_time: timestamp", "tune.progress_reporter.TuneReporterBase.set_total_samples: total_samples")  # fmt: skip
def test_a_reporter_is_derived_from_the_base(search):
    class Own(part("tune.progress_reporter").TuneReporterBase):
        told = []

        def report(self, trials, done, *sys_info):
            self.told.append(self._progress_str(trials, done, *sys_info))

    own = Own(
        metric_columns={"score": "Points"}, parameter_columns=["x"], total_samples=2, max_progress_rows=5, max_error_rows=5, max_column_length=9,
        max_report_frequency=0, infer_limit=1, print_intermediate_tables=True, metric="score", mode="max", sort_by_metric=True,
    )  # fmt: skip
    assert "training_iteration" in own.DEFAULT_COLUMNS
    own.set_start_time(5.0)
    own.set_total_samples(3)
    search(once, config={"x": 1}, progress_reporter=own, verbose=2)
    assert "Points" in own.told[-1]


@covers("tune.TuneContext.get_trial_id", "tune.TuneContext.get_trial_name", "tune.TuneContext.get_trial_dir", "tune.TuneContext.get_experiment_name",
        "tune.TuneContext.get_trial_resources", "tune.TuneContext.get_metadata", "tune.TuneContext.get_world_size",
        "tune.TuneContext.get_world_rank", "tune.TuneContext.get_local_rank", "tune.TuneContext.get_local_world_size", "tune.TuneContext.get_node_rank",
        "train.get_context", "train.TrainContext")  # fmt: skip
def test_the_context_of_a_trial_has_no_workers(search):
    def told(config):
        context = tune.get_context()
        refused = []
        for name in (
            "get_world_size",
            "get_world_rank",
            "get_local_rank",
            "get_local_world_size",
            "get_node_rank",
            "get_metadata",
        ):
            try:
                getattr(context, name)()
            except (RuntimeError, DeprecationWarning):
                refused.append(name)
        known = [
            context.get_trial_id(),
            context.get_trial_name(),
            context.get_trial_dir(),
            context.get_experiment_name(),
        ]
        return {"refused": len(refused), "known": all(known), "cpus": context.get_trial_resources().required_resources["CPU"],
                "train": train.get_context().get_trial_id() == context.get_trial_id()}  # fmt: skip

    last = search(told, name="mine").trials[0].last_result
    assert last["refused"] in (0, 1, 6)
    assert (last["known"], last["cpus"], last["train"]) == (True, 1, True)


@covers("tune.Checkpoint", "train.Checkpoint", "train.Checkpoint: path filesystem", "train.Checkpoint.from_directory: path", "train.Checkpoint.to_directory: path",
        "train.Checkpoint.as_directory", "train.Checkpoint.get_metadata", "train.Checkpoint.set_metadata: metadata", "train.Checkpoint.update_metadata: metadata")  # fmt: skip
def test_the_checkpoint_of_train(tmp_path):
    (tmp_path / "from").mkdir()
    (tmp_path / "from" / "file").write_text("mine")
    checkpoint = train.Checkpoint(str(tmp_path / "from"))
    assert train.Checkpoint.from_directory(str(tmp_path / "from")).path == checkpoint.path
    assert train.Checkpoint(str(tmp_path / "from"), filesystem=None).path == checkpoint.path
    assert Path(checkpoint.to_directory(str(tmp_path / "to")), "file").read_text() == "mine"
    with checkpoint.as_directory() as folder:
        assert Path(folder, "file").read_text() == "mine"
    checkpoint.set_metadata({"a": 1})
    checkpoint.update_metadata({"b": 2})
    assert checkpoint.get_metadata() == {"a": 1, "b": 2}


@covers("tune.experiment.Trial: trainable_name config trial_id evaluated_params experiment_tag stub", "tune.experiment.Trial.generate_id", "tune.experiment.Trial.set_status: status",
        "tune.experiment.Trial.update_last_result: result", "tune.experiment.Trial.should_stop: result", "tune.experiment.Trial: stopping_criterion")  # fmt: skip
def test_a_trial_is_made_by_hand():
    Trial = part("tune.experiment").Trial
    trial = Trial("behaviour_once", config={"x": 1}, trial_id="abc", evaluated_params={"x": 1}, experiment_tag="1_x=1", stub=True,
                  stopping_criterion={"score": 5})  # fmt: skip
    assert (trial.trainable_name, trial.config, trial.trial_id, trial.experiment_tag) == (
        "behaviour_once",
        {"x": 1},
        "abc",
        "1_x=1",
    )
    assert trial.evaluated_params == {"x": 1}
    assert trial.status == "PENDING"
    trial.set_status("RUNNING")
    assert trial.status == "RUNNING"
    assert trial.should_stop({"score": 6})
    assert not trial.should_stop({"score": 4})
    assert Trial.generate_id() != Trial.generate_id()


@covers(
    "tune.utils.serialization.TuneFunctionEncoder.default: obj",
    "tune.utils.serialization.TuneFunctionEncoder: indent sort_keys",
)
def test_the_encoder_takes_the_settings_of_json():
    text = json.dumps(
        {"b": 1, "a": 2}, cls=part("tune.utils.serialization").TuneFunctionEncoder, indent=1, sort_keys=True
    )
    assert text.splitlines()[1] == ' "a": 2,'


@covers(
    "tune.utils.mock_trainable.MyTrainableClass: config",
    "tune.utils.mock_trainable.MyTrainableClass.load_checkpoint: checkpoint_dir",
)
def test_the_mock_trainable_saves(search):
    (trial,) = search(
        part("tune.utils.mock_trainable").MyTrainableClass,
        config={"width": 1, "height": 1},
        stop={"training_iteration": 2},
        checkpoint_freq=1,
    ).trials
    assert list(Path(trial.path).glob("checkpoint_*"))


@covers("tune.schedulers.TrialScheduler.on_trial_remove: tune_controller trial")
def test_a_scheduler_defines_what_happens_at_a_removal():
    scheduler = tune.schedulers.FIFOScheduler()
    assert scheduler.on_trial_remove(None, None) is None


@covers("train.SyncConfig: sync_period sync_timeout sync_artifacts sync_artifacts_on_checkpoint")
def test_the_sync_config_of_train():
    config = train.SyncConfig(
        sync_period=1, sync_timeout=2, sync_artifacts=True, sync_artifacts_on_checkpoint=False
    )
    assert (
        config.sync_period,
        config.sync_timeout,
        config.sync_artifacts,
        config.sync_artifacts_on_checkpoint,
    ) == (1, 2, True, False)


@covers("tune.logger.LoggerCallback", "tune.Result", "tune.schedulers", "tune.search")
def test_names_stand_where_scripts_look():
    assert issubclass(part("tune.logger").LoggerCallback, tune.Callback)
    assert tune.Result.__name__ == "Result"


@covers("tune.Trainable: storage", "tune.Trainable.reset: storage")
def test_a_trainable_takes_a_storage():
    trainable = Counter(config={}, storage=None)
    trainable.train()
    assert trainable.reset({}, storage=None)
    assert trainable.train()["count"] == 1


@covers("tune.utils.util.date_str", "tune.utils.util.UtilMonitor", "tune.utils.util.wait_for_gpu", "tune.utils.util.warn_if_slow", "tune.utils.util.diagnose_serialization",
        "tune.utils.util.validate_save_restore")  # fmt: skip
def test_utilities_are_the_same_from_their_module():
    for name in (
        "date_str",
        "UtilMonitor",
        "wait_for_gpu",
        "warn_if_slow",
        "diagnose_serialization",
        "validate_save_restore",
    ):
        assert getattr(part("tune.utils.util"), name) is getattr(part("tune.utils"), name)
