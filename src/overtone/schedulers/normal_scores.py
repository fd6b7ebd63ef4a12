"""Normal scores of ranks and their correlation: statistics that depend on the order of values alone."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from math import sqrt
from statistics import NormalDist

NORMAL = NormalDist()


def normal_score(ascending: Sequence[float], score: float, n_worse: int = 0) -> float:
    """Return the normal score of a rank among `ascending` and `n_worse` unlisted worse values."""
    n = len(ascending) + n_worse
    place = n_worse + (bisect_left(ascending, score) + bisect_right(ascending, score)) / 2
    return NORMAL.inv_cdf(min(max(place, 0.5), n - 0.5) / n)


def weighted_correlation(
    x: Sequence[float], y: Sequence[float], weights: Sequence[float]
) -> tuple[float, float]:
    """Return the weighted correlation, within -0.99 and 0.99, and the effective number of observations."""
    total = sum(weights)
    size = total**2 / sum(w * w for w in weights)
    mx = sum(w * a for w, a in zip(weights, x, strict=True)) / total
    my = sum(w * b for w, b in zip(weights, y, strict=True)) / total
    sxx = sum(w * (a - mx) ** 2 for w, a in zip(weights, x, strict=True))
    syy = sum(w * (b - my) ** 2 for w, b in zip(weights, y, strict=True))
    sxy = sum(w * (a - mx) * (b - my) for w, a, b in zip(weights, x, y, strict=True))
    return (min(max(sxy / sqrt(sxx * syy), -0.99), 0.99) if sxx * syy > 0 else 0.0), size


def weighted_normal_scores(scores: Sequence[float], weights: Sequence[float]) -> list[float]:
    """Return the normal scores of weighted ranks; equal scores share the middle of their ranks."""
    total, below, z = sum(weights), 0.0, {}
    together: dict[float, float] = {}
    for score, weight in zip(scores, weights, strict=True):
        together[score] = together.get(score, 0.0) + weight
    for score in sorted(together):
        place = (below + together[score] / 2) / total
        z[score] = NORMAL.inv_cdf(min(max(place, 0.5 / total), 1 - 0.5 / total))
        below += together[score]
    return [z[score] for score in scores]
