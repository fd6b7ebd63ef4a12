"""The most probable kernel of a Gaussian process (Rasmussen and Williams 2006, section 5.4).

Each group of columns has a length scale. Length scales and noise have a log-normal prior, and the median
of the former grows with the square root of the number of groups, so that 200 dimensions need no other
model than 2 (Hvarfner et al. 2024, "Vanilla Bayesian Optimization Performs Great in High Dimensions").

Deviations: the optimum is sought with resilient propagation (Igel and Huesken 2000), from two starts:
little noise and much. The prior is narrower, and its median 0.5 in one dimension.
"""

from __future__ import annotations

from math import log
from typing import Any

from overtone.searchers.auto.gaussian_process import Kernel, correlated, left, right, solved

Array = Any
"""A numpy array of floats."""

_NOISE_MEAN, _NOISE_SD = -4.0, 2.0
"""Of the logarithm of the noise: on rugged functions what looks like noise is, for a search."""
_LENGTH, _LENGTH_SD = -0.7, 1.0
"""The mean and the deviation of a length scale's logarithm in one dimension."""

_LOWEST, _HIGHEST = -3.5, 5.0
"""Bounds of the logarithms of length scales."""

_STARTS = ((0.0, -7.0), (0.5, -1.5))
"""Starting points of a fit: log length scales relative to their prior's mean, and log noise."""

_LEAST_NOISE, _MOST_NOISE = -13.8, 0.0


def fit(x: Array, y: Array, groups: Array, extra: Array | float = 0.0, steps: int = 25) -> Kernel:
    """Return the most probable kernel for values `y` at the rows of `x`.

    Args:
        groups: For each column of x, the number of its group, from 0 on.
        extra: The variance of each value's own noise, where that of `y` is about 1.
    """
    import numpy as np

    n_groups = int(groups.max()) + 1
    prior = _prior(n_groups)
    found = [
        _descended(np.append(np.full(n_groups, prior + length), noise), x, y, groups, extra, steps)
        for length, noise in _STARTS
    ]
    return _kernel_at(min(found, key=lambda one: one[0])[1], groups)


def refined(
    kernel: Kernel, x: Array, y: Array, groups: Array, extra: Array | float = 0.0, steps: int = 5
) -> Kernel:
    """Return a kernel that was fitted to fewer results, a few steps nearer to the most probable one."""
    import numpy as np

    lengths = kernel.lengths[np.unique(groups, return_index=True)[1]]
    theta = np.log(np.append(lengths, kernel.noise))
    return _kernel_at(_descended(theta, x, y, groups, extra, steps, pace=0.1)[1], groups)


def _kernel_at(theta: Array, groups: Array) -> Kernel:
    import numpy as np

    return Kernel(np.exp(theta[:-1])[groups], float(np.exp(theta[-1])))


def _prior(n_groups: int) -> float:
    """Return the mean of the logarithm of a length scale."""
    return _LENGTH + 0.5 * log(n_groups)


def _descended(
    theta: Array,
    x: Array,
    y: Array,
    groups: Array,
    extra: Array | float,
    steps: int,
    pace: float = 0.3,
) -> tuple[float, Array]:
    """Return the least cost from `theta` downhill, and where it is."""
    import numpy as np

    prior = _prior(len(theta) - 1)
    low = np.append(np.full(len(theta) - 1, _LOWEST), _LEAST_NOISE)
    high = np.append(np.full(len(theta) - 1, _HIGHEST), _MOST_NOISE)
    paces, before = np.full(len(theta), pace), np.zeros(len(theta))
    best, best_theta = np.inf, theta
    for _ in range(steps):
        value, slope = cost(theta, x, y, groups, prior, extra)
        if value < best:
            best, best_theta = value, theta
        agrees = np.sign(slope * before)
        paces = np.clip(paces * np.where(agrees > 0, 1.2, np.where(agrees < 0, 0.5, 1.0)), 1e-3, 1.0)
        before = np.where(agrees < 0, 0.0, slope)
        if paces.max() < 0.03 or not np.isfinite(value):
            break
        theta = np.clip(theta - np.sign(before) * paces, low, high)
    return best, best_theta


def cost(
    theta: Array, x: Array, y: Array, groups: Array, prior: float, extra: Array | float = 0.0
) -> tuple[float, Array]:
    """Return the negative logarithm of the posterior, up to a constant, and its gradient."""
    import numpy as np

    kernel = Kernel(np.exp(theta[:-1])[groups], float(np.exp(theta[-1])))
    scaled = kernel.scaled(x)
    correlations = left(scaled) @ right(scaled)
    distances, decay = np.empty_like(correlations), np.empty_like(correlations)
    correlated(correlations, distances, decay)
    try:
        lower, whitened, alpha, _, variance = solved(correlations, y, kernel.noise + extra)
    except np.linalg.LinAlgError:
        return np.inf, np.zeros_like(theta)
    weights = whitened.T @ whitened
    weights -= np.outer(alpha, alpha / variance)
    trace = float(np.trace(weights))
    # half of it by minus twice the kernel's derivative by the squared distance
    distances += 1.0
    distances *= decay
    weights *= distances
    columns = weights.sum(1) @ np.square(scaled) - ((weights @ scaled) * scaled).sum(0)
    slope = np.append(np.bincount(groups, columns, len(theta) - 1) / 3, 0.5 * kernel.noise * trace)
    apart, excess = (theta[:-1] - prior) / _LENGTH_SD, float(theta[-1] - _NOISE_MEAN) / _NOISE_SD
    slope[:-1] += apart / _LENGTH_SD
    slope[-1] += excess / _NOISE_SD
    value = 0.5 * (len(y) + 1) * log(variance) + float(np.log(lower.diagonal()).sum())
    value += 0.5 * float(apart @ apart) + 0.5 * excess**2
    return value, slope
