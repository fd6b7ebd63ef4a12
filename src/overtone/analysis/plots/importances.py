"""The importance of each hyperparameter for a good value."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from overtone.analysis.pareto import domination_ranks
from overtone.analysis.plots.objective import (
    Objective,
    complete_rows,
    loss_matrix,
    objective_of,
    objectives_of,
)
from overtone.analysis.plots.params import chosen_params
from overtone.analysis.plots.ped_anova import Histogram, best_quantile, divergence, histogram, resamples
from overtone.analysis.plots.shown import MOST_MARKS, Shown
from overtone.core.goal import is_number
from overtone.errors import ArgumentError
from overtone.reading.columns.trial_columns import TrialColumns

MOST_PARAMS = 6
"""Plots of pairs show this many hyperparameters, the most important ones."""
_QUANTILE = 0.1
_MOST_DIVERGENCES = 20_000  # Each takes about 0.1 ms.


@dataclass(frozen=True, slots=True)
class Importance:
    """The importance of each hyperparameter for one objective; arrays of shape (n,), most important first.

    Attributes:
        target: The metric; "Pareto front" for all objectives together.
        params: The hyperparameters.
        values: Importances, which add up to 1.
        low, high: The 5 % and 95 % quantiles of 100 bootstrap samples; NaN with too few trials.
        n_trials: The number of trials with a value.
    """

    target: str
    params: tuple[str, ...]
    values: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    n_trials: int


@dataclass(frozen=True, slots=True)
class Importances:
    """Importances.

    Attributes:
        targets: One for each objective, and one for the Pareto front if there are several.
        shown: How many trials they are computed from.
    """

    targets: tuple[Importance, ...]
    shown: Shown


def param_importances(
    columns: TrialColumns,
    params: Sequence[str] | None = None,
    metric: str | None = None,
    mode: str | None = None,
    *,
    scope: str = "last",
    n_bootstrap: int = 100,
    quantile: float = _QUANTILE,
) -> Importances:
    """Return how much each hyperparameter matters for being among the best tenth of the trials (PED-ANOVA).

    Read 0.6 as: of all that tells the best tenth of the trials from the others, 60 % is in this
    hyperparameter's own values. An importance says nothing on hyperparameters that matter only together,
    and nothing on values that were not tried. The interval is that of a bootstrap within the best trials and
    within the others; if it is wide, more trials are needed.

    As Optuna's `PedAnovaImportanceEvaluator`, except that the grid reaches from the least to the greatest
    value that was tried, since the columns do not have the limits of the space; that each objective counts
    in its own direction; and that whole fronts are the best trials of several objectives. Trials count
    whatever their status and whether or not they are allowed. Sources: see `ped_anova`.

    Args:
        params: Names; by default all.
        metric: A name; by default every objective, and the Pareto front if there are several.
        mode: "min" or "max"; by default the objective's. A metric that is not an objective is minimized.
        scope: "last" for each trial's last value, "all" for its best.
        n_bootstrap: The number of bootstrap samples; 0 for no interval. More than 200 hyperparameters have
            fewer samples, at least 20.
        quantile: The share of the trials that are the best ones, above 0 and below 1.

    Raises:
        GoalError: There is no such metric, or no such mode or scope.
        ArgumentError: There is no such hyperparameter, or `quantile` is out of its range.
    """
    if not is_number(quantile) or not 0 < quantile < 1:
        raise ArgumentError(f"quantile={quantile!r}: must be above 0 and below 1, such as 0.1")
    names = chosen_params(columns, params)
    if metric is not None or mode is not None or not columns.goals:
        objectives: tuple[Objective, ...] = (objective_of(columns, metric, mode, scope),)
    else:
        objectives = objectives_of(columns, None, scope)
    targets = [
        _importance(
            columns, names, one.metric, np.isfinite(one.values), one.losses[:, None], n_bootstrap, quantile
        )
        for one in objectives
    ]
    if len(objectives) > 1:
        losses = loss_matrix(objectives)
        used = _thinned(complete_rows(losses))
        targets.append(_importance(columns, names, "Pareto front", used, losses, n_bootstrap, quantile))
    n = max(one.n_trials for one in targets)
    return Importances(tuple(targets), Shown(n, n))


def most_important(columns: TrialColumns, params: Sequence[str], objective: Objective) -> list[str]:
    """Return the `MOST_PARAMS` most important hyperparameters, in their order; all if they are fewer."""
    if len(params) <= MOST_PARAMS:
        return list(params)
    has_value = np.isfinite(objective.values)
    ranked = _importance(columns, params, "", has_value, objective.losses[:, None], 0).params[:MOST_PARAMS]
    return [name for name in params if name in ranked]


def _importance(
    columns: TrialColumns,
    names: Sequence[str],
    target: str,
    used: NDArray[np.bool_],
    losses: NDArray[np.float64],
    n_bootstrap: int,
    quantile: float = _QUANTILE,
) -> Importance:
    n = int(used.sum())
    trials: list[Histogram] = []
    if n > 1:
        is_top = np.zeros(len(used), np.bool_)
        is_top[used] = _best(losses[used], quantile)
        trials = [histogram(columns.params[name], used, is_top, name in columns.log_params) for name in names]
    values = _shares(np.array([divergence(one) for one in trials] if trials else [0.0] * len(names)))
    low = high = np.full(len(names), np.nan)
    n_bootstrap = min(n_bootstrap, max(_MOST_DIVERGENCES // max(len(names), 1), 20))
    if trials and n_bootstrap and 0 < trials[0].n_top < n:
        rng = np.random.default_rng(0)
        divergences = [[divergence(sample) for sample in resamples(one, n_bootstrap, rng)] for one in trials]
        samples = np.apply_along_axis(_shares, 1, np.array(divergences).T)
        quantiles = np.quantile(samples, [0.05, 0.5, 0.95], axis=0)
        # A sample's divergence is larger than that of its source: its spread is kept, not its place.
        low = np.clip(values + quantiles[0] - quantiles[1], 0, 1)
        high = np.clip(values + quantiles[2] - quantiles[1], 0, 1)
    order = np.argsort(-values, kind="stable")
    return Importance(target, tuple(names[i] for i in order), values[order], low[order], high[order], n)


def _best(losses: NDArray[np.float64], quantile: float) -> NDArray[np.bool_]:
    """Return which trials are the best ones; with several objectives as many whole fronts as it takes."""
    if losses.shape[1] == 1:
        return best_quantile(losses[:, 0], quantile)
    ranks = domination_ranks(-losses, least=math.ceil(quantile * len(losses)))
    return np.asarray(ranks >= 0)


def _shares(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return values that add up to 1; equal ones if all are 0."""
    total = values.sum()
    return np.asarray(values / total) if total > 0 else np.full(len(values), 1 / max(len(values), 1))


def _thinned(used: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return at most `MOST_MARKS` of the trials: ranks of more fronts take too long."""
    rows = np.flatnonzero(used)
    if len(rows) > MOST_MARKS:
        used = np.zeros(len(used), np.bool_)
        used[np.random.default_rng(0).choice(rows, MOST_MARKS, replace=False)] = True
    return used
