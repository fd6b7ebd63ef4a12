"""Whether methods differ over many problems, and which of them do.

J. Demsar, Statistical comparisons of classifiers over multiple data sets (JMLR 7, 2006), section
3.2: mean ranks, the Friedman test in the form of Iman and Davenport, and Nemenyi's critical
difference, where the mean ranks of two methods differ if they are further apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, sqrt

from overtone.errors import ArgumentError


@dataclass(frozen=True, slots=True)
class Ranking:
    """The result of the test.

    Attributes:
        mean_ranks: The mean rank of each method; 1 is the best.
        n: The number of problems.
        chi2: Friedman's statistic.
        p: The probability of such ranks if all methods are equal (Iman and Davenport).
        critical_difference: Nemenyi's critical difference.
    """

    mean_ranks: tuple[float, ...]
    n: int
    chi2: float
    p: float
    critical_difference: float


def friedman(losses: Sequence[Sequence[float]], alpha: float = 0.05) -> Ranking:
    """Return the ranking of methods.

    Args:
        losses: [problem][method], less is better; infinite ones are the worst, and equal.
        alpha: The level of the critical difference.

    Raises:
        ValueError: There are less than two methods or problems.
    """
    from scipy.stats import f as f_distribution
    from scipy.stats import studentized_range

    n, k = len(losses), len(losses[0]) if losses else 0
    if n < 2 or k < 2:
        raise ArgumentError(f"a ranking needs two problems and two methods, and there are {n} and {k}")
    each = [ranks(row) for row in losses]
    means = tuple(sum(column) / n for column in zip(*each, strict=True))
    chi2 = 12 * n / (k * (k + 1)) * (sum(one**2 for one in means) - k * (k + 1) ** 2 / 4)
    below = n * (k - 1) - chi2
    f = (n - 1) * chi2 / below if below > 1e-12 else inf
    p = float(f_distribution.sf(f, k - 1, (k - 1) * (n - 1)))
    q = float(studentized_range.ppf(1 - alpha, k, inf)) / sqrt(2)
    return Ranking(means, n, max(0.0, chi2), p, q * sqrt(k * (k + 1) / (6 * n)))


def ranks(losses: Sequence[float]) -> list[float]:
    """Return the rank of each value, from 1 for the least; equal values share the mean, NaN is worst."""
    from scipy.stats import rankdata

    return [float(rank) for rank in rankdata([one if one == one else inf for one in losses])]


def groups(mean_ranks: Sequence[float], critical_difference: float) -> list[tuple[float, float]]:
    """Return the largest ranges (least, greatest mean rank) of two methods or more that do not differ."""
    ordered = sorted(mean_ranks)
    found: list[tuple[float, float]] = []
    for i, low in enumerate(ordered):
        high = max(one for one in ordered[i:] if one - low <= critical_difference)
        is_more = high > low or ordered.count(low) > 1
        if is_more and not any(a <= low and high <= b for a, b in found):
            found.append((low, high))
    return found
