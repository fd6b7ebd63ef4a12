"""Loggers by the names that users import. JSON lines, CSV and TensorBoard files are always written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from overtone.observers.callbacks.callback import LoggerCallback

__path__: list[str] = []  # Ray has modules below: see overtone.module_paths

__all__ = [
    "DEFAULT_LOGGERS",
    "CSVLogger",
    "CSVLoggerCallback",
    "JsonLogger",
    "JsonLoggerCallback",
    "Logger",
    "LoggerCallback",
    "NoopLogger",
    "TBXLogger",
    "TBXLoggerCallback",
    "UnifiedLogger",
    "pretty_print",
]


class JsonLoggerCallback(LoggerCallback):
    """Accepted: every run writes `result.json`."""


class CSVLoggerCallback(LoggerCallback):
    """Accepted: every run writes `progress.csv`."""


class TBXLoggerCallback(LoggerCallback):
    """Accepted: every run writes event files if TensorBoard's library is installed."""


JsonLogger = JsonLoggerCallback
CSVLogger = CSVLoggerCallback
TBXLogger = TBXLoggerCallback

DEFAULT_LOGGERS = (JsonLoggerCallback, CSVLoggerCallback, TBXLoggerCallback)
"""Loggers whose files every run writes."""


class Logger:
    """Logger of one trial, as `tune.run(loggers=[...])` takes it; `LoggerCallback` is the newer form.

    Args:
        config: The trial's hyperparameters.
        logdir: The trial's folder.
        trial: The trial.
    """

    def __init__(self, config: Mapping[str, Any], logdir: str, trial: Any = None) -> None:
        self.config = config
        self.logdir = logdir
        self.trial = trial
        self._init()

    def _init(self) -> None:
        """Prepare for logging."""

    def on_result(self, result: dict[str, Any]) -> None:
        """Log a result."""

    def update_config(self, config: Mapping[str, Any]) -> None:
        """Handle a change of the trial's hyperparameters."""

    def flush(self) -> None:
        """Write buffered results."""

    def close(self) -> None:
        """Close the logger at the end of the trial."""


class NoopLogger(Logger):
    """Logger that logs nothing."""


class UnifiedLogger(Logger):
    """Logger that logs to several loggers of a trial.

    Args:
        loggers: Classes of loggers; `DEFAULT_LOGGERS` are skipped, since every run writes their files.
    """

    def __init__(
        self, config: Mapping[str, Any], logdir: str, trial: Any = None, loggers: Sequence[Any] | None = None
    ) -> None:
        self._made = [made(config, logdir, trial) for made in loggers or () if is_own(made)]
        super().__init__(config, logdir, trial)

    def on_result(self, result: dict[str, Any]) -> None:
        """Log a result."""
        for one in self._made:
            one.on_result(result)

    def flush(self) -> None:
        """Write buffered results."""
        for one in self._made:
            one.flush()

    def close(self) -> None:
        """Close the logger at the end of the trial."""
        for one in self._made:
            one.close()


class TrialLoggers(LoggerCallback):
    """Callback that makes loggers for each trial and passes results to them.

    Args:
        makers: Callables `(config, logdir, trial) -> Logger`, such as subclasses of `Logger`.
    """

    def __init__(self, makers: Sequence[Any]) -> None:
        self._makers = list(makers)
        self._made: dict[str, list[Any]] = {}

    def log_trial_start(self, trial: Any) -> None:
        """Make the trial's loggers, unless the trial resumes."""
        if trial.trial_id not in self._made:
            self._made[trial.trial_id] = [
                make(trial.config, trial.local_path, trial) for make in self._makers
            ]

    def log_trial_result(self, iteration: int, trial: Any, result: dict[str, Any]) -> None:
        """Pass a result to the trial's loggers."""
        for one in self._made.get(trial.trial_id, ()):
            one.on_result(result)

    def log_trial_end(self, trial: Any, failed: bool = False) -> None:
        """Close the trial's loggers."""
        for one in self._made.pop(trial.trial_id, ()):
            one.close()


def is_own(logger: Any) -> bool:
    """Return whether a user wrote `logger`; every run already writes the files of the others."""
    return logger is not None and not (isinstance(logger, type) and issubclass(logger, LoggerCallback))


def pretty_print(result: Mapping[str, Any]) -> str:
    """Return a result as text, one value per line, without the config and without None values."""
    return _lines({key: value for key, value in result.items() if key != "config"}, "")


def _lines(values: Mapping[str, Any], indent: str) -> str:
    text = ""
    for key, value in values.items():
        if isinstance(value, Mapping):
            text += f"{indent}{key}:\n{_lines(value, indent + '  ')}"
        elif value is not None:
            text += f"{indent}{key}: {value}\n"
    return text
