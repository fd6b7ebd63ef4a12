"""The types in which columns are sent: as few bytes as show the same."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from overtone.ui.data.keyed_columns import KeyedColumn

EXACT_TRIALS = 20_000
"""Numbers of fewer trials are sent as float64: their message is small."""

_WHOLE_IN_FLOAT32 = 2**24
_MOST_LOST = 0.1
"""The greatest share of different values that may become equal as float32."""


class ColumnTypes:
    """The type of each column that was sent.

    A type never gets smaller, so that updates fit the pages that have it.
    """

    def __init__(self) -> None:
        self._types: dict[str, str] = {}
        self.has_widened = False

    def choose(self, column: KeyedColumn) -> str:
        """Return the type for the whole column; `has_widened` tells if pages may have a smaller one."""
        if column.levels is not None or column.values.dtype.kind != "f":
            return _type_of_codes(column.values, column.levels)
        known = self._types.get(column.key)
        if known == "f8":
            return known
        chosen = "f4" if fits_float32(column.values, column.is_integer) else "f8"
        self.has_widened |= known == "f4" and chosen == "f8"
        self._types[column.key] = chosen
        return chosen

    def of_update(self, column: KeyedColumn) -> str:
        """Return the type for some rows of a column; `has_widened` tells if it does not hold them."""
        if column.levels is not None or column.values.dtype.kind != "f":
            return _type_of_codes(column.values, column.levels)
        chosen = self._types.setdefault(column.key, "f8")
        if chosen == "f4" and not _is_in_range(column.values[np.isfinite(column.values)], column.is_integer):
            self._types[column.key], self.has_widened = "f8", True
        return self._types[column.key]


def fits_float32(values: NDArray[np.float64], is_integer: bool) -> bool:
    """Return whether a column of many trials shows the same as float32."""
    if len(values) < EXACT_TRIALS:
        return False
    known = np.sort(values[np.isfinite(values)])
    if not len(known):
        return True
    if not _is_in_range(known[[0, -1]], is_integer):
        return False
    n_different = np.count_nonzero(np.diff(known))
    n_left = np.count_nonzero(np.diff(known.astype(np.float32)))
    return bool(n_left >= (1 - _MOST_LOST) * n_different)


def _is_in_range(values: NDArray[np.float64], is_integer: bool) -> bool:
    largest = _WHOLE_IN_FLOAT32 if is_integer else float(np.finfo(np.float32).max)
    return bool((np.abs(values) <= largest).all())


def _type_of_codes(values: NDArray[Any], levels: tuple[object, ...] | None) -> str:
    """Return the type of whole numbers: the smallest one, as pages take wider ones in updates."""
    if levels is not None:
        most = len(levels)
    elif not len(values):
        return "i1"
    else:
        most = max(int(values.max()), -int(values.min()))
    return "i1" if most < 1 << 7 else "i2" if most < 1 << 15 else "i4"
