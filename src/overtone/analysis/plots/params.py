"""The choice of the hyperparameters that a plot shows."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from overtone.analysis.plots.axis import Axis, param_axis, shortened
from overtone.errors import ArgumentError
from overtone.lazy import nearest
from overtone.reading.columns.trial_columns import TrialColumns


def chosen_params(columns: TrialColumns, params: Sequence[str] | None) -> list[str]:
    """Return the hyperparameters that are asked for, once each; by default all, in the order of the space.

    Raises:
        ArgumentError: The experiment has no such hyperparameter.
    """
    if params is None:
        return list(columns.params)
    if isinstance(params, str):
        raise ArgumentError(f"params={params!r}: must be a list of names, such as [{params!r}]")
    for name in params:
        if name not in columns.params and len(columns):
            raise ArgumentError(
                f"params: the experiment has no hyperparameter {shortened(name)!r}"
                f"{nearest(shortened(name), map(shortened, columns.params))}"
            )
    return [name for name in dict.fromkeys(params) if name in columns.params]


def pairs_of(names: Sequence[str]) -> list[tuple[str, str]]:
    """Return the pairs in the order of the panels: each name with those after it."""
    return list(combinations(names, 2))


def numeric_axes(
    columns: TrialColumns, names: Sequence[str], used: NDArray[np.bool_]
) -> dict[str, tuple[Axis, NDArray[np.float64]]]:
    """Return axis and coordinates of each hyperparameter; categories that are numbers are numbers."""
    return {
        name: param_axis(name, columns.params[name], used, name in columns.log_params, numbers=True)
        for name in names
    }


def params_of(columns: TrialColumns, row: int) -> dict[str, Any]:
    """Return a trial's hyperparameters, without those that it does not have."""
    return {
        name: float(column.values[row]) if column.levels is None else column.levels[column.values[row]]
        for name, column in columns.params.items()
        if not column.missing[row]
    }
