"""Enforcement of trial limits. It runs in the server, which no trial and no callback can block."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from overtone.core.limits import TrialLimits
from overtone.quantity_text import size_text
from overtone.worker.limits import process_usage
from overtone.worker.limits.limit_usage import Amounts

LOOK_EVERY_S = 0.05
LOOK_AT_LEAST_EVERY_S = 0.25

SHARE = 0.05
"""Largest part of a CPU for looking."""

KEEP_EVERY_S = 1.0
KEEP_SHARE = 0.02
"""Largest part of a CPU for writing the usage."""


class Keeper(Protocol):
    """Storage for the usage of trials, by trial index, as a Tally."""

    def read(self) -> dict[int, Amounts]:
        """Return the usage of each trial under earlier drivers."""

    def write(self, used: Mapping[int, Amounts]) -> None:
        """Store the usage of each trial."""


@dataclass(slots=True)
class _Watched:
    """A watched trial and its usage.

    Attributes:
        pid: Its process.
        index: The trial's index.
        began: Start of the watch, by the watch's clock.
        time_s: Time used before the watch began, in seconds.
        cpu_s: CPU time used before the watch began, in seconds.
        idle_cpu_s: CPU time that the process had used before the trial began in it.
        last_cpu_s: CPU time of the process at the last look.
        family: The process and all its descendants.
        weigh_at: Earliest time of the next memory measurement, which is slow.
    """

    pid: int
    index: int
    began: float
    time_s: float
    cpu_s: float
    idle_cpu_s: float = 0.0
    last_cpu_s: float = 0.0
    family: set[int] = field(default_factory=set)
    weigh_at: float = 0.0


class Watch:
    """Sums the usage of each trial over all its attempts, including those under earlier drivers.

    Args:
        limits: Limits of each trial.
        clock: Returns the time in seconds.
        tally: Storage for the usage, if any.
    """

    def __init__(
        self,
        limits: TrialLimits,
        clock: Callable[[], float] = time.monotonic,
        tally: Keeper | None = None,
    ) -> None:
        self._limits = limits
        self._clock = clock
        self._tally = tally
        self._watched: dict[int, _Watched] = {}  # by the process's number
        self._before = tally.read() if tally is not None else {}  # by the trial's index
        self._keep_at, self._is_kept = 0.0, bool(self._before)
        self._families = process_usage.Families()
        self._look_at = 0.0

    def begin(self, number: int, pid: int, index: int) -> None:
        """Watch a trial that begins or resumes in a process."""
        self.end(number)
        one = _Watched(pid, index, self._clock(), *self._before.get(index, (0.0, 0.0)))
        if self._limits.cpu_s is not None:
            one.family = self._families.of(pid)
            one.idle_cpu_s = one.last_cpu_s = self._cpu_s(one)
        self._watched[number] = one

    def end(self, number: int) -> None:
        """Stop watching a process whose trial has ended or that is gone."""
        one = self._watched.pop(number, None)
        if one is not None:
            self._before[one.index] = self._total(one)

    def keep(self) -> None:
        """Store the usage so far, for a driver that resumes the experiment."""
        now = {one.index: self._total(one) for one in self._watched.values()}
        used = {**self._before, **now}
        if self._tally is not None and (used or self._is_kept):
            self._tally.write(used)
            self._is_kept = True

    def wait_s(self) -> float | None:
        """Return the seconds until the next `look`; None if no trial is watched."""
        return max(0.0, self._look_at - self._clock()) if self._watched else None

    def look(self) -> list[tuple[int, int, str, set[int]]]:
        """Return (process number, trial index, error, all its pids) of each trial past a limit."""
        began = self._clock()
        if began < self._look_at:
            return []
        found = []
        for number, one in list(self._watched.items()):
            error = self._excess(one)
            if error:
                found.append((number, one.index, error, one.family | {one.pid}))
                self.end(number)
                del self._before[one.index]  # should a resume try it again, it begins with nothing
        if began >= self._keep_at:
            self.keep()
            self._keep_at = began + max(KEEP_EVERY_S, (self._clock() - began) / KEEP_SHARE)
        now = self._clock()
        in_s = min(LOOK_AT_LEAST_EVERY_S, max(LOOK_EVERY_S, (now - began) / SHARE))
        self._look_at = now + in_s
        return found

    def _excess(self, one: _Watched) -> str:
        """Return an error text for the limit that a trial has exceeded; empty if none."""
        limits = self._limits
        if limits.memory is not None or limits.cpu_s is not None:
            one.family = self._families.of(one.pid)
        if limits.memory is not None:
            memory = self._memory(one, limits.memory)
            if memory > limits.memory:
                used, limit = size_text(memory, 4), size_text(limits.memory, 4)
                return (
                    f"used {used} of memory, limit {limit}: let the trial hold less, "
                    'or raise "memory" in trial_limits'
                )
        if limits.cpu_s is not None:
            one.last_cpu_s = max(one.last_cpu_s, self._cpu_s(one))
        time_s, cpu_s = self._total(one)
        if limits.cpu_s is not None and cpu_s > limits.cpu_s:
            return (
                f"used {cpu_s:.4g} s of CPU time, limit {limits.cpu_s:g} s: let the trial do less, "
                'or raise "cpu_s" in trial_limits'
            )
        if limits.time_s is not None and time_s > limits.time_s:
            return (
                f"ran for {time_s:.4g} s, limit {limits.time_s:g} s: let the trial do less, "
                'or raise "time_s" in trial_limits'
            )
        return ""

    def _total(self, one: _Watched) -> tuple[float, float]:
        return one.time_s + self._clock() - one.began, one.cpu_s + one.last_cpu_s - one.idle_cpu_s

    def _cpu_s(self, one: _Watched) -> float:
        return sum(process_usage.used(pid).cpu_s for pid in one.family)

    def _memory(self, one: _Watched, limit: float) -> float:
        """Return the memory in bytes; an upper estimate while that estimate is below the limit."""
        resident = sum(process_usage.used(pid).resident for pid in one.family)
        now = self._clock()
        if resident <= limit:
            return resident
        if now < one.weigh_at:
            return 0.0  # it was below a moment ago
        memory = sum(process_usage.own_memory(pid) for pid in one.family)
        took_s = self._clock() - now
        one.weigh_at = now + took_s + min(LOOK_AT_LEAST_EVERY_S, took_s / SHARE)
        return memory
