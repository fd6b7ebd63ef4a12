"""The remaining time of an experiment, from its columns."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Any

import numpy as np

from overtone.core.trial import Status
from overtone.observers.display.remaining_time import RemainingTime
from overtone.reading.columns.run_facts import RunFacts
from overtone.reading.columns.trial_columns import TrialColumns

_ITERATIONS = "training_iteration"
_MOST_ENDED, _MOST_RUNNING = 2000, 500
_FINAL = [i for i, status in enumerate(Status) if status.is_final]
_PLACED = [i for i, status in enumerate(Status) if status.is_placed]


class Remaining:
    """Estimates when an experiment is over, as the display of the run does."""

    def __init__(self) -> None:
        self._estimate = RemainingTime()

    def seconds(
        self, columns: TrialColumns, run: RunFacts, parts: Mapping[str, Any], now: float
    ) -> float | None:
        """Return the seconds that are left; None if they are unknown."""
        codes, lengths = columns.status.values, columns.n_results
        is_ended, is_placed = np.isin(codes, _FINAL), np.isin(codes, _PLACED)
        n_ended = int(is_ended.sum())
        total = None if run.total is None or run.total < 0 else max(int(run.total), len(columns))
        if total is None or n_ended >= total:
            return None if run.time_budget_s is None else max(0.0, run.time_budget_s - now)
        ended = np.flatnonzero(is_ended)
        newest = ended[np.argsort(columns.ended[ended], kind="stable")][-_MOST_ENDED:]
        self._estimate.lengths = deque(lengths[newest].tolist(), _MOST_ENDED)
        waits = ~is_ended & ~is_placed & (lengths > 0)
        placed = np.flatnonzero(is_placed)[:_MOST_RUNNING]
        ages = np.nan_to_num(now - columns.started[placed], nan=0.0)
        n_unstarted = max(total - n_ended - int(is_placed.sum()) - int(waits.sum()), 0)
        return self._estimate.seconds(
            now, int(lengths.sum()), n_ended, n_unstarted,
            lengths[waits].tolist(), list(zip(lengths[placed].tolist(), ages.tolist(), strict=True)),
            longest_of(parts), run.time_budget_s,
        )  # fmt: skip


def longest_of(parts: Mapping[str, Any]) -> int | None:
    """Return the greatest number of iterations that a trial can reach, by its settings; None if unknown."""
    scheduler, stop = parts.get("scheduler"), parts.get("stop")
    arguments = scheduler.get("arguments") if isinstance(scheduler, Mapping) else None
    found = []
    if (
        isinstance(arguments, Mapping)
        and arguments.get("time_attr", "training_iteration") == "training_iteration"
    ):
        found.append(arguments.get("max_t"))
    if isinstance(stop, Mapping):
        found.append(stop.get(_ITERATIONS))
    whole = [int(one) for one in found if isinstance(one, (int, float)) and 0 < one < 1 << 53]
    return min(whole) if whole else None
