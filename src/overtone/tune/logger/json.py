"""`params.json` and `result.json` of a trial, written by a logger that may be subclassed."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, TextIO

from overtone.core.json_encoder import encoder
from overtone.journal.text import as_data
from overtone.observers.files.constant_text import params_text
from overtone.observers.files.own_files import PARAMS_JSON, RESULT_JSON
from overtone.tune.logger.logger import FileLoggerCallback, Logger

__all__ = ["JsonLogger", "JsonLoggerCallback"]

PARAMS_PKL = "params.pkl"

_encode = encoder(as_data, allow_nan=True)


class JsonLogger(Logger):
    """Logger that writes each result as a line of `result.json`, and the config to `params.json`.

    The config is also pickled to `params.pkl`, which Overtone itself never reads.
    """

    written_files = (PARAMS_JSON, RESULT_JSON)

    def _init(self) -> None:
        self.update_config(self.config)
        self.local_out: TextIO = open(  # noqa: SIM115 - open while the trial lives
            os.path.join(self.logdir, RESULT_JSON), "a", encoding="utf-8"
        )

    def on_result(self, result: dict[str, Any]) -> None:
        """Write a result."""
        self.write(f"{_encode(dict(result))}\n")
        self.flush()

    def write(self, text: str) -> None:
        """Write text to `result.json`."""
        self.local_out.write(text)

    def update_config(self, config: Mapping[str, Any]) -> None:
        """Write the config."""
        from cloudpickle import dumps

        self.config = config
        with open(os.path.join(self.logdir, PARAMS_JSON), "w", encoding="utf-8") as file:
            file.write(params_text(dict(config)))
        with open(os.path.join(self.logdir, PARAMS_PKL), "wb") as pickled:
            pickled.write(dumps(dict(config)))

    def flush(self) -> None:
        """Write buffered text."""
        self.local_out.flush()

    def close(self) -> None:
        """Close `result.json`."""
        self.local_out.close()


class JsonLoggerCallback(FileLoggerCallback):
    """Callback that writes each trial's `result.json` and `params.json`.

    Every run writes these files without it. If a run has a subclass of it, the subclass writes them.
    """

    logger_class = JsonLogger

    def __init__(self) -> None:
        super().__init__()
        self._trial_configs: dict[Any, Any] = {}
        self._trial_files: dict[Any, TextIO] = {}

    def log_trial_start(self, trial: Any) -> None:
        """Open the trial's files, also if the trial starts again."""
        super().log_trial_start(trial)
        self._trial_files[trial] = self._logger(trial).local_out
        self.update_config(trial, trial.config)

    def log_trial_end(self, trial: Any, failed: bool = False) -> None:
        """Close the trial's files."""
        self._trial_files.pop(trial, None)
        super().log_trial_end(trial, failed)

    def update_config(self, trial: Any, config: Mapping[str, Any]) -> None:
        """Write a trial's config."""
        self._trial_configs[trial] = config
        self._logger(trial).update_config(config)
