"""Messages of the controller: events in, commands out, and records of both.

Times are seconds that the experiment has run. Every message about a trial names its
`(trial_id, attempt)`; the controller ignores a stale pair.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import field
from typing import Literal

from overtone.core.limits import Limits
from overtone.core.message_class import message
from overtone.core.requests import Requested as Requested
from overtone.core.requests import Steered as Steered
from overtone.core.resources import Placement, Resources
from overtone.core.trial import Trial
from overtone.core.types import Checkpoint, Config, Metrics, Result, Why

NEVER = math.inf
"""An `until_t` that no report reaches."""

Cause = Literal["returned", "raised", "killed", "limit", "lost", "halted", "out_of_memory"]


# --- events ---------------------------------------------------------------------------


@message
class CapacityChanged:
    """The current nodes, each with its amounts by resource name."""

    time: float
    nodes: Mapping[str, Mapping[str, float]]


@message
class Suggested:
    """The searcher's answer for trial `index`; None if it has no config now."""

    time: float
    index: int
    config: Config | None


@message
class Started:
    """A trial's process runs.

    Attributes:
        restored: The restored checkpoint: one of `Start.fallbacks` if the checkpoint of the Start
            was damaged; None if the trial begins from the start.
    """

    time: float
    trial_id: str
    attempt: int
    node: str
    pid: int
    hostname: str = ""
    restored: Checkpoint | None = None


@message
class Reported:
    """A result. `t` is training_iteration.

    Attributes:
        metrics: The reported metrics and the fields that the session adds; plain data.
        checkpoint: The checkpoint saved with this report.
        raw: `metrics` as the JSON text that the worker sent, which spares a second encoding; ""
            if there is none. NaN and inf are tagged in it.
    """

    time: float
    trial_id: str
    attempt: int
    t: int
    metrics: Metrics
    checkpoint: Checkpoint | None = None
    raw: str = field(default="", compare=False, repr=False)


@message
class Saved:
    """A checkpoint is in the store."""

    time: float
    trial_id: str
    attempt: int
    checkpoint: Checkpoint


@message
class SaveFailed:
    """A requested save did not happen; the trial waits in report()."""

    time: float
    trial_id: str
    attempt: int
    error: str


@message
class Discarded:
    """The store has deleted a checkpoint."""

    time: float
    uri: str


@message
class Noticed:
    """The machine will take the trial's process away in `grace_s` seconds.

    Attributes:
        grace_s: Infinite if no deadline is known.
        moves: Whether the trial ends once it has saved, and continues on another node.
    """

    time: float
    trial_id: str
    attempt: int
    grace_s: float
    moves: bool = False


@message
class Ended:
    """A trial's process has ended.

    Attributes:
        cause: `returned` normally, `raised`, `killed` by a signal or exit, past a `limit`, `lost`
            with its node, `halted` by a Halt, or `out_of_memory` of a GPU, of which it had reserved a part.
        error: One line for people if the trial failed; else "".
        traceback: The user's own traceback, complete.
        is_hopeless: Whether every retry would fail in the same way.
        gpu_memory: The most bytes that it used on one GPU, if it asked for "auto" and that was measured.
    """

    time: float
    trial_id: str
    attempt: int
    cause: Cause
    error: str = ""
    traceback: str = ""
    is_hopeless: bool = False
    gpu_memory: float = 0.0


@message
class Resumed:
    """A new driver resumes the experiment; no process of the last driver is left.

    Attributes:
        limits: Bounds of the experiment from now on.
        errored: "" leaves failed trials, "resume" retries from the last checkpoint, "restart" anew.
    """

    time: float
    limits: Limits
    errored: Literal["", "resume", "restart"] = ""


@message
class Tick:
    """The time of a Wake has come."""

    time: float


@message
class Interrupted:
    """Ctrl-C, or SIGTERM to the driver."""

    time: float


Event = (
    CapacityChanged
    | Suggested
    | Started
    | Reported
    | Saved
    | SaveFailed
    | Discarded
    | Noticed
    | Ended
    | Requested
    | Tick
    | Interrupted
    | Resumed
)


# --- commands -------------------------------------------------------------------------


