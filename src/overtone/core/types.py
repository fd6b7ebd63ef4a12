"""Data types of every layer: results, checkpoints and reasons."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from overtone.core.message_class import message

Config = dict[str, Any]
"""One trial's hyperparameters: nested dicts and lists of plain values."""

Metrics = Mapping[str, Any]
"""Reported metrics, with the fields that Overtone adds (`training_iteration`, ...)."""

_OWN_ENDS = frozenset({"returned", "stop", "max_t", "budget"})

UNNAMED = "_metric"
"""The name of a number that is reported without one."""

WORST = -math.inf
"""The score of NaN and of a metric that was not reported."""


@message
class Result(Mapping[str, Any]):
    """One report, normalised: a higher score is better and NaN is the worst.

    Attributes:
        t: The scheduler's clock, `goal.time_attr` (by default training_iteration).
        score: The first objective, sign-corrected; `WORST` for NaN.
        scores: Every objective; empty if the report lacks the metric. Then no algorithm decides
            on it.
        violations: The constraint metrics; the result is feasible if all are <= 0.
        metrics: The reported metrics. A Result is also a mapping over these.
    """

    t: float
    score: float
    scores: tuple[float, ...] = ()
    violations: tuple[float, ...] = ()
    metrics: Metrics = field(default_factory=dict)

    @property
    def is_ruled(self) -> bool:
        """Whether schedulers see this report (it carries the metric)."""
        return bool(self.scores)

    def __getitem__(self, key: str) -> Any:
        return self.metrics[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self.metrics)

    def __len__(self) -> int:
        return len(self.metrics)


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A reference to saved state; the bytes are in the store.

    Attributes:
        trial_id: The trial that saved it.
        t: Its training_iteration when it was saved.
        uri: Its unique address in the store.
        size_bytes: Its size in the store; 0 if unknown.
        is_automatic: Whether it was saved automatically; fewer automatic checkpoints are kept.
    """

    trial_id: str
    t: int
    uri: str
    size_bytes: int = 0
    is_automatic: bool = False


@message
class Why:
    """The reason of a decision, as data for the console and `overtone why`.

    Attributes:
        rule: Name of the rule: "asha", "stop", "time_budget", "raised", ...
        t: Time of the decision, on the scheduler's clock.
        rung: The milestone that was judged, if any.
        cutoff: The score that a trial needs to continue.
        rank: The place of this trial, 1 the best, among `of`.
        of: Number of compared trials.
        against: Ids of a few trials that it was compared with.
        note: A sentence for people, if the numbers are not enough.
        bracket: The number of the trial's bracket, from 1, if the scheduler has several.
    """

    rule: str
    t: float | None = None
    rung: float | None = None
    cutoff: float | None = None
    rank: int | None = None
    of: int | None = None
    against: tuple[str, ...] = ()
    note: str = ""
    bracket: int | None = None

    @property
    def is_own_end(self) -> bool:
        """Whether a trial that ended for this reason was not cut short: no rank and no request ended it."""
        return self.rule in _OWN_ENDS and not self.is_request

    @property
    def is_request(self) -> bool:
        """Whether a person ended the trial, or the search; a stop criterion has a `t`."""
        return self.rule in ("stop_trial", "set_limits") or (self.rule == "stop" and self.t is None)


FINISHED = "finished"
"""The cause of a trial's end that was not cut short."""

REQUEST = "request"
"""The cause of an end that a person wanted."""


def cause_of_end(why: Why | None) -> str:
    """Return what ended a trial without an error: `FINISHED`, `REQUEST`, or the rule that stopped it."""
    if why is None or why.is_own_end:
        return FINISHED
    return REQUEST if why.is_request else why.rule
