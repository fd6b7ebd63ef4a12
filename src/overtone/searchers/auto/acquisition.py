"""Logarithm of the expected improvement, which distinguishes hopeless points, too
(Ament et al. 2023, "Unexpected Improvements to Expected Improvement for Bayesian Optimization")."""

from __future__ import annotations

from math import erfc, log, pi, sqrt
from typing import Any

Array = Any
"""A numpy array of floats."""

_LOG_ROOT_2PI = 0.5 * log(2 * pi)
_ROOT_HALF = sqrt(0.5)
_FAR = -6.0
"""Below this many standard deviations the series of the tail is used."""


def log_improvement(mean: Array, sd: Array, best: float) -> Array:
    """Return the logarithm of the improvement over `best` that is to be expected, where higher is better."""
    import numpy as np

    z = (mean - best) / sd
    near = np.maximum(z, _FAR)
    density = np.exp(-0.5 * near**2 - _LOG_ROOT_2PI)
    found = np.log(np.maximum(density + near * _normal_cdf(near), 1e-300))
    is_far = z <= _FAR
    if is_far.any():
        some = z[is_far]
        tail = some**-2
        found[is_far] = -0.5 * some**2 - _LOG_ROOT_2PI + np.log(tail * (1 - 3 * tail + 15 * tail**2))
    found += np.log(sd)
    return found


def log_feasible(mean: Array, sd: Array) -> Array:
    """Return the logarithm of the chance that a violation is 0 or less."""
    import numpy as np

    z = -mean / sd
    tail = np.minimum(z, _FAR) ** -2
    far = -0.5 * z**2 - _LOG_ROOT_2PI + 0.5 * np.log(tail) + np.log1p(-tail + 3 * tail**2)
    return np.where(z > _FAR, np.log(np.maximum(_normal_cdf(np.maximum(z, _FAR)), 1e-300)), far)


def _normal_cdf(z: Array) -> Array:
    import numpy as np

    # numpy has no error function, and for a thousand points Python's is fast enough
    return 0.5 * np.fromiter(map(erfc, (-_ROOT_HALF * z).tolist()), float, len(z))
