"""Rows of different lengths: arrays padded with NaN, or lists."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite, isnan
from typing import Any

from overtone.errors import ArgumentError

Rows = Sequence[Sequence[float]]


def as_rows(name: str, values: Any) -> Rows:
    """Return an array [row, iteration], a frame as an array, or lists of numbers.

    Args:
        name: The name of the column, for errors.

    Raises:
        ValueError: `values` is none of these, or has no row.
    """
    if hasattr(values, "to_numpy"):  # indexing a frame would give its columns
        values = values.to_numpy()
    shape = getattr(values, "shape", None)
    if shape is not None:
        if len(shape) != 2:
            raise ArgumentError(f"{name}: an array of shape {tuple(shape)}: it must be [row, iteration]")
        if values.dtype.kind not in "fiub":
            raise ArgumentError(f"{name}: an array of {values.dtype}: it must be one of numbers")
        found: Rows = values
    else:
        found = _listed(name, values)
    if not len(found):
        raise ArgumentError(f"{name}: a table needs at least one row")
    return found


def _listed(name: str, values: Any) -> Rows:
    if isinstance(values, str) or not hasattr(values, "__iter__"):
        raise ArgumentError(
            f"{name} is {values!r:.100}: it must be an array [row, iteration], or a list of rows"
        )
    rows: list[list[float]] = []
    for row in values:
        numbers = None if isinstance(row, str) or not hasattr(row, "__iter__") else [*row]
        if numbers is None or any(isinstance(one, str) or not hasattr(one, "__float__") for one in numbers):
            raise ArgumentError(
                f"{name}: row {len(rows)} is {row!r:.100}: it must be a list of numbers, one an iteration"
            )
        rows.append(numbers)
    return rows


def lengths_of(columns: Sequence[Rows], elapsed: Rows | None, given: Sequence[int] | None) -> list[int]:
    """Return the number of iterations of each row.

    Raises:
        ValueError: A column is shorter than another, or than `given` says.
    """
    found: list[int] = []
    if given is not None and (not hasattr(given, "__len__") or len(given) != len(columns[0])):
        raise ArgumentError(f"lengths={given!r:.100}: give one for each of the {len(columns[0])} rows")
    every = [*columns, elapsed] if elapsed is not None else [*columns]
    for row in range(len(columns[0])):
        least = min(len(one[row]) for one in every)
        most = max(len(one[row]) for one in every)
        if given is not None:
            if not 0 <= int(given[row]) <= least:
                raise ArgumentError(f"row {row}: lengths says {given[row]}, and there are {least} iterations")
            found.append(int(given[row]))
            continue
        if least != most:
            raise ArgumentError(f"row {row} has {least} iterations in one column and {most} in another")
        length = least
        while length and all(isnan(one[row][length - 1]) for one in columns):
            length -= 1
        found.append(length)
    return found


def check_elapsed(elapsed: Rows, lengths: Sequence[int]) -> None:
    """Check that the time of each row never decreases.

    Raises:
        ValueError: The time decreases, or is not a finite number.
    """
    for row, n in enumerate(lengths):
        before = 0.0
        for t, after in enumerate(map(float, elapsed[row][:n]), 1):
            if not isfinite(after) or after < before:
                raise ArgumentError(
                    f"row {row}: iteration {t} ends after {after} s, the one before after {before} s"
                )
            before = after
