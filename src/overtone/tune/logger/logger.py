"""Loggers of one trial, the callback that makes them for each trial, and a result as text."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from typing import Any, ClassVar

from overtone.observers.callbacks.callback import LoggerCallback

__all__ = ["LegacyLoggerCallback", "Logger", "LoggerCallback", "NoopLogger", "pretty_print"]


class Logger:
    """Logger of one trial, as `tune.run(loggers=[...])` takes it; `LoggerCallback` is the newer form.

    Args:
        config: The trial's hyperparameters.
        logdir: The trial's folder.
        trial: The trial.

    Attributes:
        written_files: Names of files in a trial's folder that it writes itself: the run leaves them to it.
    """

    written_files: ClassVar[tuple[str, ...]] = ()

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


class LegacyLoggerCallback(LoggerCallback):
    """Callback that makes loggers for each trial and passes results to them.

    Args:
        logger_classes: Callables `(config, logdir, trial) -> Logger`, such as subclasses of `Logger`.
    """

    def __init__(self, logger_classes: Sequence[Any]) -> None:
        self.logger_classes = list(logger_classes)
        self._loggers: dict[Any, list[Any]] = {}

    @property
    def written_files(self) -> tuple[str, ...]:  # type: ignore[override]
        """Names of files in a trial's folder that its loggers write."""
        return tuple(name for one in self.logger_classes for name in getattr(one, "written_files", ()))

    def log_trial_start(self, trial: Any) -> None:
        """Make the trial's loggers, unless the trial resumes."""
        if trial not in self._loggers:
            if hasattr(trial, "init_local_path"):
                trial.init_local_path()
            folder = os.fspath(getattr(trial, "local_path", None) or trial.logdir)
            self._loggers[trial] = [make(trial.config, folder, trial) for make in self.logger_classes]

    def log_trial_restore(self, trial: Any) -> None:
        """Write the buffered results of the trial."""
        for one in self._loggers.get(trial, ()):
            one.flush()

    log_trial_save = log_trial_restore

    def log_trial_result(self, iteration: int, trial: Any, result: dict[str, Any]) -> None:
        """Pass a result to the trial's loggers."""
        for one in self._loggers.get(trial, ()):
            one.on_result(result)

    def log_trial_end(self, trial: Any, failed: bool = False) -> None:
        """Close the trial's loggers."""
        for one in self._loggers.pop(trial, ()):
            one.close()

    def on_experiment_end(self, trials: list[Any], **info: Any) -> None:
        """Close the loggers of trials that have not ended, such as after Ctrl-C."""
        for trial in list(self._loggers):
            LegacyLoggerCallback.log_trial_end(self, trial)


class FileLoggerCallback(LegacyLoggerCallback):
    """Callback that writes one kind of file for each trial.

    Attributes:
        logger_class: The class of the loggers, one for each trial.
    """

    logger_class: ClassVar[type[Logger]] = Logger

    def __init__(self) -> None:
        super().__init__([self.logger_class])

    def log_trial_start(self, trial: Any) -> None:
        """Open the trial's file, also if the trial starts again."""
        FileLoggerCallback.log_trial_end(self, trial)
        super().log_trial_start(trial)

    def log_trial_result(self, iteration: int, trial: Any, result: dict[str, Any]) -> None:
        """Write a result."""
        if trial not in self._loggers:
            self.log_trial_start(trial)
        super().log_trial_result(iteration, trial, result)

    def _logger(self, trial: Any) -> Any:
        return self._loggers[trial][0]


def pretty_print(result: Mapping[str, Any], exclude: Collection[str] | None = None) -> str:
    """Return a result as text, one value per line, without the config and without None values.

    Args:
        exclude: Names of further values that are left out.
    """
    left_out = {"config", "hist_stats", *(exclude or ())}
    return _lines({key: value for key, value in result.items() if key not in left_out}, "")


def _lines(values: Mapping[str, Any], indent: str) -> str:
    text = ""
    for key, value in values.items():
        if isinstance(value, Mapping):
            text += f"{indent}{key}:\n{_lines(value, indent + '  ')}"
        elif value is not None:
            text += f"{indent}{key}: {value}\n"
    return text
