"""The columns of one trial's CSV file, and what a wider table makes of the rows that are there.

    loss, training_iteration, ...   trial_id, ..., config/lr   val_loss, ...
    first: reported with the        constant: the same in      late: reported for the first
    first result                    each row                   time by a later result

Late columns stand at the end of each line. So a row is widened by commas at its end, and no cell
is parsed or written again.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from threading import Lock
from typing import Any, NamedTuple

from overtone.core.utf8 import encodable
from overtone.observers.files.constant_text import ConstantText
from overtone.observers.files.csv_text import RowsAlike, row_text

_limiting = Lock()  # the longest cell is a setting of the whole process


class Columns(NamedTuple):
    """The columns that a table has from its first row on; most trials of an experiment share them.

    Attributes:
        first: Names whose cells may differ from row to row.
        constant: The other names.
        known: All names.
        header: The first line.
    """

    first: tuple[str, ...]
    constant: tuple[str, ...]
    known: frozenset[str]
    header: str


@lru_cache(64)
def columns(first: tuple[str, ...], constant: tuple[str, ...]) -> Columns:
    """Return the columns of a new table."""
    if "timesteps_total" not in first:
        first = (*first, "timesteps_total")
    both = (*first, *constant)
    return Columns(first, constant, frozenset(both), encodable(row_text(both)))


class Sheet:
    """One trial's columns, its constant cells, and the rows that wait for a wider file.

    Attributes:
        columns: The columns of its first row.
        constant: Has the constant cells.
        rows: Cuts the other cells out of a result.
        known: The names of all columns.
        late: The columns that came later.
        waiting: Rows that are not in the file yet, each with the number of late columns that it has.
        n_cells: How many cells the waiting rows have.
        n_written: How many late columns the file has.
        n_rows: How many rows the file had when rows began to wait.
        due_at: When the rows stop waiting, by the observer's clock.
    """

    __slots__ = (
        "columns", "constant", "due_at", "known", "late", "n_cells", "n_rows", "n_written", "rows", "waiting",
    )  # fmt: skip

    def __init__(self, columns: Columns, constant: ConstantText) -> None:
        self.columns = columns
        self.constant = constant
        self.rows = RowsAlike(columns.first)
        self.known: set[str] | frozenset[str] = columns.known
        self.late: list[str] = []
        self.waiting: list[tuple[int, str]] = []
        self.n_cells = self.n_written = self.n_rows = 0
        self.due_at = 0.0

    @property
    def names(self) -> list[str]:
        """All columns, in the order of the file."""
        return [*self.columns.first, *self.columns.constant, *self.late]

    @property
    def header(self) -> str:
        """The first line of the file as it is to be."""
        return header(self.columns, self.late)

    def add(self, names: Sequence[str]) -> None:
        """Take columns that are not in the file yet."""
        self.late += names
        if type(self.known) is frozenset:  # it is shared
            self.known = set(self.known)
        self.known |= set(names)

    def late_cells(self, metrics: Mapping[str, Any]) -> str:
        """Return the late cells of a result, with a comma before them."""
        return row_text(("", *map(metrics.get, self.late)))

    def widening(self) -> Widening:
        """Return the change that widens the file and adds the waiting rows; no row waits afterwards."""
        n_late, before = len(self.late), header(self.columns, self.late[: self.n_written])
        rows = [f"{line}{',' * (n_late - n)}\n" for n, line in self.waiting]
        made = Widening(before, self.header, n_late - self.n_written, "".join(rows), self.names)
        self.waiting, self.n_cells, self.n_written = [], 0, n_late
        return made


def sheet_of(names: list[str], constant: ConstantText) -> Sheet | None:
    """Return the sheet of a file that has columns of these names; None if they stand in another order."""
    fixed = constant.names
    at = names.index(fixed[0]) if fixed[0] in names else -1
    first, late = tuple(names[:at]), names[at + len(fixed) :]
    in_order = at > 0 and tuple(names[at : at + len(fixed)]) == fixed and "timesteps_total" in first
    if not in_order or len(set(names)) < len(names):
        return None
    sheet = Sheet(columns(first, fixed), constant)
    if late:
        sheet.add(late)
        sheet.n_written = len(late)
    return sheet


def header(columns: Columns, late: Sequence[str]) -> str:
    """Return the first line of a table with these columns and late ones."""
    return columns.header + encodable(row_text(("", *late))) if late else columns.header


@dataclass(frozen=True)
class Widening:
    """A function from a table's text to that of the same table with more columns and rows.

    Attributes:
        before: The first line that the table has, if nobody else wrote to it.
        after: The first line that it gets.
        n_more: How many columns more that is.
        rows: The rows that come to its end.
        names: All columns, in order.
    """

    before: str
    after: str
    n_more: int
    rows: str
    names: list[str]

    def __call__(self, text: str) -> str:
        old = f"{self.before}\n"
        if text.startswith(old):
            return f"{self.after}\n{_padded(text[len(old) :], ',' * self.n_more)}{self.rows}"
        return rearranged(text, self.names, self.after) + self.rows


def _padded(text: str, commas: str) -> str:
    """Return `text` with these commas at the end of each row."""
    end = f"{commas}\n"
    if '"' not in text:
        return text.replace("\n", end)
    pieces = text.split('"')  # every other one is inside of quotes, where a line break ends no row
    pieces[::2] = [piece.replace("\n", end) for piece in pieces[::2]]
    return '"'.join(pieces)


def names_of(text: str) -> list[str]:
    """Return the columns of the table in `text`."""
    return next(csv.reader(io.StringIO(text, newline="")), [])


def rearranged(text: str, names: list[str], header: str) -> str:
    """Return the table in `text` with the columns `names`, in that order; cells without a value are empty."""
    with _limiting:
        limit = csv.field_size_limit()
        csv.field_size_limit(max(limit, len(text) + 1))  # a cell may hold a text of any length
        try:
            rows = csv.DictReader(io.StringIO(text, newline=""))
            lines = [header, *[row_text([row.get(name) for name in names]) for row in rows]]
        finally:
            csv.field_size_limit(limit)
    return "".join(f"{line}\n" for line in lines)
