"""Two distributions that the tests need, so that they need no further package."""

from __future__ import annotations

from functools import lru_cache
from math import exp, inf, lgamma, log
from statistics import NormalDist

_NORMAL = NormalDist()


def f_survival(f: float, d1: float, d2: float) -> float:
    """Return the probability that an F-distributed number with d1 and d2 degrees of freedom is above `f`."""
    if f <= 0:
        return 1.0
    return 0.0 if f == inf else incomplete_beta(d2 / (d2 + d1 * f), d2 / 2, d1 / 2)


def incomplete_beta(x: float, a: float, b: float) -> float:
    """The regularised incomplete beta function, by its continued fraction (Abramowitz and Stegun, 26.5.8)."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):
        return 1 - incomplete_beta(1 - x, b, a)
    front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log(1 - x)) / a
    # evaluated from the front (Lentz 1976); 200 terms are far more than double precision needs
    tiny = 1e-300
    value, c, d = 1.0, 1.0, 0.0
    for m in range(200):
        for term in _terms(m, x, a, b):
            d = 1 + term * d
            d = 1 / (d or tiny)
            c = 1 + term / (c or tiny)
            value *= c * d
            if abs(c * d - 1) < 1e-15:
                return front / value
    return front / value


def _terms(m: int, x: float, a: float, b: float) -> tuple[float, ...]:
    odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
    if m == 0:
        return (odd,)
    even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
    return (even, odd)


@lru_cache
def studentised_range_quantile(p: float, k: int) -> float:
    """Return the quantile `p` of the range of `k` independent standard normal numbers."""
    low, high = 0.0, 20.0
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if _range_below(middle, k) < p else (low, middle)
    return (low + high) / 2


def _range_below(q: float, k: int) -> float:
    """P(range <= q) = k * integral of phi(z) (Phi(z) - Phi(z - q))^(k-1), by Simpson's rule."""
    n, a, b = 200, -8.0, 8.0 + q
    h = (b - a) / n
    total = 0.0
    for i in range(n + 1):
        z = a + i * h
        weight = 1 if i in (0, n) else 4 if i % 2 else 2
        total += weight * _NORMAL.pdf(z) * (_NORMAL.cdf(z) - _NORMAL.cdf(z - q)) ** (k - 1)
    return k * total * h / 3
