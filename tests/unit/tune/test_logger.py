"""Loggers by the names that users import."""

from overtone.experiment import Experiment
from overtone.observers.callbacks.callback import Callback
from overtone.tune.arguments import to_experiment
from overtone.tune.logger import (
    DEFAULT_LOGGERS,
    CSVLogger,
    JsonLogger,
    Logger,
    UnifiedLogger,
    pretty_print,
)


def test_a_result_is_printed_a_line_a_value():
    result = {"acc": 0.5, "nested": {"a": 1, "b": None}, "config": {"x": 1}, "timesteps_total": None}
    assert pretty_print(result) == "acc: 0.5\nnested:\n  a: 1\n"


def test_default_loggers_are_callbacks_and_no_news_as_loggers():
    assert all(issubclass(logger, Callback) for logger in DEFAULT_LOGGERS)
    assert to_experiment(len, loggers=DEFAULT_LOGGERS) == Experiment(trainable=len)


class Trial:
    trial_id, config, local_path = "t", {"lr": 1}, "/folder"


def test_loggers_of_users_are_made_for_each_trial():
    told = []

    class Mine(Logger):
        def _init(self):
            told.append(("made", self.config, self.logdir, self.trial.trial_id))

        def on_result(self, result):
            told.append(("result", result))

        def close(self):
            told.append(("closed",))

    def unified(config, logdir, trial):
        return UnifiedLogger(config, logdir, trial, [JsonLogger, Mine])

    (callback,) = to_experiment(len, loggers=[CSVLogger, unified]).callbacks
    callback.log_trial_start(Trial)
    callback.log_trial_start(Trial)  # it goes on from a checkpoint
    callback.log_trial_result(1, Trial, {"acc": 1})
    callback.log_trial_end(Trial)
    assert told == [("made", {"lr": 1}, "/folder", "t"), ("result", {"acc": 1}), ("closed",)]
