"""Events in, commands out, and the record of what happened.

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
from overtone.core.resources import Placement, Resources
from overtone.core.trial import Trial
from overtone.core.types import Checkpoint, Config, Metrics, Result, Why

NEVER = math.inf
"""An `until_t` that no report reaches."""

Cause = Literal["returned", "raised", "killed", "limit", "lost", "halted"]


# --- events: what happened ------------------------------------------------------------


@message
class CapacityChanged:
    """The nodes that there are now, each with its amounts by resource name."""

    time: float
    nodes: Mapping[str, Mapping[str, float]]


@message
class Suggested:
    """The searcher's answer for trial `index`; None means that it has none now."""

    time: float
    index: int
    config: Config | None


@message
class Started:
    """A trial's process runs.

    Attributes:
        restored: The checkpoint that it goes on from: one of `Start.fallbacks` where the
            one of the Start was damaged; None where it begins anew.
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
        metrics: What was reported and the session's own fields; plain data.
        checkpoint: What was saved with this report.
        raw: `metrics` as the JSON text that the worker sent, so that nobody needs to
            encode it again; empty when there is none. NaN and inf are tagged in it.
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
    """A save that was asked for did not happen; the trial waits in report()."""

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
    """A trial's process is done with it.

    Attributes:
        cause: How: `returned` by itself, `raised`, `killed` by a signal or exit, past a
            `limit`, `lost` with its node, or `halted` as it was told.
        error: One line for people, where something went wrong.
        traceback: The user's own traceback, complete.
        is_hopeless: It would be the same again, however often it is tried.
    """

    time: float
    trial_id: str
    attempt: int
    cause: Cause
    error: str = ""
    traceback: str = ""
    is_hopeless: bool = False


@message
class Requested:
    """A person or a program asks: `stop` the experiment, `stop_trial` or `save_trial`."""

    time: float
    what: Literal["stop", "stop_trial", "save_trial"]
    trial_id: str = ""
    note: str = ""


@message
class Resumed:
    """A new driver goes on with the experiment; no process of the last one is left.

    Attributes:
        limits: What bounds it from now on.
        errored: What becomes of trials that had ended in an error: "" nothing, "resume" from
            their last checkpoint, "restart" from nothing.
    """

    time: float
    limits: Limits
    errored: Literal["", "resume", "restart"] = ""


@message
class Tick:
    """The time that a Wake asked for has come."""

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


# --- commands: what to do -------------------------------------------------------------


@message
class Suggest:
    """Ask the searcher for trial `index`."""

    index: int


@message
class Observe:
    """Tell the searcher of a trial's result, or of its end where `result` is None."""

    trial: Trial
    result: Result | None


@message
class Start:
    """Run a trial.

    Attributes:
        checkpoint: Go on from here; training_iteration continues from its `t`.
        until_t: Reports with t < until_t do not wait for a Proceed.
        tag: Its experiment_tag.
        name: What the user calls it, if anything.
        fallbacks: Go on from the first of these that is whole, where `checkpoint` is
            damaged; from nothing where none is.
        devices: (name, value) of the environment variables that show the trial its
            accelerators; None: `placement` names its GPUs by index.
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
        config: New values for `params`, where they changed.
    """

    trial_id: str
    attempt: int
    until_t: float
    save: bool = False
    config: Config | None = None


@message
class Halt:
    """End the trial at its (next) report, saving first where `save`.

    Attributes:
        park: It will be wanted again: where it cannot save, answer SaveFailed and wait.
        final: What it has now is not given up: what saves at its end saves, unless it parks.
        grace_s: What its process is given at most before it is made to end, where that is less
            than for any other.
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
    """`count` trials of this shape wait for capacity that is not there."""

    shape: Resources
    count: int


@message
class Wake:
    """Send a Tick at this time."""

    time: float


Command = Suggest | Observe | Start | Proceed | Halt | Discard | Want | Wake


# --- choices: what the algorithms and the controller made of an event -----------------


@message
class Added:
    """A trial was created; `name` is what the user calls it, if anything."""

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
    """A decision took effect: `what` is its name in lower case.

    A Continue is only on record where it changed the config.

    Attributes:
        redone: The report repeats a t that was ruled on before; nobody saw it.
        resources: The demand from now on, where it changes.
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
    """A trial's status changed.

    Attributes:
        attempt: Its incarnation from now on.
        placement: Where it is placed, when it starts.
        error: The last line of what went wrong, when something did.
        resources: Its demand from now on, where it is another.
    """

    trial_id: str
    status: str
    attempt: int
    why: Why | None = None
    placement: Placement | None = None
    checkpoint: Checkpoint | None = None
    error: str = ""
    resources: Resources | None = None


@message
class Noted:
    """A line that people should read once, such as which metric was taken.

    Attributes:
        is_warning: Whether it is said at any verbosity.
    """

    text: str
    is_warning: bool = False


Choice = Added | Ruled | Moved | Noted


@message
class Record:
    """One line of the journal: an event and the choices that it led to."""

    n: int
    event: Event
    choices: tuple[Choice, ...] = ()
