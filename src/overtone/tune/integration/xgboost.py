"""Callbacks for XGBoost: `xgb.train(..., callbacks=[TuneReportCallback()])`."""

from __future__ import annotations

import os
from typing import Any

from overtone.errors import MissingPackageError
from overtone.tune.integration.reported import Metrics, chosen, report_saved
from overtone.tune.session import report

try:
    from xgboost.callback import (  # type: ignore[import-untyped,import-not-found,unused-ignore]
        TrainingCallback,
    )
except ImportError as error:
    raise MissingPackageError("xgboost", "", "overtone.tune.integration.xgboost") from error


class TuneReportCheckpointCallback(TrainingCallback):  # type: ignore[misc,unused-ignore]
    """Callback that reports each round's evaluation, such as "eval-logloss", with checkpoints.

    Args:
        metrics: Names in XGBoost, or {name to report: name in XGBoost}; None for all.
        filename: The model's file in the checkpoint.
        frequency: Rounds between two checkpoints; 0 for no checkpoints.
        results_postprocessing_fn: Called with a round's metrics by name; returns the metrics to report.
    """

    def __init__(
        self,
        metrics: Metrics = None,
        filename: str = "model.ubj",
        frequency: int = 5,
        results_postprocessing_fn: Any = None,
        **_: Any,
    ) -> None:
        super().__init__()
        self._metrics, self._file, self._every = metrics, filename, frequency
        self._process = results_postprocessing_fn

    def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
        """Report a round; XGBoost calls this after each round. Returns False: training continues."""
        logs = {f"{data}-{name}": values[-1] for data, by in evals_log.items() for name, values in by.items()}
        metrics = chosen(self._metrics, self._process(logs) if self._process else logs)
        if self._every and (epoch + 1) % self._every == 0:
            report_saved(metrics, lambda folder: model.save_model(os.path.join(folder, self._file)))
        else:
            report(metrics)
        return False


class TuneReportCallback(TuneReportCheckpointCallback):
    """Callback that reports each round's evaluation.

    Args:
        metrics: As in `TuneReportCheckpointCallback`.
    """

    def __init__(self, metrics: Metrics = None, results_postprocessing_fn: Any = None) -> None:
        super().__init__(metrics, frequency=0, results_postprocessing_fn=results_postprocessing_fn)
