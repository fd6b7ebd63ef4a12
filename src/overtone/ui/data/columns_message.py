"""The columns of an experiment as a message, whole or for some rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from overtone.reading.columns.trial_columns import TrialColumns
from overtone.reading.columns.written_domains import domains
from overtone.ui.data.binary_message import MessageArrays
from overtone.ui.data.column_types import ColumnTypes
from overtone.ui.data.keyed_columns import KeyedColumn, keyed_columns, n_left_out

LONGEST_LEVEL = 300
"""Longer texts of categories are cut; a trial's page shows them whole."""


def whole_message(columns: TrialColumns, types: ColumnTypes, journal: str, space: Any = None) -> bytes:
    """Return all trials.

    Args:
        types: Is told the types that are chosen.
        journal: The key of the journal and its reading.
        space: The search space as the journal has it.
    """
    arrays = MessageArrays()
    listed = [_listed(one, arrays, types.choose(one)) for one in keyed_columns(columns)]
    return _message(columns, arrays, listed, None, columns.ids, journal, domains(space))


def update_message(columns: TrialColumns, rows: NDArray[np.int64], types: ColumnTypes, journal: str) -> bytes:
    """Return the present values of these rows."""
    arrays = MessageArrays()
    arrays.add(rows.astype(np.int32))
    listed = [
        _listed(one, arrays, types.of_update(one), is_update=True) for one in keyed_columns(columns, rows)
    ]
    place = {"key": "rows", "dtype": "i4", "offset": 0, "length": len(rows)}
    return _message(
        columns, arrays, [place, *listed], "rows", [columns.ids[row] for row in rows.tolist()], journal
    )


def _message(
    columns: TrialColumns, arrays: MessageArrays, listed: list[dict[str, Any]], rows: str | None, ids: Any,
    journal: str, space: list[dict[str, Any]] | None = None,
) -> bytes:  # fmt: skip
    names = (one.replace("\n", " ") for one in ids) if any("\n" in one for one in ids) else ids
    place = arrays.add_bytes("\n".join(names).encode("utf-8", "replace"))
    return arrays.message({
        "n": columns.n_records, "length": len(columns), "rows": rows, "journal": journal,
        "goals": columns.goals, "arrays": listed, "ids": place, "left_out": n_left_out(columns),
        **({} if space is None else {"space": space}),
    })  # fmt: skip


def _listed(
    column: KeyedColumn, arrays: MessageArrays, dtype: str, is_update: bool = False
) -> dict[str, Any]:
    place = arrays.add(column.values.astype(np.dtype(dtype), copy=False))
    levels: Any = None
    if column.levels is not None:
        levels = _levels_of_codes(column) if is_update else [_cut(one) for one in column.levels]
    return {
        "key": column.key, **place, "is_log": column.is_log, "is_integer": column.is_integer, "levels": levels
    }  # fmt: skip


def _levels_of_codes(column: KeyedColumn) -> Mapping[int, Any]:
    assert column.levels is not None
    return {code: _cut(column.levels[code]) for code in np.unique(column.values).tolist() if code >= 0}


def _cut(value: Any) -> Any:
    if isinstance(value, str) and len(value) > LONGEST_LEVEL:
        return f"{value[:LONGEST_LEVEL]}..."
    if isinstance(value, (list, tuple, dict)) and len(text := str(value)) > LONGEST_LEVEL:
        return f"{text[:LONGEST_LEVEL]}..."
    return value
