"""Loggers by the names that users import."""

from overtone.experiment import Experiment
from overtone.observers.callbacks import Callback
from overtone.tune.arguments import to_experiment
from overtone.tune.logger import DEFAULT_LOGGERS, pretty_print


def test_a_result_is_printed_a_line_a_value():
    result = {"acc": 0.5, "nested": {"a": 1, "b": None}, "config": {"x": 1}, "timesteps_total": None}
    assert pretty_print(result) == "acc: 0.5\nnested:\n  a: 1\n"


def test_default_loggers_are_callbacks_and_no_news_as_loggers():
    assert all(issubclass(logger, Callback) for logger in DEFAULT_LOGGERS)
    assert to_experiment(len, loggers=DEFAULT_LOGGERS) == Experiment(trainable=len)
