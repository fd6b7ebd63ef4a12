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
        return _matern(_distances(a / self.lengths, b / self.lengths))[0]


class Process:
    """A Gaussian process that has seen `y` at the rows of `x`.

    Args:
        pending: Points whose value is not known: they narrow the process around them and
            leave its mean as it is (Ginsbourger et al. 2010, "Kriging Is Well-Suited to
            Parallelize Optimization": the kriging believer).
    """

    def __init__(self, kernel: Kernel, x: Array, y: Array, pending: Array | None = None) -> None:
        import numpy as np

        self.kernel, self._x = kernel, x
        _, whitened, self._alpha, self._mean, self._variance = _solved(kernel(x, x), y, kernel.noise)
        self._seen, self._white = x, whitened
        if pending is not None and len(pending):
            self._seen = np.vstack([x, pending])
            correlations = kernel(self._seen, self._seen)
            correlations[np.diag_indices_from(correlations)] += kernel.noise + 1e-8
            self._white = np.linalg.inv(np.linalg.cholesky(correlations))

    def predict(self, at: Array) -> tuple[Array, Array]:
        """Mean and standard deviation at the rows of `at`, noise not counted."""
        import numpy as np

        cross = self.kernel(at, self._seen)
        mean = self._mean + cross[:, : len(self._x)] @ self._alpha
        explained = np.square(cross @ self._white.T).sum(1)
        return mean, np.sqrt(self._variance * np.maximum(1.0 - explained, 1e-12))


def fit(x: Array, y: Array, groups: Array, steps: int = 25) -> Kernel:
    """The most probable kernel for values `y` at the rows of `x`.

    Args:
        groups: For each column of x, the number of its group, from 0 on.
    """
    import numpy as np

    n_groups = int(groups.max()) + 1
    prior = _LENGTH + 0.5 * log(n_groups)
    found = [
        _descended(np.append(np.full(n_groups, prior + length), noise), x, y, groups, prior, steps)
        for length, noise in _STARTS
    ]
    theta = min(found, key=lambda one: one[0])[1]
    return Kernel(np.exp(theta[:-1])[groups], float(np.exp(theta[-1])))


def _descended(
    theta: Array, x: Array, y: Array, groups: Array, prior: float, steps: int
) -> tuple[float, Array]:
    """The least cost from `theta` downhill, and where it is."""
    import numpy as np

    low = np.append(np.full(len(theta) - 1, _LOWEST), _LEAST_NOISE)
    high = np.append(np.full(len(theta) - 1, _HIGHEST), _MOST_NOISE)
    pace, before = np.full(len(theta), 0.3), np.zeros(len(theta))
    best, best_theta = np.inf, theta
    for _ in range(steps):
        value, slope = _cost(theta, x, y, groups, prior)
        if value < best:
            best, best_theta = value, theta
        agrees = np.sign(slope * before)
        pace = np.clip(pace * np.where(agrees > 0, 1.2, np.where(agrees < 0, 0.5, 1.0)), 1e-3, 1.0)
        before = np.where(agrees < 0, 0.0, slope)
        if pace.max() < 0.03 or not np.isfinite(value):
            break
        theta = np.clip(theta - np.sign(before) * pace, low, high)
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

    with_noise = correlations + (noise + 1e-8) * np.eye(len(y))
    lower = np.linalg.cholesky(with_noise)
    whitened = np.linalg.inv(lower)
    ones, values = whitened.sum(1), whitened @ y
    # one more point at 0, the mean of standardised values, keeps the mean in sight
    mean = float(ones @ values) / (float(ones @ ones) + 1.0)
    residual = values - mean * ones
    variance = (float(residual @ residual) + mean**2 + 1.0) / (len(y) + 1.0)
    return lower, whitened, whitened.T @ residual, mean, variance


def _distances(a: Array, b: Array) -> Array:
    """The squared distances of the rows of `a` from those of `b`."""
    import numpy as np

    squares = np.square(a).sum(1)[:, None] + np.square(b).sum(1)[None, :] - 2.0 * (a @ b.T)
    # beyond the farthest nothing is left of a correlation but numbers that processors are slow with
    return np.clip(squares, 0.0, _FARTHEST)


def _matern(squares: Array) -> tuple[Array, Array]:
    """The kernel, and minus twice its derivative by the squared distance."""
    import numpy as np

    r = _ROOT5 * np.sqrt(squares)
    slope = np.exp(-r)
    decay = slope * squares
    slope *= 1.0 + r
    decay *= 5.0 / 3.0
    decay += slope
    slope *= 5.0 / 3.0
    return decay, slope
