"""Loggers by the names that users import: of one trial, and as callbacks."""

import csv
import importlib
import json
import pickle
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from overtone import tune
from overtone.experiment import Experiment
from overtone.tune.arguments import to_experiment
from overtone.tune.callback import Callback, CallbackList
from overtone.tune.logger import (
    DEFAULT_LOGGERS,
    CSVLogger,
    CSVLoggerCallback,
    JsonLogger,
    JsonLoggerCallback,
    LegacyLoggerCallback,
    Logger,
    LoggerCallback,
    NoopLogger,
    TBXLogger,
    TBXLoggerCallback,
    UnifiedLogger,
    pretty_print,
)

CONFIG = {"lr": 0.1, "nested": {"a": [1, 2]}, "none": None}
RESULTS = [
    {"loss": 1.0, "training_iteration": 1, "config": CONFIG},
    {"loss": 0.5, "training_iteration": 2, "config": CONFIG},
    {"loss": float("nan"), "training_iteration": 3, "eval": {"acc": np.float32(0.5)}, "scores": [1, 2, 3], "config": CONFIG},
]  # fmt: skip


class Trial:
    def __init__(self, folder, trial_id="t"):
        self.trial_id, self.local_path, self.config = trial_id, str(folder), CONFIG
        self.evaluated_params = {"lr": np.float64(0.1), "layers": (1, 2)}
        self.n_made = 0

    def init_local_path(self):
        self.n_made += 1


def log(logger, folder, results=RESULTS):
    """Log results by a logger's class, or by a callback."""
    if isinstance(logger, type):
        made = logger(CONFIG, str(folder), Trial(folder))
        for result in results:
            made.on_result(result)
        made.flush()
        made.close()
        return
    trial = Trial(folder)
    logger.on_trial_start(0, [], trial)
    for i, result in enumerate(results):
        logger.on_trial_result(i, [], trial, result)
    logger.on_trial_complete(9, [], trial)


def json_lines(folder):
    return [json.loads(line) for line in (folder / "result.json").read_text().splitlines()]


