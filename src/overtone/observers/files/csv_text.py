"""A row of a CSV file as text."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from json.encoder import encode_basestring_ascii
from typing import Any, NamedTuple


class _Echo:
    """A file whose `write` returns the line that it was given, so that `writerow` does."""

    def write(self, text: str) -> str:
        return text[:-2]


# a cell with a character of it is quoted: before Python 3.13 no other line break is
_writer = csv.writer(_Echo(), lineterminator="\r\n")
_is_plain = re.compile(r"[A-Za-z0-9_./:=-]+").fullmatch


def _text(value: str) -> str:
    return value if _is_plain(value) else str(_writer.writerow(("", value)))[1:]


CELLS: dict[type, Callable[[Any], str]] = {
    float: repr,
    int: repr,
    bool: repr,
    str: _text,
    type(None): lambda _: "",
}
"""Functions from values to cells, by the types that need no writer."""


class RowsAlike:
    """Cuts rows out of the JSON text of results, where each has the names and types of the last one.

    A number has the same text in both formats, and to make the text of a float takes longest.

    Args:
        names: The columns, in their order.
    """

    def __init__(self, names: tuple[str, ...]) -> None:
        self._names = names
        self._like: _Like | None = _newest.get(names)  # of another trial, perhaps
        self._n_others = 0

    def cut(self, raw: str) -> str | None:
        """Return the row of a result in JSON text; None if its names or types are not those of the last."""
        like = self._like
        found = like.pattern(raw) if like is not None else None
        return None if found is None or like is None else like.template % found.groups()

    def cut_all(self, raws: Sequence[str], ending: str) -> str | None:
        """Return the rows of results as lines, each with `ending` after its cells; None as for `cut`."""
        like = self._like
        found = like.find_all("\n".join(raws)) if like is not None else ()
        if like is None or len(found) != len(raws):
            return None
        line = f"{like.template}{ending.replace('%', '%%')}\n"
        return line * len(raws) % tuple(chain.from_iterable(found))

    def text(self, raw: str, metrics: Mapping[str, Any]) -> str:
        """Return the row of `metrics`, of which `raw` is the JSON text, if it is not empty."""
        cells = self.cut(raw)
        if cells is not None:
            return cells
        self._n_others += 1
        if raw and self._n_others <= _MOST_TRIES and tuple(metrics) == self._names:
            if self._names in _newest:
                self._like = _like(self._names, tuple([_kind(value) for value in metrics.values()]))
            elif len(_newest) >= _MOST_SHAPES:
                _newest.clear()
            _newest[self._names] = self._like
        return row_text(map(metrics.get, self._names))


_MOST_TRIES = 5
_MOST_SHAPES = 64
_PATTERNS = {float: r"(-?\d[-+.e\d]*)", int: r"(-?\d+)", str: '"([A-Za-z0-9_./:-]+)"'}
_CONSTANTS = {None: ("null", ""), True: ("true", "True"), False: ("false", "False")}


class _Like(NamedTuple):
    pattern: Callable[[str], re.Match[str] | None]
    find_all: Callable[[str], list[tuple[str, ...]]]
    template: str


_newest: dict[tuple[str, ...], _Like | None] = {}
"""By columns, what the newest rows had in common; None after one row, for which nothing is compiled."""


def _kind(value: Any) -> Any:
    """Return what rows must have in common here: a type, or a constant."""
    return value if value is None or type(value) is bool else type(value)


@lru_cache(64)
def _like(names: tuple[str, ...], kinds: tuple[Any, ...]) -> _Like | None:
    parts, cells = [], []
    for name, kind in zip(names, kinds, strict=True):
        if kind in _CONSTANTS:
            value, cell = _CONSTANTS[kind]
        elif kind in _PATTERNS:
            value, cell = _PATTERNS[kind], "%s"
        else:
            return None
        parts.append(f"{re.escape(encode_basestring_ascii(name))}:{value}")
        cells.append(cell)
    if cells.count("%s") < 2:  # `findall` makes tuples of two groups or more
        return None
    pattern = re.compile(rf"^\{{{','.join(parts)}\}}$", re.ASCII | re.MULTILINE)
    return _Like(pattern.fullmatch, pattern.findall, ",".join(cells))


def row_text(values: Iterable[Any]) -> str:
    """Return the cells of a row as `csv.writer` writes them, without the end of the line.

    The writer looks at each character of a number for what would have to be quoted.
    """
    cells = list(values)
    try:
        return ",".join([CELLS[type(cell)](cell) for cell in cells]) or '""'  # an empty line is not a row
    except KeyError:  # something else, such as a list
        return str(_writer.writerow(cells))
