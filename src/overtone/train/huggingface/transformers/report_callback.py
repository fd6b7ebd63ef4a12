"""Reports of a Transformers Trainer's saves."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

import torch

from overtone.errors import MissingPackageError
from overtone.tune.session import get_context, report
from overtone.worker.checkpoints.checkpoint import Checkpoint

try:
    from transformers import TrainerCallback  # type: ignore[import-untyped,import-not-found,unused-ignore]
    from transformers.trainer_utils import (  # type: ignore[import-untyped,import-not-found,unused-ignore]
        get_last_checkpoint,
    )
except ImportError as error:
    raise MissingPackageError("transformers", "", "overtone.train.huggingface.transformers") from error


class RayTrainReportCallback(TrainerCallback):  # type: ignore[misc,unused-ignore]
    """Reports the newest logged metrics with a checkpoint whenever the Trainer saves, in every rank.

    The checkpoint has the folder `checkpoint`: go on from it by
    `trainer.train(resume_from_checkpoint=...)`. Evaluate as often as you save, so that the metrics are those
    of the checkpoint, such as with `eval_strategy="epoch", save_strategy="epoch"`.
    """

    CHECKPOINT_NAME = "checkpoint"

    def on_save(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Report; every rank takes part, and one of each node brings the files."""
        metrics: dict[str, Any] = {}
        for log in state.log_history:
            metrics.update(log)
        if torch.distributed.is_initialized():
            torch.distributed.barrier()  # each rank writes a file of its own into the folder
        saved = get_last_checkpoint(args.output_dir) if get_context().get_local_rank() == 0 else None
        if saved is None:
            report(metrics)
            return
        with tempfile.TemporaryDirectory() as folder:
            shutil.copytree(saved, Path(folder, self.CHECKPOINT_NAME))
            report(metrics, checkpoint=Checkpoint.from_directory(folder))