def csv_rows(folder):
    with (folder / "progress.csv").open(newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize(
    "logger",
    [JsonLogger, JsonLoggerCallback(), LegacyLoggerCallback([JsonLogger])],
    ids=["one", "callback", "legacy"],
)
def test_json(tmp_path, logger):
    log(logger, tmp_path)
    found = json_lines(tmp_path)
    assert [one["loss"] for one in found[:2]] == [1.0, 0.5]
    assert found[2]["loss"] != found[2]["loss"]
    assert (found[2]["eval"], found[2]["scores"], found[2]["config"]) == ({"acc": 0.5}, [1, 2, 3], CONFIG)
    assert json.loads((tmp_path / "params.json").read_text()) == CONFIG
    assert pickle.loads((tmp_path / "params.pkl").read_bytes()) == CONFIG


@pytest.mark.parametrize(
    "logger",
    [CSVLogger, CSVLoggerCallback(), LegacyLoggerCallback([CSVLogger])],
    ids=["one", "callback", "legacy"],
)
def test_csv_gets_new_columns(tmp_path, logger):
    log(logger, tmp_path)
    found = csv_rows(tmp_path)
    assert [row["loss"] for row in found] == ["1.0", "0.5", "nan"]
    assert list(found[0]) == ["loss", "training_iteration", "eval/acc", "scores"]
    assert [row["eval/acc"] for row in found] == ["", "", "0.5"]


def test_a_trial_that_starts_again_appends(tmp_path):
    for callback in (JsonLoggerCallback(), CSVLoggerCallback()):
        log(callback, tmp_path, RESULTS[:1])
        log(callback, tmp_path, RESULTS[1:])
    assert len(json_lines(tmp_path)) == 3
    assert [row["training_iteration"] for row in csv_rows(tmp_path)] == ["1", "2", "3"]


def test_a_result_without_a_start_begins_the_file(tmp_path):
    trial = Trial(tmp_path)
    for callback in (JsonLoggerCallback(), CSVLoggerCallback()):
        callback.on_trial_start(0, [], trial)
        callback.on_trial_start(0, [], trial)  # It began twice.
        callback.on_trial_error(0, [], trial)
        callback.on_trial_result(0, [], trial, RESULTS[0])
        callback.on_trial_complete(0, [], trial)
        callback.on_trial_complete(0, [], trial)
    assert (len(json_lines(tmp_path)), len(csv_rows(tmp_path)), trial.n_made) == (1, 1, 6)


@pytest.mark.parametrize(
    "logger",
    [TBXLogger, TBXLoggerCallback(), LegacyLoggerCallback([TBXLogger])],
    ids=["one", "callback", "legacy"],
)
def test_tensorboard(tmp_path, logger):
    pytest.importorskip("tensorboardX")
    images = {"training_iteration": 4, "image": np.zeros((3, 4, 4)), "words": ["no", "numbers"], "empty": []}
    log(logger, tmp_path, [*RESULTS, images, {"training_iteration": 5, "loss": 0.25}])
    (file,) = tmp_path.glob("events.out.tfevents.*")
    data = file.read_bytes()
    for name in (
        b"tune/loss",
        b"tune/eval/acc",
        b"tune/scores",
        b"tune/image",
        b"_hparams_/session_start_info",
        b"lr",
    ):
        assert name in data
    assert b"tune/training_iteration" not in data
    assert b"tune/words" not in data
    assert b"layers" not in data
    assert np.float64 in TBXLoggerCallback.VALID_NP_HPARAMS


def test_a_missing_tensorboard_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "tensorboardX", None)
    with pytest.raises(ImportError, match=r"overtone\[tensorboard\]"):
        TBXLogger(CONFIG, str(tmp_path))
    log(UnifiedLogger, tmp_path)  # It writes the other files.
    assert len(json_lines(tmp_path)) == 3


def test_a_unified_logger_writes_all_files_and_for_a_trial_of_a_run_those_of_others(tmp_path, monkeypatch):
    log(UnifiedLogger, tmp_path, RESULTS[:1])
    assert (len(json_lines(tmp_path)), len(csv_rows(tmp_path))) == (1, 1)
    told = []

    class Mine(Logger):
        def on_result(self, result):
            told.append(result)

        def update_config(self, config):
            told.append(config)

    monkeypatch.setattr("overtone.tune.logger.unified.SeenTrial", Trial)
    unified = UnifiedLogger({}, str(tmp_path / "other"), Trial(tmp_path), [JsonLogger, Mine, NoopLogger])
    unified.on_result({"a": 1})
    unified.update_config({"b": 2})
    unified.flush()
    unified.close()
    assert told == [{"a": 1}, {"b": 2}]
    assert not (tmp_path / "other").exists()


def test_a_result_is_printed_a_line_a_value():
    result = {
        "acc": 0.5,
        "nested": {"a": 1, "b": None},
        "config": {"x": 1},
        "timesteps_total": None,
        "hist_stats": {},
    }
    assert pretty_print(result) == "acc: 0.5\nnested:\n  a: 1\n"
    assert pretty_print(result, exclude={"nested"}) == "acc: 0.5\n"


# --- what a run takes ---------------------------------------------------------------------


def taken(**arguments):
    return to_experiment(len, **arguments).callbacks


@pytest.mark.parametrize(
    "arguments",
    [
        {"loggers": DEFAULT_LOGGERS},
        {"loggers": [JsonLoggerCallback, CSVLoggerCallback(), None]},
        {"callbacks": [JsonLoggerCallback(), CSVLoggerCallback(), TBXLoggerCallback()]},
        {"callbacks": (CallbackList([JsonLoggerCallback(), CallbackList([CSVLoggerCallback()])]),)},
        {"callbacks": [LegacyLoggerCallback(DEFAULT_LOGGERS)]},
    ],
    ids=["classes", "mixed", "callbacks", "lists", "legacy"],
)
def test_the_loggers_of_files_that_every_run_writes_change_nothing(arguments):
    assert to_experiment(len, **arguments) == Experiment(trainable=len)
    given = taken(files=False, **arguments)  # Nobody else writes the files.
    assert given
    assert {type(one) for one in given} <= {
        JsonLoggerCallback,
        CSVLoggerCallback,
        TBXLoggerCallback,
        LegacyLoggerCallback,
    }


