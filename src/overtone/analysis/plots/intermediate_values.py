"""The values that trials reported on the way."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from overtone.analysis.plots.axis import Axis, value_axis
from overtone.analysis.plots.learning_curves import LearningCurve, read_curves, rows_with_curves
from overtone.analysis.plots.objective import objective_of
from overtone.analysis.plots.shown import Shown
from overtone.reading.columns.trial_columns import TrialColumns


@dataclass(frozen=True, slots=True)
class IntermediateValues:
    """Curves of trials, in the order of creation.

    Attributes:
        metric: The metric on the y axis.
        y: The axis of the metric.
        curves: One curve for each trial with results, or for some that are spread over the ranking.
        shown: How many trials with results are shown.
    """

    metric: str
    y: Axis
    curves: tuple[LearningCurve, ...]
    shown: Shown


def intermediate_values(
    columns: TrialColumns, metric: str | None = None, *, max_curves: int = 200
) -> IntermediateValues:
    """Return the values that trials reported on the way, in the order of creation.

    Args:
        metric: A name; by default the first objective.
        max_curves: The most curves that are read from the journal; of more trials, every n-th by value.

    Raises:
        GoalError: There is no such metric.
    """
    objective = objective_of(columns, metric)
    rows = rows_with_curves(columns, objective)
    n = len(rows)
    if n > max_curves:
        rows = rows[np.linspace(0, n - 1, max_curves).astype(np.int64)]
    curves = tuple(read_curves(columns, objective, np.sort(rows)))
    values = np.concatenate([one.values for one in curves]) if curves else np.empty(0)
    y = value_axis(objective.metric, values, objective.mode)
    return IntermediateValues(objective.metric, y, curves, Shown(len(curves), n))
