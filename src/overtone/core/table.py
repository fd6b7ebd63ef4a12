"""The state of an experiment, folded from its records, for displays and readers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Literal

from overtone.core.limits import Limits
from overtone.core.messages import (
    Added,
    CapacityChanged,
    Choice,
    Ended,
    Event,
    Moved,
    Noted,
    Record,
    Reported,
    Resumed,
    Ruled,
    Saved,
    Started,
    Steered,
)
from overtone.core.resources import Resources
from overtone.core.trial import Status
from overtone.core.types import Checkpoint, Config, Metrics, Why

_IS_PLACED = {status.value: status.is_placed for status in Status}
_IS_FINAL = {status.value: status.is_final for status in Status}
_IP = re.compile(r"\d+(\.\d+){3}|[0-9a-fA-F]*:[0-9a-fA-F:.]+")
_PENDING = Status.PENDING.value
_NO_METRICS: Metrics = {}


@lru_cache(1024)
def address(node: str) -> str:
    """Return the address of a node; the loopback if the node's name is not an address."""
    return node if _IP.fullmatch(node) else "127.0.0.1"


class Row:
    """The state of one trial, from its records.

    Attributes:
        id: Such as "358bb_00006".
        index: Its place in the order of creation.
        config: Its hyperparameters now; a restart may change them.
        resources: Its demand.
        tag: Its experiment_tag.
        name: The user's name for the trial, if any.
        status: A value of `Status`.
        attempt: Which incarnation of its process this is.
        n_results: How many results were shown (redone ones not counted).
        metrics: Its last result; after its end, empty in a table that keeps live metrics alone.
        t: The training_iteration of its last result.
        checkpoint: Its newest checkpoint.
        pid, hostname, node: Location of its newest process; empty before its first start.
        error: One line, if the trial failed; else "".
        why: The reason of the last decision on it.
        priority: Trials with a higher priority are chosen first.
        source: The trial whose checkpoint it started from, if any.
        started: Time of its first start.
        ended: Time of its end, or None.
        is_held: Whether a request holds it: it does not start until another request releases it.
    """

    __slots__ = (
        "attempt", "checkpoint", "config", "ended", "error", "hostname", "id", "index", "is_held",
        "metrics", "n_results", "name", "node", "pid", "priority", "resources", "source", "started",
        "status", "t", "tag", "why",
    )  # fmt: skip

    def __init__(self, added: Added) -> None:
        self.id: str = added.trial_id
        self.index: int = added.index
        self.config: Config = added.config
        self.resources: Resources = added.resources
        self.tag: str = added.tag
        self.name: str = added.name
        self.priority: float = added.priority
        self.source: str | None = added.source
        self.why: Why | None = added.why
        self.status: str = _PENDING
        self.attempt: int = 0
        self.n_results: int = 0
        self.metrics: Metrics = _NO_METRICS
        self.t: int = 0
        self.checkpoint: Checkpoint | None = None
        self.pid: int = 0
        self.hostname: str = ""
        self.node: str = ""
        self.error: str = ""
        self.started: float | None = None
        self.ended: float | None = None
        self.is_held: bool = False

    @property
    def is_final(self) -> bool:
        """Whether the trial has ended for good."""
        return _IS_FINAL[self.status]

    @property
    def node_ip(self) -> str:
        """The address of its node; the loopback where the node's name is not an address."""
        return address(self.node)

    def __repr__(self) -> str:
        return f"<Row {self.id} {self.status}, {self.n_results} results>"


