"""Several loggers of a trial as one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from overtone.observers.trial_view import SeenTrial
from overtone.tune.logger.csv import CSVLogger
from overtone.tune.logger.json import JsonLogger
from overtone.tune.logger.logger import Logger
from overtone.tune.logger.tensorboardx import TBXLogger

__all__ = ["DEFAULT_LOGGERS", "UnifiedLogger"]

DEFAULT_LOGGERS: tuple[type[Logger], ...] = (JsonLogger, CSVLogger, TBXLogger)
"""Loggers whose files every run writes, TensorBoard's if tensorboardX is installed."""


class UnifiedLogger(Logger):
    """Logger that logs to several loggers of a trial.

    Args:
        loggers: Classes of loggers; by default `DEFAULT_LOGGERS`. For a trial of a run those are
            skipped, since the run writes their files.
    """

    def __init__(
        self, config: Mapping[str, Any], logdir: str, trial: Any = None, loggers: Sequence[Any] | None = None
    ) -> None:
        self._classes = DEFAULT_LOGGERS if loggers is None else tuple(loggers)
        super().__init__(config, logdir, trial)

    def _init(self) -> None:
        skipped = DEFAULT_LOGGERS if isinstance(self.trial, SeenTrial) else ()
        self._loggers = []
        for make in self._classes:
            if make in skipped:
                continue
            try:
                self._loggers.append(make(self.config, self.logdir, self.trial))
            except ImportError:
                if make is not TBXLogger:
                    raise

    def on_result(self, result: dict[str, Any]) -> None:
        """Log a result."""
        for one in self._loggers:
            one.on_result(result)

    def update_config(self, config: Mapping[str, Any]) -> None:
        """Handle a change of the trial's hyperparameters."""
        for one in self._loggers:
            one.update_config(config)

    def flush(self) -> None:
        """Write buffered results."""
        for one in self._loggers:
            one.flush()

    def close(self) -> None:
        """Close the loggers at the end of the trial."""
        for one in self._loggers:
            one.close()
