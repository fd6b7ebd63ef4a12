"""A trial by the names that users' functions expect: `trial.trainable_name`, `str(trial)`."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, ClassVar


class ExportFormat:
    """What `export_formats` takes: accepted, since a checkpoint holds what a trial saved."""

    CHECKPOINT = "checkpoint"
    MODEL = "model"
    ONNX = "onnx"
    H5 = "h5"


class Trial:
    """A read-only view of a core trial; every attribute of that one is there, too.

    Attributes:
        trainable_name: The name of what is trained.
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
        """Such as "358bb_00006"."""
        return str(self._trial.id)

    @property
    def experiment_tag(self) -> str:
        """Such as "6_lr=0.01"."""
        return str(self._trial.tag)

    @property
    def evaluated_params(self) -> dict[str, Any]:
        """The trial's config."""
        return dict(self._trial.config)

    @property
    def last_result(self) -> dict[str, Any]:
        """What it reported last; empty before its first report."""
        return dict(self._trial.last.metrics) if self._trial.last else {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._trial, name)

    def __str__(self) -> str:
        return f"{self.trainable_name}_{self.trial_id}"


def with_shown_trial(
    function: Callable[[Any], str] | None, trainable_name: str
) -> Callable[[Any], str] | None:
    """`function` of a `Trial` as a function of a core trial."""
    if function is None:
        return None

    @functools.wraps(function)  # so that it is recorded under its own name
    def shown(trial: Any) -> str:
        return str(function(trial if isinstance(trial, Trial) else Trial(trial, trainable_name)))

    return shown
