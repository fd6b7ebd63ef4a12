"""Columns of some of an experiment's trials."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np

from overtone.reading.columns.trial_columns import Column, Curve, Exploit, MetricColumns, TrialColumns


def restricted(columns: TrialColumns, ids: Collection[str]) -> TrialColumns:
    """Return the columns of the trials with these ids, in the order of creation.

    A trial's source counts only if it is among them.
    """
    wanted = set(ids)
    rows = np.flatnonzero([one in wanted for one in columns.ids])
    places = np.full(len(columns) + 1, -1, np.int32)  # the last one is that of "no source"
    places[rows] = np.arange(len(rows))

    def part(value: Any) -> Any:
        if isinstance(value, np.ndarray):
            return value[rows]
        if isinstance(value, (Column, MetricColumns)):
            return replace(value, **{one.name: part(getattr(value, one.name)) for one in fields(value)})
        return value

    def curve(row: int, metric: str) -> Curve:
        return columns.curve(int(rows[row]), metric)

    def exploits(asked: Sequence[int]) -> list[Exploit]:
        found = columns.exploits([int(rows[row]) for row in asked])
        moved = (replace(one, row=int(places[one.row]), source=int(places[one.source])) for one in found)
        return [one for one in moved if one.source >= 0]

    arrays = {one.name: part(getattr(columns, one.name)) for one in fields(columns)}
    arrays["ids"] = tuple(columns.ids[row] for row in rows.tolist())
    arrays["params"] = {name: part(one) for name, one in columns.params.items()}
    arrays["metrics"] = {name: part(one) for name, one in columns.metrics.items()}
    arrays["source"] = places[columns.source[rows]]
    arrays["curve"], arrays["exploits"] = curve, exploits
    return TrialColumns(**arrays)
