"""A simulated trial that has a process: what is known of it until it ends."""

from __future__ import annotations

from typing import Any

from overtone.core import messages as m
from overtone.core.types import Config
from overtone.engines.simulated.live import LiveTrial
from overtone.engines.simulated.source import Curve
from overtone.worker.checkpoints.saving_rule import SavingRule


class Attempt:
    """One incarnation of a trial.

    Attributes:
        trial_id, number, nodes: Which it is, and where it is placed.
        config: Its hyperparameters now.
        restored: The checkpoint that it goes on from.
        curve: Of its config; None where `live` is run instead.
        slowness: What its times are multiplied with.
        began: When it was told to start.
        t: Its newest result.
        until_t: Reports before it do not wait.
        before_s: How long its trial had trained before it was restored.
        total_s: How long its trial has trained, with the iteration that goes on.
        saved_s: The same, when its newest checkpoint was made.
        iterating_since: When the iteration that goes on began; None between iterations.
        step_s: What that takes.
        n_here: How many results it has reported.
        is_up: Whether its process has said that it runs.
        waits: Whether it waits for an order.
        wants_save: Whether a checkpoint was asked for.
        is_saving: Whether its result waits for a checkpoint that comes with it.
        halt: The order to end that it will hear of at its next report.
        is_gone: Whether it ended; what is still due for it does not happen.
        metrics, raw: Its next result.
        rule: When it saves by itself; None for never.
    """

    __slots__ = (
        "before_s",
        "began",
        "config",
        "curve",
        "halt",
        "is_gone",
        "is_saving",
        "is_up",
        "iterating_since",
        "live",
        "metrics",
        "n_here",
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
        self.t: int = start.checkpoint.t if start.checkpoint is not None else 0
        self.until_t: float = start.until_t
        self.before_s = self.total_s = self.saved_s = before_s
        self.iterating_since: float | None = None
        self.step_s = 0.0
        self.n_here = 0
        self.is_up = self.waits = self.wants_save = self.is_saving = self.is_gone = False
        self.halt: m.Halt | None = None
        self.metrics: dict[str, Any] = {}
        self.raw = ""
        self.rule: SavingRule | None = None

    def trained_s(self, now: float) -> float:
        """How long its trial has trained until now."""
        if self.iterating_since is None:
            return self.total_s
        if self.live is not None:  # nobody knows what it is about until it reports
            return self.total_s + max(0.0, now - self.iterating_since)
        return self.total_s + max(0.0, min(now - self.iterating_since, self.step_s)) - self.step_s

    def unsaved_s(self, now: float) -> float:
        """The training that is lost with its process now."""
        return max(0.0, self.trained_s(now) - self.saved_s)
