"""A sorted list of many keys with fast insertion."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import Any

MOST = 8192
"""Most keys in one list: insertion into a longer list moves too many keys."""


class Ordered:
    """Keys in ascending order, in lists of limited length.

    >>> keys = Ordered()
    >>> [keys.add(key) for key in (5, 3, 4)], len(keys), keys[1]
    ([0, 0, 1], 3, 4)
    """

    def __init__(self) -> None:
        self._lists: list[list[Any]] = [[]]
        self._tops: list[Any] = []  # The highest key of each list, except the last.
        self._length = 0

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, place: int) -> Any:
        for keys in self._lists:
            if place < len(keys):
                return keys[place]
            place -= len(keys)
        raise IndexError("there are not so many keys")

    def add(self, key: Any) -> int:
        """Insert a key; return its place, the number of lower keys."""
        at = bisect_left(self._tops, key)
        keys = self._lists[at]
        place = bisect_left(keys, key)
        keys.insert(place, key)
        self._length += 1
        if at:
            place += sum(map(len, self._lists[:at]))
        if len(keys) > MOST:
            self._lists[at : at + 1] = keys[: MOST // 2], keys[MOST // 2 :]
            self._tops.insert(at, keys[MOST // 2 - 1])
        return place

    def place_after(self, key: Any) -> int:
        """Return the number of keys that are lower or equal."""
        at = bisect_right(self._tops, key)
        before = sum(map(len, self._lists[:at])) if at else 0
        return before + bisect_right(self._lists[at], key)
