"""Several experiments side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from overtone.analysis.plots.axis import Axis, unique_texts, value_axis
from overtone.analysis.plots.objective import Objective, as_experiments, common_objective
from overtone.analysis.plots.params import params_of
from overtone.analysis.plots.rungs import five_quantiles
from overtone.analysis.plots.shown import Shown
from overtone.analysis.plots.steps import Steps, best_so_far
from overtone.analysis.plots.timeline import spans
from overtone.errors import GoalError
from overtone.reading.columns.trial_columns import TrialColumns


@dataclass(frozen=True, slots=True)
class ComparedExperiment:
    """One experiment.

    Attributes:
        name: The experiment's name; made unique by " (2)" and so on.
        n_trials: The number of its trials.
        n_values: The number of its allowed trials with a value.
        best: The best value of an allowed trial; NaN without one.
        best_row: That trial's row in the columns; -1 without one.
        best_params: That trial's hyperparameters, by name; missing ones are left out.
        quantiles: 0, 25, 50, 75 and 100 % of the values, float64, shape (5,); NaN without values.
        by_trial: The best value so far over the trial's row.
        by_clock: The best value so far over the experiment's clock, seconds.
        seconds: The sum of the trials' times.
        clock: The time from the first start to the last end, seconds.
    """

    name: str
    n_trials: int
    n_values: int
    best: float
    best_row: int
    best_params: Mapping[str, Any]
    quantiles: NDArray[np.float64]
    by_trial: Steps
    by_clock: Steps
    seconds: float
    clock: float


@dataclass(frozen=True, slots=True)
class Comparison:
    """A comparison.

    Attributes:
        metric: The objective.
        mode: "min" or "max".
        experiments: In the order in which they were given.
        differing_params: The hyperparameters in which the best trials differ, in the order of the spaces.
        shown: How many trials they stand for.
        y: The axis of the values.
        best_y: The axis of the best values so far.
    """

    metric: str
    mode: str
    experiments: tuple[ComparedExperiment, ...]
    differing_params: tuple[str, ...]
    shown: Shown
    y: Axis
    best_y: Axis


def compare(
    columns: TrialColumns | Sequence[TrialColumns],
    metric: str | None = None,
    mode: str | None = None,
    *,
    scope: str = "last",
) -> Comparison:
    """Return several experiments side by side: how good, how quickly, at which cost, and where they differ.

    Args:
        columns: One experiment, or several.
        metric: A name; by default the first experiment's first objective.
        mode: "min" or "max"; by default the objective's.
        scope: "last" for each trial's last value, "all" for its best.

    Raises:
        GoalError: There is no such metric, mode or scope, or no mode.
    """
    experiments = as_experiments(columns)
    objectives = common_objective(experiments, metric, mode, scope)
    name, mode = (objectives[0].metric, objectives[0].mode) if objectives else (metric or "", mode)
    if mode is None and any(map(len, experiments)):
        raise GoalError(f'mode=None: give "min" or "max", as {name!r} is not an objective')
    titles = unique_texts(one.name for one in experiments)
    compared = tuple(map(_compared, titles, experiments, objectives))
    n = sum(one.n_values for one in compared)
    values, best = (
        value_axis(name, np.concatenate([np.empty(0), *each]), mode)
        for each in ([one.quantiles for one in compared], [one.by_trial.y for one in compared])
    )
    return Comparison(name, mode or "min", compared, _differing(compared), Shown(n, n), values, best)


def _compared(title: str, columns: TrialColumns, objective: Objective) -> ComparedExperiment:
    losses = np.where(columns.allowed, objective.losses, np.nan)
    values = objective.values[np.isfinite(losses)]
    row = int(np.nanargmin(losses)) if len(values) else -1
    start, end = spans(columns)
    has_started = np.isfinite(start)
    return ComparedExperiment(
        title,
        len(columns),
        len(values),
        float(objective.values[row]) if row >= 0 else float("nan"),
        row,
        params_of(columns, row) if row >= 0 else {},
        five_quantiles(values),
        best_so_far(objective, columns.allowed),
        best_so_far(objective, columns.allowed, end),
        float((end - start)[has_started].sum()),
        float(end[has_started].max() - start[has_started].min()) if has_started.any() else 0.0,
    )


def _differing(experiments: Sequence[ComparedExperiment]) -> tuple[str, ...]:
    with_best = [one.best_params for one in experiments if one.best_row >= 0]
    names = dict.fromkeys(name for one in with_best for name in one)
    return tuple(
        name for name in names if any(_cell(one, name) != _cell(with_best[0], name) for one in with_best)
    )


def _cell(params: Mapping[str, Any], name: str) -> tuple[bool, str]:
    return name in params, repr(params.get(name))
