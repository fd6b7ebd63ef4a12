"""The values of trials over each hyperparameter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from overtone.analysis.plots.axis import Axis, param_axis, value_axis
from overtone.analysis.plots.objective import objective_of
from overtone.analysis.plots.params import chosen_params
from overtone.analysis.plots.points import Points, points_of
from overtone.analysis.plots.shown import Shown, marks_of_panel, widest_shown
from overtone.reading.columns.trial_columns import TrialColumns


@dataclass(frozen=True, slots=True)
class SlicePanel:
    """One hyperparameter.

    Attributes:
        axis: The hyperparameter's axis.
        points: x is the hyperparameter, y the trial's value, the colour its row.
    """

    axis: Axis
    points: Points


@dataclass(frozen=True, slots=True)
class Slices:
    """Slices.

    Attributes:
        metric: The metric on the y axis.
        mode: "min" or "max"; None if the metric is not an objective.
        y: The axis of the metric.
        panels: One for each hyperparameter.
        shown: How many trials are shown.
    """

    metric: str
    mode: str | None
    y: Axis
    panels: tuple[SlicePanel, ...]
    shown: Shown


def slices(
    columns: TrialColumns,
    params: Sequence[str] | None = None,
    metric: str | None = None,
    mode: str | None = None,
    *,
    scope: str = "last",
) -> Slices:
    """Return the values of trials over each hyperparameter.

    A trial without the hyperparameter is left out of its panel.

    Args:
        params: Names; by default all, in the order of the space.
        metric: A name; by default the first objective.
        mode: "min" or "max"; by default the objective's.
        scope: "last" for each trial's last value, "all" for its best.

    Raises:
        GoalError: There is no such metric, or no such mode or scope.
        ArgumentError: There is no such hyperparameter.
    """
    objective = objective_of(columns, metric, mode, scope)
    has_value = np.isfinite(objective.values)
    names = chosen_params(columns, params)
    y = value_axis(objective.metric, objective.values, objective.mode)
    rows = np.arange(len(columns), dtype=np.float64)
    panels = []
    for name in names:
        axis, x = param_axis(name, columns.params[name], has_value, name in columns.log_params)
        points = points_of(axis, x, y, objective.values, columns.allowed, rows, marks_of_panel(len(names)))
        panels.append(SlicePanel(axis, points))
    shown = widest_shown(int(has_value.sum()), (one.points.shown for one in panels))
    return Slices(objective.metric, objective.mode, y, tuple(panels), shown)
