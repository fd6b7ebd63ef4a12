"""A density that is a mean of kernels around points: normal ones for numbers, and for options those of
Aitchison and Aitken (1976), as in BOHB (Falkner et al. 2018, section 3.2).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from overtone.core.randomness import Random


class KernelDensity:
    """The density of points in the unit cube.

    Args:
        points: An array with one row a point; options are their numbers.
        n_options: Of each axis; 0 for one of numbers.
        narrowest: The smallest bandwidth.

    Attributes:
        widths: The bandwidth of each axis, by the rule for normal distributions.
    """

    def __init__(self, points: Any, n_options: Sequence[int], narrowest: float = 1e-3) -> None:
        self._points, self._n_options = points, n_options
        scale = 1.06 * len(points) ** (-1 / (4 + len(n_options)))
        self.widths = (scale * points.std(axis=0)).clip(narrowest, 0.99)

    def drawn(self, rng: Random, factor: float = 1.0) -> list[float]:
        """Return a point from a kernel that is `factor` times as wide; numbers stay within the bounds."""
        found = []
        at = self._points[rng.randrange(len(self._points))]
        for u, width, n in zip(at, self.widths * factor, self._n_options, strict=True):
            x = -1.0 if not n else rng.randrange(n) if rng.random() < width else u
            while not n and not 0 <= x <= 1:
                x = rng.gauss(u, width)
            found.append(float(x))
        return found

    def log(self, at: Any) -> Any:
        """Return the log density at each of `at`, up to a constant that depends on the axes alone."""
        import numpy as np

        n, at = np.array(self._n_options), np.asarray(at)
        same, other = np.log1p(-self.widths), np.log(self.widths / np.maximum(n - 1, 1))
        logs = np.zeros((len(at), len(self._points)))
        for i, width in enumerate(self.widths):  # axis by axis: there may be many
            difference = at[:, i, None] - self._points[None, :, i]
            number = -0.5 * (difference / width) ** 2 - np.log(width)
            logs += np.where(difference == 0, same[i], other[i]) if n[i] else number
        return np.logaddexp.reduce(logs, axis=1) - np.log(len(self._points))
