"""Points of the unit cube as the columns that a model measures distances in."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from overtone.space import Cube
from overtone.space.cube import INACTIVE
from overtone.space.domain import is_number

Array = Any
"""A numpy array of floats."""

_MOST_STEPS = 2_000
"""A domain in more steps than these is as good as a continuous one."""


class Encoding:
    """Columns for the dimensions of a cube.

    A domain is one column, and so are options that are numbers in their order, and two options. Of
    other options each has a column of its own, all at the same distance from each other. What lies
    in a branch that is not taken is the same for all points.

    Attributes:
        groups: For each column the number of its dimension.
    """

    def __init__(self, cube: Cube) -> None:
        import numpy as np

        self._cube = cube
        self._steps: dict[int, Array] = {}
        self._one_hot: dict[int, int] = {}
        groups: list[int] = []
        for i, dimension in enumerate(cube.dimensions):
            domain, n = dimension.domain, len(dimension.values)
            if domain is None:
                self._steps[i] = (np.arange(n) + 0.5) / n
                if n > 2 and not _is_ordered(dimension.values):
                    self._one_hot[i] = n
            elif domain.size <= _MOST_STEPS:
                self._steps[i] = np.array([domain.cdf(value) for value in domain.values()])
            groups += [i] * self._one_hot.get(i, 1)
        self.groups = np.array(groups, int)
        self._unordered = np.array(sorted(self._one_hot), int)

    def snapped(self, points: Array) -> Array:
        """The points at which configurations lie: in the middle of their steps, and at 0.5 in no branch."""
        import numpy as np

        points = np.clip(points, 0.0, 1.0)
        for i, steps in self._steps.items():
            if self._cube.dimensions[i].domain is None:
                nearest = np.minimum((points[:, i] * len(steps)).astype(int), len(steps) - 1)
            else:
                nearest = np.searchsorted((steps[1:] + steps[:-1]) / 2, points[:, i])
            points[:, i] = steps[nearest]
        for i, dimension in enumerate(self._cube.dimensions):  # a choice comes before what is in its branches
            for choice, option in dimension.conditions:
                n = len(self._cube.dimensions[choice].values)
                points[(points[:, choice] * n).astype(int) != option, i] = INACTIVE
        return points

    def jumped(self, points: Array, mask: Array, rng: Any) -> Array:
        """The points with those options in no order that are in the mask drawn anew, one in three of them."""
        if not len(self._unordered):
            return points
        import numpy as np

        part = points[:, self._unordered]
        jumps = mask[:, self._unordered] & (rng.random(part.shape) < 1 / 3)
        points[:, self._unordered] = np.where(jumps, rng.random(part.shape), part)
        return points

    def columns(self, points: Array) -> Array:
        """The columns of snapped points."""
        import numpy as np

        if not self._one_hot:
            return points
        parts = []
        for i in range(len(self._cube)):
            if i in self._one_hot:
                n = self._one_hot[i]
                option = np.minimum((points[:, i] * n).astype(int), n - 1)
                parts.append(np.sqrt(0.5) * (option[:, None] == np.arange(n)))
            else:
                parts.append(points[:, i : i + 1])
        return np.hstack(parts)


def _is_ordered(values: tuple[Any, ...]) -> bool:
    """Whether the options are numbers that grow or fall."""
    if not all(map(is_number, values)):
        return False
    pairs = list(pairwise(values))
    return all(a < b for a, b in pairs) or all(a > b for a, b in pairs)
