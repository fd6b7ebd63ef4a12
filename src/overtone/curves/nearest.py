"""Curves between recorded ones: of the nearest row, or mixed from the nearest few."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

Point = tuple[dict[str, float], float]


class Nearest:
    """Finds the rows that are nearest to a config, in the unit cube of its space.

    Numbers are as far apart as their places between the ends of their domain; categories that
    differ are 1 apart.

    Args:
        space: The hyperparameters' domains.
        configs: Of each row.
        k: How many rows are mixed.
    """

    def __init__(self, space: Mapping[str, Any], configs: Sequence[Mapping[str, Any]], k: int) -> None:
        import numpy as np

        from overtone.space import Cube

        self._cube = Cube(dict(space))
        self._k = min(k, len(configs))
        self._points = np.array([self._cube.to_unit(dict(one)) for one in configs], dtype=float)
        self._is_category = np.array([one.domain is None for one in self._cube.dimensions], dtype=bool)

    def rows(self, config: Mapping[str, Any]) -> list[tuple[int, float]]:
        """Return the nearest rows with their distances, the nearest first; of equals the first one."""
        import numpy as np

        apart = np.abs(self._points - np.array(self._cube.to_unit(dict(config)), dtype=float))
        apart[:, self._is_category] = apart[:, self._is_category] > 1e-9
        squares = (apart**2).sum(axis=1)
        order = np.argsort(squares, kind="stable")[: self._k]
        return [(int(row), float(squares[row]) ** 0.5) for row in order]

    def mixed(self, config: Mapping[str, Any], points: Callable[[int], list[Point]]) -> list[Point]:
        """Return a curve for `config`, as long as that of the nearest row."""
        near = self.rows(config)
        first, distance = near[0]
        if self._k == 1 or distance == 0:
            return points(first)
        curves = [(points(row), 1 / apart) for row, apart in near]
        return [
            _mean([(one[t], weight) for one, weight in curves if t < len(one)])
            for t in range(len(points(first)))
        ]


def _mean(points: Sequence[tuple[Point, float]]) -> Point:
    total = sum(weight for _, weight in points)
    metrics = {name: sum(one[0][name] * weight for one, weight in points) / total for name in points[0][0][0]}
    return metrics, sum(one[1] * weight for one, weight in points) / total
