"""Callbacks for LightGBM: `lgb.train(..., callbacks=[TuneReportCallback()])`."""

from __future__ import annotations

import os
from typing import Any

from overtone.tune.integration.reported import Metrics, chosen, report_saved
from overtone.tune.session import report
from overtone.worker.checkpoints.checkpoint import Checkpoint

FILE = "model.txt"
"""The model's file in a checkpoint."""


class TuneReportCheckpointCallback:
    """Callback that reports each round's evaluation, such as "valid-binary_error", with checkpoints.

    In `lightgbm.cv` it reports the mean and the standard deviation over the folds, "valid-binary_error-mean"
    and "valid-binary_error-stdv", without checkpoints.

    Args:
        metrics: Names in LightGBM, or {name to report: name in LightGBM}; None for all.
        filename: The model's file in the checkpoint.
        frequency: Rounds between two checkpoints; 0 for no checkpoints.
        results_postprocessing_fn: Called with a round's metrics by name; returns the metrics to report.
        checkpoint_at_end: Whether the last round has a checkpoint, whatever `frequency` is.
    """

    CHECKPOINT_NAME = FILE

    order = 20
    before_iteration = False

    def __init__(
        self,
        metrics: Metrics = None,
        filename: str = FILE,
        frequency: int = 5,
        results_postprocessing_fn: Any = None,
        checkpoint_at_end: bool = True,
    ) -> None:
        self._metrics, self._file, self._every = metrics, filename, frequency
        self._process, self._saves_last = results_postprocessing_fn, checkpoint_at_end

    @classmethod
    def get_model(cls, checkpoint: Checkpoint, filename: str = FILE) -> Any:
        """Return the `lightgbm.Booster` of a checkpoint that this callback saved.

        Args:
            checkpoint: The checkpoint of a result.
            filename: The model's file in the checkpoint.
        """
        from lightgbm import Booster  # type: ignore[import-untyped,import-not-found,unused-ignore]

        with checkpoint.as_directory() as folder:
            return Booster(model_file=os.path.join(folder, filename))

    def __call__(self, env: Any) -> None:
        """Report a round; LightGBM calls this after each round."""
        logs: dict[str, Any] = {}
        is_cv = False
        for data, name, value, _, *deviation in env.evaluation_result_list or ():
            is_cv = bool(deviation)
            logs |= (
                {f"{data}-{name}-mean": value, f"{data}-{name}-stdv": deviation[0]}
                if is_cv
                else {f"{data}-{name}": value}
            )
        metrics = chosen(self._metrics, self._process(logs) if self._process else logs)
        is_last = self._saves_last and env.iteration == env.end_iteration - 1
        is_due = is_last or (self._every and (env.iteration + 1) % self._every == 0)
        if is_due and not is_cv:  # lightgbm.cv has a model for each fold
            report_saved(metrics, lambda folder: env.model.save_model(os.path.join(folder, self._file)))
        else:
            report(metrics)


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
