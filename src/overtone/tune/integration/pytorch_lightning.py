"""Callbacks for Lightning: `Trainer(callbacks=[TuneReportCallback({"loss": "val_loss"})])`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from overtone.errors import MissingPackageError, OvertoneError
from overtone.tune.integration.reported import Metrics, chosen, report_saved
from overtone.tune.session import report

try:
    from lightning.pytorch.callbacks import (  # type: ignore[import-untyped,import-not-found,unused-ignore]
        Callback,
    )
except ImportError:
    try:
        from pytorch_lightning.callbacks import (  # type: ignore[import-untyped,import-not-found,unused-ignore,no-redef]
            Callback,
        )
    except ImportError as error:
        raise MissingPackageError("lightning", "", "overtone.tune.integration.pytorch_lightning") from error


class TuneCallback(Callback):  # type: ignore[misc,unused-ignore]
    """Base of callbacks that act at hooks of Lightning: define `_handle(trainer, pl_module)`.

    Args:
        on: Names of Lightning's hooks, such as "validation_end".

    Raises:
        OvertoneError: Lightning has no hook of this name.
    """

    def __init__(self, on: str | Sequence[str] = "validation_end") -> None:
        super().__init__()
        for hook in (on,) if isinstance(on, str) else on:
            name = hook if hook.startswith("on_") else f"on_{hook}"
            if not hasattr(Callback, name):
                raise OvertoneError(f"on={hook!r}: Lightning has no hook {name}")
            setattr(self, name, self._called)

    def _called(self, trainer: Any, pl_module: Any = None, *_: Any, **__: Any) -> None:
        if not getattr(trainer, "sanity_checking", False):
            self._handle(trainer, pl_module)

    def _handle(self, trainer: Any, pl_module: Any) -> None:
        raise NotImplementedError(f"{type(self).__name__} needs _handle(self, trainer, pl_module)")


class TuneReportCheckpointCallback(TuneCallback):
    """Callback that reports the module's logged metrics, with the trainer's state as a checkpoint.

    Args:
        metrics: Names in `trainer.callback_metrics`, or {name to report: name there}; None for all.
        filename: The file in the checkpoint.
        save_checkpoints: Whether reports have a checkpoint.
        on: When to report: names of Lightning's hooks, such as "validation_end".
    """

    def __init__(
        self,
        metrics: Metrics = None,
        filename: str = "checkpoint",
        save_checkpoints: bool = True,
        on: Any = "validation_end",
    ) -> None:
        super().__init__(on)
        self._metrics, self._file, self._saves = metrics, filename, save_checkpoints

    def _handle(self, trainer: Any, pl_module: Any) -> None:
        metrics = chosen(self._metrics, trainer.callback_metrics)
        if self._saves:
            report_saved(metrics, lambda folder: trainer.save_checkpoint(os.path.join(folder, self._file)))
        else:
            report(metrics)


class TuneReportCallback(TuneReportCheckpointCallback):
    """Callback that reports the module's logged metrics.

    Args:
        metrics: As in `TuneReportCheckpointCallback`.
        on: As in `TuneReportCheckpointCallback`.
    """

    def __init__(self, metrics: Metrics = None, on: Any = "validation_end") -> None:
        super().__init__(metrics, save_checkpoints=False, on=on)
