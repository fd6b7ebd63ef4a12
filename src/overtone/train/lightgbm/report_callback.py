"""The callback of LightGBM's ranks."""

from __future__ import annotations

from typing import Any

from overtone.tune.integration.lightgbm import FILE, TuneReportCheckpointCallback
from overtone.tune.integration.reported import Metrics


class RayTrainReportCallback(TuneReportCheckpointCallback):
    """Callback that reports each round's evaluation, such as "valid-binary_error", with checkpoints.

    In the ranks of a `LightGBMTrainer` each rank reports, and rank 0 saves. LightGBM computes the
    metrics of each rank over its own validation data, and those of rank 0 count.
    `RayTrainReportCallback.get_model(result.checkpoint)` returns the model.

    Args:
        metrics: Names in LightGBM, or {name to report: name in LightGBM}; None for all.
        filename: The model's file in the checkpoint.
        frequency: Rounds between two checkpoints; 0 for none before the end.
        checkpoint_at_end: Whether the last round has a checkpoint, whatever `frequency` is.
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
