"""Rows of different lengths: arrays padded with NaN, or lists."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan
from typing import Any

Rows = Sequence[Sequence[float]]


def as_rows(values: Any) -> Rows:
    """An array [row, iteration] as it is, or lists of numbers.

    Raises:
        ValueError: It is neither, or there is no row.
    """
    shape = getattr(values, "shape", None)
    if shape is not None:
        if len(shape) != 2:
            raise ValueError(f"an array of shape {tuple(shape)}: it must be [row, iteration]")
        found: Rows = values
        return found
    rows: list[list[float]] = []
    for row in values:
        numbers = None if isinstance(row, str) or not hasattr(row, "__iter__") else [*row]
        if numbers is None or any(isinstance(one, str) or not hasattr(one, "__float__") for one in numbers):
            raise ValueError(
                f"row {len(rows)} is {row!r:.100}: it must be a list of numbers, one an iteration"
            )
        rows.append(numbers)
    if not rows:
        raise ValueError("a table needs at least one row")
    return rows


def lengths_of(columns: Sequence[Rows], elapsed: Rows | None, given: Sequence[int] | None) -> list[int]:
    """How many iterations each row has.

    Raises:
        ValueError: A column is shorter than another, or than `given` says.
    """
    found = []
    every = [*columns, elapsed] if elapsed is not None else [*columns]
    for row in range(len(columns[0])):
        least = min(len(one[row]) for one in every)
        most = max(len(one[row]) for one in every)
        if given is not None:
            if not 0 <= int(given[row]) <= least:
                raise ValueError(f"row {row}: lengths says {given[row]}, and there are {least} iterations")
            found.append(int(given[row]))
            continue
        if least != most:
            raise ValueError(f"row {row} has {least} iterations in one column and {most} in another")
        length = least
        while length and all(isnan(one[row][length - 1]) for one in columns):
            length -= 1
        found.append(length)
    return found
