"""A space as the unit cube: what model-based and quasi-random searchers work on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from overtone.errors import SpaceError
from overtone.space.domain import Domain, unit
from overtone.space.draw import Drawing, RngFor
from overtone.space.match import option_of
from overtone.space.tree import Drawn, Group, Node, Pick, Series, parse

if TYPE_CHECKING:
    from random import Random

INACTIVE = 0.5
"""The coordinate of a dimension whose branch is not taken."""


@dataclass(frozen=True, slots=True)
class Dimension:
    """One axis of the cube.

    Attributes:
        path: For people; dimensions in different branches may share it.
        key: The dimension's own name.
        domain: What is drawn; None for a choice or a grid.
        values: The options of a choice or a grid as they are written, each an equal part of the
            axis; empty for a domain.
        conditions: The (dimension, option) pairs that must all be taken for this one to matter.
    """

    path: str
    key: str
    domain: Domain | None
    values: tuple[Any, ...]
    conditions: tuple[tuple[int, int], ...]


class Cube:
    """A space as the unit cube of its dimensions, which are the same for all configurations.

    Grids are dimensions like choices; computed values have none. A coordinate of a domain is
    its `cdf`, that of an option the middle of its part.

    Attributes:
        dimensions: Sorted by path, a choice before what is in its branches.
    """

    def __init__(self, space: Any) -> None:
        self.root = parse(space)
        self.dimensions: list[Dimension] = []
        self._index: dict[Node, int] = {}
        self._add(self.root, ())

    def __len__(self) -> int:
        return len(self.dimensions)

    def to_unit(self, config: Mapping[str, Any]) -> list[float]:
        """Return the point of `config`; dimensions of branches not taken are at 0.5.

        Values outside their domain are taken to its nearer end.

        Raises:
            SpaceError: A value is missing, or is none of the options that there are.
        """
        point = [INACTIVE] * len(self.dimensions)
        self._measure(self.root, config, point)
        return point

    def from_unit(self, point: Sequence[float], rng_for: RngFor | None = None) -> dict[str, Any]:
        """Return the configuration at `point`; coordinates of branches not taken do not matter.

        Args:
            point: One coordinate a dimension; those outside [0, 1] are taken to the nearer end.
            rng_for: For values that are computed with random numbers; by default the same
                numbers at every call.

        Raises:
            SpaceError: The point has another number of dimensions, or NaN in it.
        """
        coordinates = [unit(u) for u in point]
        if len(coordinates) != len(self.dimensions):
            raise SpaceError(f"a point of this space has {len(self)} coordinates, not {len(coordinates)}")
        return _AtCoordinates(self.root, rng_for or _constant, coordinates, self._index).config()

    def index_of(self, node: Node) -> int:
        """Return the dimension that a node of `root` is."""
        return self._index[node]

    def is_active(self, dimension: int, point: Sequence[float]) -> bool:
        """Return whether this dimension matters at `point`: the branch that it is in is taken."""
        return all(_bin(point[i], len(self.dimensions[i].values)) == option
                   for i, option in self.dimensions[dimension].conditions)  # fmt: skip

    def _add(self, node: Node, conditions: tuple[tuple[int, int], ...]) -> None:
        if isinstance(node, (Drawn, Pick)):
            index = self._index[node] = len(self.dimensions)
            domain = node.domain if isinstance(node, Drawn) else None
            values = tuple(node.values) if isinstance(node, Pick) else ()
            self.dimensions.append(Dimension(node.path, node.key, domain, values, conditions))
            for i, option in enumerate(node.options if isinstance(node, Pick) else ()):
                self._add(option, (*conditions, (index, i)))
        elif isinstance(node, (Group, Series)):
            for item in node.by_key() if isinstance(node, Group) else node.items:
                self._add(item, conditions)

    def _measure(self, node: Node, value: Any, point: list[float]) -> None:
        if isinstance(node, Drawn):
            try:
                point[self._index[node]] = unit(node.domain.cdf(value))
            except (TypeError, ValueError) as error:
                raise SpaceError(f"{node.path}={value!r} is not a value of {node.domain!r}") from error
        elif isinstance(node, Pick):
            option = option_of(node, value)
            if option is None:
                raise SpaceError(f"{node.path}={value!r} is none of {', '.join(map(repr, node.values))}")
            point[self._index[node]] = (option + 0.5) / len(node.options)
            self._measure(node.options[option], value, point)
        elif isinstance(node, Group):
            for key, item in node.items.items():
                if item in self._index or isinstance(item, (Group, Series)):
                    self._measure(item, _part(value, key, item), point)
        elif isinstance(node, Series):
            for i, item in enumerate(node.items):
                self._measure(item, _part(value, i, item), point)


class _AtCoordinates(Drawing):
    def __init__(self, root: Group, rng_for: RngFor, point: list[float], index: dict[Node, int]) -> None:
        super().__init__(root, rng_for)
        self._point = point
        self._index = index

    def option(self, pick: Pick) -> int:
        if pick not in self._index:
            return super().option(pick)
        return _bin(self._point[self._index[pick]], len(pick.options))

    def value(self, node: Drawn) -> Any:
        if node not in self._index:
            return super().value(node)
        return node.domain.quantile(self._point[self._index[node]])


def _bin(u: float, n: int) -> int:
    return min(int(u * n), n - 1)


def _part(value: Any, key: Any, item: Node) -> Any:
    try:
        return value[key]
    except (KeyError, IndexError, TypeError):
        raise SpaceError(f"the configuration has no {item.path}: {value!r}") from None


def _constant(key: str) -> Random:
    from random import Random

    return Random(key)
