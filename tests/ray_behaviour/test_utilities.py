"""Registry, utilities, constants and where names are imported from."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest
from subject import NAME, air, covers, part, train, tune


@covers("tune.registry.register_trainable", "tune.registry.get_trainable_cls: trainable_name", "tune.registry.validate_trainable: trainable_name",
        "tune.registry.is_function_trainable: trainable", "tune.register_trainable: warn")  # fmt: skip
def test_trainables_are_registered():
    registry = part("tune.registry")

    class Own(tune.Trainable):
        def step(self):
            return {"done": True}

    tune.register_trainable("behaviour_own", Own, warn=False)
    assert registry.get_trainable_cls("behaviour_own") is Own
    registry.validate_trainable("behaviour_own")
    with pytest.raises(Exception):
        registry.validate_trainable("never heard of")
    assert registry.is_function_trainable(lambda config: None)
    assert not registry.is_function_trainable(Own)


@covers("tune.register_trainable: name trainable")
def test_only_trainables_are_registered():
    with pytest.raises(TypeError):
        tune.register_trainable("behaviour_text", 5)


@covers("tune.register_env: name env_creator", "tune.registry.register_env")
def test_environments_are_registered():
    tune.register_env("behaviour_env", lambda config: None)
    part("tune.registry").register_env("behaviour_env", lambda config: None)
    with pytest.raises(TypeError):
        tune.register_env("behaviour_env", "text")


@covers(
    "tune.registry.register_input: name input_creator",
    "tune.registry.registry_contains_input: name",
    "tune.registry.registry_get_input: name",
)
def test_inputs_are_registered():
    registry = part("tune.registry")
    creator = lambda context: None  # noqa: E731
    registry.register_input("behaviour_input", creator)
    assert registry.registry_contains_input("behaviour_input")
    assert registry.registry_get_input("behaviour_input")


@covers("tune.utils.flatten_dict: dt delimiter prevent_delimiter flatten_list")
def test_dicts_are_flattened():
    flatten = part("tune.utils").flatten_dict
    assert flatten({"a": {"b": 1, "c": {"d": 2}}, "e": 3}) == {"a/b": 1, "a/c/d": 2, "e": 3}
    assert flatten({"a": {"b": 1}}, delimiter=".") == {"a.b": 1}
    assert flatten({"a": [1, {"b": 2}]}, flatten_list=True) == {"a/0": 1, "a/1/b": 2}
    with pytest.raises((KeyError, ValueError)):
        flatten({"a/b": {"c": 1}}, prevent_delimiter=True)


@covers("tune.utils.unflattened_lookup: flat_key lookup delimiter")
def test_values_are_looked_up():
    lookup = part("tune.utils").unflattened_lookup
    assert lookup("a/b", {"a": {"b": 1}}) == 1
    assert lookup("a.1", {"a": [5, 6]}, delimiter=".") == 6


@covers("tune.utils.merge_dicts: d1 d2")
def test_dicts_are_merged():
    assert part("tune.utils").merge_dicts({"a": {"b": 1}, "c": 1}, {"a": {"d": 2}, "c": 3}) == {
        "a": {"b": 1, "d": 2},
        "c": 3,
    }


@covers(
    "tune.utils.deep_update: original new_dict new_keys_allowed allow_new_subkey_list override_all_if_type_changes override_all_key_list"
)
def test_dicts_are_updated_deeply():
    update = part("tune.utils").deep_update
    assert update({"a": {"b": 1}}, {"a": {"b": 2}}) == {"a": {"b": 2}}
    with pytest.raises(Exception):
        update({"a": 1}, {"new": 2})
    assert update({"a": 1}, {"new": 2}, new_keys_allowed=True) == {"a": 1, "new": 2}
    assert update({"a": {}}, {"a": {"new": 2}}, allow_new_subkey_list=["a"]) == {"a": {"new": 2}}
    assert update({"a": {"type": 1, "b": 1}}, {"a": {"type": 2}}, override_all_if_type_changes=["a"]) == {
        "a": {"type": 2}
    }
    assert update({"a": {"b": 1}}, {"a": {"c": 2}}, override_all_key_list=["a"]) == {"a": {"c": 2}}


@covers("tune.utils.date_str")
def test_a_date_is_a_text():
    import datetime as dt

    assert dt.datetime.strptime(part("tune.utils").date_str(), "%Y-%m-%d_%H-%M-%S").year > 2000


@covers(
    "tune.utils.warn_if_slow: name threshold message disable",
    "tune.utils.warn_if_slow.DEFAULT_THRESHOLD",
    "tune.utils.warn_if_slow.DEFAULT_MESSAGE",
)
def test_slow_blocks_are_warned_of():
    warn_if_slow = part("tune.utils").warn_if_slow
    assert isinstance(warn_if_slow.DEFAULT_MESSAGE, str)
    with warn_if_slow("thing", threshold=0.5, message="slow", disable=False) as block:
        pass
    assert block.too_slow is False


@covers("tune.utils.util.retry_fn: fn exception_type num_retries sleep_time timeout")
def test_a_function_is_tried_again():
    retry = part("tune.utils.util").retry_fn
    calls = []

    def fails_twice():
        calls.append(1)
        if len(calls) < 3:
            raise RuntimeError("once more")

    assert retry(fails_twice, exception_type=RuntimeError, num_retries=3, sleep_time=0)
    assert len(calls) == 3
    assert not retry(lambda: 1 / 0, exception_type=ZeroDivisionError, num_retries=2, sleep_time=0, timeout=5)


@covers("tune.utils.diagnose_serialization: trainable", "tune.utils.util.diagnose_serialization")
def test_what_cannot_be_sent_is_named():
    import threading

    diagnose = part("tune.utils").diagnose_serialization
    lock = threading.Lock()

    def bad(config):
        return lock

    assert diagnose(lambda config: None) is True
    assert diagnose(bad)


@covers(
    "tune.utils.validate_save_restore: trainable_cls config num_gpus", "tune.utils.util.validate_save_restore"
)
def test_a_class_is_checked_for_saving():
    class Saves(tune.Trainable):
        def setup(self, config):
            self.count = config["start"]

        def step(self):
            self.count += 1
            return {"count": self.count}

        def save_checkpoint(self, checkpoint_dir):
            return {"count": self.count}

        def load_checkpoint(self, checkpoint):
            self.count = checkpoint["count"]

    assert part("tune.utils").validate_save_restore(Saves, config={"start": 3}, num_gpus=0)


@covers(
    "tune.utils.util.validate_warmstart: parameter_names points_to_evaluate evaluated_rewards validate_point_name_lengths"
)
def test_given_points_are_checked():
    validate = part("tune.utils.util").validate_warmstart
    validate(["x"], [{"x": 1}], [2.0])
    with pytest.raises(TypeError):
        validate(["x"], 5, None)
    with pytest.raises(TypeError):
        validate(["x"], [5], None)
    with pytest.raises(ValueError):
        validate(["x"], [{"x": 1}], [1.0, 2.0])
    with pytest.raises(ValueError):
        validate(["x"], [[1, 2]], None)
    validate(["x"], [[1, 2]], None, validate_point_name_lengths=False)


@covers("tune.utils.wait_for_gpu: gpu_id target_util retry delay_s gpu_memory_limit")
def test_waiting_for_a_gpu_needs_one():
    with pytest.raises((RuntimeError, ValueError, ImportError)):
        part("tune.utils").wait_for_gpu(gpu_id=99, target_util=0.01, retry=1, delay_s=0, gpu_memory_limit=0.1)


@covers(
    "tune.utils.UtilMonitor: start delay", "tune.utils.UtilMonitor.get_data", "tune.utils.UtilMonitor.stop"
)
def test_use_is_watched():
    monitor = part("tune.utils").UtilMonitor(start=False, delay=0.1)
    assert isinstance(monitor.get_data(), dict)
    monitor.stop()


@covers("tune.utils.util.Tee: stream1 stream2", "tune.utils.util.Tee.write", "tune.utils.util.Tee.flush")
def test_output_goes_to_two_streams():
    import io

    one, two = io.StringIO(), io.StringIO()
    tee = part("tune.utils.util").Tee(one, two)
    tee.write("both")
    tee.flush()
    assert one.getvalue() == two.getvalue() == "both"


@covers("tune.utils.log.Verbosity", "tune.utils.log.set_verbosity: level", "tune.utils.log.has_verbosity: level", "tune.utils.log.Verbosity.V0_MINIMAL",
        "tune.utils.log.Verbosity.V1_EXPERIMENT", "tune.utils.log.Verbosity.V2_TRIAL_NORM", "tune.utils.log.Verbosity.V3_TRIAL_DETAILS")  # fmt: skip
def test_verbosity_is_set():
    log = part("tune.utils.log")
    log.set_verbosity(1)
    assert log.has_verbosity(log.Verbosity.V1_EXPERIMENT)
    assert not log.has_verbosity(log.Verbosity.V2_TRIAL_NORM)
    log.set_verbosity(log.Verbosity.V3_TRIAL_DETAILS)
    assert log.has_verbosity(2)


@covers("tune.utils.serialization.TuneFunctionEncoder", "tune.utils.serialization.TuneFunctionDecoder")
def test_functions_go_through_json():
    import json

    module = part("tune.utils.serialization")
    text = json.dumps({"x": 1, "f": len}, cls=module.TuneFunctionEncoder)
    assert (
        json.loads(
            text, cls=module.TuneFunctionDecoder, **({"allow_cloudpickle": True} if NAME == "ray" else {})
        )["x"]
        == 1
    )


@covers("tune.utils.mock_trainable.MyTrainableClass", "tune.utils.mock_trainable.register_mock_trainable")
def test_the_mock_trainable(search):
    part("tune.utils.mock_trainable").register_mock_trainable()
    (trial,) = search(
        part("tune.utils.mock_trainable").MyTrainableClass,
        config={"width": 1, "height": 1},
        stop={"training_iteration": 2},
    ).trials
    assert "episode_reward_mean" in trial.last_result


@covers("tune.utils.mock_trainable.MyTrainableClass: storage")
def test_the_mock_trainable_is_made_by_hand():
    made = part("tune.utils.mock_trainable").MyTrainableClass(config={"height": 2}, storage=None)
    assert made.train()["episode_reward_mean"] < made.train()["episode_reward_mean"] < 2


@covers(
    "tune.experiment.trial.ExportFormat.validate: formats",
    "tune.experiment.trial.ExportFormat.H5",
    "tune.experiment.trial.ExportFormat.ONNX",
)
def test_export_formats_are_checked():
    formats = part("tune.experiment.trial").ExportFormat
    formats.validate([formats.MODEL, formats.CHECKPOINT, formats.H5, formats.ONNX])
    with pytest.raises(Exception):
        formats.validate(["never heard of"])


@covers("tune.result.AUTO_RESULT_KEYS", "tune.result.DEFAULT_RESULT_KEYS", "tune.result.DEBUG_METRICS", "tune.result.CONFIG_PREFIX", "tune.result.RESULT_DUPLICATE",
        "tune.result.TRIAL_INFO", "tune.result.STDOUT_FILE", "tune.result.STDERR_FILE", "tune.result.DEFAULT_EXPERIMENT_INFO_KEYS", "tune.result.EXPR_ERROR_PICKLE_FILE",
        "tune.result.JOB_META_FILE", "tune.result.EXPR_META_FILE", "tune.result.DEFAULT_EXPERIMENT_NAME")  # fmt: skip
def test_the_keys_of_results_have_names():
    result = part("tune.result")
    assert {"training_iteration", "time_total_s", "date", "pid"} <= set(result.AUTO_RESULT_KEYS)
    assert result.CONFIG_PREFIX == "config"
    assert {"trial_id"} <= set(result.DEBUG_METRICS) | set(result.AUTO_RESULT_KEYS)
    names = (
        "RESULT_DUPLICATE",
        "TRIAL_INFO",
        "STDOUT_FILE",
        "STDERR_FILE",
        "EXPR_ERROR_PICKLE_FILE",
        "JOB_META_FILE",
        "EXPR_META_FILE",
        "DEFAULT_EXPERIMENT_NAME",
    )
    assert all(isinstance(getattr(result, name), str) for name in names)
    assert result.DEFAULT_EXPERIMENT_INFO_KEYS
    assert result.DEFAULT_RESULT_KEYS


@covers("air.constants.TRAINING_ITERATION", "air.constants.EXPR_RESULT_FILE", "air.constants.EXPR_PROGRESS_FILE", "air.constants.EXPR_PARAM_FILE", "air.constants.EXPR_ERROR_FILE",
        "air.constants.TIME_THIS_ITER_S", "air.constants.TIMESTAMP", "air.constants.MODEL_KEY", "air.constants.PREPROCESSOR_KEY", "air.constants.TRAIN_DATASET_KEY",
        "air.constants.EVALUATION_DATASET_KEY", "air.constants.EXPR_PARAM_PICKLE_FILE", "air.constants.EXPR_ERROR_PICKLE_FILE", "air.constants.MAX_REPR_LENGTH",
        "train.constants.TIME_TOTAL_S", "train.constants.RESULT_FILE_JSON", "train.constants.TRAIN_DATASET_KEY", "train.constants.MODEL_KEY", "train.constants.RAY_CHDIR_TO_TRIAL_DIR",
        "train.constants.WORKER_HOSTNAME", "train.constants.WORKER_NODE_IP", "train.constants.WORKER_PID", "train.constants.EVALUATION_DATASET_KEY", "train.constants.PREPROCESSOR_KEY",
        "train.constants.DEFAULT_STORAGE_PATH")  # fmt: skip
def test_the_constants_of_air_and_train():
    constants = part("air.constants")
    assert constants.TRAINING_ITERATION == "training_iteration"
    assert (constants.EXPR_RESULT_FILE, constants.EXPR_PROGRESS_FILE, constants.EXPR_PARAM_FILE) == (
        "result.json",
        "progress.csv",
        "params.json",
    )
    assert (constants.TIME_THIS_ITER_S, constants.TIMESTAMP) == ("time_this_iter_s", "timestamp")
    assert (
        constants.MODEL_KEY,
        constants.PREPROCESSOR_KEY,
        constants.TRAIN_DATASET_KEY,
        constants.EVALUATION_DATASET_KEY,
    ) == ("model", "_preprocessor", "train", "evaluation")
    assert constants.EXPR_ERROR_FILE == "error.txt"
    assert constants.MAX_REPR_LENGTH > 0
    constants = part("train.constants")
    assert constants.TIME_TOTAL_S == "_time_total_s"
    assert constants.TRAIN_DATASET_KEY == "train"
    assert constants.RAY_CHDIR_TO_TRIAL_DIR == "RAY_CHDIR_TO_TRIAL_DIR"


@covers("tune.constants.TUNE_ENV_VARS", "tune.constants.RAY_TUNE_CALLBACKS_ENV_VAR")
def test_the_environment_variables_have_names():
    constants = part("tune.constants")
    assert "TUNE_DISABLE_AUTO_CALLBACK_LOGGERS" in constants.TUNE_ENV_VARS
    assert constants.RAY_TUNE_CALLBACKS_ENV_VAR == "RAY_TUNE_CALLBACKS"


SURFACE = Path(__file__).parents[1] / "packaging" / "ray_surface.txt"
LIBRARIES = ("air.integrations.keras", "tune.integration.keras", "tune.integration.lightgbm", "tune.integration.pytorch_lightning",
             "tune.integration.xgboost", "tune.schedulers.pb2_utils")  # fmt: skip
"""Modules of Ray that need other packages to be imported."""
PARTS_OF_RAY = (
    "air.execution", "air.util", "air.data_batch_type", "tune.execution.class_cache", "tune.execution.cluster_info", "tune.execution.experiment_state",
    "tune.execution.insufficient_resources_manager", "tune.execution.tune_controller", "tune.experiment.config_parser", "tune.trainable.metadata",
    "tune.schedulers.util", "tune.search.util", "tune.utils.file_transfer", "tune.utils.object_cache", "tune.utils.resource_updater",
    "tune.utils.serialization", "tune.resources",
)  # fmt: skip
"""Modules of Ray's own parts, which Overtone lacks by intent, with all below them."""
PATHS = [line.split()[0] for line in SURFACE.read_text("utf-8").splitlines() if f"{line}/".partition("/")[0].endswith(" module")]
MODULES = [path for path in PATHS if path not in LIBRARIES and not path.startswith(PARTS_OF_RAY)]


