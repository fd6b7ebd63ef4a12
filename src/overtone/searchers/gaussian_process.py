"""A Gaussian process with a Matern-5/2 kernel (Rasmussen and Williams 2006, "Gaussian Processes for
Machine Learning", sections 2.2, 4.2 and 5.4).

Each group of columns has a length scale. Length scales and noise are the most probable ones: they
have a log-normal prior, and its median grows with the square root of the number of groups, so that
200 dimensions need no other model than 2 (Hvarfner et al. 2024, "Vanilla Bayesian Optimization
Performs Great in High Dimensions"). Mean and variance are the likeliest ones, in closed form.

Deviations: the optimum is sought with resilient propagation (Igel and Huesken 2000), from two starts:
little noise and much. The prior is narrower, and its median 0.5 in one dimension.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log, sqrt
from typing import Any

Array = Any
"""A numpy array of floats."""

_ROOT5 = sqrt(5.0)
_NOISE_MEAN, _NOISE_SD = -4.0, 2.0
"""Of the logarithm of the noise: on rugged functions what looks like noise is, for a search."""
_LENGTH, _LENGTH_SD = -0.7, 1.0
"""The mean and the deviation of a length scale's logarithm in one dimension."""

_LOWEST, _HIGHEST = -3.5, 5.0
"""Where the logarithms of length scales stay."""

_FARTHEST = 400.0

_WHOLE = 110
"""Triangular matrices up to so many rows are inverted as any other is."""

_STARTS = ((0.0, -7.0), (0.5, -1.5))
"""Where a fit begins: logarithms of length scales beside their prior's mean, and of the noise."""

_LEAST_NOISE, _MOST_NOISE = -13.8, 0.0


@dataclass(frozen=True, slots=True)
class Kernel:
    """What a fit finds.

    Attributes:
        lengths: The length scale of each column.
        noise: The variance of the noise, as a share of that of the process.
    """

    lengths: Array
    noise: float

    def __call__(self, a: Array, b: Array) -> Array:
        """The correlations of the rows of `a` with those of `b`."""
        return self.between(a / self.lengths, b / self.lengths)

    def between(self, a: Array, b: Array) -> Array:
        """As a call, with rows that are in units of the length scales."""
        return _matern(_distances(a, b))[0]


class Process:
    """A Gaussian process that has seen `y` at the rows of `x`.

    Args:
        pending: Points whose value is not known: they narrow the process around them and
            leave its mean as it is (Ginsbourger et al. 2010, "Kriging Is Well-Suited to
            Parallelize Optimization": the kriging believer).
    """

    def __init__(self, kernel: Kernel, x: Array, y: Array, pending: Array | None = None) -> None:
        import numpy as np

        self.kernel, self._n = kernel, len(x)
        self._seen = x / kernel.lengths
        correlations = kernel.between(self._seen, self._seen)
        _, self._white, self._alpha, self._mean, self._variance = _solved(correlations, y, kernel.noise)
        if pending is not None and len(pending):
            self._seen = np.vstack([x, pending]) / kernel.lengths
            correlations = kernel.between(self._seen, self._seen)
            correlations.flat[:: len(correlations) + 1] += kernel.noise + 1e-8
            self._white = _inverse(np.linalg.cholesky(correlations))

    def predict(self, at: Array) -> tuple[Array, Array]:
        """Mean and standard deviation at the rows of `at`, noise not counted."""
        import numpy as np

        cross = self._correlations(at)
        mean = self._mean + cross[:, : self._n] @ self._alpha
        explained = np.square(cross @ self._white.T).sum(1)
        return mean, np.sqrt(self._variance * np.maximum(1.0 - explained, 1e-12))

    def mean(self, at: Array) -> Array:
        """What `predict` begins with."""
        return self._mean + self._correlations(at)[:, : self._n] @ self._alpha

    def _correlations(self, at: Array) -> Array:
        return self.kernel.between(at / self.kernel.lengths, self._seen)


def fit(x: Array, y: Array, groups: Array, steps: int = 25) -> Kernel:
    """The most probable kernel for values `y` at the rows of `x`.

    Args:
        groups: For each column of x, the number of its group, from 0 on.
    """
    import numpy as np

    n_groups = int(groups.max()) + 1
    prior = _prior(n_groups)
    found = [
        _descended(np.append(np.full(n_groups, prior + length), noise), x, y, groups, steps)
        for length, noise in _STARTS
    ]
    return _kernel_at(min(found, key=lambda one: one[0])[1], groups)


def refined(kernel: Kernel, x: Array, y: Array, groups: Array, steps: int = 5) -> Kernel:
    """A kernel that was fitted to fewer results, a few steps nearer to the most probable one for these."""
    import numpy as np

    lengths = kernel.lengths[np.unique(groups, return_index=True)[1]]
    theta = np.log(np.append(lengths, kernel.noise))
    return _kernel_at(_descended(theta, x, y, groups, steps, pace=0.1)[1], groups)


def _kernel_at(theta: Array, groups: Array) -> Kernel:
    import numpy as np

    return Kernel(np.exp(theta[:-1])[groups], float(np.exp(theta[-1])))


