"""Counts of a session: iterations since its begin, training time, timesteps."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from time import gmtime, localtime, strftime, time
from typing import Any


class Counts:
    """Fills in the automatic fields of a result; continues the counts of a checkpoint.

    Args:
        state: Contents of `.overtone.json` of the restored checkpoint, or an empty mapping.
        clock: Returns the time in seconds, from any origin.
        is_virtual: Whether the clock's origin is 1970 (UTC) and replaces the system time.

    Attributes:
        n_here: Number of results filled in.
        time_before_s: Training time before the restore, in seconds.
    """

    def __init__(
        self, state: Mapping[str, Any], clock: Callable[[], float], is_virtual: bool = False
    ) -> None:
        self.time_before_s: float = state.get("time_total_s", 0.0)
        self._timesteps: float | None = state.get("timesteps_total")
        self._episodes: float | None = state.get("episodes_total")
        self._time_here_s = 0.0
        self.n_here = 0
        self._clock, self._is_virtual = clock, is_virtual
        self._mark = clock()

    def go_on(self) -> None:
        """Start the clock of the next iteration, after the wait in report()."""
        self._mark = self._clock()

    def fill(self, values: dict[str, Any], t: int, now: float) -> None:
        """Add the session's fields to the result `t`, whose report() was called at `now`.

        Times are in seconds, rounded to the microsecond: the text is shorter and faster to make.
        """
        second = int(now if self._is_virtual else time())
        spent_s = now - self._mark
        self._time_here_s += spent_s
        self.n_here += 1
        values["training_iteration"] = t
        values["time_this_iter_s"] = round(spent_s, 6)
        values["time_total_s"] = round(self.time_before_s + self._time_here_s, 6)
        values["timesteps_total"] = self._count_timesteps(values)
        if self._episodes is not None or "episodes_this_iter" in values:
            self._count_episodes(values)
        values["timestamp"] = second
        values["date"] = _date(second, self._is_virtual)
        values["iterations_since_restore"] = self.n_here
        values["time_since_restore"] = round(self._time_here_s, 6)
        values["done"] = bool(values.get("done"))

    def state(self, t: int) -> dict[str, Any]:
        """Return the counts for a checkpoint after result `t`, from which a restore continues."""
        total_s = self.time_before_s + self._time_here_s
        state = {"t": t, "time_total_s": total_s, "timesteps_total": self._timesteps}
        return state if self._episodes is None else {**state, "episodes_total": self._episodes}

    def _count_episodes(self, values: dict[str, Any]) -> None:
        """Add up a trainable's episodes, if it reports any; its own total is left as it is."""
        self._episodes = (self._episodes or 0) + _number(values.get("episodes_this_iter") or 0)
        values.setdefault("episodes_total", self._episodes)

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
    """Return a second's date, in local time or UTC; cached for sessions that begin in the same second."""
    return strftime("%Y-%m-%d_%H-%M-%S", gmtime(second) if is_virtual else localtime(second))
