"""Hyperparameters of trials as columns: numbers, or codes of categories."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from overtone.core.goal import real
from overtone.journal.text import dumps
from overtone.reading.columns.row_arrays import RowArrays
from overtone.reading.columns.trial_columns import Column
from overtone.space.nesting import flatten

MOST_PARAMETERS = 500
"""More hyperparameters are left out, in the order in which configs first have them."""

_MANY = 4096  # configs that are kept until they are taken together
_NUMBERS = frozenset({int, float})
_VALUES, _MISSING = "value", "missing"
_EXACT = 2**53  # smaller integers are floats, too


class ParameterFold:
    """Fills columns with the newest config of each trial.

    A column holds numbers until a trial has another value, such as None or a text; then each different
    value is a level.

    Args:
        arrays: Gets the arrays.
    """

    def __init__(self, arrays: RowArrays) -> None:
        self.names: list[str] = []
        self._arrays = arrays
        self._levels: dict[str, Levels | None] = {}
        self._integers: set[str] = set()  # columns of numbers that are all integers
        self._waiting: dict[int, Mapping[str, Any]] = {}

    def put(self, row: int, config: Mapping[str, Any]) -> None:
        """Take note of a trial's config."""
        if row in self._waiting:
            self.flush()
        self._waiting[row] = flatten(config)
        if len(self._waiting) >= _MANY:
            self.flush()

    def flush(self) -> None:
        """Write what was put."""
        if not self._waiting:
            return
        found: dict[str, tuple[list[int], list[Any]]] = {}
        shape: tuple[str, ...] = ()
        for row, flat in self._waiting.items():
            if (names := tuple(flat)) != shape:
                shape = names
                self._add(names)
            for name, value in flat.items():
                rows, cells = found.setdefault(name, ([], []))
                rows.append(row)
                cells.append(value)
        everyone = np.fromiter(self._waiting, np.int64, len(self._waiting))
        for name in self.names:
            self._arrays[_MISSING, name][everyone] = True
        for name, (rows, cells) in found.items():
            if name in self._levels:
                self._write(name, np.array(rows), cells)
        self._waiting.clear()

    def columns(self) -> dict[str, Column]:
        """Return the columns in the order of the space."""
        found = {}
        for name in self.names:
            levels = self._levels[name]
            values, missing = (self._arrays.view((kind, name)) for kind in (_VALUES, _MISSING))
            is_integer = levels is None and name in self._integers
            found[name] = Column(
                values, missing, None if levels is None else tuple(levels.values), is_integer
            )
        return found

    def data(self) -> list[tuple[str, bool, list[Any] | None]]:
        """Return name, whether all numbers are integers, and levels of each column."""
        return [
            (name, name in self._integers, None if (levels := self._levels[name]) is None else levels.values)
            for name in self.names
        ]

    def restore(
        self, data: Iterable[tuple[str, bool, list[Any] | None]], arrays: Mapping[str, NDArray[Any]]
    ) -> None:
        """Go on from `data`.

        Args:
            arrays: The arrays by kind and name, with a blank in between.
        """
        for name, is_integer, levels in data:
            self.names.append(name)
            self._levels[name] = None if levels is None else Levels(levels)
            dtype, fill = (np.float64, nan) if levels is None else (np.int32, -1)
            self._arrays.restore((_VALUES, name), dtype, fill, arrays[f"{_VALUES} {name}"])
            self._arrays.restore((_MISSING, name), np.bool_, True, arrays[f"{_MISSING} {name}"])
            if is_integer:
                self._integers.add(name)

    def _add(self, names: Sequence[str]) -> None:
        """Add new names, each after the name before it in the config."""
        place = 0
        for name in names:
            if name in self._levels:
                place = self.names.index(name) + 1
            elif len(self.names) < MOST_PARAMETERS:
                self.names.insert(place, name)
                place += 1
                self._levels[name] = None
                self._integers.add(name)
                self._arrays.add((_VALUES, name), np.float64, nan)
                self._arrays.add((_MISSING, name), np.bool_, True)

    def _write(self, name: str, rows: NDArray[np.int64], cells: Sequence[Any]) -> None:
        levels, kinds = self._levels[name], set(map(type, cells))
        if levels is None and not kinds <= _NUMBERS:
            levels = self._to_levels(name)
        if levels is not None:
            values: Any = levels.codes(cells)
        else:
            values = list(map(real, cells)) if int in kinds else cells
            if float in kinds:
                self._integers.discard(name)
        self._arrays[_VALUES, name][rows] = values
        self._arrays[_MISSING, name][rows] = False

    def _to_levels(self, name: str) -> Levels:
        """Make a column of numbers a column of categories."""
        levels = self._levels[name] = Levels()
        numbers = self._arrays.view((_VALUES, name))
        there = np.flatnonzero(~self._arrays.view((_MISSING, name)))
        kind = int if name in self._integers else float
        known = [kind(one) if one - one == 0 else one for one in numbers[there].tolist()]
        self._arrays.add((_VALUES, name), np.int32, -1)
        self._arrays[_VALUES, name][there] = levels.codes(known)
        return levels


def are_exact(columns: Mapping[str, Column]) -> bool:
    """Return whether the columns have all that the configs have: each value, and nothing was rounded."""
    if not columns or len(columns) >= MOST_PARAMETERS:
        return False
    if any(one.is_integer and (np.abs(one.values[~one.missing]) >= _EXACT).any() for one in columns.values()):
        return False
    # a config without hyperparameters is a value of its own
    return not np.logical_and.reduce([one.missing for one in columns.values()]).any()


class Levels:
    """The different values of a column of categories, in the order of appearance.

    Values of different types are different: 1, 1.0 and True are three levels.
    """

    def __init__(self, values: Iterable[Any] = ()) -> None:
        self.values: list[Any] = []
        self._codes: dict[Any, int] = {}
        self.codes(values)

    def codes(self, cells: Iterable[Any]) -> list[int]:
        """Return the code of each value."""
        return [
            code if (code := self._codes.get(key := _identity(one))) is not None else self._added(key, one)
            for one in cells
        ]

    def _added(self, key: Any, value: Any) -> int:
        self._codes[key] = code = len(self.values)
        self.values.append(value)
        return code


def _identity(value: Any) -> Any:
    return value if type(value) is str else (type(value).__name__, dumps(value))
