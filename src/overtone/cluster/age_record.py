"""A cluster's age and cost so far, in a file that survives restarts of the watchdog and of the head."""

from __future__ import annotations

import json
import math
import os
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from overtone.regular_files import read_regular, replace_file


@dataclass(frozen=True)
class Moment:
    """A moment on a machine's clocks.

    Attributes:
        boot: Identifies the machine's start; "" if the system does not tell.
        clock: Seconds since that start, also of sleep; nobody can set this clock.
        wall: Seconds since 1970, by a clock that may jump.
    """

    boot: str
    clock: float
    wall: float

    @classmethod
    def now(cls) -> Moment:
        """Return the present moment."""
        clock = getattr(time, "CLOCK_BOOTTIME", None)
        return cls(_boot_id(), time.monotonic() if clock is None else time.clock_gettime(clock), time.time())

    def since(self, before: Moment) -> float:
        """Return the seconds since an earlier moment, 0 or more.

        After a restart of the machine, only the wall clock tells how long it was off.
        """
        if self.boot == before.boot and self.clock >= before.clock:
            return self.clock - before.clock
        return max(self.wall - before.wall, self.clock, 0.0)


def _boot_id() -> str:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return ""


@dataclass(frozen=True)
class AgeRecord:
    """The age and the cost of a cluster.

    Attributes:
        began: Identifies the life of the cluster: seconds since 1970 when it began.
        at: Moment of the last look.
        age_s: Seconds since the cluster began.
        busy_at: Age at which the cluster was last seen busy.
        cost: Cost so far, in US dollars.
    """

    began: float
    at: Moment
    age_s: float = 0.0
    busy_at: float = 0.0
    cost: float = 0.0

    def advanced(self, at: Moment, cost_an_hour: float, is_busy: bool) -> AgeRecord:
        """Return the record at a later moment.

        Args:
            at: The later moment.
            cost_an_hour: Cost of an hour since the last look, in US dollars.
            is_busy: Whether the cluster is busy at that moment.
        """
        passed_s = at.since(self.at)
        age_s = self.age_s + passed_s
        return replace(
            self, at=at, age_s=age_s, busy_at=age_s if is_busy else self.busy_at,
            cost=self.cost + cost_an_hour * passed_s / 3600,
        )  # fmt: skip

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the record atomically.

        Raises:
            OSError: The file cannot be written.
        """
        replace_file(path, json.dumps(asdict(self)).encode())

    @classmethod
    def read(cls, path: str | os.PathLike[str], began: float, now: Moment) -> AgeRecord:
        """Return the record in a file; a new one if the file is missing, damaged or of an earlier life."""
        try:
            found = json.loads(read_regular(path))
            at = found["at"]
            record = cls(
                float(found["began"]), Moment(str(at["boot"]), float(at["clock"]), float(at["wall"])),
                float(found["age_s"]), float(found["busy_at"]), float(found["cost"]),
            )  # fmt: skip
        except (OSError, ValueError, KeyError, TypeError):
            return cls(began, now)
        numbers = (record.age_s, record.busy_at, record.cost, record.at.clock, record.at.wall)
        if record.began != began or not all(map(math.isfinite, numbers)):
            return cls(began, now)
        return record
