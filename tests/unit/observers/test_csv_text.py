"""A row has the same text, whichever way it is made."""

from __future__ import annotations

import csv
import io
import math
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from overtone.observers.files.csv_text import RowsAlike, row_text
from overtone.worker.protocol import encode

CELLS = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
    | st.sampled_from(["", "a,b", 'q"x', "\r", "\n", "2026-01-01", [1], "null", "%s", 1e-7, 10**20])
)  # fmt: skip


def by_csv(cells: list[Any]) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\r\n").writerow(cells)
    return out.getvalue()[:-2]


@settings(max_examples=100, deadline=None)
@given(cells=st.lists(CELLS, min_size=1, max_size=6))
def test_a_row_is_as_csv_writes_it(cells: list[Any]) -> None:
    assert row_text(cells) == by_csv(cells)


@settings(max_examples=100, deadline=None)
@given(rows=st.lists(st.tuples(CELLS, CELLS, CELLS), min_size=3, max_size=8))
def test_rows_cut_out_of_their_json_are_the_same(rows: list[tuple[Any, ...]]) -> None:
    names = ("loss", 'a "b",%s', "date")
    alike = RowsAlike(names)
    for row in rows:
        for again in (row, row):
            metrics = dict(zip(names, again, strict=True))
            raw = encode(metrics)
            assert alike.text(raw, metrics) == by_csv(list(again))


def test_an_unlike_row_in_between_changes_nothing() -> None:
    alike = RowsAlike(("a", "b"))
    for row in [(1.5, None), (2.5, None), (math.nan, None), (3, True), (0.25, "x,y"), (4.5, None)] * 4:
        metrics = {"a": row[0], "b": row[1]}
        assert alike.text(encode(metrics), metrics) == by_csv(list(row))


def test_rows_cut_at_once_are_those_cut_one_by_one() -> None:
    names = ("a", "date", "n")
    alike = RowsAlike(names)
    results = [{"a": 1 / (i + 1), "date": "2026-01-01", "n": i} for i in range(10)]
    raws = [encode(result) for result in results]
    assert alike.cut_all(raws, ",50 %") is None  # nobody knows what they have in common
    for raw, result in zip(raws, results, strict=True):
        alike.text(raw, result)
    assert alike.cut_all(raws, ",50 %") == "".join(f"{alike.cut(raw)},50 %\n" for raw in raws)
    assert alike.cut_all([*raws, encode({"a": 1.5, "date": "a b", "n": 2})], "") is None
    assert alike.cut_all([*raws, encode({"a": 1.5})], "") is None
