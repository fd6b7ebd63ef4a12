"""The columns of an experiment, the slow way: from the index of its journal, result by result."""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from overtone.core.goal import is_number, real
from overtone.core.types import cause_of_end
from overtone.journal.text import dumps
from overtone.reading.columns.trial_columns import Column, TrialColumns
from overtone.reading.journal_index import JournalIndex
from overtone.space.nesting import flatten
from overtone.testing.scripted_journal import ScriptedJournal


def check_columns(columns: TrialColumns, journal: Path) -> None:
    """Assert that columns say what the index of their journal says."""
    index = JournalIndex(journal)
    index.refresh()
    rows = list(index.table.rows.values())
    assert list(columns.ids) == [row.id for row in rows]
    assert columns.n_records == index.table.n
    for number, row in enumerate(rows):
        assert value_at(columns.status, number) == row.status
        causes = ["failed"] if row.status == "ERROR" else ["finished", cause_of_end(row.why)]
        assert value_at(columns.end, number) in (causes if row.is_final else [ABSENT])
        flat = flatten(row.config)
        found = {name: value_at(one, number) for name, one in columns.params.items()}
        assert {name for name, value in found.items() if value is not ABSENT} == set(flat)
        for name, value in flat.items():
            assert same(found[name], value, columns.params[name].levels is not None), (name, found, value)
        for name, wanted in (("started", row.started), ("ended", row.ended)):
            value = getattr(columns, name)[number]
            assert math.isnan(value) if wanted is None else value == wanted
        host = value_at(columns.node, number)
        assert host == ((row.hostname or row.node) if row.started is not None else ABSENT)
        results = list(index.results(row.id))
        assert columns.n_results[number] == len(results) == row.n_results
        check_metrics(columns, number, results)


def check_metrics(columns: TrialColumns, number: int, results: list[dict[str, Any]]) -> None:
    for name, metric in columns.metrics.items():
        points = []
        for result in results:
            value = flatten({**result, "config": None}).get(name)
            if is_number(value):
                points.append((result["training_iteration"], real(value)))
        ts, values = columns.curve(number, name)
        assert ts.tolist() == [t for t, _ in points]
        np.testing.assert_array_equal(values, [value for _, value in points])
        finite = [(t, value) for t, value in points if math.isfinite(value)]
        found = [getattr(metric, kind)[number] for kind in ("last", "min", "max")]
        found_t = [getattr(metric, kind)[number] for kind in ("last_t", "min_t", "max_t")]
        if not finite:
            assert np.isnan(found).all()
            assert found_t == [0, 0, 0]
            continue
        least = min(finite, key=lambda one: one[1])
        greatest = max(finite, key=lambda one: one[1])
        assert found == [finite[-1][1], least[1], greatest[1]]
        assert found_t == [finite[-1][0], least[0], greatest[0]]


ABSENT = "absent"


def value_at(column: Column, row: int) -> Any:
    """Return a value; `ABSENT` where it is missing."""
    if column.missing[row]:
        return ABSENT
    value = column.values[row].item()
    return value if column.levels is None else column.levels[value]


def same(found: Any, value: Any, is_level: bool) -> bool:
    if is_level and type(found) is type(value):
        return dumps(found) == dumps(value)
    return is_number(value) and is_number(found) and (found == real(value) or found != found)


@pytest.fixture(name="check_columns")
def check_columns_() -> Any:
    return check_columns


@pytest.fixture
def told(tmp_path) -> Any:
    return ScriptedJournal(tmp_path / "exp")


@pytest.fixture
def make_told() -> Any:
    return ScriptedJournal


def check_equal(one: TrialColumns, other: TrialColumns) -> None:
    """Assert that two `TrialColumns` have the same contents."""
    for field in dataclasses.fields(TrialColumns):
        if field.name not in ("curve", "exploits"):
            mine, theirs = getattr(one, field.name), getattr(other, field.name)
            assert list(mine) == list(theirs) if field.name in ("params", "metrics") else True
            assert _plain(mine) == _plain(theirs), field.name
    for row in range(0, len(one), 7):
        for metric in one.metrics:
            assert _plain(one.curve(row, metric)) == _plain(other.curve(row, metric))


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return repr(value.dtype) + repr(value.tolist())
    if isinstance(value, Column):
        # the order of levels depends on what was read together
        return [repr(value_at(value, row)) for row in range(len(value.values))], value.levels is None
    if dataclasses.is_dataclass(value):
        return [_plain(getattr(value, field.name)) for field in dataclasses.fields(value)]
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, (list, tuple)) else value


@pytest.fixture(name="check_equal")
def check_equal_() -> Any:
    return check_equal
