"""The trial with the best value of a metric."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from overtone.analysis.column_ranking import ranked_rows
from overtone.reading.recorded_goal import recorded_objectives

if TYPE_CHECKING:
    from overtone.analysis.recorded_trial import RecordedTrial
    from overtone.reading.index_on_demand import IndexOnDemand

_INFINITE = (math.inf, -math.inf)


def best_trial(
    index: IndexOnDemand,
    trials: Sequence[RecordedTrial],
    metric: str,
    mode: str,
    scope: str,
    filter_nan_and_inf: bool,
) -> RecordedTrial | None:
    """Return the trial with the best value that keeps the constraints; None if no trial has a value.

    Args:
        index: The journal of the trials. Its columns are used if all its trials are ranked.
        trials: The trials to rank; the first of equal trials is the best.
        metric: The metric to rank by.
        mode: "max" or "min".
        scope: See `ExperimentAnalysis.get_best_trial`.
        filter_nan_and_inf: Whether NaN and infinite values are passed over. If not, NaN is the worst.
    """
    best, best_value = None, math.nan
    goal = recorded_objectives(index.header)
    if filter_nan_and_inf and len(trials) == len(index.table.rows):
        ranked = ranked_rows(index.columns, metric, mode, scope, goal)
        if ranked is not None:
            return trials[ranked[0][1]] if ranked else None
    for trial in trials:
        if goal.constraints and not goal.allows(trial.last_result):
            continue
        value = trial.value(metric, mode, scope)
        if value is None or (filter_nan_and_inf and (value != value or value in _INFINITE)):
            continue
        is_better = value > best_value if mode == "max" else value < best_value
        if best is None or is_better or (best_value != best_value and value == value):
            best, best_value = trial, value
    return best
