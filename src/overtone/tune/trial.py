"""A trial with the names that users' functions expect: `trial.trainable_name`, `str(trial)`."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, ClassVar


class ExportFormat:
    """Values of `export_formats`: the formats that a class trainable's `_export_model` is asked for."""

    CHECKPOINT = "checkpoint"
    MODEL = "model"
    ONNX = "onnx"
    H5 = "h5"


class Trial:
    """A read-only view of a core trial, with all its attributes.

    Attributes:
        trainable_name: The name of the trainable.
    """

    PENDING: ClassVar[str] = "PENDING"
    RUNNING: ClassVar[str] = "RUNNING"
    PAUSED: ClassVar[str] = "PAUSED"
    TERMINATED: ClassVar[str] = "TERMINATED"
    ERROR: ClassVar[str] = "ERROR"

    def __init__(self, trial: Any, trainable_name: str) -> None:
        self._trial = trial
        self.trainable_name = trainable_name

    @property
    def trial_id(self) -> str:
        """The trial's id, such as "358bb_00006"."""
        return str(self._trial.id)

    @property
    def experiment_tag(self) -> str:
        """The trial's number and hyperparameters, such as "6_lr=0.01"."""
        return str(self._trial.tag)

    @property
    def evaluated_params(self) -> dict[str, Any]:
        """The trial's config."""
        return dict(self._trial.config)

    @property
    def last_result(self) -> dict[str, Any]:
        """The last reported metrics; empty before the first report."""
        return dict(self._trial.last.metrics) if self._trial.last else {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._trial, name)

    def __str__(self) -> str:
        return f"{self.trainable_name}_{self.trial_id}"


def with_shown_trial(
    function: Callable[[Any], str] | None, trainable_name: str
) -> Callable[[Any], str] | None:
    """Wrap `function` of a `Trial` as a function of a core trial."""
    if function is None:
        return None

    @functools.wraps(function)  # keep the name under which the function is recorded
    def shown(trial: Any) -> str:
        return str(function(trial if isinstance(trial, Trial) else Trial(trial, trainable_name)))

    return shown
