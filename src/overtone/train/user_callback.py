"""Callbacks of a training in several ranks, called in its head."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from overtone.worker.checkpoints.checkpoint import Checkpoint


@dataclass(frozen=True)
class TrainRunContext:
    """The training that a callback belongs to.

    Attributes:
        run_config: The trainer's run settings; None if none were given.
        train_loop_config: The config of the loop.
        scaling_config: The number of ranks and their resources.
        backend_config: The settings of the framework.
    """

    run_config: Any
    train_loop_config: Mapping[str, Any]
    scaling_config: Any
    backend_config: Any


class UserCallback:
    """Base of callbacks for `RunConfig(callbacks=[...])` of a trainer: define what you need."""

    def after_report(
        self,
        run_context: TrainRunContext,
        metrics: Sequence[Mapping[str, Any]],
        checkpoint: Checkpoint | None,
    ) -> None:
        """Handle a report of all ranks.

        Args:
            metrics: The metrics of each rank.
            checkpoint: The files of all ranks; None if no rank brought any.
        """

    def after_exception(
        self, run_context: TrainRunContext, worker_exceptions: Mapping[int, Exception]
    ) -> None:
        """Handle the failure of ranks: the exception of each, by rank."""
