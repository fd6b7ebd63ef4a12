"""The pairs of hyperparameters that a matrix of panels shows, with their axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from overtone.analysis.plots.axis import Axis
from overtone.analysis.plots.importances import most_important
from overtone.analysis.plots.objective import Objective
from overtone.analysis.plots.params import chosen_params, numeric_axes, pairs_of
from overtone.analysis.plots.shown import marks_of_panel
from overtone.reading.columns.trial_columns import TrialColumns

ParamAxis = tuple[Axis, NDArray[np.float64]]


class PairAxes(NamedTuple):
    """The hyperparameters of a matrix of panels.

    Attributes:
        names: The hyperparameters shown.
        n_params: The number of hyperparameters that were asked for.
        pairs: The axes and coordinates (x, y) of each panel.
        most: Maximum number of marks of a panel.
    """

    names: tuple[str, ...]
    n_params: int
    pairs: tuple[tuple[ParamAxis, ParamAxis], ...]
    most: int


def pair_axes(columns: TrialColumns, params: Sequence[str] | None, objective: Objective) -> PairAxes:
    """Return the pairs of the hyperparameters that are asked for; of many, of the most important ones.

    Raises:
        ArgumentError: There is no such hyperparameter.
    """
    asked = chosen_params(columns, params)
    names = most_important(columns, asked, objective)
    axes = numeric_axes(columns, names, np.isfinite(objective.values))
    pairs = tuple((axes[a], axes[b]) for a, b in pairs_of(names))
    most = marks_of_panel(2 * len(pairs))  # A matrix shows each pair twice.
    return PairAxes(tuple(names), len(asked), pairs, most)
