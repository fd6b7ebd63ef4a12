"""The empirical distribution function of the values of experiments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from overtone.analysis.plots.axis import Axis, unique_texts, value_axis
from overtone.analysis.plots.objective import as_experiments, common_objective
from overtone.analysis.plots.shown import Shown
from overtone.reading.columns.trial_columns import TrialColumns

_N_VALUES = 100


@dataclass(frozen=True, slots=True)
class EdfLine:
    """One experiment.

    Attributes:
        name: The experiment's name.
        y: The share of trials with a value of at most x, 0 to 1, float64, shape (100,); NaN without trials.
        n_trials: The number of trials with a value.
    """

    name: str
    y: NDArray[np.float64]
    n_trials: int


@dataclass(frozen=True, slots=True)
class Edf:
    """Empirical distribution functions.

    Attributes:
        metric: The metric on the x axis.
        mode: "min" or "max"; None if the metric is not an objective.
        x: Values, float64, shape (100,), from the least to the greatest; empty without trials. Steps are
            equal, or equal factors if `axis` is logarithmic.
        lines: One for each experiment; empty without trials.
        shown: How many trials they stand for.
        axis: The axis of the values.
    """

    metric: str
    mode: str | None
    x: NDArray[np.float64]
    lines: tuple[EdfLine, ...]
    shown: Shown
    axis: Axis


def edf(
    columns: TrialColumns | Sequence[TrialColumns],
    metric: str | None = None,
    mode: str | None = None,
    *,
    scope: str = "last",
) -> Edf:
    """Return the share of trials up to each value: a curve that rises earlier has more small values.

    As in Radosavovic et al. 2020, "Designing Network Design Spaces" (arXiv 2003.13678), curves of random
    configurations compare search spaces; those of a searcher also show what it preferred.

    Args:
        columns: One experiment, or several.
        metric: A name; by default the first objective.
        mode: "min" or "max"; by default the objective's.
        scope: "last" for each trial's last value, "all" for its best.

    Raises:
        GoalError: There is no such metric, or no such mode or scope.
    """
    experiments = as_experiments(columns)
    objectives = common_objective(experiments, metric, mode, scope)
    values = [np.sort(one.values[np.isfinite(one.values)]) for one in objectives]
    name, mode = (objectives[0].metric, objectives[0].mode) if objectives else (metric or "", mode)
    n = sum(map(len, values))
    shown = Shown(n, n)
    axis = value_axis(name, np.concatenate([np.empty(0), *values]), mode)
    if not n:
        return Edf(name, mode, np.empty(0), (), shown, axis)
    ends = min(one[0] for one in values if len(one)), max(one[-1] for one in values if len(one))
    x = np.geomspace(*ends, _N_VALUES) if axis.is_log else np.linspace(*ends, _N_VALUES)
    x[[0, -1]] = ends  # Rounding may leave out the ends.
    names = unique_texts(one.name for one in experiments)
    lines = tuple(EdfLine(title, _shares(one, x), len(one)) for title, one in zip(names, values, strict=True))
    return Edf(name, mode, x, lines, shown, axis)


def _shares(values: NDArray[np.float64], x: NDArray[np.float64]) -> NDArray[np.float64]:
    if not len(values):
        return np.full(len(x), np.nan)
    return np.asarray(np.searchsorted(values, x, side="right") / len(values))
