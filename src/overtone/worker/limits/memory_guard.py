"""Ends the trial that uses too much memory, before Ray or the kernel kills processes.

Ray's memory monitor kills whole workers, and the kernel may kill any process. The guard acts earlier:
it begins at a margin below the threshold. It runs in the server, next to `limit_watch`.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from overtone.core.messages import Start
from overtone.quantity_text import size_text
from overtone.worker.limits import process_usage
from overtone.worker.limits.memory_claims import Neighbours
from overtone.worker.limits.node_memory import NodeMemory, memory_reader

MARGIN_BYTES = 512_000_000
MARGIN_SHARE, LEAST_MARGIN_SHARE = 0.05, 0.01
"""Parts of the machine's memory: a small machine cannot spare 512 MB, and a large one needs more."""

FASTEST = 4e9
"""Fastest assumed growth of memory use, in bytes per second: with less room the next look is sooner."""

LOOK_EVERY_S, LOOK_AT_LEAST_EVERY_S = 0.02, 0.25
RANK_EVERY_S = 1.0
SHARE = 0.05
"""Largest part of a CPU for comparing trials while there is room, and for counting shared pages."""

URGENT_S = 0.02
"""While memory is short, shared pages are not counted if that took longer: the kernel walks all pages."""

NEAR_IDLE = 4
"""With room left, looking takes at most 1 part in 1 + NEAR_IDLE of a CPU; without room, half a CPU."""

END_WITHIN_S = 5.0
"""A trial whose processes remain after this time no longer blocks the end of the next trial."""

SCORE_GAP = 500
"""Difference between the kernel's OOM scores of trials and of the server (at most 1,000)."""

NEAR = 3.0
"""Within this many margins above the line, each look also searches for the trial that uses the most."""


@dataclass(slots=True)
class Guarded:
    """A trial in a process, or in a head and its ranks.

    Attributes:
        index: The trial's index.
        declared: Bytes that the trial requested; 0 if it did not request memory.
        pids: The pid of each of its processes, by number.
        family: Its processes and all descendants.
        resident: Bytes of their pages in memory; shared pages count in each process.
        used: The same with each page counted once; an estimate between measurements.
        weigh_at: Earliest time of the next measurement of shared pages.
        took_s: Duration of the last measurement.
        shared: Difference between `resident` and `used` in bytes at the last measurement.
    """

    index: int
    declared: int
    pids: dict[int, int] = field(default_factory=dict)
    family: set[int] = field(default_factory=set)
    resident: int = 0
    used: int = 0
    weigh_at: float = 0.0
    took_s: float = 0.0
    shared: int = 0

    @property
    def number(self) -> int:
        """The number of its first process."""
        return next(iter(self.pids))

    def rank(self, used: int) -> tuple[int, int]:
        """Return a key that is higher the further the trial would exceed its memory with `used` bytes."""
        return max(0, used - self.declared), used

    def look(self, families: process_usage.Families) -> None:
        """Update the trial's processes and resident pages, which is quick."""
        self.family = {one for pid in self.pids.values() for one in families.of(pid)}
        self.resident = sum(process_usage.used(pid).resident for pid in self.family)

    def weigh(self, clock: Callable[[], float], is_urgent: bool) -> None:
        """Update `used`: count shared pages again if there is time, else use the last count."""
        began = clock()
        if began >= self.weigh_at and (not is_urgent or self.took_s < URGENT_S):
            self.used = sum(process_usage.own_memory(pid) for pid in self.family)
            self.shared = max(0, self.resident - self.used)
            self.took_s = clock() - began
            self.weigh_at = began + self.took_s / SHARE
        else:
            self.used = max(0, self.resident - self.shared)


