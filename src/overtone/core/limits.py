"""Limits of an experiment, and of a single trial: wall time, CPU time and memory."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from overtone.core.resources import parse_bytes
from overtone.errors import ArgumentError, ResourceError


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of an experiment: the header of its journal has the first, and each Resumed the later ones.

    Attributes:
        total: Number of trials that the searcher will suggest; None if unknown.
        lookahead: Number of suggestions that may wait for a free slot.
        max_concurrent: Largest number of trials at the same time; None for as many as fit.
        max_failures: Number of retries of a failed trial; -1 for no limit.
        fail_fast: Whether the first failed trial ends the search.
        time_budget_s: Seconds after which the search ends; None for no limit.
        max_parked: Number of paused processes that may wait in report().
        is_elastic: Whether a trial that exceeds the current capacity waits instead of failing.
    """

    total: int | None = None
    lookahead: int = 0
    max_concurrent: int | None = None
    max_failures: int = 0
    fail_fast: bool = False
    time_budget_s: float | None = None
    max_parked: int = 16
    is_elastic: bool = False

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> Limits:
        """Return recorded limits; fields unknown to this version are ignored."""
        return cls(**{one.name: data[one.name] for one in fields(cls) if one.name in data})


@dataclass(frozen=True, slots=True)
class TrialLimits:
    """Limits of a trial with all processes that it starts; None for no limit.

    A trial that exceeds a limit is killed and has failed; it is not retried. After a resume on the
    same machine, earlier use still counts.

    Attributes:
        time_s: Seconds during which it has a process and is not paused, summed over its attempts.
        cpu_s: Seconds of CPU time, user and system, summed over its attempts.
        memory: Bytes at any time. Memory that processes share counts in proportion.
    """

    time_s: float | None = None
    cpu_s: float | None = None
    memory: float | None = None

    @classmethod
    def of(cls, asked: TrialLimits | Mapping[str, Any] | None) -> TrialLimits | None:
        """Return the limits in `{"time_s": 60, "cpu_s": 60, "memory": "2GB"}`; None if there are none.

        Raises:
            ValueError: A name is unknown, or an amount is not positive.
        """
        if asked is None:
            return None
        if isinstance(asked, TrialLimits):
            asked = asked.as_data()
        names = [one.name for one in fields(cls)]
        if not isinstance(asked, Mapping):
            raise ArgumentError(f'trial_limits={asked!r} must look like {{"time_s": 60, "memory": "2GB"}}')
        found: dict[str, float] = {}
        for name, value in asked.items():
            if name not in names:
                raise ArgumentError(f"trial_limits has no limit {name!r}: there are {', '.join(names)}")
            if value is not None:
                found[name] = _amount(name, value)
        return cls(**found) if found else None

    def as_data(self) -> dict[str, float]:
        """Return the limits as a dict that `of` reads."""
        amounts = {one.name: getattr(self, one.name) for one in fields(self)}
        return {name: amount for name, amount in amounts.items() if amount is not None}


def _amount(name: str, value: Any) -> float:
    try:
        if hasattr(value, "total_seconds"):
            value = value.total_seconds()
        elif isinstance(value, bool) or (isinstance(value, str) and name != "memory"):
            raise TypeError
        amount = parse_bytes(value)
    except (TypeError, ValueError, ResourceError):
        amount = math.nan
    if not 0 < amount < math.inf:
        form = 'bytes, such as "2GB"' if name == "memory" else "seconds"
        raise ArgumentError(f"trial_limits[{name!r}]={value!r}: give a positive number of {form}")
    return amount
