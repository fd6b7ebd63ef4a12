"""TensorBoard files of a trial, written by a logger that may be subclassed."""

from __future__ import annotations

from collections.abc import Mapping
from math import isnan
from typing import Any

from overtone.errors import MissingPackageError
from overtone.observers.files.own_files import EVENTS
from overtone.space import flatten
from overtone.standard_streams import say
from overtone.tune.logger.logger import FileLoggerCallback, Logger
from overtone.tune.result import PID, TIME_TOTAL_S, TIMESTAMP, TIMESTEPS_TOTAL, TRAINING_ITERATION

__all__ = ["TBXLogger", "TBXLoggerCallback"]

_NOT_SHOWN = frozenset({"config", PID, TIMESTAMP, TIME_TOTAL_S, TRAINING_ITERATION})
_BY_DIMENSIONS = {3: "add_image", 4: "add_images", 5: "add_video"}


class _NumPyTypes:
    """The types of NumPy's scalars that are hyperparameters; NumPy is imported when they are read."""

    def __get__(self, owner: Any, kind: type) -> tuple[type, ...]:
        import numpy as np

        return (np.bool_, np.float32, np.float64, np.int32, np.int64)


class TBXLogger(Logger):
    """Logger that writes TensorBoard files with tensorboardX, with tags such as "tune/mean_accuracy".

    Numbers are scalars, lists and arrays of numbers are histograms. Arrays of 3, 4 or 5 dimensions are
    an image (channels, height, width), images (number, ...) or videos (number, time, ...). At the end
    of the trial its hyperparameters are written.

    Raises:
        MissingPackageError: tensorboardX is not installed.
    """

    written_files = (EVENTS,)
    VALID_HPARAMS = (str, bool, int, float, list, type(None))
    VALID_NP_HPARAMS = _NumPyTypes()

    def _init(self) -> None:
        try:
            from tensorboardX import SummaryWriter
        except ImportError as error:
            raise MissingPackageError("tensorboardX", "tensorboard", "TBXLogger") from error
        self._file_writer = SummaryWriter(self.logdir, flush_secs=30)
        self.last_result: dict[str, Any] = {}

    def on_result(self, result: dict[str, Any]) -> None:
        """Write a result."""
        step = result.get(TIMESTEPS_TOTAL) or result[TRAINING_ITERATION]
        shown = flatten({name: value for name, value in result.items() if name not in _NOT_SHOWN})
        self.last_result = {}
        for name, value in shown.items():
            number = _number(value)
            if number is not None:
                self.last_result[f"tune/{name}"] = number
                self._file_writer.add_scalar(f"tune/{name}", number, global_step=step)
            elif _length(value):
                self._add_array(f"tune/{name}", value, step)
        self._file_writer.flush()

    def flush(self) -> None:
        """Write buffered results."""
        self._file_writer.flush()

    def close(self) -> None:
        """Write the hyperparameters, and close the file."""
        parameters = getattr(self.trial, "evaluated_params", None)
        if parameters and self.last_result:
            self._add_parameters(parameters)
        self._file_writer.close()

    def _add_array(self, tag: str, value: Any, step: int) -> None:
        add = _BY_DIMENSIONS.get(getattr(value, "ndim", 1))
        try:
            if add is not None:
                more = {"fps": 20} if add == "add_video" else {}
                getattr(self._file_writer, add)(tag, value, global_step=step, **more)
            else:
                self._file_writer.add_histogram(tag, value, global_step=step)
        except (ValueError, TypeError):  # It is a list of something else than numbers.
            pass

    def _add_parameters(self, parameters: Mapping[str, Any]) -> None:
        from tensorboardX.summary import hparams

        values = {name: _plain(value) for name, value in flatten(parameters).items()}
        valid = {name: value for name, value in values.items() if isinstance(value, self.VALID_HPARAMS)}
        try:
            for summary in hparams(hparam_dict=valid, metric_dict=self.last_result):
                self._file_writer.file_writer.add_summary(summary)
        except Exception as error:  # The library refuses some values.
            say(f"TensorBoard's hyperparameters of {self.trial} are not written: {error}")


class TBXLoggerCallback(FileLoggerCallback):
    """Callback that writes each trial's TensorBoard files.

    Every run writes them without it if tensorboardX is installed. If a run has a subclass of it, the
    subclass writes them; `_trial_writer[trial]` is tensorboardX's `SummaryWriter`.
    """

    logger_class = TBXLogger
    VALID_HPARAMS = TBXLogger.VALID_HPARAMS
    VALID_NP_HPARAMS = _NumPyTypes()

    def __init__(self) -> None:
        super().__init__()
        self._trial_writer: dict[Any, Any] = {}

    def log_trial_start(self, trial: Any) -> None:
        """Open the trial's file, also if the trial starts again."""
        super().log_trial_start(trial)
        self._trial_writer[trial] = self._logger(trial)._file_writer

    def log_trial_end(self, trial: Any, failed: bool = False) -> None:
        """Write the trial's hyperparameters, and close its file."""
        self._trial_writer.pop(trial, None)
        super().log_trial_end(trial, failed)


def _plain(value: Any) -> Any:
    """Return a scalar of NumPy as Python's; other values as they are."""
    return value.item() if getattr(value, "ndim", None) == 0 and hasattr(value, "item") else value


def _number(value: Any) -> float | None:
    value = _plain(value)
    return value if isinstance(value, (int, float)) and not isnan(value) else None


def _length(value: Any) -> int:
    """Return the number of entries of a list or an array; 0 for other values."""
    if isinstance(value, list):
        return len(value)
    return int(getattr(value, "size", 0)) if getattr(value, "ndim", 0) else 0
