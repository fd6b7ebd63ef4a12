"""A callback for the Trainer of Transformers: `Trainer(..., callbacks=[TuneReportCallback()])`."""

from __future__ import annotations

import os
from typing import Any

from overtone.errors import MissingPackageError
from overtone.tune.integration.reported import Metrics, chosen
from overtone.tune.session import record_checkpoint, report, should_checkpoint

try:
    from transformers import TrainerCallback  # type: ignore[import-untyped,import-not-found,unused-ignore]
    from transformers.trainer_utils import (  # type: ignore[import-untyped,import-not-found,unused-ignore]
        PREFIX_CHECKPOINT_DIR,
    )
except ImportError as error:
    raise MissingPackageError("transformers", "", "overtone.tune.integration.transformers") from error


class TuneReportCallback(TrainerCallback):  # type: ignore[misc,unused-ignore]
    """Callback that reports each evaluation, and keeps each checkpoint that the Trainer saves.

    A trial goes on from its checkpoint by `trainer.train(resume_from_checkpoint=checkpoint.path)`. If the
    Trainer saves at all, it saves also when a scheduler pauses the trial, and often enough that a failure
    loses little. For trials of one process; in ranks use `RayTrainReportCallback`.

    Args:
        metrics: Names in the Trainer's metrics, such as "eval_loss", or {name to report: name there}; None
            for all.
    """

    def __init__(self, metrics: Metrics = None) -> None:
        self._metrics = metrics

    def on_evaluate(self, args: Any, state: Any, control: Any, metrics: Any = None, **_: Any) -> None:
        """Report an evaluation."""
        report(self.reported(metrics or {}))
        if args.save_strategy != "no" and should_checkpoint():
            control.should_save = True

    def on_save(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Keep the checkpoint that the Trainer just wrote."""
        record_checkpoint(os.path.join(args.output_dir, f"{PREFIX_CHECKPOINT_DIR}-{state.global_step}"))

    def reported(self, metrics: dict[str, Any]) -> dict[str, Any]:
        """Return the metrics to report of an evaluation."""
        return chosen(self._metrics, metrics)
