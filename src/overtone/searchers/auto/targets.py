"""Results as values that a Gaussian process can be asked to fit."""

from __future__ import annotations

from functools import lru_cache
from statistics import NormalDist
from typing import Any

Array = Any
"""A numpy array of floats."""

_normal = NormalDist().inv_cdf

_N_POWERS = 9
"""Quarters from 0 to 2."""


def powered(scores: Array) -> Array:
    """Return the scores with mean 0 and variance 1, as near to a normal distribution as a power makes them.

    Scores that are not finite count as the worst, or the best, that is. The power is the likeliest of a
    few (Yeo and Johnson 2000, "A New Family of Power Transformations"); the order stays.
    """
    import numpy as np

    known = _finite(scores)
    low, middle, high = _quartiles(known)
    spread = (high - low) or (known.max() - known.min()) or 1.0
    x = np.clip((known - middle) / spread, -1e6, 1e6)
    up, down = np.maximum(x, 0.0), np.maximum(-x, 0.0)
    # how the logarithm of the size of what is done to the values grows with the power
    slope = float(np.log1p(up).sum() - np.log1p(down).sum())
    found = _powered(up) - _powered(down)[::-1]
    found -= found.mean(1, keepdims=True)
    variances = np.maximum(np.square(found).mean(1), 1e-300)
    powers = np.arange(_N_POWERS) / 4
    likeliest = np.argmax(-0.5 * len(x) * np.log(variances) + (powers - 1) * slope)
    return found[likeliest] / np.sqrt(variances[likeliest])


def ranked(scores: Array) -> Array:
    """Return the scores as normally distributed values that depend only on their order.

    Equal scores stay equal; scores that are not finite count as in `powered`.
    """
    import numpy as np

    known, n = _finite(scores), len(scores)
    order = np.argsort(known, kind="stable")
    ordered = known[order]
    is_new = ordered[1:] != ordered[:-1]
    found = np.empty(n)
    if is_new.all():
        found[order] = _normals(n)
        return found
    first = np.append(0, np.flatnonzero(is_new) + 1)
    counts = np.diff(np.append(first, n))
    middle = [_normal(one / n) for one in (first + counts / 2).tolist()]
    found[order] = np.repeat(middle, counts)
    return found


@lru_cache(maxsize=512)
def _normals(n: int) -> Array:
    """Return the quantiles of the normal distribution in the middles of n equal parts."""
    import numpy as np

    return np.array([_normal((i + 0.5) / n) for i in range(n)])


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
    """Return the scores without infinities and NaN, within -1 and 1."""
    import numpy as np

    finite = np.isfinite(scores)
    if not finite.any():
        return np.zeros(len(scores))
    worst, best = scores[finite].min(), scores[finite].max()
    known = np.clip(np.where(np.isnan(scores), worst, scores), worst, best)
    return known / (float(np.abs(known).max()) or 1.0)  # differences of the largest floats are none


def _quartiles(known: Array) -> tuple[float, float, float]:
    """Return the quartiles, in proportion where they lie between two values."""
    ordered = sorted(known.tolist())
    last = len(ordered) - 1
    found = []
    for quarters in (1, 2, 3):
        i, part = divmod(quarters * last, 4)
        low, high = ordered[i], ordered[min(i + 1, last)]
        # of the nearer one, so that the ends are exact
        found.append(low + (high - low) * part / 4 if part < 2 else high - (high - low) * (1 - part / 4))
    return found[0], found[1], found[2]


def _powered(values: Array) -> Array:
    """Return each power transform of values of 0 or more: ((1 + x)^p - 1) / p, one row per power."""
    import numpy as np

    found = np.empty((_N_POWERS, len(values)))
    np.log1p(values, out=found[0])
    found[1:] = np.sqrt(np.sqrt(1.0 + values))
    np.multiply.accumulate(found[1:], out=found[1:])
    found[1:] -= 1.0
    found[1:] /= np.arange(1, _N_POWERS)[:, None] / 4
    return found
