"""What a session counts: iterations since it began, time spent training, timesteps."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from time import gmtime, localtime, strftime, time
from typing import Any


class Counts:
    """Fills in a result's own fields; goes on from the counts in a checkpoint.

    Args:
        state: What `.overtone.json` of the restored checkpoint says, or nothing.
        clock: Seconds, from any origin.
        is_virtual: The clock's origin is 1970 (UTC), and there is no other time.

    Attributes:
        n_here: How many results were filled in.
        time_before_s: How long the trial had trained before it was restored.
    """

    def __init__(
        self, state: Mapping[str, Any], clock: Callable[[], float], is_virtual: bool = False
    ) -> None:
        self.time_before_s: float = state.get("time_total_s", 0.0)
        self._timesteps: float | None = state.get("timesteps_total")
        self._time_here_s = 0.0
        self.n_here = 0
        self._clock, self._is_virtual = clock, is_virtual
        self._mark = clock()

    def go_on(self) -> None:
        """The wait in report() is over: the clock of the next iteration starts."""
        self._mark = self._clock()

    def fill(self, values: dict[str, Any], t: int, now: float) -> None:
        """Add the session's fields to the result `t`, whose report() was called at `now`.

        Times are in seconds, to the microsecond: shorter texts, and faster made.
        """
        second = int(now if self._is_virtual else time())
        spent_s = now - self._mark
        self._time_here_s += spent_s
        self.n_here += 1
        values["training_iteration"] = t
        values["time_this_iter_s"] = round(spent_s, 6)
        values["time_total_s"] = round(self.time_before_s + self._time_here_s, 6)
        values["timesteps_total"] = self._count_timesteps(values)
        values["timestamp"] = second
        values["date"] = _date(second, self._is_virtual)
        values["iterations_since_restore"] = self.n_here
        values["time_since_restore"] = round(self._time_here_s, 6)
        values["done"] = bool(values.get("done"))

    def state(self, t: int) -> dict[str, Any]:
        """What a checkpoint made after result `t` notes, so that a restore goes on from it."""
        total_s = self.time_before_s + self._time_here_s
        return {"t": t, "time_total_s": total_s, "timesteps_total": self._timesteps}

    def _count_timesteps(self, values: Mapping[str, Any]) -> float | None:
        total, here = values.get("timesteps_total"), values.get("timesteps_this_iter")
        if total is not None:
            self._timesteps = _number(total)
        elif here is not None:
            self._timesteps = (self._timesteps or 0) + _number(here)
        return self._timesteps


def _number(value: Any) -> float:
    if isinstance(value, (int, float)):
        return int(value) if isinstance(value, bool) else value
    return float(value.item() if hasattr(value, "item") else value)


@lru_cache(4)
def _date(second: int, is_virtual: bool) -> str:
    """A second's date, here or in UTC: sessions that begin in the same one need it once."""
    return strftime("%Y-%m-%d_%H-%M-%S", gmtime(second) if is_virtual else localtime(second))
