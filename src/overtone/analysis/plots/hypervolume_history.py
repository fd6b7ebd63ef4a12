"""The hypervolume of the Pareto front as trials were added."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from overtone.analysis.hypervolume import hypervolume
from overtone.analysis.pareto import is_on_front
from overtone.analysis.plots.objective import complete_rows, loss_matrix, objectives_of
from overtone.analysis.plots.shown import Shown
from overtone.analysis.plots.steps import Steps, steps_of
from overtone.analysis.staircase import Staircase
from overtone.errors import GoalError
from overtone.reading.columns.trial_columns import TrialColumns

_MOST_VOLUMES = 200
_LARGEST_FRONT = 2_000
"""Of three objectives: the volume of a larger front is estimated."""
_MOST_SAMPLES = 10_000
_LEAST_SAMPLES = 1_000


@dataclass(frozen=True, slots=True)
class HypervolumeHistory:
    """The history of a hypervolume.

    Attributes:
        goals: (metric, mode) of each objective.
        reference: The corner that the volume is measured from, in the metrics' units.
        steps: The volume over the trial's row.
        shown: After how many of the allowed trials the volume is known.
    """

    goals: tuple[tuple[str, str], ...]
    reference: tuple[float, ...]
    steps: Steps
    shown: Shown


def hypervolume_history(
    columns: TrialColumns,
    reference_point: Sequence[float] | None = None,
    goals: Sequence[tuple[str, str]] | None = None,
    *,
    scope: str = "last",
) -> HypervolumeHistory:
    """Return the volume between the reference and the front of the allowed trials so far.

    Two objectives: the volume after each trial. Three: after at most 200 of the trials. More objectives, or
    three with a front of more than 2,000 trials: the same, estimated with 1,000 to 10,000 random points
    (Bader and Zitzler 2011, "HypE"), to about 3 % to 1 % of the box between the reference and the best
    values.

    Args:
        reference_point: A value for each objective, in the metrics' units; by default the worst values of
            the allowed trials, as in `analysis.hypervolume`. Optuna's plot requires one.
        goals: Two or more pairs of metric and mode; by default the objectives.
        scope: "last" for each trial's last values, "all" for its best one of each metric.

    Raises:
        GoalError: There are fewer than two objectives; the reference has another number of values; there
            is no such metric, mode or scope.
    """
    goals = columns.goals if goals is None else goals
    if len(goals) < 2:
        raise GoalError(
            f"goals={tuple(goals)!r}: must be two or more objectives; see optimization_history for one"
        )
    if reference_point is not None and len(reference_point) != len(goals):
        raise GoalError(
            f"reference_point={reference_point!r}: must have {len(goals)} values, one for each objective"
        )
    objectives = objectives_of(columns, goals, scope)
    signs = np.array([1.0 if one.mode == "max" else -1.0 for one in objectives])
    scores = -loss_matrix(objectives)
    rows = np.flatnonzero(complete_rows(scores) & columns.allowed)
    if reference_point is not None:
        corner = signs * np.asarray(reference_point, np.float64)
    else:
        corner = scores[rows].min(axis=0) if len(rows) else np.full(len(goals), np.nan)
    gains = scores[rows] - corner
    volumes = np.zeros(len(columns))
    inside = (gains > 0).all(axis=1)
    after, found = _volumes(gains[inside])
    # From each of these rows on, the volume is the one found there.
    volumes[rows[inside][after]] = found
    steps = steps_of(np.arange(len(columns), dtype=np.float64), np.maximum.accumulate(volumes))
    names = tuple((one.metric, one.mode or "min") for one in objectives)
    shown = Shown(len(rows) - int(inside.sum()) + len(after), len(rows))
    return HypervolumeHistory(names, tuple((signs * corner).tolist()), steps, shown)


def _volumes(gains: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return places of trials, and the volume after each of them.

    Args:
        gains: The trials' scores above the reference, all positive, shape (trials, objectives).
    """
    n, dimensions = gains.shape
    if dimensions == 2:
        covered = Staircase()
        areas = [0.0 if covered.covers(*one) else covered.add(*one) for one in gains.tolist()]
        return np.arange(n), np.cumsum(areas)
    ends = np.unique(np.linspace(1, n, min(n, _MOST_VOLUMES)).astype(np.int64))
    if dimensions > 3 or int(is_on_front(gains).sum()) > _LARGEST_FRONT:
        return ends - 1, _sampled_volumes(gains, ends)
    front, volumes = gains[:0], [0.0]
    for start, end in zip([0, *ends.tolist()], ends.tolist(), strict=False):
        n_before, candidates = len(front), np.concatenate([front, gains[start:end]])
        is_front = is_on_front(candidates)
        has_changed = is_front[n_before:].any()
        front = candidates[is_front]
        volumes.append(hypervolume(front.tolist(), (0.0,) * dimensions) if has_changed else volumes[-1])
    return ends - 1, np.array(volumes[1:])


def _sampled_volumes(gains: NDArray[np.float64], ends: NDArray[np.int64]) -> NDArray[np.float64]:
    if not len(gains):
        return np.empty(0)
    best = gains.max(axis=0)
    n_samples = max(_LEAST_SAMPLES, min(_MOST_SAMPLES, 5_000 * _MOST_SAMPLES // len(gains)))
    free = np.random.default_rng(0).random((n_samples, gains.shape[1]))
    shares = []
    for start, end in zip([0, *ends.tolist()], ends.tolist(), strict=False):
        block = gains[start:end] / best
        is_covered = np.ones((len(block), len(free)), np.bool_)
        for i in range(block.shape[1]):
            is_covered &= block[:, i, None] >= free[:, i]
        free = free[~is_covered.any(axis=0)]
        shares.append(1 - len(free) / n_samples)
    return np.asarray(np.array(shares) * np.prod(best))
