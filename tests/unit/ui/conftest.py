"""Journals that grow, and a page that follows them."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from overtone.testing.scripted_journal import ScriptedJournal
from overtone.ui.data.binary_message import array_at, decoded, texts_at


class Page:
    """The table of a page: what `table.js` does with messages.

    Attributes:
        n, journal: The newest record, and the key of the columns.
        cells: The values of each column, by key; levels instead of codes, None for missing.
    """

    def __init__(self, message: bytes) -> None:
        header, data = decoded(message)
        assert header["rows"] is None
        self.n, self.journal, self.goals = header["n"], header["journal"], header["goals"]
        self.ids = list(texts_at(data, header["ids"]))
        assert len(self.ids) == header["length"]
        self.types = {one["key"]: one["dtype"] for one in header["arrays"]}
        self.flags = {one["key"]: (one["is_log"], one["is_integer"]) for one in header["arrays"]}
        self.cells = {one["key"]: _cells(one, data, one["levels"]) for one in header["arrays"]}

    def merge(self, message: bytes) -> None:
        """Take an update."""
        header, data = decoded(message)
        listed = {one["key"]: one for one in header["arrays"]}
        assert header["rows"] == "rows"
        assert header["journal"] == self.journal
        rows = array_at(data, listed.pop("rows")).tolist()
        ids = texts_at(data, header["ids"])
        self.ids += [""] * (header["length"] - len(self.ids))
        for row, trial_id in zip(rows, ids, strict=True):
            assert self.ids[row] in ("", trial_id)
            self.ids[row] = trial_id
        for key, place in listed.items():
            levels = place["levels"]
            levels = None if levels is None else {int(code): one for code, one in levels.items()}
            known = self.types.setdefault(key, place["dtype"])
            if place["dtype"] != known:  # whole numbers alone get wider
                assert {known, place["dtype"]} <= {"i1", "i2", "i4"}
                self.types[key] = max(known, place["dtype"])
            column = self.cells.setdefault(key, [])
            column += [None] * (header["length"] - len(column))
            for row, cell in zip(rows, _cells(place, data, levels), strict=True):
                column[row] = cell
            self.flags[key] = place["is_log"], place["is_integer"]
        self.n, self.goals = header["n"], header["goals"]

    def state(self) -> Any:
        """Return all that it shows."""
        cells, flags = (sorted(one.items()) for one in (self.cells, self.flags))
        return self.n, self.journal, self.goals, self.ids, cells, flags


def _cells(place: Any, data: bytes, levels: Any) -> list[Any]:
    values = array_at(data, place).tolist()
    if levels is not None:
        return [None if code < 0 else repr(levels[code]) for code in values]
    return [None if isinstance(one, float) and math.isnan(one) else one for one in values]


@pytest.fixture(scope="session")
def page() -> type[Page]:
    return Page


@pytest.fixture
def told(tmp_path: Path) -> ScriptedJournal:
    return ScriptedJournal(tmp_path / "exp")
