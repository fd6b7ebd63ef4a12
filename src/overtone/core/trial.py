"""A trial and its statuses; only the controller modifies a trial."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import ClassVar

from overtone.core.config_changes import complete_freely
from overtone.core.resources import Resources
from overtone.core.types import FINISHED, Checkpoint, Config, Result, Why, cause_of_end


class ShownStatuses:
    """Gives a view of a trial the words for the statuses that users see, as constants."""

    __slots__ = ()

    PENDING: ClassVar[str] = "PENDING"
    RUNNING: ClassVar[str] = "RUNNING"
    PAUSED: ClassVar[str] = "PAUSED"
    TERMINATED: ClassVar[str] = "TERMINATED"
    ERROR: ClassVar[str] = "ERROR"


class Status(str, Enum):
    """The status of a trial.

    Attributes:
        word: Its value, faster than `value`.
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

    __hash__ = str.__hash__  # Enum's hash is slower: it is in Python.

    def __init__(self, name: str) -> None:
        self.word = name
        self.shown = {"STARTING": "RUNNING", "HALTING": "RUNNING", "PARKED": "PAUSED"}.get(name, name)
        self.is_final = name in ("TERMINATED", "ERROR")
        self.is_placed = name in ("STARTING", "RUNNING", "HALTING")


PENDING, STARTING, RUNNING, HALTING, PAUSED, PARKED, TERMINATED, ERROR = Status

STATES = (FINISHED, "stopped", "failed", "running", "paused", "pending")
"""The words of `state_word`, in the order in which they are shown."""


def state_word(status: str, cause: str) -> str:
    """Return in a word of `STATES` where a trial stands: "stopped" if it was cut short.

    Args:
        status: A value of `Status`.
        cause: What ended it, by `cause_of_end`; of no account for the others.
    """
    if status == TERMINATED.word:
        return FINISHED if cause == FINISHED else "stopped"
    return "failed" if status == ERROR.word else Status(status).shown.lower()


"""The statuses, for code that runs for each result: Python 3.11 takes long to find `Status.RUNNING`."""

OF_DEMANDS = ("elastic", "gpu_memory")
"""Rules by which a waiting trial gets another demand."""

TRANSITIONS: dict[Status, frozenset[Status]] = {
    # Waits for resources: it is started, or ended before it ran.
    Status.PENDING: frozenset({Status.STARTING, Status.TERMINATED, Status.ERROR}),
    # Its process is being created; it may fail, or be halted, before its first message.
    Status.STARTING: frozenset(
        {Status.RUNNING, Status.HALTING, Status.PENDING, Status.TERMINATED, Status.ERROR}
    ),
    Status.RUNNING: frozenset({Status.HALTING, Status.PENDING, Status.TERMINATED, Status.ERROR}),
    # Halting: its next status depends on the intent, and on the trial's last messages.
    Status.HALTING: frozenset(
        {
            Status.PAUSED,
            Status.PARKED,
            Status.RUNNING,  # It could not save, and a request alone wanted its pause.
            Status.PENDING,
            Status.TERMINATED,
            Status.ERROR,
        }
    ),
    # Without a process; it can be resumed from its checkpoint.
    Status.PAUSED: frozenset({Status.STARTING, Status.PENDING, Status.TERMINATED, Status.ERROR}),
    # Paused without a checkpoint: its process waits inside report().
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
"""The allowed transitions of statuses: `Roster.move` refuses any other."""


@dataclass(slots=True, eq=False)
class Trial:
    """One training run with one config.

    Attributes:
        id: Such as "358bb_00006".
        index: Its place in the order of creation, from 0.
        config: Its hyperparameters.
        resources: Its demand.
        status: Its status.
        tag: Its experiment_tag, such as "6_lr=0.01".
        n_results: Number of its results, without redone ones.
        last: Its last result that was ruled on or shown to stoppers.
        best: Its best result by score.
        checkpoint: Its newest checkpoint, from which it would resume.
        attempt: Which incarnation of its process this is, from 0.
        failures: Number of its failures.
        priority: Trials with a higher priority are chosen first.
        why: The reason of its last decision.
        name: Its name, if the user names trials.
        error: One line about its error, if any.
        ruled_t: The training_iteration up to which its reports were recorded. After a restore,
            reports up to it are redone work that no algorithm sees.
        suggestion: The index of its suggestion; None for a trial that a scheduler added.
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
    def is_untouched(self) -> bool:
        """Whether it waits for its first start."""
        has_waited = self.why is None or self.why.rule in OF_DEMANDS
        return self.status is PENDING and has_waited and not (self.attempt or self.failures)

    @property
    def is_cut_short(self) -> bool:
        """Whether it was stopped before its own end, and did not fail."""
        return self.status is TERMINATED and cause_of_end(self.why) != FINISHED

    @property
    def trial_id(self) -> str:
        """The id, under the name that users of other tools know."""
        return self.id


def equal(_: Config) -> float:
    """Return 0, the default priority of all configs."""
    return 0.0


@dataclass(frozen=True, slots=True)
class Template:
    """Makes trials from configs.

    Attributes:
        resources: Returns a config's demand.
        tag: Returns the experiment_tag of (index, config).
        priority: Returns a config's priority; a higher priority starts first.
        name: Returns a trial's name; None for its trainable's name and its id.
        checkpoint: The checkpoint that a trial begins with; None for the beginning.
        complete: Returns the whole config of a trial that a person adds, from (values, index, config of
            the trial to clone or None); raises
            an OvertoneError for values that the space does not have.
    """

    resources: Callable[[Config], Resources] = lambda _: Resources.of({"cpu": 1})
    tag: Callable[[int, Config], str] = lambda index, _: str(index)
    priority: Callable[[Config], float] = equal
    name: Callable[[Trial], str] | None = None
    checkpoint: Checkpoint | None = None
    complete: Callable[[Config, int, Config | None], Config] = complete_freely
