"""The points of a space's grids, each found by its number."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from overtone.space.draw import Drawing, RngFor
from overtone.space.spec import fresh
from overtone.space.tree import Group, Node, Pick, Series, parse


class Variants:
    """The points of the grids of a space: their number, and a configuration for each.

    Grids are crossed. Keys are sorted by their path and the first varies fastest: for
    {"a": grid_search([1, 2]), "b": grid_search([3, 4])} the points are (1, 3), (2, 3), (1, 4),
    (2, 4). Where the values of a grid are branches with grids of their own, the points of the
    first branch come first. Nothing is listed: a point is found in time that does not
    depend on how many there are.

    Attributes:
        root: The parsed space.
        size: How many points there are; 1 without any grid.
    """

    def __init__(self, space: Any) -> None:
        self.root = parse(space)
        self.size = self.root.size

    def config(self, point: int, rng_for: RngFor) -> dict[str, Any]:
        """Return the configuration at grid point number `point`, with random values drawn by `rng_for`."""
        digits = self._digits(point) if self.size > 1 or point else {}
        return _AtPoint(self.root, rng_for, digits).config()

    def point(self, point: int) -> dict[str, Any]:
        """Return the values of grid point number `point`, by path; branches are returned as written."""
        digits = self._digits(point)
        return {pick.path: fresh(pick.values[i]) for pick, i in digits.items()}

    def _digits(self, point: int) -> dict[Pick, int]:
        if not 0 <= point < self.size:
            raise IndexError(f"grid point {point} of {self.size}")
        digits: dict[Pick, int] = {}
        _place(self.root, point, digits)
        return digits


def count(space: Any) -> int:
    """Return the number of grid points of `space`; 1 if it has no grid."""
    return parse(space).size


def grid_points(space: Any) -> Iterator[dict[str, Any]]:
    """Yield the values of each grid point, by path, in order."""
    variants = Variants(space)
    return (variants.point(i) for i in range(variants.size))


class _AtPoint(Drawing):
    def __init__(self, root: Group, rng_for: RngFor, digits: dict[Pick, int]) -> None:
        super().__init__(root, rng_for)
        self._digits = digits

    def option(self, pick: Pick) -> int:
        return self._digits.get(pick, 0) if pick.is_grid else super().option(pick)


def _place(node: Node, index: int, digits: dict[Pick, int]) -> None:
    if isinstance(node, Pick) and node.is_grid:
        i = index if node.size == len(node.options) else 0
        index -= i
        while index >= node.options[i].size:
            index -= node.options[i].size
            i += 1
        digits[node] = i
        _place(node.options[i], index, digits)
    elif isinstance(node, (Group, Series)):
        for item in node.by_key() if isinstance(node, Group) else node.items:
            index, digit = divmod(index, item.size)
            _place(item, digit, digits)