@covers(*MODULES)
@pytest.mark.parametrize("path", MODULES)
def test_a_module_is_imported(path):
    assert importlib.import_module(f"{NAME}.{path}").__name__.endswith(path.rpartition(".")[2])


ALIASES = {
    "tune.analysis.experiment_analysis": "ExperimentAnalysis", "tune.callback": "Callback", "tune.error": "TuneError", "tune.experiment.experiment": "Experiment",
    "tune.progress_reporter": "CLIReporter ProgressReporter JupyterNotebookReporter", "tune.result_grid": "ResultGrid", "tune.stopper": "Stopper",
    "tune.stopper.stopper": "Stopper", "tune.syncer": "SyncConfig", "tune.tune": "run run_experiments", "tune.tune_config": "TuneConfig ResumeConfig",
    "tune.tuner": "Tuner", "tune.search.sample": "choice lograndint loguniform qlograndint qloguniform qrandint qrandn quniform randint randn sample_from uniform",
    "tune.search.variant_generator": "grid_search", "tune.registry": "register_env register_trainable", "tune.schedulers": "create_scheduler", "tune.analysis": "ExperimentAnalysis", "tune.experiment": "Experiment",
}  # fmt: skip


@covers(*[f"{module}.{name}" for module, names in ALIASES.items() for name in names.split()])
@pytest.mark.parametrize("module", ALIASES)
def test_a_name_is_the_same_from_its_module(module):
    for name in ALIASES[module].split():
        assert getattr(part(module), name) is getattr(tune, name)