class MemoryGuard:
    """Finds the trial furthest above its declared memory; if none is above, the largest trial.

    Args:
        share: Part of the machine's memory at which others begin to kill.
        read: Returns the memory in use; None if unknown.
        neighbours: The guards of other runs on this machine.
        clock: Returns the time in seconds.
    """

    def __init__(
        self,
        share: float,
        read: Callable[[], NodeMemory | None] | None = None,
        neighbours: Neighbours | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.neighbours = Neighbours() if neighbours is None else neighbours
        self._share = share
        self._read = memory_reader() if read is None else read
        self._clock = clock
        self._guarded: dict[int, Guarded] = {}  # by the trial's index
        self._indexes: dict[int, int] = {}  # by the process's number
        self._families = process_usage.Families()
        self._look_at = self._rank_at = 0.0
        self._worst: Guarded | None = None
        self._suspect: tuple[Guarded, float] | None = None  # while memory was short, and until when
        self._ending: tuple[int, float] | None = None  # the trial's index, and until when it is waited for
        self._told: tuple[int, int] = (-1, 0)

    def begin(self, number: int, pid: int, index: int, declared: int) -> None:
        """Guard a trial that begins in a process, or one more process of a trial."""
        self.end(number)
        if index not in self._guarded:
            self._guarded[index] = Guarded(index, declared)
        self._guarded[index].pids[number] = pid
        self._indexes[number] = index

    def end(self, number: int) -> None:
        """Forget a process that is gone with all its descendants."""
        index = self._indexes.pop(number, None)
        if index is None:
            return
        trial = self._guarded[index]
        del trial.pids[number]
        if trial.pids:
            return
        del self._guarded[index]
        if self._worst is trial:
            self._worst = None
        if self._ending is not None and self._ending[0] == index:
            self._ending = None
            self._rank_at = 0.0
            self._claim()

    def wait_s(self) -> float | None:
        """Return the seconds until the next `look`; None if no trial is guarded."""
        return max(0.0, self._look_at - self._clock()) if self._guarded else None

    def look(self) -> Guarded | None:
        """Return the trial that must end now, if any."""
        if self._clock() < self._look_at or not self._guarded:
            return None
        room = self._measure()
        worst, now = self._worst, self._clock()
        if room >= 0 or worst is None or (self._ending is not None and now < self._ending[1]):
            return None
        if self._resident < -room:
            return None  # others have taken the memory: it would not be enough to end all trials
        if self.neighbours.has_worse(*worst.rank(worst.used)):
            return None
        self._ending = worst.index, now + END_WITHIN_S
        self._claim()
        return worst

    def _measure(self) -> float:
        """Return the free bytes above the margin, and set the time of the next look."""
        began = self._clock()
        memory = self._read()
        if memory is None:
            self._look_at = began + LOOK_AT_LEAST_EVERY_S
            return 0.0
        self._memory = memory
        margin = max(min(MARGIN_BYTES, MARGIN_SHARE * memory.total), LEAST_MARGIN_SHARE * memory.total)
        room = self._share * memory.total - margin - memory.used
        is_near = room < NEAR * margin
        if is_near or began >= self._rank_at:
            self._worst = self._find_worst(is_near)
            self._claim()
            self._rank_at = began + max(RANK_EVERY_S, (self._clock() - began) / SHARE)
        now = self._clock()
        if room < margin and self._worst is not None:
            self._suspect = self._worst, now + END_WITHIN_S
        in_s = min(LOOK_AT_LEAST_EVERY_S, max(LOOK_EVERY_S, room / FASTEST))
        self._look_at = now + max(in_s, (now - began) * (1 if room < 0 else NEAR_IDLE))
        return room

    def blame(self, number: int) -> Guarded | None:
        """Return the trial of a killed process if that trial used the most while memory was short."""
        if self._suspect is None or self._clock() > self._suspect[1]:
            return None
        suspect = self._suspect[0]
        return suspect if number in suspect.pids else None

    def news(self) -> Guarded | None:
        """Return the trial that would end first, if it changed since the last call or uses far more."""
        worst = self._worst
        if worst is None or (worst.index == self._told[0] and worst.used <= 1.25 * self._told[1]):
            return None
        self._told = worst.index, worst.used
        return worst

    def explain(self, one: Guarded) -> str:
        """Return the reason why a trial is ended, for people."""
        declared = size_text(one.declared, 4) if one.declared else "none"
        used, total = map(size_text, self._memory)
        return (
            f"out of memory: used {size_text(one.used, 4)}, declared {declared}, when {used} of "
            f"its node's {total} were in use: let the trial hold less, or declare its memory so that fewer "
            'run at once, such as resources_per_trial={"memory": "8GB"}'
        )

    def _claim(self) -> None:
        worst = self._worst
        excess, used = (0, 0) if worst is None else worst.rank(worst.used)
        self.neighbours.claim(excess, used, 0.0 if self._ending is None else self._ending[1])

    def _find_worst(self, is_urgent: bool) -> Guarded | None:
        """Return the worst trial; weigh few trials, since a trial uses at most its resident pages."""
        for one in self._guarded.values():
            one.look(self._families)
        self._resident = sum(one.resident for one in self._guarded.values())
        worst: Guarded | None = None
        # of two equal trials, the newer one: less work is lost
        for one in sorted(self._guarded.values(), key=lambda one: (one.rank(one.resident), one.number))[::-1]:
            if worst is not None and worst.rank(worst.used) >= one.rank(one.resident):
                break
            one.weigh(self._clock, is_urgent)
            if worst is None or one.rank(one.used) > worst.rank(worst.used):
                worst = one
        return worst if worst is not None and worst.used else None


def expose(pid: int) -> None:
    """Raise the OOM score of the process `pid`, so that the kernel kills it before this process."""
    with suppress(OSError, ValueError):
        score = int(Path("/proc/self/oom_score_adj").read_text()) + SCORE_GAP
        Path(f"/proc/{pid}/oom_score_adj").write_text(str(min(1000, score)))


def declared_memory(start: Start) -> int:
    """Return the bytes that a trial requested on the node of its process; 0 if none."""
    nodes = start.placement.nodes
    first = next((node for node in nodes if node), "")
    bundles = zip(start.resources.bundles, nodes, strict=False)
    return int(sum(dict(bundle).get("memory", 0) for bundle, node in bundles if node == first))
