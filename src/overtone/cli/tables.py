"""Tables for people: as wide as the terminal and in colour; whole and plain where they are piped."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from typing import NamedTuple

from overtone.observers.display.plain_text import clean, cut, folded, pad, width

_GAP = 2
_WIDEST_LABEL = 32

STYLES = {
    "running": "cyan",
    "finished": "green",
    "stopped": "dim",
    "failed": "red",
    "paused": "blue",
    "pending": "dim",
    "interrupted": "yellow",
    "crashed": "yellow",
    "damaged": "red",
    "TERMINATED": "green",
    "RUNNING": "cyan",
    "INTERRUPTED": "yellow",
    "PAUSED": "blue",
    "PENDING": "dim",
    "ERROR": "red",
}
"""The colour of each state and status."""


class TableColumn(NamedTuple):
    """A column of a table.

    Attributes:
        header: The title.
        right: Whether cells are aligned to the right.
        keep: The priority: if there is no room, columns with the smallest `keep` are dropped first.
        least: The minimum width; 0 means never narrower than the cells.
    """

    header: str
    right: bool = False
    keep: int = 9
    least: int = 0


def terminal_columns() -> int | None:
    """Return the width of the terminal that standard output is; None where it is none."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def show_table(columns: Sequence[TableColumn], rows: Sequence[Sequence[str]]) -> None:
    """Print the table. Cells are cleaned here."""
    cells = [[clean(cell) for cell in row] for row in rows]
    room = terminal_columns()
    shown, widths = fitted(columns, cells, room)
    heads = [cut(clean(columns[i].header), widths[i]) for i in shown]
    lines = [[cut(row[i], widths[i]) for i in shown] for row in cells]
    if room is None:
        for line in [heads, *lines]:
            padded = [pad(cell, widths[i], columns[i].right) for i, cell in zip(shown, line, strict=True)]
            print((" " * _GAP).join(padded).rstrip())
        return
    _draw([columns[i] for i in shown], [widths[i] for i in shown], heads, lines)


def fitted(
    columns: Sequence[TableColumn], cells: Sequence[Sequence[str]], room: int | None
) -> tuple[list[int], dict[int, int]]:
    """Return the indices of the shown columns, and their widths.

    Empty columns are dropped, then columns with the smallest `keep`; then columns are narrowed.
    """
    shown = [i for i in range(len(columns)) if not cells or any(row[i] for row in cells)]
    widths = {i: max([width(columns[i].header), *[width(row[i]) for row in cells]]) for i in shown}
    if room is None:
        return shown, widths

    def needed(least: bool) -> int:
        sums = sum(
            min(widths[i], columns[i].least) if least and columns[i].least else widths[i] for i in shown
        )
        return sums + _GAP * (len(shown) - 1)

    while needed(least=True) > room and len(shown) > 1:
        shown.remove(min(reversed(shown), key=lambda i: columns[i].keep))
    while needed(least=False) > room:
        wide = [i for i in shown if columns[i].least and widths[i] > columns[i].least]
        if not wide:
            break
        widths[max(wide, key=lambda i: widths[i] - columns[i].least)] -= 1
    return shown, widths


def _draw(
    columns: Sequence[TableColumn], widths: Sequence[int], heads: list[str], lines: list[list[str]]
) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, padding=(0, _GAP, 0, 0), pad_edge=False, header_style="bold")
    for column, columns_wide, head in zip(columns, widths, heads, strict=True):
        table.add_column(
            Text(head), justify="right" if column.right else "left", width=columns_wide, no_wrap=True
        )
    for line in lines:
        table.add_row(*[Text(cell, style=STYLES.get(cell, "")) for cell in line])
    Console(highlight=False, emoji=False, markup=False).print(table)


def show_facts(facts: Sequence[tuple[str, str]]) -> None:
    """Print `name  value` lines; empty values are left out, long values are wrapped below themselves."""
    kept = [(cut(clean(name), _WIDEST_LABEL), value) for name, value in facts if value]
    if not kept:
        return
    margin = max(width(name) for name, _ in kept) + _GAP
    room = terminal_columns()
    for name, value in kept:
        text = clean(value)
        lines = [text] if room is None else folded(text, max(20, room - margin))
        print(f"{styled(pad(name, margin), 'bold')}{lines[0]}")
        for line in lines[1:]:
            print(" " * margin + line)


def say(text: str = "", style: str = "") -> None:
    """Print one cleaned text, folded to the terminal."""
    room = terminal_columns()
    cleaned = clean(text)
    for line in [cleaned] if room is None else folded(cleaned, max(20, room)):
        print(styled(line, style))


_CODES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "blue": "34", "cyan": "36"}


def styled(text: str, style: str) -> str:
    """Return `text` in a colour, where standard output is a terminal that shows colours."""
    import os

    if not style or not sys.stdout.isatty() or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return text
    return f"\x1b[{_CODES[style]}m{text}\x1b[0m"
