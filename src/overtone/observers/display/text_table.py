"""The boxed table of the status block: +---+ borders and a |---+---| separator."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from overtone.observers.display.plain_text import clean, cut, number, pad, width

_HEADER_ROOM = 2  # a column is at least this much wider than its header, as in the articles


def boxed(headers: Sequence[str], rows: Sequence[Sequence[Any]], max_width: int | None = None) -> list[str]:
    """Return the lines of a table. Numbers line up on their decimal point, the rest to the left.

    Args:
        headers: One a column.
        rows: Cells; None is empty.
        max_width: Texts and headers above this many columns are cut; the first column never is.
    """
    columns = [
        _column(header, [row[i] for row in rows], None if i == 0 else max_width)
        for i, header in enumerate(headers)
    ]
    rules = ["-" * (width(column[0]) + 2) for column in columns]
    border = "+" + "+".join(rules) + "+"
    lines = [border, _line(columns, 0), "|" + "+".join(rules) + "|"]
    lines += [_line(columns, i + 1) for i in range(len(rows))]
    return [*lines, border]


def _line(columns: list[list[str]], i: int) -> str:
    return "| " + " | ".join(column[i] for column in columns) + " |"


def _column(header: str, cells: Sequence[Any], max_width: int | None) -> list[str]:
    """Return the header and the cells, all equally wide."""
    filled = [cell for cell in cells if cell is not None and cell != ""]
    numeric = bool(filled) and all(
        isinstance(cell, (int, float)) and not isinstance(cell, bool) for cell in filled
    )
    header = clean(header)
    if max_width is not None:
        header = cut(header, max_width, keep_end=True)
    if numeric:
        texts = ["" if cell is None or cell == "" else number(cell) for cell in cells]
        after = [_after_point(text) if text else -1 for text in texts]
        most = max(after)
        texts = [
            text + " " * (most - places) if text else "" for text, places in zip(texts, after, strict=True)
        ]
    else:
        texts = ["" if cell is None else _text(cell) for cell in cells]
        if max_width is not None:
            texts = [cut(text, max_width) for text in texts]
    columns = max([width(header) + _HEADER_ROOM, *map(width, texts)])
    return [pad(text, columns, right=numeric) for text in (header, *texts)]


def _text(cell: Any) -> str:
    return f"{cell:g}" if isinstance(cell, float) else clean(cell)


def _after_point(text: str) -> int:
    """Return the number of characters after the decimal point (or the exponent); -1 for whole numbers."""
    place = text.rfind(".")
    if place < 0:
        place = text.rfind("e")
    return len(text) - place - 1 if place >= 0 else -1
