"""State of a simulated trial from its Start until its end."""

from __future__ import annotations

from typing import Any

from overtone.core import messages as m
from overtone.core.types import Config
from overtone.engines.simulated.live import LiveTrial
from overtone.engines.simulated.source import Curve
from overtone.worker.checkpoints.saving_rule import SavingRule


class Attempt:
    """One attempt of a trial.

    Attributes:
        trial_id: Id of the trial.
        number: Number of the attempt.
        nodes: Names of the nodes on which the trial is placed.
        config: Current hyperparameters.
        restored: Checkpoint from which the attempt resumes.
        curve: Curve of the config; None if `live` is run instead.
        live: Thread of an ordinary trainable; None for a curve.
        slowness: Factor for all durations of the attempt.
        began: Time of the Start.
        first_t: Number of the result that the attempt resumes from; 0 from the beginning.
        t: Number of the newest result.
        until_t: Results with a smaller number do not wait for an order.
        before_s: Training time of the trial up to the restored checkpoint.
        total_s: Training time of the trial, including the current iteration.
        saved_s: Training time of the trial at its newest checkpoint.
        iterating_since: Start time of the current iteration; None between iterations.
        step_s: Duration of the current iteration.
        is_up: Whether the process has started.
        waits: Whether the attempt waits for an order.
        wants_save: Whether a checkpoint was requested.
        is_saving: Whether the next result waits for its checkpoint.
        halt: Order to end that takes effect at the next report.
        is_gone: Whether the attempt has ended; its events that are still in the heap are ignored.
        metrics: Metrics of the next result.
        raw: The next result as JSON text.
        rule: Rule for automatic checkpoints; None for no automatic checkpoints.
    """

    __slots__ = (
        "before_s",
        "began",
        "config",
        "curve",
        "first_t",
        "halt",
        "is_gone",
        "is_saving",
        "is_up",
        "iterating_since",
        "live",
        "metrics",
        "nodes",
        "number",
        "raw",
        "restored",
        "rule",
        "saved_s",
        "slowness",
        "step_s",
        "t",
        "total_s",
        "trial_id",
        "until_t",
        "waits",
        "wants_save",
    )  # fmt: skip

    def __init__(self, start: m.Start, now: float, before_s: float) -> None:
        self.trial_id: str = start.trial_id
        self.number: int = start.attempt
        self.nodes: tuple[str, ...] = start.placement.nodes
        self.config: Config = dict(start.config)
        self.restored = start.checkpoint
        self.curve: Curve | None = None
        self.live: LiveTrial | None = None
        self.slowness = 1.0
        self.began = now
        self.first_t: int = start.checkpoint.t if start.checkpoint is not None else 0
        self.t = self.first_t
        self.until_t: float = start.until_t
        self.before_s = self.total_s = self.saved_s = before_s
        self.iterating_since: float | None = None
        self.step_s = 0.0
        self.is_up = self.waits = self.wants_save = self.is_saving = self.is_gone = False
        self.halt: m.Halt | None = None
        self.metrics: dict[str, Any] = {}
        self.raw = ""
        self.rule: SavingRule | None = None

    def trained_s(self, now: float) -> float:
        """Return the training time of the trial until now."""
        if self.iterating_since is None:
            return self.total_s
        if self.live is not None:  # the duration is unknown until the trial reports
            return self.total_s + max(0.0, now - self.iterating_since)
        return self.total_s + max(0.0, min(now - self.iterating_since, self.step_s)) - self.step_s

    def unsaved_s(self, now: float) -> float:
        """Return the training time that would be lost if the process ended now."""
        return max(0.0, self.trained_s(now) - self.saved_s)
