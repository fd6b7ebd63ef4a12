"""The results of trials at one rung: kept in arrays, and ranked when they are asked for."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Sequence
from math import nan
from typing import NamedTuple, overload

import numpy as np
from numpy.typing import NDArray


class RungPlace(NamedTuple):
    """A trial's first result at a rung or beyond it.

    Attributes:
        n: The record that has it.
        time: When it was reported, in seconds that the experiment has run.
        trial_id: Whose it is.
        t: Its training_iteration.
        value: The metric; None where it was no number.
    """

    n: int
    time: float
    trial_id: str
    t: int
    value: float | None


class RungPlaces:
    """The places at a rung, in the order of records, in as little memory as arrays need."""

    def __init__(self) -> None:
        self._n, self._t, self._times, self._values = array("q"), array("q"), array("d"), array("d")
        self._ids: list[str] = []
        self._unknown: set[int] = set()  # positions without a number

    def append(self, n: int, time: float, trial_id: str, t: int, value: float | None) -> None:
        """Append a place."""
        if value is None:
            self._unknown.add(len(self._ids))
        self._ids.append(trial_id)
        self._n.append(n)
        self._t.append(t)
        self._times.append(time)
        self._values.append(nan if value is None else value)

    def __len__(self) -> int:
        return len(self._ids)

    def ranked(self, n: int, sign: float) -> RankedPlaces:
        """Return the places up to record `n`, best first.

        Args:
            sign: 1 if high values are good, -1 if low ones are.
        """
        values = np.array(self._values[: bisect_right(self._n, n)])
        return RankedPlaces(self, np.where(np.isnan(values), -np.inf, values * sign))

    def index(self, trial_id: str) -> int:
        """Return the position of a trial's place; -1 if it has none."""
        try:
            return self._ids.index(trial_id)
        except ValueError:
            return -1

    def __getitem__(self, i: int) -> RungPlace:
        value = None if i in self._unknown else self._values[i]
        return RungPlace(self._n[i], self._times[i], self._ids[i], self._t[i], value)


class RankedPlaces(Sequence[RungPlace]):
    """Places at a rung, best first; equals in the order of their records.

    Args:
        places: All places at the rung.
        scores: Of the first of them, in the order of records: the higher, the better.
    """

    def __init__(self, places: RungPlaces, scores: NDArray[np.float64]) -> None:
        self._places, self._scores = places, scores
        self._order = np.argsort(-scores, kind="stable")

    def __len__(self) -> int:
        return len(self._order)

    @overload
    def __getitem__(self, at: int) -> RungPlace: ...
    @overload
    def __getitem__(self, at: slice) -> list[RungPlace]: ...
    def __getitem__(self, at: int | slice) -> RungPlace | list[RungPlace]:
        if isinstance(at, slice):
            return [self._places[int(i)] for i in self._order[at]]
        return self._places[int(self._order[at])]

    def at(self, trial_id: str) -> int | None:
        """Return where a trial stands among all, 0 the first; None if it is not there."""
        i = self._places.index(trial_id)
        return int(np.flatnonzero(self._order == i)[0]) if 0 <= i < len(self) else None

    def rank(self, trial_id: str) -> int:
        """Return a trial's rank, 1 the best; equals share it."""
        own = self._scores[self._places.index(trial_id)]
        return 1 + int(np.count_nonzero(self._scores > own))
