"""Spaces of which every configuration can be counted, and their points one by one."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from math import prod
from typing import TYPE_CHECKING

from overtone.space.cube import INACTIVE
from overtone.space.tree import Drawn, Group, Node, Pick, Series

if TYPE_CHECKING:
    from overtone.space.cube import Cube


def size(node: Node) -> float:
    """Return the number of configurations of a part of a space; inf if it draws a real number.

    Equal options count twice; a computed value adds none.
    """
    if isinstance(node, Drawn):
        return node.domain.size
    if isinstance(node, Pick):
        return sum(map(size, node.options))
    if isinstance(node, Group):
        return prod(map(size, node.items.values()))
    if isinstance(node, Series):
        return prod(map(size, node.items))
    return 1


def points(cube: Cube) -> Iterator[tuple[float, ...]]:
    """Yield each point of a finite space, as `cube.to_unit` gives it; the last dimension varies fastest."""
    for part in _parts(cube.root, cube):
        point = [INACTIVE] * len(cube)
        for dimension, u in part:
            point[dimension] = u
        yield tuple(point)


def _parts(node: Node, cube: Cube) -> Iterator[tuple[tuple[int, float], ...]]:
    if isinstance(node, Drawn):
        dimension = cube.index_of(node)
        yield from (((dimension, node.domain.cdf(value)),) for value in node.domain.values())
    elif isinstance(node, Pick):
        dimension = cube.index_of(node)
        for i, option in enumerate(node.options):
            mine = (dimension, (i + 0.5) / len(node.options))
            yield from ((mine, *rest) for rest in _parts(option, cube))
    elif isinstance(node, (Group, Series)):
        items = node.by_key() if isinstance(node, Group) else node.items
        for combination in product(*(list(_parts(item, cube)) for item in items)):
            yield tuple(pair for part in combination for pair in part)
    else:
        yield ()
