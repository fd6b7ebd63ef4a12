"""The value of each trial: the number that plots show and rank."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from overtone.analysis.plots.axis import shortened
from overtone.errors import GoalError
from overtone.lazy import nearest
from overtone.reading.columns.trial_columns import TrialColumns

SCOPES = ("last", "all")
"""The last value of a trial, or its best one on the way."""


@dataclass(frozen=True, slots=True)
class Objective:
    """The values of an experiment's trials.

    Running, stopped and failed trials count with the value that they have, as in `analysis.best_config`.

    Attributes:
        metric: Its name; "" if the experiment has no results and no metric.
        mode: "min" or "max"; None if the metric is not an objective.
        values: float64, shape (trials,); NaN for trials without a value, or whose last one is not finite.
    """

    metric: str
    mode: str | None
    values: NDArray[np.float64]

    @property
    def losses(self) -> NDArray[np.float64]:
        """The values with a sign such that lower is better; without a mode, the values."""
        return -self.values if self.mode == "max" else self.values


def objective_of(
    columns: TrialColumns, metric: str | None = None, mode: str | None = None, scope: str = "last"
) -> Objective:
    """Return the trials' values of a metric.

    Args:
        metric: A name; by default the first objective.
        mode: "min" or "max"; by default the objective's.
        scope: One of `SCOPES`.

    Raises:
        GoalError: No result has the metric and it is not an objective; none is known; `mode` or `scope` is
            not one of those above, or "all" has no mode.
    """
    if mode not in (None, "min", "max"):
        raise GoalError(f'mode={mode!r}: must be "min" or "max"')
    if scope not in SCOPES:
        raise GoalError(f"scope={scope!r}: must be one of {', '.join(map(repr, SCOPES))}")
    goals = dict(columns.goals)
    if metric is None:
        if not goals and columns.metrics:
            raise GoalError(
                f"metric=None: must be one of {_names(columns)}, as the experiment has no objective"
            )
        metric = next(iter(goals), "")
    elif metric not in goals and metric not in columns.metrics and len(columns):
        given, known = shortened(metric), map(shortened, columns.metrics)
        similar = nearest(given, known)
        raise GoalError(f"metric={given!r}: no result has it; results have {_names(columns)}{similar}")
    mode = mode or goals.get(metric)
    found = columns.metrics.get(metric)
    if found is None:
        return Objective(metric, mode, np.full(len(columns), np.nan))
    if scope == "all" and mode is None:
        given = shortened(metric)
        raise GoalError(f'scope="all": needs mode="min" or "max", as {given!r} is not an objective')
    values = np.asarray(found.last if scope == "last" else found.best(mode or "min"), np.float64)
    if scope == "last" and found.is_finite is not None:
        values = np.where(found.is_finite, values, np.nan)
    return Objective(metric, mode, np.where(np.isfinite(values), values, np.nan))


def objectives_of(
    columns: TrialColumns, goals: Sequence[tuple[str, str]] | None = None, scope: str = "last"
) -> tuple[Objective, ...]:
    """Return the trials' values of each of the goals, by default of all objectives."""
    return tuple(objective_of(columns, *goal, scope) for goal in (columns.goals if goals is None else goals))


def loss_matrix(objectives: Sequence[Objective]) -> NDArray[np.float64]:
    """Return the losses, shape (trials, objectives)."""
    return np.column_stack([one.losses for one in objectives])


def complete_rows(values: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return whether each row of an array of shape (trials, objectives) has all values, shape (trials,)."""
    return np.asarray(np.isfinite(values).all(axis=1))


def as_experiments(columns: TrialColumns | Sequence[TrialColumns]) -> list[TrialColumns]:
    """Return the experiments as a list."""
    return [columns] if isinstance(columns, TrialColumns) else list(columns)


def common_objective(
    experiments: Sequence[TrialColumns], metric: str | None, mode: str | None, scope: str
) -> list[Objective]:
    """Return the values of one metric in several experiments, by default the first one's first objective.

    Raises:
        GoalError: The experiments have different modes for it.
    """
    if not experiments:
        return []
    metric = metric or next((one.goals[0][0] for one in experiments if one.goals), None)
    known = {dict(one.goals).get(metric or "") for one in experiments} - {None}
    if mode is None and len(known) > 1:
        raise GoalError(f'mode=None: the experiments differ in the mode of {metric!r}; give "min" or "max"')
    return [objective_of(one, metric, mode or next(iter(known), None), scope) for one in experiments]


def _names(columns: TrialColumns) -> str:
    names = [repr(shortened(name)) for name in columns.metrics]
    return ", ".join(names[:10]) + (", ..." if len(names) > 10 else "")
