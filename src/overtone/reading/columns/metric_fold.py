"""Metrics of trials as columns: the last, least and greatest value of each trial, batch by batch."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import nan
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from overtone.core.goal import OWN_FIELDS, is_number, real
from overtone.errors import StorageError
from overtone.journal.text import loads
from overtone.reading.columns.row_arrays import RowArrays
from overtone.reading.columns.trial_columns import MetricColumns
from overtone.space.nesting import flatten

MOST_METRICS = 100
"""More metrics are left out, in the order in which results first have them; goals never are."""

TIME = "time_total_s"
"""The only field of Overtone's own that is a metric here, unless a goal names another."""

_MANY = 4096  # results that are kept until they are taken together
_NUMBERS = frozenset({int, float})
_EXACT = 2**53  # smaller integers are floats, too
_FINITE = "is_finite"
_FLOATS, _INTEGERS = ("last", "min", "max"), ("last_t", "min_t", "max_t")


class MetricFold:
    """Fills columns with the numbers of results.

    Args:
        arrays: Gets the arrays.
    """

    def __init__(self, arrays: RowArrays) -> None:
        self.names: dict[str, None] = {}
        self.inexact: set[str] = set()  # with numbers that float64 may have rounded
        self.broken: set[str] = set()  # with numbers that are not finite
        self._arrays = arrays
        self._ignored = OWN_FIELDS - {TIME}
        self._goals: frozenset[str] = frozenset()
        self._rows: list[int] = []
        self._ts: list[int] = []
        self._texts: list[bytes] = []

    def aim(self, goals: Iterable[str]) -> None:
        """Keep these metrics in any case, from now on."""
        self._goals = frozenset(goals)
        self._ignored = OWN_FIELDS - {TIME} - self._goals

    def put(self, row: int, t: int, text: bytes) -> None:
        """Take note of a result, whose metrics are JSON text."""
        self._rows.append(row)
        self._ts.append(t)
        self._texts.append(text)
        if len(self._rows) >= _MANY:
            self.flush()

    def flush(self) -> None:
        """Write what was put.

        Raises:
            StorageError: The metrics of a result are not an object.
        """
        if not self._rows:
            return
        rows, ts = np.array(self._rows), np.array(self._ts)
        results = decoded(self._texts)
        self._rows, self._ts, self._texts = [], [], []
        for name, places, values in self._numbers(results):
            if name in self.names or self._add(name):
                self._write(name, rows[places], ts[places], values)

    def columns(self) -> dict[str, MetricColumns]:
        """Return the columns."""
        return {name: self._column(name) for name in self.names}

    def _column(self, name: str) -> MetricColumns:
        last, least, greatest = (self._arrays.view((kind, name)) for kind in _FLOATS)
        last_t, least_t, greatest_t = (self._arrays.view((kind, name)) for kind in _INTEGERS)
        is_whole = name not in self.broken
        is_finite = None if is_whole else self._arrays.view((_FINITE, name))
        is_exact = name not in self.inexact
        return MetricColumns(
            last, least, greatest, last_t, least_t, greatest_t, is_finite, is_whole, is_exact
        )

    def restore(self, names: Iterable[str], arrays: Mapping[str, NDArray[Any]]) -> None:
        """Go on with these metrics.

        Args:
            arrays: The arrays by kind and name, with a blank in between.
        """
        for name in names:
            self.names[name] = None
            for kind in _FLOATS:
                self._arrays.restore((kind, name), np.float64, nan, arrays[f"{kind} {name}"])
            for kind in _INTEGERS:
                self._arrays.restore((kind, name), np.int64, 0, arrays[f"{kind} {name}"])
            self._arrays.restore((_FINITE, name), np.bool_, True, arrays[f"{_FINITE} {name}"])

    def _add(self, name: str) -> bool:
        if len(self.names) >= MOST_METRICS and name not in self._goals:
            return False
        self.names[name] = None
        for kind in _FLOATS:
            self._arrays.add((kind, name), np.float64, nan)
        for kind in _INTEGERS:
            self._arrays.add((kind, name), np.int64, 0)
        self._arrays.add((_FINITE, name), np.bool_, True)
        return True

    def _numbers(
        self, results: Sequence[Mapping[str, Any]]
    ) -> Iterable[tuple[str, Any, NDArray[np.float64]]]:
        """Yield the numbers of each metric: name, the places of results that have it, and values."""
        names = [name for name in results[0] if name not in self._ignored]
        if names and sum(map(len, results)) == len(results[0]) * len(results):
            try:
                cells = [list(map(itemgetter(name), results)) for name in names]
            except KeyError:  # as many names, but others
                cells = []
            if cells and not any(dict in set(map(type, column)) for column in cells):
                for name, column in zip(names, cells, strict=True):
                    if (kinds := set(map(type, column))) <= _NUMBERS:
                        yield name, slice(None), self._floats(name, column, kinds)
                    elif kinds & _NUMBERS:
                        places = [i for i, one in enumerate(column) if is_number(one)]
                        yield name, places, self._floats(name, [column[i] for i in places], kinds)
                return
        found: dict[str, tuple[list[int], list[Any]]] = {}
        for place, result in enumerate(results):
            for name, value in flatten(result).items():
                if is_number(value) and name not in self._ignored:
                    places, values = found.setdefault(name, ([], []))
                    places.append(place)
                    values.append(value)
        for name, (places, values) in found.items():
            yield name, places, self._floats(name, values, set(map(type, values)))

    def _floats(self, name: str, numbers: Sequence[Any], kinds: set[type]) -> NDArray[np.float64]:
        """Return numbers of these types as floats, and note whether integers may have been rounded."""
        if int not in kinds:
            return np.array(numbers, np.float64)
        if any(type(one) is int and not -_EXACT <= one <= _EXACT for one in numbers):
            self.inexact.add(name)
        return np.array(list(map(real, numbers)), np.float64)

    def _write(
        self, name: str, rows: NDArray[np.int64], ts: NDArray[np.int64], values: NDArray[np.float64]
    ) -> None:
        finite = np.isfinite(values)
        self._arrays[_FINITE, name][rows] = finite
        if not finite.all():
            self.broken.add(name)
            rows, ts, values = rows[finite], ts[finite], values[finite]
        if not len(rows):
            return
        at = {kind: self._arrays[kind, name] for kind in (*_FLOATS, *_INTEGERS)}
        at["last"][rows] = values  # of equal rows, the last one counts
        at["last_t"][rows] = ts
        for kind, sign in (("min", 1.0), ("max", -1.0)):
            order = np.lexsort((values * sign, rows))  # it is stable: the first of equal values stays first
            ordered = rows[order]
            best = order[np.concatenate(([True], ordered[1:] != ordered[:-1]))]
            best = best[~(at[kind][rows[best]] * sign <= values[best] * sign)]
            at[kind][rows[best]] = values[best]
            at[f"{kind}_t"][rows[best]] = ts[best]


def decoded(texts: Sequence[bytes]) -> list[dict[str, Any]]:
    """Return the metrics of results, from their JSON texts.

    Raises:
        StorageError: One of them is not an object.
    """
    try:
        found: list[dict[str, Any]] = loads(f"[{b','.join(texts).decode()}]")
        if len(found) == len(texts) and set(map(type, found)) <= {dict}:
            return found
    except ValueError:  # one of them: it is named below
        pass
    return [_decoded(text) for text in texts]


def _decoded(text: bytes) -> dict[str, Any]:
    try:
        found = loads(text.decode())
    except ValueError as error:
        raise StorageError(f"a result that begins with {text[:60]!r} is not data: {error}") from error
    if type(found) is not dict:
        raise StorageError(f"a result that begins with {text[:60]!r} is not an object")
    return found
