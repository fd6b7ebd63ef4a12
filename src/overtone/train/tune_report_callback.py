"""Reports of a training inside a trial, as results of the trial."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from overtone.errors import TrainableError
from overtone.train.user_callback import TrainRunContext, UserCallback
from overtone.worker.checkpoints.checkpoint import Checkpoint
from overtone.worker.session.current import current, is_inside

__all__ = ["CHECKPOINT_PATH_KEY", "TuneReportCallback"]

CHECKPOINT_PATH_KEY = "checkpoint_path"


class TuneReportCallback(UserCallback):
    """Reports the metrics of rank 0 as a result of the trial, with the checkpoint of all ranks.

    The trial is restored from this checkpoint: `train.get_checkpoint()` returns it in each rank.

    Raises:
        TrainableError: No trial runs here.
    """

    def __init__(self) -> None:
        if not is_inside():
            raise TrainableError(
                "TuneReportCallback() reports to a trial, and no trial runs here: make it in a function that "
                "Tuner(driver, ...).fit() or tune.run(driver, ...) calls"
            )

    def after_report(
        self,
        run_context: TrainRunContext,
        metrics: Sequence[Mapping[str, Any]],
        checkpoint: Checkpoint | None,
    ) -> None:
        """Report to the trial.

        Raises:
            TrialHalted: The trial was told to end; the report of each rank raises it, too.
        """
        values = dict(metrics[0])
        if checkpoint is not None:
            values[CHECKPOINT_PATH_KEY] = checkpoint.path
        current().report(values, checkpoint=checkpoint)
