"""Learning curves of some trials, thinned to what a screen shows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from overtone.analysis.plots.thinning import thin
from overtone.errors import ArgumentError
from overtone.reading.columns.curve_segments import CurveSegment, curve_segments
from overtone.reading.columns.trial_columns import TrialColumns
from overtone.ui.data.followed_journal import FollowedJournal
from overtone.ui.data.plain_json import nullable, plain

MOST_TRIALS, MOST_POINTS = 50, 5000


def curves(
    journal: FollowedJournal,
    columns: TrialColumns,
    rows: Sequence[int],
    metric: str | None = None,
    points: int = 500,
) -> dict[str, Any]:
    """Return the curves of these trials.

    Args:
        metric: A metric; by default the first objective, or the first metric without objectives.
        points: The most points of each trial; extremes and gaps are kept.

    Raises:
        ArgumentError: They are too many.
        StorageError: The journal cannot be read.
    """
    if len(rows) > MOST_TRIALS:
        raise ArgumentError(f"trials: {len(rows)} were named, and at most {MOST_TRIALS} curves are possible")
    metric = metric or next(iter([name for name, _ in columns.goals] or columns.metrics), "")
    found = []
    for row in rows:
        trial_id = columns.ids[row]
        segments = curve_segments(journal.journal, journal.offsets(row), trial_id, metric)
        found.append({"id": trial_id, "row": row, "segments": _thinned(segments, min(points, MOST_POINTS))})
    return {"n": columns.n_records, "metric": metric, "trials": found}


def _thinned(segments: Sequence[CurveSegment], points: int) -> list[dict[str, Any]]:
    total = sum(len(one.t) for one in segments)
    data = []
    for one in segments:
        t, value, time = one.arrays()
        if total > points:
            order = np.argsort(t, kind="stable")  # a time of the scheduler may stand still
            t, value, time = t[order], value[order], time[order]
            kept = thin(t, value, max(1, points * len(t) // (4 * total)))
            t, value, time = t[kept], value[kept], time[kept]
        data.append({
            "attempt": one.attempt, "changes": plain(one.changes), "source": one.source,
            "t": t.tolist(), "value": nullable(value), "time": time.tolist(),
        })  # fmt: skip
    return data