class TrialTable:
    """Folds records into trials, counts and resources, in constant time per record.

    Args:
        keep_metrics: "all", or "live": a trial that ended keeps no metrics.

    Attributes:
        rows: Every trial by id, in the order of creation.
        counts: The number of trials by status; no zeros.
        nodes: Amounts of each node, by resource name.
        notes: The lines that people should read once.
        n: The number of the last record.
        time: Its time, in seconds that the experiment has run.
        limits: The limits by the newest Resumed or request; None before the first.
        held: The trials that requests hold, by id.
        shown: The row that `apply` returned for it.
    """

    def __init__(self, keep_metrics: Literal["live", "all"] = "all") -> None:
        self.rows: dict[str, Row] = {}
        self.counts: dict[str, int] = {}
        self.nodes: Mapping[str, Mapping[str, float]] = {}
        self._n_holding: dict[Resources, int] = {}  # trials with a process, by demand
        self.notes: list[str] = []
        self.n = 0
        self.time = 0.0
        self.limits: Limits | None = None
        self.held: dict[str, Row] = {}
        self._slims = keep_metrics == "live"
        self.shown: Row | None = None

    def apply(self, record: Record) -> Row | None:
        """Apply a record.

        Returns:
            The trial whose result this record shows. None if it is not a report, or repeats an
            earlier result.
        """
        event = record.event
        if not record.choices and type(event) is Reported:
            return self.show(record.n, event.time, event.trial_id, event.t, event.metrics, event.checkpoint)
        self.n = record.n
        self.time = event.time
        self.shown = None
        self._apply_event(event)
        if type(event) is Reported and not is_redone(record):
            self.show(record.n, event.time, event.trial_id, event.t, event.metrics)
        for choice in record.choices:
            self._apply_choice(choice, event)
        return self.shown

    def show(
        self,
        n: int,
        time: float,
        trial_id: str,
        t: int,
        metrics: Metrics,
        checkpoint: Checkpoint | None = None,
    ) -> Row:
        """Apply a report without choices, as `apply` does with most records."""
        self.n = n
        self.time = time
        self.shown = row = self.rows[trial_id]
        row.n_results += 1
        row.metrics = metrics
        row.t = t
        if checkpoint is not None:
            row.checkpoint = checkpoint
        return row

    def count(self, trial_id: str, n_results: int) -> Row:
        """Count `n_results` reports without choices whose contents are not needed."""
        row = self.rows[trial_id]
        row.n_results += n_results
        return row

    @property
    def capacity(self) -> dict[str, float]:
        """All resources, summed over nodes."""
        sums: dict[str, float] = {}
        for amounts in self.nodes.values():
            for name, amount in amounts.items():
                sums[name] = sums.get(name, 0.0) + amount
        return sums

    @property
    def used(self) -> dict[str, float]:
        """The resources that trials with a process hold, summed over nodes."""
        sums: dict[str, float] = {}
        for resources, count in self._n_holding.items():
            for name, amount in resources.total().items():
                sums[name] = sums.get(name, 0.0) + count * amount
        return {name: round(amount, 9) for name, amount in sums.items() if amount}

    def _apply_event(self, event: Event) -> None:
        if isinstance(event, Ended):
            if event.error:
                self.rows[event.trial_id].error = event.error
        elif isinstance(event, Started):
            row = self.rows[event.trial_id]
            row.pid, row.hostname, row.node = event.pid, event.hostname, event.node
            if row.started is None:
                row.started = event.time
        elif isinstance(event, (Reported, Saved)):
            if event.checkpoint is not None:
                self.rows[event.trial_id].checkpoint = event.checkpoint
        elif isinstance(event, CapacityChanged):
            self.nodes = event.nodes
        elif isinstance(event, Resumed):
            self.limits = event.limits
        # Other events change nothing: their consequences are in the choices.

    def _apply_choice(self, choice: Choice, event: Event) -> None:
        if isinstance(choice, Moved):
            self._move(self.rows[choice.trial_id], choice, event)
        elif isinstance(choice, Added):
            self.rows[choice.trial_id] = Row(choice)
            self._count(_PENDING, 1)
        elif isinstance(choice, Ruled):
            row = self.rows[choice.trial_id]
            if choice.why is not None:
                row.why = choice.why
            if choice.what == "continue" and choice.config is not None:
                row.config = choice.config
        elif isinstance(choice, Noted):
            self.notes.append(choice.text)
        elif isinstance(choice, Steered):
            self._steer(choice)

    def _move(self, row: Row, moved: Moved, event: Event) -> None:
        before, after = row.status, moved.status
        self._count(before, -1)
        self._count(after, 1)
        row.status = after
        row.attempt = moved.attempt
        if moved.why is not None:
            row.why = moved.why
        if moved.error or after == "TERMINATED":  # A retry that succeeded has no error.
            row.error = moved.error
        if moved.checkpoint is not None:
            row.checkpoint = moved.checkpoint
        if _IS_PLACED[before] is not _IS_PLACED[after]:
            self._hold(row.resources, 1 if _IS_PLACED[after] else -1)
        if moved.config is not None:
            row.config = moved.config
        if moved.resources is not None:
            row.resources = moved.resources
        if _IS_FINAL[after]:
            row.ended = event.time
            if row.is_held:
                self._hold_back(row, False)
            if self._slims:
                row.metrics = _NO_METRICS
        else:
            row.ended = None

    def _steer(self, steered: Steered) -> None:
        if steered.limits is not None:
            self.limits = steered.limits
            return
        row = self.rows[steered.trial_id]
        if steered.priority is not None:
            row.priority = steered.priority
        if steered.is_held is not None:
            self._hold_back(row, steered.is_held)

    def _hold_back(self, row: Row, is_held: bool) -> None:
        row.is_held = is_held
        if is_held:
            self.held[row.id] = row
        else:
            self.held.pop(row.id, None)

    def _count(self, status: str, change: int) -> None:
        count = self.counts.get(status, 0) + change
        if count:
            self.counts[status] = count
        else:
            self.counts.pop(status, None)

    def _hold(self, resources: Resources, sign: int) -> None:
        count = self._n_holding.get(resources, 0) + sign
        if count:
            self._n_holding[resources] = count
        else:
            del self._n_holding[resources]


def is_redone(record: Record) -> bool:
    """Return whether a record is of a report that repeats an earlier result after a restore."""
    return any(type(choice) is Ruled and choice.what == "redone" for choice in record.choices)


def constant_facts(row: Row) -> dict[str, Any]:
    """Return the fields that are equal in every result of a trial's attempt, and so not reported again."""
    return {
        "trial_id": row.id,
        "experiment_tag": row.tag,
        "pid": row.pid,
        "hostname": row.hostname,
        "node_ip": row.node_ip,
    }


def full_result(row: Row, metrics: Metrics) -> dict[str, Any]:
    """Return a result as users know it: reported metrics, constant facts and config."""
    return {"timesteps_total": None, **metrics, **constant_facts(row), "config": row.config}
