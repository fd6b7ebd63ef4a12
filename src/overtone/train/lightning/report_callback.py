"""Reports of a Lightning Trainer's epochs."""

from __future__ import annotations

import os
import tempfile
from typing import Any

from overtone.train.lightning.library import pl
from overtone.tune.session import report
from overtone.worker.checkpoints.checkpoint import Checkpoint


class RayTrainReportCallback(pl.Callback):  # type: ignore[misc,name-defined,unused-ignore]
    """Reports the logged metrics with a checkpoint at the end of each training epoch, in every rank.

    Metrics are those of `trainer.callback_metrics`, and "epoch" and "step". The checkpoint has the file
    `checkpoint.ckpt`: go on from it by `trainer.fit(model, ckpt_path=...)`.
    """

    CHECKPOINT_NAME = "checkpoint.ckpt"

    def on_train_epoch_end(self, trainer: Any, pl_module: Any) -> None:
        """Report; every rank takes part."""
        metrics = {name: float(value) for name, value in trainer.callback_metrics.items()}
        metrics |= {"epoch": trainer.current_epoch, "step": trainer.global_step}
        with tempfile.TemporaryDirectory() as folder:
            trainer.save_checkpoint(os.path.join(folder, self.CHECKPOINT_NAME), weights_only=False)
            report(metrics, checkpoint=Checkpoint.from_directory(folder))
