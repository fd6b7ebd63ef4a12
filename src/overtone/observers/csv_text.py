"""A row of a CSV file as text."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterable
from typing import Any


class _Echo:
    """A file whose `write` returns the line that it was given, so that `writerow` does."""

    def write(self, text: str) -> str:
        return text[:-2]


# a cell with a character of it is quoted: before Python 3.13 no other line break is
_writer = csv.writer(_Echo(), lineterminator="\r\n")
_is_plain = re.compile(r"[A-Za-z0-9_./:-]+").fullmatch


def _text(value: str) -> str:
    return value if _is_plain(value) else str(_writer.writerow(("", value)))[1:]


_CELLS: dict[type, Callable[[Any], str]] = {
    float: repr,
    int: repr,
    bool: repr,
    str: _text,
    type(None): lambda _: "",
}


def row_text(values: Iterable[Any]) -> str:
    """Return the cells of a row as `csv.writer` writes them, without the end of the line.

    The writer looks at each character of a number for what would have to be quoted.
    """
    cells = list(values)
    try:
        return ",".join([_CELLS[type(cell)](cell) for cell in cells]) or '""'  # an empty line is no row
    except KeyError:  # something else, such as a list
        return str(_writer.writerow(cells))