@message
class Suggest:
    """Ask the searcher for trial `index`."""

    index: int


@message
class Observe:
    """Tell the searcher of a trial's result, of a pause, or of the trial's end."""

    trial: Trial
    result: Result | None
    pause: Literal["", "begins", "ends"] = ""


@message
class Start:
    """Run a trial.

    Attributes:
        checkpoint: Checkpoint to restore; training_iteration continues from its `t`.
        until_t: Reports with t < until_t do not wait for a Proceed.
        tag: The trial's experiment_tag.
        name: The user's name for the trial, if any.
        fallbacks: Replacements if `checkpoint` is damaged: the first intact one is restored. The
            trial starts from the beginning if none is intact.
        devices: (name, value) of the environment variables that show the trial its
            accelerators; None if `placement` names its GPUs by index.
    """

    trial_id: str
    attempt: int
    index: int
    config: Config
    resources: Resources
    placement: Placement
    checkpoint: Checkpoint | None = None
    until_t: float = 0.0
    tag: str = ""
    name: str = ""
    fallbacks: tuple[Checkpoint, ...] = ()
    devices: tuple[tuple[str, str], ...] | None = None


@message
class Proceed:
    """Let report() return, and later ones too while their t < until_t.

    Attributes:
        save: Save a checkpoint first (or, for cooperative trials, soon).
        config: New values for `params`, if they changed.
    """

    trial_id: str
    attempt: int
    until_t: float
    save: bool = False
    config: Config | None = None


@message
class Halt:
    """End the trial at its (next) report, after a save if `save`.

    Attributes:
        park: Whether the trial will continue: if it cannot save, answer SaveFailed and wait.
        final: Whether its state is still needed: a trainable that saves at its end saves, unless it parks.
        grace_s: Most seconds before its process is ended by force, if fewer than for any other
            trial.
    """

    trial_id: str
    attempt: int
    save: bool = False
    park: bool = False
    final: bool = True
    grace_s: float | None = None


@message
class Discard:
    """Delete a checkpoint."""

    uri: str


@message
class Want:
    """`count` trials of this shape wait for capacity that does not exist now."""

    shape: Resources
    count: int


@message
class Wake:
    """Send a Tick at this time."""

    time: float


Command = Suggest | Observe | Start | Proceed | Halt | Discard | Want | Wake


# --- choices: decisions of the algorithms and the controller on an event --------------


@message
class Added:
    """A trial was created; `name` is the user's name for it, if any."""

    trial_id: str
    index: int
    config: Config
    resources: Resources
    tag: str
    priority: float = 0.0
    source: str | None = None
    why: Why | None = None
    name: str = ""


@message
class Ruled:
    """A decision was carried out: `what` is its name in lower case.

    A Continue is recorded only if it changed the config. A Restart takes effect with the Moved
    that has its config; it has none if the trial failed or was stopped before.

    Attributes:
        redone: The report repeats a t that was ruled on before; no algorithm saw it.
        resources: The new demand, if it changes.
    """

    trial_id: str
    t: float
    what: Literal["save", "pause", "stop", "restart", "redone", "continue"]
    why: Why | None = None
    config: Config | None = None
    source: str | None = None
    resources: Resources | None = None


@message
class Moved:
    """A trial's status changed, or a waiting trial got another config or demand.

    Attributes:
        attempt: The number of its process from now on.
        placement: Its placement, if it starts.
        error: The last line of its error, if any.
        resources: Its new demand, if it changes.
        config: Its new config: a Restart took effect.
    """

    trial_id: str
    status: str
    attempt: int
    why: Why | None = None
    placement: Placement | None = None
    checkpoint: Checkpoint | None = None
    error: str = ""
    resources: Resources | None = None
    config: Config | None = None


@message
class Noted:
    """A line that people should read once, such as the name of the inferred metric.

    Attributes:
        is_warning: Whether it is shown at any verbosity.
    """

    text: str
    is_warning: bool = False


Choice = Added | Ruled | Moved | Noted | Steered


@message
class Record:
    """One line of the journal: an event and the choices that it led to."""

    n: int
    event: Event
    choices: tuple[Choice, ...] = ()
