"""Distributions of W&B for which there is no domain, as choices of equally likely values."""

from __future__ import annotations

from math import exp
from random import Random
from statistics import NormalDist

from overtone.space import dsl
from overtone.space.categorical import Categorical

N_QUANTILES = 64
"""Number of values, as `TuneSearchCV` takes for distributions that it does not know."""

_DRAWS_OF_EACH = 501


def log_normal(mu: float, sigma: float, q: float | None = None) -> Categorical:
    """Return the quantiles of numbers whose natural logarithm is normally distributed.

    Raises:
        ValueError: `sigma` is not above 0.
    """
    if not sigma > 0:
        raise ValueError(f"sigma: {sigma!r} must be above 0")
    normal = NormalDist(mu, sigma)
    return _choice([exp(normal.inv_cdf((i + 0.5) / N_QUANTILES)) for i in range(N_QUANTILES)], q)


def beta(a: float, b: float, q: float | None = None) -> Categorical:
    """Return the quantiles of a beta distribution, from draws with a fixed seed.

    Raises:
        ValueError: `a` or `b` is not above 0.
    """
    if not (a > 0 and b > 0):
        raise ValueError(f"a and b: {a!r} and {b!r} must be above 0")
    random = Random(0)
    draws = sorted(random.betavariate(a, b) for _ in range(N_QUANTILES * _DRAWS_OF_EACH))
    return _choice(draws[_DRAWS_OF_EACH // 2 :: _DRAWS_OF_EACH], q)


def _choice(values: list[float], q: float | None) -> Categorical:
    """Return a choice of the values, as multiples of `q` if it is given: the likely ones several times."""
    if q is None:
        return dsl.choice(values)
    whole = isinstance(q, int)
    return dsl.choice([int(round(one / q) * q) if whole else round(one / q) * q for one in values])