def test_loggers_of_users_are_kept():
    class Json(JsonLogger):
        pass

    class Csv(CSVLoggerCallback):
        pass

    class Other(Logger):
        pass

    first, csv_logger = Callback(), Csv()
    found = taken(
        callbacks=[first, CallbackList([csv_logger])], loggers=[JsonLogger, Json, Other, LoggerCallback]
    )
    assert found[:2] == (first, csv_logger)
    assert type(found[2]) is LoggerCallback
    assert found[3].logger_classes == [Json, Other]
    assert [one.written_files for one in found] == [(), ("progress.csv",), (), ("params.json", "result.json")]


def test_loggers_of_trials_that_have_not_ended_are_closed_with_the_run(tmp_path):
    for callback in (JsonLoggerCallback(), CSVLoggerCallback()):
        trial = Trial(tmp_path)
        callback.on_trial_start(0, [], trial)
        callback.on_experiment_end([trial])
        assert callback._loggers == {}


def test_old_loggers_are_made_for_each_trial():
    told = []

    class Mine(Logger):
        def _init(self):
            told.append(("made", self.config, self.logdir, self.trial.trial_id))

        def on_result(self, result):
            told.append(("result", result))

        def flush(self):
            told.append(("flushed",))

        def close(self):
            told.append(("closed",))

    (callback,) = taken(loggers=[CSVLogger, lambda config, logdir, trial: Mine(config, logdir, trial)])
    trial = SimpleNamespace(trial_id="t", config={"lr": 1}, logdir="/folder", __hash__=None)
    trial = type("Old", (), vars(trial) | {"__hash__": object.__hash__})()
    callback.log_trial_start(trial)
    callback.log_trial_start(trial)  # It goes on from a checkpoint.
    callback.log_trial_restore(trial)
    callback.log_trial_result(1, trial, {"acc": 1})
    callback.log_trial_save(trial)
    callback.log_trial_end(trial)
    callback.log_trial_end(trial)
    made = ("made", {"lr": 1}, "/folder", "t")
    assert told == [made, ("flushed",), ("result", {"acc": 1}), ("flushed",), ("closed",)]


def test_wrong_callbacks_are_said():
    with pytest.raises(
        tune.TuneError, match=r"must be a list of Callback objects, such as \[MyCallback\(\)\]"
    ):
        taken(callbacks=[tune.Callback])
    with pytest.raises(tune.TuneError, match="callbacks=3 must be a list of Callback objects"):
        taken(callbacks=3)
    with pytest.raises(tune.TuneError, match="callbacks='mine' must be a list"):
        taken(callbacks="mine")
    for wrong in (["wandb"], [3], [{"a": 1}]):
        with pytest.raises(tune.TuneError, match="must be a list of Callback objects"):
            taken(callbacks=wrong)


@pytest.mark.parametrize(("module", "name", "package"), [("aim", "AimLoggerCallback", "aim"), ("comet", "CometLoggerCallback", "comet_ml"),
                                                         ("mlflow", "MLflowLoggerCallback", "mlflow"), ("wandb", "WandbLoggerCallback", "wandb")])  # fmt: skip
def test_a_callback_of_a_tracker_names_its_package(module, name, package, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.setitem(sys.modules, f"{package}.sdk", None)
    for place in ("tune.logger", "air.integrations", "tune.integration"):
        with pytest.raises(ImportError, match=f"{name} needs .*: pip install"):
            getattr(importlib.import_module(f"overtone.{place}.{module}"), name)()