INNER = {
    "tune.schedulers.async_hyperband": "ASHAScheduler AsyncHyperBandScheduler",
    "tune.schedulers.hb_bohb": "HyperBandForBOHB",
    "tune.schedulers.hyperband": "HyperBandScheduler",
    "tune.schedulers.median_stopping_rule": "MedianStoppingRule",
    "tune.schedulers.pbt": "PopulationBasedTraining PopulationBasedTrainingReplay",
    "tune.schedulers.resource_changing_scheduler": "ResourceChangingScheduler",
    "tune.schedulers.trial_scheduler": "FIFOScheduler TrialScheduler",
}


@covers(*[f"{module}.{name}" for module, names in INNER.items() for name in names.split()])
@pytest.mark.parametrize("module", INNER)
def test_a_scheduler_is_the_same_from_its_module(module):
    for name in INNER[module].split():
        assert getattr(part(module), name) is getattr(tune.schedulers, name)


STOPPERS = {
    "experiment_plateau": "ExperimentPlateauStopper",
    "function_stopper": "FunctionStopper",
    "maximum_iteration": "MaximumIterationStopper",
    "noop": "NoopStopper",
    "stopper": "CombinedStopper",
    "timeout": "TimeoutStopper",
    "trial_plateau": "TrialPlateauStopper",
}


