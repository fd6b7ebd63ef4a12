"""Callbacks for XGBoost: `xgb.train(..., callbacks=[TuneReportCallback()])`."""

from __future__ import annotations

import os
from typing import Any

from overtone.errors import MissingPackageError
from overtone.tune.integration.reported import Metrics, chosen, report_saved
from overtone.tune.session import report
from overtone.worker.checkpoints.checkpoint import Checkpoint

try:
    from xgboost.callback import (  # type: ignore[import-untyped,import-not-found,unused-ignore]
        TrainingCallback,
    )
except ImportError as error:
    raise MissingPackageError("xgboost", "", "overtone.tune.integration.xgboost") from error

FILE = "model.ubj"
"""The model's file in a checkpoint."""


class TuneReportCheckpointCallback(TrainingCallback):  # type: ignore[misc,unused-ignore]
    """Callback that reports each round's evaluation, such as "eval-logloss", with checkpoints.

    In `xgboost.cv` it reports the mean and the standard deviation over the folds, "test-logloss-mean" and
    "test-logloss-std", without checkpoints.

    Args:
        metrics: Names in XGBoost, or {name to report: name in XGBoost}; None for all.
        filename: The model's file in the checkpoint.
        frequency: Rounds between two checkpoints; 0 for no checkpoints.
        results_postprocessing_fn: Called with a round's metrics by name; returns the metrics to report.
        checkpoint_at_end: Whether to report the last metrics once more with a checkpoint, if the last
            round had none.
    """

    CHECKPOINT_NAME = FILE

    def __init__(
        self,
        metrics: Metrics = None,
        filename: str = FILE,
        frequency: int = 5,
        results_postprocessing_fn: Any = None,
        checkpoint_at_end: bool = True,
    ) -> None:
        super().__init__()
        self._metrics, self._file, self._every = metrics, filename, frequency
        self._process, self._saves_last = results_postprocessing_fn, checkpoint_at_end
        self._unsaved: dict[str, Any] | None = None

    @classmethod
    def get_model(cls, checkpoint: Checkpoint, filename: str = FILE) -> Any:
        """Return the `xgboost.Booster` of a checkpoint that this callback saved.

        Args:
            checkpoint: The checkpoint of a result.
            filename: The model's file in the checkpoint.
        """
        from xgboost import Booster  # type: ignore[import-untyped,import-not-found,unused-ignore]

        with checkpoint.as_directory() as folder:
            return Booster(model_file=os.path.join(folder, filename))

    def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
        """Report a round; XGBoost calls this after each round. Returns False: training continues."""
        logs = {f"{data}-{name}": values[-1] for data, by in evals_log.items() for name, values in by.items()}
        has_model = hasattr(model, "save_model")  # not in xgboost.cv, which has a model for each fold
        if not has_model:
            logs = {
                f"{name}-{part}": value
                for name, values in logs.items()
                for part, value in zip(("mean", "std"), values, strict=True)
            }
        metrics = chosen(self._metrics, self._process(logs) if self._process else logs)
        if not has_model:
            report(metrics)
        elif self._every and (epoch + 1) % self._every == 0:
            self._unsaved = None
            self._report_saved(metrics, model)
        else:
            self._unsaved = metrics
            report(metrics)
        return False

    def after_training(self, model: Any) -> Any:
        """Save the model; XGBoost calls this after the last round. Returns the model."""
        if self._saves_last and self._unsaved is not None:
            self._report_saved(self._unsaved, model)
            self._unsaved = None
        return model

    def _report_saved(self, metrics: dict[str, Any], model: Any) -> None:
        report_saved(metrics, lambda folder: model.save_model(os.path.join(folder, self._file)))


class TuneReportCallback(TuneReportCheckpointCallback):
    """Callback that reports each round's evaluation.

    Args:
        metrics: As in `TuneReportCheckpointCallback`.
    """

    def __init__(self, metrics: Metrics = None, results_postprocessing_fn: Any = None) -> None:
        super().__init__(
            metrics,
            frequency=0,
            results_postprocessing_fn=results_postprocessing_fn,
            checkpoint_at_end=False,
        )
