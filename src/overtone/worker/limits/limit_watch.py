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


class UsageStore(Protocol):
    """Storage for the usage of trials, by trial index, such as a `UsageFile`."""

    def read(self) -> dict[int, Amounts]:
        """Return the usage of each trial under earlier drivers."""

    def write(self, used: Mapping[int, Amounts]) -> None:
        """Store the usage of each trial."""


@dataclass(slots=True)
class _Process:
    """A process of a watched trial.

    Attributes:
        pid: The process.
        idle_cpu_s: CPU time that it had used before the trial began in it.
        last_cpu_s: CPU time of the process at the last look.
        family: The process and all its descendants.
    """

    pid: int
    idle_cpu_s: float = 0.0
    last_cpu_s: float = 0.0
    family: set[int] = field(default_factory=set)


@dataclass(slots=True)
class _Watched:
    """A watched trial and its usage.

    Attributes:
        index: The trial's index.
        began: Start of the watch, by the watch's clock.
        time_s: Time used before the watch began, in seconds.
        cpu_s: CPU time used before the watch began, and by processes that are gone, in seconds.
        processes: Its processes, by number: one, or a head and its ranks.
        weigh_at: Earliest time of the next memory measurement, which is slow.
    """

    index: int
    began: float
    time_s: float
    cpu_s: float
    processes: dict[int, _Process] = field(default_factory=dict)
    weigh_at: float = 0.0

    @property
    def family(self) -> set[int]:
        """The processes and all their descendants."""
        return {pid for one in self.processes.values() for pid in (one.pid, *one.family)}

    @property
    def used_cpu_s(self) -> float:
        """CPU time used, in seconds."""
        return self.cpu_s + sum(one.last_cpu_s - one.idle_cpu_s for one in self.processes.values())


class LimitWatch:
    """Sums the usage of each trial over its processes and all its attempts, also under earlier drivers.

    Args:
        limits: Limits of each trial.
        clock: Returns the time in seconds.
        tally: Storage for the usage, if any.
    """

    def __init__(
        self,
        limits: TrialLimits,
        clock: Callable[[], float] = time.monotonic,
        tally: UsageStore | None = None,
    ) -> None:
        self._limits = limits
        self._clock = clock
        self._tally = tally
        self._watched: dict[int, _Watched] = {}  # by the trial's index
        self._indexes: dict[int, int] = {}  # by the process's number
        self._before = tally.read() if tally is not None else {}  # by the trial's index
        self._keep_at, self._is_kept = 0.0, bool(self._before)
        self._families = process_usage.Families()
        self._look_at = 0.0

    def begin(self, number: int, pid: int, index: int) -> None:
        """Watch a trial that begins or resumes in a process, or one more process of a trial."""
        self.end(number)
        trial = self._watched.get(index)
        if trial is None:
            trial = _Watched(index, self._clock(), *self._before.get(index, (0.0, 0.0)))
            self._watched[index] = trial
        self._indexes[number] = index
        process = trial.processes[number] = _Process(pid)
        if self._limits.cpu_s is not None:
            process.family = self._families.of(pid)
            process.idle_cpu_s = process.last_cpu_s = _cpu_s(process)

    def end(self, number: int) -> None:
        """Stop watching a process whose trial has ended or that is gone."""
        index = self._indexes.pop(number, None)
        if index is None:
            return
        trial = self._watched[index]
        process = trial.processes.pop(number)
        trial.cpu_s += process.last_cpu_s - process.idle_cpu_s
        if not trial.processes:
            self._before[index] = self._total(self._watched.pop(index))

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
        for index, one in list(self._watched.items()):
            error = self._excess(one)
            if error:
                numbers = list(one.processes)
                found.append((numbers[0], index, error, one.family))
                for number in numbers:
                    self.end(number)
                del self._before[index]  # should a resume try it again, it begins with nothing
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
        for process in one.processes.values():
            if limits.memory is not None or limits.cpu_s is not None:
                process.family = self._families.of(process.pid)
            if limits.cpu_s is not None:
                process.last_cpu_s = max(process.last_cpu_s, _cpu_s(process))
        if limits.memory is not None:
            memory = self._memory(one, limits.memory)
            if memory > limits.memory:
                used, limit = size_text(memory, 4), size_text(limits.memory, 4)
                return (
                    f"used {used} of memory, limit {limit}: let the trial hold less, "
                    'or raise "memory" in trial_limits'
                )
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
        return one.time_s + self._clock() - one.began, one.used_cpu_s

    def _memory(self, one: _Watched, limit: float) -> float:
        """Return the memory in bytes; an upper estimate while that estimate is below the limit."""
        family = one.family
        resident = sum(process_usage.used(pid).resident for pid in family)
        now = self._clock()
        if resident <= limit:
            return resident
        if now < one.weigh_at:
            return 0.0  # it was below a moment ago
        memory = sum(process_usage.own_memory(pid) for pid in family)
        took_s = self._clock() - now
        one.weigh_at = now + took_s + min(LOOK_AT_LEAST_EVERY_S, took_s / SHARE)
        return memory


def _cpu_s(process: _Process) -> float:
    return sum(process_usage.used(pid).cpu_s for pid in process.family)