@covers(*[f"tune.stopper.{module}.{name}" for module, name in STOPPERS.items()])
@pytest.mark.parametrize("module", STOPPERS)
def test_a_stopper_is_the_same_from_its_module(module):
    assert getattr(part(f"tune.stopper.{module}"), STOPPERS[module]) is getattr(
        tune.stopper, STOPPERS[module]
    )


SEARCHERS = {"ax": "AxSearch", "bayesopt": "BayesOptSearch", "bohb": "TuneBOHB", "hebo": "HEBOSearch", "hyperopt": "HyperOptSearch",
             "nevergrad": "NevergradSearch", "optuna": "OptunaSearch", "zoopt": "ZOOptSearch"}  # fmt: skip


@covers(*[f"tune.search.{module}.{module}_search.{name}" for module, name in SEARCHERS.items()])
@pytest.mark.parametrize("module", SEARCHERS)
def test_a_searcher_is_the_same_from_its_module(module):
    assert getattr(part(f"tune.search.{module}.{module}_search"), SEARCHERS[module]) is getattr(
        part(f"tune.search.{module}"), SEARCHERS[module]
    )


LOGGERS = {
    "csv": "CSVLoggerCallback",
    "json": "JsonLoggerCallback",
    "tensorboardx": "TBXLoggerCallback",
    "logger": "LoggerCallback pretty_print",
}


