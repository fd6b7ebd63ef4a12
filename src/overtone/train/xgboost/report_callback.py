"""The callback of XGBoost's ranks."""

from __future__ import annotations

from typing import Any

from overtone.tune.integration.reported import Metrics
from overtone.tune.integration.xgboost import FILE, TuneReportCheckpointCallback


class RayTrainReportCallback(TuneReportCheckpointCallback):
    """Callback that reports each round's evaluation, such as "train-logloss", with checkpoints.

    In the ranks of an `XGBoostTrainer` each rank reports, and rank 0 saves. XGBoost computes the metrics
    over the data of all ranks. `RayTrainReportCallback.get_model(result.checkpoint)` returns the model.

    Args:
        metrics: Names in XGBoost, or {name to report: name in XGBoost}; None for all.
        filename: The model's file in the checkpoint.
        frequency: Rounds between two checkpoints; 0 for none before the end.
        checkpoint_at_end: Whether to report the last metrics once more with a checkpoint, if the last round
            had none.
        results_postprocessing_fn: Called with a round's metrics by name; returns the metrics to report.
    """

    def __init__(
        self,
        metrics: Metrics = None,
        filename: str = FILE,
        frequency: int = 0,
        checkpoint_at_end: bool = True,
        results_postprocessing_fn: Any = None,
    ) -> None:
        super().__init__(metrics, filename, frequency, results_postprocessing_fn, checkpoint_at_end)
