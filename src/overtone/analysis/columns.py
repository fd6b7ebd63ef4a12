"""Results as columns, made block by block: a frame of a million results needs no dict for each of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from operator import itemgetter
from typing import Any

from overtone.analysis.frames import flatten
from overtone.core.utf8 import encodable
from overtone.journal.garbage import not_collecting
from overtone.reading.trial_index import Block

_NONE = type(None)


@dataclass(frozen=True, slots=True)
class _Piece:
    """The cells of a column from row `start` on.

    Attributes:
        cells: A list, or an array of one type.
        kind: "float", "int" or "bool" for an array; "object" for a list.
        missing: Where an array of floats stands for None; None for nowhere.
    """

    start: int
    cells: Any
    kind: str
    missing: Any = None


def columns_of(blocks: Iterable[Block]) -> dict[str, Any]:
    """Return each column of the table that has the rows of all blocks, in the order of first appearance.

    Returns:
        An array for numbers only (a number that is missing is NaN), and for truth values only if none is
        missing; else a list, with None for what is missing.
    """
    pieces: dict[str, list[_Piece]] = {}
    start = 0
    with not_collecting():
        for block in blocks:
            for name, piece in _pieces(block, start):
                column = pieces.setdefault(name, [])
                if piece is not None:
                    column.append(piece)
            start += len(block.rows)
    # one column at a time, so that not all of them are there twice
    return {name: _assembled(pieces.pop(name), start) for name in list(pieces)}


def _pieces(block: Block, start: int) -> Iterator[tuple[str, _Piece | None]]:
    """Yield the columns of a block; None for a column without values."""
    rows, constant = block.rows, flatten(block.constant)
    found = _transposed(rows)
    kinds = {name: set(map(type, cells)) for name, cells in found.items()}
    if any(dict in one for one in kinds.values()):
        rows = [flatten(row) for row in rows]
        found = _transposed(rows)
        kinds = {name: set(map(type, cells)) for name, cells in found.items()}
    overridden = {*constant, *block.constant, *block.cells}
    first = dict.fromkeys(chain(("timesteps_total",), rows[0] if rows else ()))  # later ones come last
    for name in first:
        if name not in overridden:
            yield encodable(name), _piece(start, found.get(name, ()), kinds.get(name))
    for name, value in constant.items():
        yield name, _repeated(start, value, len(rows))
    late: list[tuple[str, _Piece | None]] = []
    for name, cells in block.cells.items():
        made = encodable(name), _given(start, cells)
        if len(cells) and cells[0] is None:
            late.append(made)
        else:
            yield made
    yield from late
    for name, cells in found.items():
        if name not in first and name not in overridden:
            yield encodable(name), _piece(start, cells, kinds[name])


def _transposed(rows: Sequence[dict[str, Any]]) -> dict[str, Sequence[Any]]:
    """Return the cells of each column, in the order of first appearance."""
    names = tuple(rows[0]) if rows else ()
    if len(names) > 1 and sum(map(len, rows)) == len(names) * len(rows):
        try:
            return dict(zip(names, zip(*map(itemgetter(*names), rows), strict=True), strict=True))
        except KeyError:  # as many names, but others
            pass
    return {name: [row.get(name) for row in rows] for name in dict.fromkeys(chain.from_iterable(rows))}


def _repeated(start: int, value: Any, n: int) -> _Piece | None:
    """Return the same cell in `n` rows."""
    import numpy as np

    one = _piece(start, [value], {type(value)})
    if one is None:
        return None
    return _Piece(start, one.cells * n if one.kind == "object" else np.repeat(one.cells, n), one.kind)


def _given(start: int, cells: Any) -> _Piece | None:
    """Return cells that a block has as a list or as an array."""
    kind = {"f": "float", "i": "int", "b": "bool"}.get(getattr(getattr(cells, "dtype", None), "kind", ""))
    return _piece(start, cells, set(map(type, cells))) if kind is None else _Piece(start, cells, kind)


def _piece(start: int, cells: Sequence[Any], kinds: set[type] | None) -> _Piece | None:
    """Return the cells, of these types, as compactly as possible; None if all are missing."""
    import numpy as np

    if not kinds or kinds == {_NONE}:
        return None
    if kinds == {float}:
        return _Piece(start, np.array(cells, np.float64), "float")
    if kinds == {bool}:
        return _Piece(start, np.array(cells, np.bool_), "bool")
    if kinds == {int}:
        try:
            return _Piece(start, np.array(cells, np.int64), "int")
        except OverflowError:
            pass
    if kinds == {float, _NONE}:
        missing = np.array([one is None for one in cells])
        return _Piece(start, np.array(cells, np.float64), "float", missing)
    same: dict[str, str] = {}  # a text that many cells hold is kept once
    for one in cells:
        if type(one) is str and one not in same:
            same[one] = encodable(one)
    return _Piece(start, [same[one] if type(one) is str else one for one in cells], "object")


def _assembled(pieces: Sequence[_Piece], n: int) -> Any:
    import numpy as np

    kinds = {piece.kind for piece in pieces}
    is_full = sum(len(piece.cells) for piece in pieces) == n and all(one.missing is None for one in pieces)
    column: Any = None
    if kinds == {"int"} and is_full:
        column = np.empty(n, np.int64)
    elif kinds == {"bool"} and is_full:
        column = np.empty(n, np.bool_)
    elif kinds and kinds <= {"int", "float"}:
        column = np.full(n, np.nan)
    if column is not None:
        for piece in pieces:
            column[piece.start : piece.start + len(piece.cells)] = piece.cells
        return column
    column = [None] * n
    for piece in pieces:
        cells = piece.cells if piece.kind == "object" else piece.cells.tolist()
        if piece.missing is not None:
            cells = [None if gone else one for one, gone in zip(cells, piece.missing, strict=True)]
        column[piece.start : piece.start + len(cells)] = cells
    return column
