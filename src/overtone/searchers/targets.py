"""Results as values that a Gaussian process can be asked to fit."""

from __future__ import annotations

from statistics import NormalDist
from typing import Any

Array = Any
"""A numpy array of floats."""

_POWERS = (0.0, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 1.75, 2.0)


def powered(scores: Array) -> Array:
    """The scores with mean 0 and variance 1, and as near to normally distributed as a power makes them.

    Scores that are not finite count as the worst, or the best, that is. The power is the likeliest of a
    few (Yeo and Johnson 2000, "A New Family of Power Transformations"); the order stays.
    """
    import numpy as np

    known = _finite(scores)
    low, middle, high = np.quantile(known, (0.25, 0.5, 0.75))
    spread = (high - low) or (known.max() - known.min()) or 1.0
    x = np.clip((known - middle) / spread, -1e6, 1e6)
    up, down = np.maximum(x, 0.0), np.maximum(-x, 0.0)
    slope = float((np.sign(x) * np.log1p(np.abs(x))).sum())
    found = max((_powered(up, down, slope, power) for power in _POWERS), key=lambda one: one[0])[1]
    return (found - found.mean()) / (found.std() or 1.0)


def ranked(scores: Array) -> Array:
    """The scores as if they were normally distributed: what counts is their order alone.

    Equal ones stay equal; those that are not finite count as in `powered`.
    """
    import numpy as np

    known = _finite(scores)
    _, places, counts = np.unique(known, return_inverse=True, return_counts=True)
    middle = np.cumsum(counts) - counts / 2
    inverse = NormalDist().inv_cdf
    return np.array([inverse(one / len(known)) for one in middle])[places]


def scalarised(scores: Array, weights: Array) -> Array:
    """Several objectives as one: the augmented Chebyshev function of Knowles (2006, "ParEGO", section III).

    Args:
        scores: One row a point, one column an objective.
        weights: 0 or more, together 1.
    """
    import numpy as np

    columns = []
    for known in map(_finite, scores.T):
        low, high = known.min(), known.max()
        columns.append((high - known) / ((high - low) or 1.0))
    weighted = np.stack(columns, axis=1) * weights
    return -(weighted.max(1) + 0.05 * weighted.sum(1))


def _finite(scores: Array) -> Array:
    """The scores without infinities and NaN, within -1 and 1."""
    import numpy as np

    finite = np.isfinite(scores)
    if not finite.any():
        return np.zeros(len(scores))
    worst, best = scores[finite].min(), scores[finite].max()
    known = np.clip(np.where(np.isnan(scores), worst, scores), worst, best)
    return known / (float(np.abs(known).max()) or 1.0)  # differences of the largest floats are none


def _powered(up: Array, down: Array, slope: float, power: float) -> tuple[float, Array]:
    """The logarithm of the likelihood of a power, and what it makes of values.

    Args:
        up, down: The values above 0, and those below with their sign turned; 0 elsewhere.
        slope: How the logarithm of the size of what is done to them grows with the power.
    """
    import numpy as np

    above = np.log1p(up) if power == 0 else ((1 + up) ** power - 1) / power
    below = np.log1p(down) if power == 2 else ((1 + down) ** (2 - power) - 1) / (2 - power)
    y = above - below
    variance = float(y.var()) or 1e-300
    return -0.5 * len(up) * float(np.log(variance)) + (power - 1) * slope, y
