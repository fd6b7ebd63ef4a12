"""The nouns that every layer shares: results, checkpoints and reasons."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from overtone.core.message_class import message

Config = dict[str, Any]
"""One trial's hyperparameters: nested dicts and lists of plain values."""

Metrics = Mapping[str, Any]
"""What a trial reported, with Overtone's own fields (`training_iteration`, ...)."""

WORST = -math.inf
"""The score of NaN and of a metric that was not reported."""


@message
class Result(Mapping[str, Any]):
    """One report, normalised: a higher score is better and NaN is the worst.

    Attributes:
        t: The scheduler's clock, `goal.time_attr` (by default training_iteration).
        score: The first objective, sign-corrected; `WORST` for NaN.
        scores: Every objective; empty when the report lacks the metric, and then
            no algorithm rules on it.
        violations: The constraint metrics; feasible where all are <= 0.
        metrics: What was reported. A Result is also a mapping over these.
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
        uri: Where the store has it; no other has the same.
        size_bytes: How much it takes there; 0 where nobody counted.
        is_automatic: Nobody asked for it, so that fewer of them are kept.
    """

    trial_id: str
    t: int
    uri: str
    size_bytes: int = 0
    is_automatic: bool = False


@message
class Why:
    """The reason of a decision, as data; the console and `overtone why` speak from it.

    Attributes:
        rule: What decided: "asha", "stop", "time_budget", "raised", ...
        t: When, on the scheduler's clock.
        rung: The milestone that was judged, if any.
        cutoff: The score that it took to go on.
        rank: The place of this trial, 1 the best, among `of`.
        of: How many were compared.
        against: Trial ids it was compared with (a few).
        note: A sentence for people, where the numbers do not say it all.
    """

    rule: str
    t: float | None = None
    rung: float | None = None
    cutoff: float | None = None
    rank: int | None = None
    of: int | None = None
    against: tuple[str, ...] = ()
    note: str = ""
