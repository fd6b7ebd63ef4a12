"""Callbacks for Keras: `model.fit(..., callbacks=[TuneReportCallback({"acc": "accuracy"})])`."""

from __future__ import annotations

import os
from typing import Any

from overtone.errors import MissingPackageError, OvertoneError
from overtone.tune.integration.reported import Metrics, chosen, report_saved
from overtone.tune.session import report
from overtone.worker.checkpoints.checkpoint import Checkpoint

try:
    from keras.callbacks import Callback  # type: ignore[import-untyped,import-not-found,unused-ignore]
except ImportError as error:
    raise MissingPackageError("keras", "", "overtone.tune.integration.keras") from error

HOOKS = (
    "epoch_begin", "epoch_end", "train_batch_begin", "train_batch_end", "test_batch_begin", "test_batch_end",
    "predict_batch_begin", "predict_batch_end", "train_begin", "train_end", "test_begin", "test_end",
    "predict_begin", "predict_end",
)  # fmt: skip


class ReportCheckpointCallback(Callback):  # type: ignore[misc,unused-ignore]
    """Callback that reports the logs of Keras, with the model as a checkpoint, "model.keras".

    Args:
        checkpoint_on: When to report with a checkpoint: one or several of `HOOKS`; empty for never.
        report_metrics_on: When to report, with or without a checkpoint: one or several of `HOOKS`.
        metrics: Names in the logs of Keras, or {name to report: name in Keras}; None for all.
        filename: The model's file in the checkpoint.
    """

    def __init__(
        self,
        checkpoint_on: Any = "epoch_end",
        report_metrics_on: Any = "epoch_end",
        metrics: Metrics = None,
        filename: str = "model.keras",
    ) -> None:
        super().__init__()
        self._saves_on, self._reports_on = _hooks(checkpoint_on), _hooks(report_metrics_on)
        self._metrics, self._file = metrics, filename
        for hook in {*self._saves_on, *self._reports_on}:
            setattr(self, f"on_{hook}", self._at(hook, getattr(self, f"on_{hook}")))

    @classmethod
    def get_model(cls, checkpoint: Checkpoint, filename: str | None = None) -> Any:
        """Return the Keras model of a checkpoint that this callback saved.

        Args:
            checkpoint: The checkpoint of a result.
            filename: The model's file in the checkpoint; None for the only file with a model.

        Raises:
            OvertoneError: The checkpoint has no file with a model, or several.
        """
        from keras.models import load_model  # type: ignore[import-untyped,import-not-found,unused-ignore]

        with checkpoint.as_directory() as folder:
            return load_model(os.path.join(folder, filename or _only_model(folder)))

    def _at(self, hook: str, inherited: Any) -> Any:
        def called(*args: Any, **kwargs: Any) -> None:
            inherited(*args, **kwargs)
            logs = kwargs.get("logs") or next((one for one in reversed(args) if isinstance(one, dict)), {})
            metrics = chosen(self._metrics, logs)
            if hook in self._saves_on:
                report_saved(metrics, lambda folder: self.model.save(os.path.join(folder, self._file)))
            else:
                report(metrics)

        return called


class TuneReportCallback(ReportCheckpointCallback):
    """Callback that reports the logs of Keras.

    Args:
        metrics: As in `ReportCheckpointCallback`.
        on: When to report: one or several of `HOOKS`.
    """

    def __init__(self, metrics: Metrics = None, on: Any = "epoch_end") -> None:
        super().__init__((), on, metrics)


class TuneReportCheckpointCallback(ReportCheckpointCallback):
    """Callback that reports the logs of Keras, with the model as a checkpoint.

    Args:
        metrics: As in `ReportCheckpointCallback`.
        filename: The model's file in the checkpoint.
        frequency: Accepted and ignored: each report has a checkpoint.
        on: When to report: one or several of `HOOKS`.
        checkpoint_on: When to report with a checkpoint; by default `on`.
        report_metrics_on: When to report, with or without a checkpoint; by default `on`.
    """

    def __init__(
        self,
        metrics: Metrics = None,
        filename: str = "model.keras",
        frequency: Any = 1,
        on: Any = "epoch_end",
        *,
        checkpoint_on: Any = None,
        report_metrics_on: Any = None,
    ) -> None:
        super().__init__(
            on if checkpoint_on is None else checkpoint_on,
            on if report_metrics_on is None else report_metrics_on,
            metrics,
            filename,
        )


class TuneReporterCallback(Callback):  # type: ignore[misc,unused-ignore]
    """Callback that reports the logs of Keras as `keras_info`, and the accuracy as `mean_accuracy`.

    Args:
        reporter: Called with these metrics by name, as trainables of the 0.x API get one; None for
            `tune.report`.
        freq: When to report: "epoch" or "batch".
        logs: Accepted and ignored.

    Raises:
        OvertoneError: `freq` is neither "epoch" nor "batch".
    """

    def __init__(self, reporter: Any = None, freq: str = "epoch", logs: Any = None) -> None:
        super().__init__()
        if freq not in ("epoch", "batch"):
            raise OvertoneError(f'freq={freq!r}: choose "epoch" or "batch"')
        self._report = reporter if callable(reporter) else lambda **metrics: report(metrics)
        setattr(self, "on_epoch_end" if freq == "epoch" else "on_train_batch_end", self._ended)

    def _ended(self, index: int, logs: Any = None) -> None:
        info = chosen(None, logs or {})
        accuracy = info.get("accuracy", info.get("acc"))
        self._report(keras_info=info, **({} if accuracy is None else {"mean_accuracy": accuracy}))


def _only_model(folder: str) -> str:
    models = sorted(name for name in os.listdir(folder) if name.endswith((".keras", ".h5")))
    if len(models) != 1:
        raise OvertoneError(f"{folder} has {len(models)} models ({', '.join(models)}): give filename=...")
    return models[0]


def _hooks(on: Any) -> tuple[str, ...]:
    wanted = (on,) if isinstance(on, str) else tuple(on or ())
    for hook in wanted:
        if hook not in HOOKS:
            raise OvertoneError(f"on={hook!r}: choose among {', '.join(HOOKS)}")
    return wanted