@covers(*[f"tune.logger.{module}.{name}" for module, names in LOGGERS.items() for name in names.split()])
@pytest.mark.parametrize("module", LOGGERS)
def test_a_logger_is_the_same_from_its_module(module):
    for name in LOGGERS[module].split():
        assert getattr(part(f"tune.logger.{module}"), name) is getattr(part("tune.logger"), name)


@covers("tune.Experiment", "tune.experiment.trial.Trial", "tune.experiment.Trial")
def test_a_trial_is_the_same_from_its_module():
    assert part("tune.experiment.trial").Trial is part("tune.experiment").Trial


@covers("tune.TuneError", "tune.error.TuneError")
def test_errors_of_the_library_are_caught_by_one_class(search):
    with pytest.raises(tune.TuneError):
        search("never registered")
    with pytest.raises(tune.TuneError):
        search(lambda config: 1 / 0)


@covers("tune.run: run_or_experiment")
@pytest.mark.parametrize("wrong", [5, None, [5]])
def test_what_cannot_be_trained_is_refused(search, wrong):
    with pytest.raises(Exception):
        search(wrong)


@covers("tune.Tuner: trainable")
def test_a_tuner_needs_a_trainable():
    with pytest.raises((TypeError, tune.TuneError, ValueError)):
        tune.Tuner()


@covers("train.TrainingFailedError")
def test_training_errors_have_a_class():
    assert issubclass(train.TrainingFailedError, Exception)


@covers("tune.run: config")
def test_a_misspelt_argument_is_an_error(search):
    with pytest.raises(TypeError):
        search(lambda config: None, confg={})


@covers("air.session")
def test_air_has_a_session():
    assert part("air.session") is not None
    assert air
