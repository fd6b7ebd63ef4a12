"""A trial and the states that it goes through; only the controller writes one."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from overtone.core.resources import Resources
from overtone.core.types import Checkpoint, Config, Result, Why


class Status(str, Enum):
    """Where a trial is.

    Attributes:
        word: Its value, without the detour that `value` takes.
        shown: The word that users see.
        is_final: Whether the trial has ended for good.
        is_placed: Whether it holds resources.
    """

    PENDING = "PENDING"
    STARTING = "STARTING"
    RUNNING = "RUNNING"
    HALTING = "HALTING"
    PAUSED = "PAUSED"
    PARKED = "PARKED"
    TERMINATED = "TERMINATED"
    ERROR = "ERROR"

    word: str
    shown: str
    is_final: bool
    is_placed: bool

    __hash__ = str.__hash__  # Enum's own is in Python

    def __init__(self, name: str) -> None:
        self.word = name
        self.shown = {"STARTING": "RUNNING", "HALTING": "RUNNING", "PARKED": "PAUSED"}.get(name, name)
        self.is_final = name in ("TERMINATED", "ERROR")
        self.is_placed = name in ("STARTING", "RUNNING", "HALTING")


TRANSITIONS: dict[Status, frozenset[Status]] = {
    # waiting for resources: started, or given up before it ran
    Status.PENDING: frozenset({Status.STARTING, Status.TERMINATED, Status.ERROR}),
    # its process is being made; it may die, or be told to halt, before its first word
    Status.STARTING: frozenset(
        {Status.RUNNING, Status.HALTING, Status.PENDING, Status.TERMINATED, Status.ERROR}
    ),
    Status.RUNNING: frozenset({Status.HALTING, Status.PENDING, Status.TERMINATED, Status.ERROR}),
    # told to halt: how it ends depends on why it was told, and on what it does first
    Status.HALTING: frozenset(
        {Status.PAUSED, Status.PARKED, Status.PENDING, Status.TERMINATED, Status.ERROR}
    ),
    # without a process, to be started again from its checkpoint
    Status.PAUSED: frozenset({Status.STARTING, Status.PENDING, Status.TERMINATED, Status.ERROR}),
    # paused without a checkpoint: its process waits inside report()
    Status.PARKED: frozenset(
        {
            Status.RUNNING,
            Status.HALTING,
            Status.PAUSED,  # its process was lost
            Status.PENDING,
            Status.TERMINATED,
            Status.ERROR,
        }
    ),
    Status.TERMINATED: frozenset({Status.PENDING}),
    Status.ERROR: frozenset({Status.PENDING}),
}
"""Which status may follow which: the controller's `_move` refuses any other."""


@dataclass(slots=True, eq=False)
class Trial:
    """One training run with one config.

    Attributes:
        id: Such as "358bb_00006".
        index: Its place in the order of creation, from 0.
        config: Its hyperparameters.
        resources: What it needs to run.
        status: Where it is.
        tag: Its experiment_tag, such as "6_lr=0.01".
        n_results: How many results it reported (redone ones not counted).
        last: Its last result that was ruled on or shown to stoppers.
        best: Its best result by score.
        checkpoint: The newest one, from which it would go on.
        attempt: Which incarnation of its process this is, from 0.
        failures: How often it failed.
        priority: Higher ones are chosen first.
        why: The reason of its last decision.
        name: What people call it, where the user names trials.
        error: One line on what went wrong, if something did.
        ruled_t: The training_iteration up to which its reports were taken; one that
            comes again after a restore is redone work and is shown to nobody.
        suggestion: The index that the searcher was asked for; None for a trial that a
            scheduler added.
    """

    id: str
    index: int
    config: Config
    resources: Resources
    status: Status = Status.PENDING
    tag: str = ""
    n_results: int = 0
    last: Result | None = None
    best: Result | None = None
    checkpoint: Checkpoint | None = None
    attempt: int = 0
    failures: int = 0
    priority: float = 0.0
    why: Why | None = None
    name: str = ""
    error: str = field(default="", repr=False)
    ruled_t: int = 0
    suggestion: int | None = field(default=None, repr=False)

    @property
    def trial_id(self) -> str:
        """The id, under the name that users of other tools know."""
        return self.id
