"""Final values of trials, predicted for trials that have not ended.

A chain of linear regressions, one for each level of `observations.Observation` up to the largest that any
trial reached. Each models the change of values from one level to the next, by the trials that reached both.
A scheduler that stops trials by earlier values does not bias the regressions, since only those values
decide which trials reach a level. Predictions pass through the rest of the chain with their variance:
the freeze-thaw idea (Swersky et al. 2014, "Freeze-Thaw Bayesian Optimization") with a random walk that
estimates its drift in place of an exponential decay.

Levels are logarithms of ratios of t, so that the unit of time does not matter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import ceil, log
from typing import Any

from overtone.searchers.auto.observations import STEP
from overtone.searchers.auto.training_data import Evidence, mixture

Array = Any
"""A numpy array of floats."""

_DRIFT_VARIANCE, _DRIFT_WEIGHT = 0.1, 2.0
"""Before any trial came to a level: the variance that it adds, and how many trials this counts as."""

_SLOPE_WEIGHT = 10.0
"""The prior of slopes, which are 0 before any trial came to a level: their variance is that of residuals over
this, as after this many trials whose values have variance 1."""

LEAST_SPREAD = 0.1
"""The standard deviation of the logarithm of trials' times below which they count as equal."""

_REACHED = 1e-6
"""Levels nearer than this are equal."""


@dataclass(frozen=True, slots=True)
class _Change:
    """The change of values from one level to the next: `drift` at `center`, and `slope` more per unit.

    Attributes:
        drift, slope, center: The parameters of the regression.
        variance: The variance of the residuals.
        of_drift, of_slope: The variances of `drift` and `slope`, as shares of `variance`.
    """

    drift: float
    slope: float
    center: float
    variance: float
    of_drift: float
    of_slope: float

    @staticmethod
    def of(before: Array, after: Array) -> _Change:
        """Return the regression over trials with known values at both levels, with a prior of no change."""
        import numpy as np

        both = np.isfinite(before) & np.isfinite(after)
        x, change = before[both], after[both] - before[both]
        n = len(x)
        if not n:
            return _Change(0.0, 0.0, 0.0, _DRIFT_VARIANCE, 0.0, 1 / _SLOPE_WEIGHT)
        center, mean = float(x.mean()), float(change.sum()) / (n + 0.5)
        apart = x - center
        spread = float(apart @ apart) + _SLOPE_WEIGHT
        slope = float(apart @ (change - mean)) / spread
        residuals = change - mean - slope * apart
        total = float(residuals @ residuals) + _DRIFT_WEIGHT * _DRIFT_VARIANCE
        return _Change(mean, slope, center, total / (n + _DRIFT_WEIGHT), 1 / (n + 0.5), 1 / spread)

    def carry(self, mean: Array, variance: Array, share: Array) -> tuple[Array, Array]:
        """Mean and variance after a share of the change."""
        apart = mean - self.center
        added = self.variance * (1 + self.of_drift + self.of_slope * apart**2)
        return (
            mean + share * (self.drift + self.slope * apart),
            variance * (1 + share * self.slope) ** 2 + share * added,
        )


def final_values(
    every: Evidence, target: Callable[[Array], Array], weights: Array | None = None
) -> tuple[Array, Array]:
    """Return the values for a Gaussian process to fit and the variances of their noise, one per row.

    Args:
        target: Converts scores to values with mean 0 and variance 1, as in `targets`.
        weights: The weights of the objectives; None for equal weights.

    Returns:
        Values and variances, of shape (n,). Variances are 0 for known final values.
    """
    import numpy as np

    n, top = len(every), float(every.levels.max())
    is_known = every.is_complete | (every.levels >= top - _REACHED)
    is_seen = ~np.isnan(every.curves).any(2)
    if is_known.all() and not is_seen.any():
        return target(every.score(weights)), np.zeros(n)
    values = target(mixture(np.vstack([every.scores, every.curves[is_seen]]), weights))
    mean, variance = values[:n].copy(), np.zeros(n)
    curves = np.full(is_seen.shape, np.nan)
    curves[is_seen] = values[n:]
    for level, change in enumerate(_changes(curves, mean, every.levels, is_known, top)):
        width = min(top - level, 1.0)
        share = np.clip((level + width - np.maximum(every.levels, level)) / width, 0.0, 1.0)
        mean, variance = change.carry(mean, variance, np.where(is_known, 0.0, share))
    scale = float(mean.std()) or 1.0
    return (mean - mean.mean()) / scale, variance / scale**2


def log_seconds(every: Evidence) -> Array | None:
    """Return the logarithms of the seconds that each trial takes to its end, less their mean.

    A trial that was stopped early would have taken time in proportion to t. None if the time of a trial is
    unknown, or if times hardly differ.
    """
    import numpy as np

    seconds = np.where(np.isnan(every.scores).any(1), np.nan, every.seconds)
    is_known = seconds > 0
    if is_known.sum() < 0.9 * len(every):
        return None
    rest = np.where(every.is_complete, 0.0, every.levels.max() - every.levels) * log(STEP)
    logs = np.log(np.where(is_known, seconds, 1.0)) + rest
    logs -= logs[is_known].mean()
    logs[~is_known] = 0.0
    return logs if logs.std() > LEAST_SPREAD else None


def _changes(curves: Array, latest: Array, levels: Array, is_known: Array, top: float) -> Iterator[_Change]:
    """Yield the regression from each level to the next, the last of which is `top`."""
    import numpy as np

    has_curve = np.isfinite(curves).any(1)
    stays = is_known & has_curve  # a trial that ended keeps its value
    at = [np.where(stays & (levels < j), latest, curves[:, j]) for j in range(curves.shape[1])]
    final = np.where(stays, latest, np.nan)
    unknown = np.full(len(latest), np.nan)
    for level in range(ceil(top - _REACHED)):
        before = at[level] if level < len(at) else unknown
        is_last = level + 1 > top - _REACHED
        yield _Change.of(before, final if is_last else at[level + 1] if level + 1 < len(at) else unknown)
