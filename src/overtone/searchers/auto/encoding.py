"""Points of the unit cube as the columns that a model measures distances in."""

from __future__ import annotations

from itertools import pairwise
from math import sqrt
from typing import Any

from overtone.space import Cube
from overtone.space.cube import INACTIVE
from overtone.space.domain import is_number

Array = Any
"""A numpy array of floats."""

_MOST_STEPS = 2_000
"""A domain in more steps than these is as good as a continuous one."""


class Encoding:
    """The columns that represent the dimensions of a cube in a model.

    A domain is one column, and so are options that are ordered numbers, and two options. Other
    options have one column each, all at the same distance from each other. Values in a branch that
    is not taken are the same for all points.

    Attributes:
        groups: The index of the dimension of each column.
    """

    def __init__(self, cube: Cube) -> None:
        import numpy as np

        steps: list[tuple[int, Array, Array]] = []
        options: list[tuple[int, int]] = []
        hot: list[int] = []
        edges: list[tuple[float, float]] = []
        branches: dict[tuple[int, int], list[int]] = {}
        groups: list[int] = []
        for i, dimension in enumerate(cube.dimensions):
            domain, n = dimension.domain, len(dimension.values)
            if domain is None:
                options.append((i, n))
            elif domain.size <= _MOST_STEPS:
                values = np.array([domain.cdf(value) for value in domain.values()])
                steps.append((i, values, (values[1:] + values[:-1]) / 2))
            if domain is None and n > 2 and not _is_ordered(dimension.values):
                hot += range(len(groups), len(groups) + n)
                edges += [(option / n, (option + 1) / n) for option in range(n)]
                groups += [i] * n
            else:
                groups.append(i)
            for condition in dimension.conditions:
                branches.setdefault(condition, []).append(i)
        self._steps = steps
        self._choices, self._counts = np.array(options, int).reshape(-1, 2).T
        # of each branch: which choice decides on it, by which option, and which dimensions are in it
        self._deciding = np.searchsorted(self._choices, [choice for choice, _ in branches])
        self._options = np.array([option for _, option in branches], int)
        self._inside = np.zeros((len(branches), len(cube)), bool)
        for row, inside in zip(self._inside, branches.values(), strict=True):
            row[inside] = True
        self.groups = np.array(groups, int)
        self._hot = np.array(hot, int)
        self._from, self._to = np.array(edges).reshape(-1, 2).T
        self._to[self._to == 1.0] = np.inf
        self._unordered = np.unique(self.groups[self._hot])

    def snapped(self, points: Array) -> Array:
        """Return the points of configurations: in the middle of their steps, and at 0.5 in no branch."""
        import numpy as np

        points = np.minimum(np.maximum(points, 0.0), 1.0)
        for i, steps, between in self._steps:
            points[:, i] = steps[np.searchsorted(between, points[:, i])]
        if len(self._choices):
            taken = (points[:, self._choices] * self._counts).astype(int)
            np.minimum(taken, self._counts - 1, out=taken)
            points[:, self._choices] = (taken + 0.5) / self._counts
            if len(self._options):
                is_left = taken[:, self._deciding] != self._options
                np.copyto(points, INACTIVE, where=is_left @ self._inside)
        return points

    def jumped(self, points: Array, mask: Array, rng: Any) -> Array:
        """Return the points with new draws for one third of the unordered options in the mask."""
        if not len(self._unordered):
            return points
        import numpy as np

        part = points[:, self._unordered]
        jumps = mask[:, self._unordered] & (rng.random(part.shape) < 1 / 3)
        points[:, self._unordered] = np.where(jumps, rng.random(part.shape), part)
        return points

    def columns(self, points: Array) -> Array:
        """Return the columns of snapped points."""

        if not len(self._unordered):
            return points
        found = points[:, self.groups]
        some = found[:, self._hot]
        found[:, self._hot] = sqrt(0.5) * ((some >= self._from) & (some < self._to))
        return found


def _is_ordered(values: tuple[Any, ...]) -> bool:
    """Return whether the options are numbers that grow or fall."""
    if not all(map(is_number, values)):
        return False
    pairs = list(pairwise(values))
    return all(a < b for a, b in pairs) or all(a > b for a, b in pairs)
