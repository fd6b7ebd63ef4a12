"""The points of a space's grids of which a constraint allows some."""

from __future__ import annotations

from typing import Any

from overtone.errors import SpaceError
from overtone.space.constraint import allows
from overtone.space.draw import RngFor
from overtone.space.tree import Computed, Drawn, Group, Node, Pick, Series, parse
from overtone.space.variants import Variants

_TRIES = 20_000
_MOST_POINTS = 1_000_000


class Allowed(Variants):
    """Variants that the space's constraint allows: all of them where it has none.

    Where nothing is drawn by chance, points that are not allowed are left out of the grid. Elsewhere
    what is drawn is drawn again until it is allowed.

    Raises:
        SpaceError: The constraint allows nothing.
    """

    def __init__(self, space: Any) -> None:
        root = parse(space)
        super().__init__(root)
        self._every = Variants(root)
        self._points: list[int] | None = None
        if root.constraint is None or _is_random(root) or self.size > _MOST_POINTS:
            return
        every = ((i, self._every.config(i, _unseeded)) for i in range(self.size))
        self._points = [i for i, config in every if allows(root, config)]
        if not self._points:
            raise SpaceError("the constraint of the space allows nothing that is in it")
        self.size = len(self._points)

    def config(self, point: int, rng_for: RngFor) -> dict[str, Any]:
        if self._points is not None:
            return self._every.config(self._points[point], rng_for)
        for i in range(_TRIES):
            config = self._every.config(point, rng_for if i == 0 else _again(rng_for, i))
            if allows(self.root, config):
                return config
        raise SpaceError(
            f"the constraint of the space allowed none of {_TRIES:,} configurations, "
            f"such as {config!r:.200}: write the space so that most of it is allowed"
        )


def _is_random(node: Node) -> bool:
    if isinstance(node, Pick):
        return not node.is_grid or any(map(_is_random, node.options))
    if isinstance(node, Group):
        return any(map(_is_random, node.items.values()))
    if isinstance(node, Series):
        return any(map(_is_random, node.items))
    return isinstance(node, (Drawn, Computed))


def _again(rng_for: RngFor, i: int) -> RngFor:
    return lambda key: rng_for(f"{key} again {i}")


def _unseeded(key: str) -> Any:
    raise AssertionError(f"{key} is drawn, though nothing in the space is")