def _prior(n_groups: int) -> float:
    """The mean of the logarithm of a length scale."""
    return _LENGTH + 0.5 * log(n_groups)


def _descended(
    theta: Array, x: Array, y: Array, groups: Array, steps: int, pace: float = 0.3
) -> tuple[float, Array]:
    """The least cost from `theta` downhill, and where it is."""
    import numpy as np

    prior = _prior(len(theta) - 1)

    low = np.append(np.full(len(theta) - 1, _LOWEST), _LEAST_NOISE)
    high = np.append(np.full(len(theta) - 1, _HIGHEST), _MOST_NOISE)
    paces, before = np.full(len(theta), pace), np.zeros(len(theta))
    best, best_theta = np.inf, theta
    for _ in range(steps):
        value, slope = _cost(theta, x, y, groups, prior)
        if value < best:
            best, best_theta = value, theta
        agrees = np.sign(slope * before)
        paces = np.clip(paces * np.where(agrees > 0, 1.2, np.where(agrees < 0, 0.5, 1.0)), 1e-3, 1.0)
        before = np.where(agrees < 0, 0.0, slope)
        if paces.max() < 0.03 or not np.isfinite(value):
            break
        theta = np.clip(theta - np.sign(before) * paces, low, high)
    return best, best_theta


def _cost(theta: Array, x: Array, y: Array, groups: Array, prior: float) -> tuple[float, Array]:
    """What is minimised, up to a constant, and its gradient: the negative logarithm of the posterior."""
    import numpy as np

    lengths, noise = np.exp(theta[:-1]), float(np.exp(theta[-1]))
    scaled = x / lengths[groups]
    correlations, by_square = _matern(_distances(scaled, scaled))
    try:
        lower, whitened, alpha, _, variance = _solved(correlations, y, noise)
    except np.linalg.LinAlgError:
        return np.inf, np.zeros_like(theta)
    weights = 0.5 * (whitened.T @ whitened - np.outer(alpha, alpha) / variance)
    pulls = weights * by_square
    columns = 2 * (pulls.sum(1) @ np.square(scaled) - ((pulls @ scaled) * scaled).sum(0))
    slope = np.append(np.bincount(groups, columns, len(theta) - 1), noise * np.trace(weights))
    slope[:-1] += (theta[:-1] - prior) / _LENGTH_SD**2
    slope[-1] += (theta[-1] - _NOISE_MEAN) / _NOISE_SD**2
    value = 0.5 * (len(y) + 1) * log(variance) + float(np.log(np.diag(lower)).sum())
    value += 0.5 * float(np.square((theta[:-1] - prior) / _LENGTH_SD).sum())
    value += 0.5 * float((theta[-1] - _NOISE_MEAN) / _NOISE_SD) ** 2
    return value, slope


def _solved(correlations: Array, y: Array, noise: float) -> tuple[Array, Array, Array, float, float]:
    """The Cholesky factor and its inverse, the weights of y, the mean and the variance of the process."""
    import numpy as np

    with_noise = correlations.copy()
    with_noise.flat[:: len(y) + 1] += noise + 1e-8
    lower = np.linalg.cholesky(with_noise)
    whitened = _inverse(lower)
    ones, values = whitened.sum(1), whitened @ y
    # one more point at 0, the mean of standardised values, keeps the mean in sight
    mean = float(ones @ values) / (float(ones @ ones) + 1.0)
    residual = values - mean * ones
    variance = (float(residual @ residual) + mean**2 + 1.0) / (len(y) + 1.0)
    return lower, whitened, whitened.T @ residual, mean, variance


def _inverse(lower: Array) -> Array:
    """The inverse of a lower triangular matrix; of a large one by its quarters, of which one is 0."""
    import numpy as np

    n = len(lower)
    if n <= _WHOLE:
        return np.linalg.inv(lower)
    half = n // 2
    found = np.zeros_like(lower)
    first = found[:half, :half] = _inverse(lower[:half, :half])
    second = found[half:, half:] = _inverse(lower[half:, half:])
    found[half:, :half] = -(second @ lower[half:, :half] @ first)
    return found


def _distances(a: Array, b: Array) -> Array:
    """The squared distances of the rows of `a` from those of `b`."""
    import numpy as np

    squares = np.square(a).sum(1)[:, None] + np.square(b).sum(1)[None, :] - 2.0 * (a @ b.T)
    # beyond the farthest nothing is left of a correlation but numbers that processors are slow with
    np.minimum(np.maximum(squares, 0.0, out=squares), _FARTHEST, out=squares)
    return squares


def _matern(squares: Array) -> tuple[Array, Array]:
    """The kernel, and minus twice its derivative by the squared distance."""
    import numpy as np

    r = np.sqrt(squares)
    r *= _ROOT5
    slope = np.negative(r)
    np.exp(slope, out=slope)
    decay = slope * squares
    r += 1.0
    slope *= r
    decay *= 5.0 / 3.0
    decay += slope
    slope *= 5.0 / 3.0
    return decay, slope
