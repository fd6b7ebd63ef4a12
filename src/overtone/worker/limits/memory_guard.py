"""Ends the trial that takes too much memory, before somebody who knows no trials ends them all.

Ray's memory monitor kills whole workers, and the kernel may kill any process. The guard is quicker: it
begins at a margin below the threshold. It runs in the server, beside `watch`, which holds trials to limits.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from overtone.core.messages import Start
from overtone.worker.limits import process_usage
from overtone.worker.limits.memory_claims import Neighbours
from overtone.worker.limits.node_memory import NodeMemory, memory_reader

MARGIN_BYTES = 512_000_000
MARGIN_SHARE, LEAST_MARGIN_SHARE = 0.05, 0.01
"""Of the machine's memory: a small one has no 512 MB to spare, and on a large one that is little."""

FASTEST = 4e9
"""Bytes a second by which memory may fall: the less room there is, the sooner is the next look."""

LOOK_EVERY_S, LOOK_AT_LEAST_EVERY_S = 0.02, 0.25
RANK_EVERY_S = 1.0
SHARE = 0.05
"""Of a CPU, at most, for comparing trials while there is room, and for counting shared pages at any time."""

URGENT_S = 0.02
"""While memory is short nothing is counted that took longer: the kernel walks all pages."""

NEAR_IDLE = 4
"""While there is little room, looking may take a part in so many, and one, of a CPU; later half of it."""

END_WITHIN_S = 5.0
"""A trial whose processes are not gone after this time does not keep the next one from being ended."""

SCORE_GAP = 500
"""The kernel's scores of trials are so much above that of the server, of 1,000 at most."""

NEAR = 3.0
"""Within so many margins above the line, whoever uses the most is looked for at each look."""


@dataclass(slots=True)
class Guarded:
    """A trial in a process.

    Attributes:
        number, pid: Of its process.
        index: The trial's.
        declared: Bytes that it asked for; 0 if it did not say.
        family: Its process and all below it.
        resident: Bytes of their pages in memory; pages that they share count in each.
        used: The same, with each page counted once; as far as known.
        weigh_at: When it may be counted again which pages are shared.
        took_s: How long that took last time.
        shared: By how many bytes `resident` was above `used` then.
    """

    number: int
    pid: int
    index: int
    declared: int
    family: set[int] = field(default_factory=set)
    resident: int = 0
    used: int = 0
    weigh_at: float = 0.0
    took_s: float = 0.0
    shared: int = 0

    def rank(self, used: int) -> tuple[int, int]:
        """Return a key that is higher, the more the trial is to blame if it uses so much."""
        return max(0, used - self.declared), used

    def look(self, families: process_usage.Families) -> None:
        """Find its processes and their pages, which is quick."""
        self.family = families.of(self.pid)
        self.resident = sum(process_usage.used(pid).resident for pid in self.family)

    def weigh(self, clock: Callable[[], float], is_urgent: bool) -> None:
        """Find out what it uses: what is shared is counted again if there is time, else as last time."""
        began = clock()
        if began >= self.weigh_at and (not is_urgent or self.took_s < URGENT_S):
            self.used = sum(process_usage.own_memory(pid) for pid in self.family)
            self.shared = max(0, self.resident - self.used)
            self.took_s = clock() - began
            self.weigh_at = began + self.took_s / SHARE
        else:
            self.used = max(0, self.resident - self.shared)


class MemoryGuard:
    """Knows which trial is furthest above its declared memory; without one above, which is the largest.

    Args:
        share: Of the machine's memory, where others begin to kill.
        read: Gives the memory in use; None if unknown.
        neighbours: The guards of other runs on this machine.
        clock: Seconds.
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
        self._guarded: dict[int, Guarded] = {}
        self._families = process_usage.Families()
        self._look_at = self._rank_at = 0.0
        self._worst: Guarded | None = None
        self._suspect: tuple[Guarded, float] | None = None  # while memory was short, and until when
        self._ending: tuple[int, float] | None = None  # the process, and until when it is waited for
        self._told: tuple[int, int] = (-1, 0)

    def begin(self, number: int, pid: int, index: int, declared: int) -> None:
        """A trial begins in a process."""
        self._guarded[number] = Guarded(number, pid, index, declared)

    def end(self, number: int) -> None:
        """A process is gone, with all that it had started."""
        self._guarded.pop(number, None)
        if self._worst is not None and self._worst.number == number:
            self._worst = None
        if self._ending is not None and self._ending[0] == number:
            self._ending = None
            self._rank_at = 0.0
            self._claim()

    def wait_s(self) -> float | None:
        """Return how long until the next `look`; None if there is nothing to guard."""
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
        self._ending = worst.number, now + END_WITHIN_S
        self._claim()
        return worst

    def _measure(self) -> float:
        """Return the bytes that are left above the margin, and choose the time of the next look."""
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
        """Return the trial of a process that was killed, if it used the most while memory was short."""
        if self._suspect is None or self._suspect[0].number != number or self._clock() > self._suspect[1]:
            return None
        return self._suspect[0]

    def news(self) -> Guarded | None:
        """Return the trial that would be ended first, if it is another than last time or uses far more."""
        worst = self._worst
        if worst is None or (worst.number == self._told[0] and worst.used <= 1.25 * self._told[1]):
            return None
        self._told = worst.number, worst.used
        return worst

    def explain(self, one: Guarded) -> str:
        """Return why a trial is ended, for people."""
        declared = process_usage.size_text(one.declared) if one.declared else "none"
        used, total = map(process_usage.size_text, self._memory)
        return (
            f"out of memory: used {process_usage.size_text(one.used)}, declared {declared}, when {used} of "
            f"its node's {total} were in use: let the trial hold less, or declare its memory so that fewer "
            'run at once, such as resources_per_trial={"memory": "8GB"}'
        )

    def _claim(self) -> None:
        worst = self._worst
        excess, used = (0, 0) if worst is None else worst.rank(worst.used)
        self.neighbours.claim(excess, used, 0.0 if self._ending is None else self._ending[1])

    def _find_worst(self, is_urgent: bool) -> Guarded | None:
        """Weigh as few as are needed: a trial uses no more than its resident pages."""
        for one in self._guarded.values():
            one.look(self._families)
        self._resident = sum(one.resident for one in self._guarded.values())
        worst: Guarded | None = None
        # of two alike the newer one: less is lost with it
        for one in sorted(self._guarded.values(), key=lambda one: (one.rank(one.resident), one.number))[::-1]:
            if worst is not None and worst.rank(worst.used) >= one.rank(one.resident):
                break
            one.weigh(self._clock, is_urgent)
            if worst is None or one.rank(one.used) > worst.rank(worst.used):
                worst = one
        return worst if worst is not None and worst.used else None


def expose(pid: int) -> None:
    """Have the kernel, out of memory, kill the process `pid` before this one."""
    with suppress(OSError, ValueError):
        score = int(Path("/proc/self/oom_score_adj").read_text()) + SCORE_GAP
        Path(f"/proc/{pid}/oom_score_adj").write_text(str(min(1000, score)))


def declared_memory(start: Start) -> int:
    """Return the bytes that a trial asked for on the node of its process; 0 if it did not say."""
    nodes = start.placement.nodes
    first = next((node for node in nodes if node), "")
    bundles = zip(start.resources.bundles, nodes, strict=False)
    return int(sum(dict(bundle).get("memory", 0) for bundle, node in bundles if node == first))
