"""One configuration of a space: each value drawn by its own key, in any order that dependencies need."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from overtone.errors import SpaceError
from overtone.space.function import seeded
from overtone.space.spec import Spec, SpecSeries, fresh, plain
from overtone.space.tree import Computed, Drawn, Fixed, Group, Node, Pick, Series, parse, parse_part

if TYPE_CHECKING:
    from random import Random

RngFor = Callable[[str], "Random"]
"""A generator for the draw with this key: equal keys must give equally seeded generators.

A draw takes its random numbers before the next generator is asked for, which may be the same object.
"""


def sample(space: Any, rng_for: RngFor) -> dict[str, Any]:
    """Return a configuration drawn from `space`; of its grids, the first point.

    Args:
        space: A dict, or what `parse` made of one.
        rng_for: Gives each draw its generator, so that no draw depends on the others.

    Raises:
        SpaceError: The space cannot be used, its values depend on each other in a circle, or a
            function in it raised.
    """
    return Drawing(parse(space), rng_for).config()


class RecursiveDependencyError(SpaceError):
    """Values of a space depend on each other in a circle."""


class Drawing:
    """The drawing of one configuration; each node is drawn once, when it is first needed."""

    def __init__(self, root: Group, rng_for: RngFor) -> None:
        self.root = root
        self.rng_for = rng_for
        self._values: dict[Node, Any] = {}
        self._chosen: dict[Pick, Node] = {}
        self._computing: list[Computed] = []

    def option(self, pick: Pick) -> int:
        """Return the index of the drawn option of `pick`."""
        return 0 if pick.is_grid else self.rng_for(pick.key).randrange(len(pick.options))

    def value(self, node: Drawn) -> Any:
        """Return the number at `node`."""
        return node.domain.draw(self.rng_for(node.key))

    def config(self) -> dict[str, Any]:
        """Return the configuration."""
        config: dict[str, Any] = self._resolve(self.root)
        return config

    def _resolve(self, node: Node) -> Any:
        if isinstance(node, Drawn):  # as most are
            if node not in self._values:
                self._values[node] = self.value(node)
            value = self._values[node]
            return value if type(value) is float else fresh(value)
        if isinstance(node, Group):
            return {key: self._resolve(item) for key, item in node.items.items()}
        if isinstance(node, Fixed):
            return fresh(node.value)
        if isinstance(node, Series):
            return node.kind(self._resolve(item) for item in node.items)
        if isinstance(node, Pick):
            return self._resolve(self._choose(node))
        assert isinstance(node, Computed)
        if node not in self._values:
            self._values[node] = self._compute(node)
        return fresh(self._values[node])

    def _choose(self, pick: Pick) -> Node:
        if pick not in self._chosen:
            self._chosen[pick] = pick.options[self.option(pick)]
        return self._chosen[pick]

    def _compute(self, node: Computed) -> Any:
        if node in self._computing:
            circle = [each.path for each in self._computing[self._computing.index(node) :]] + [node.path]
            raise RecursiveDependencyError(f"values depend on each other in a circle: {' -> '.join(circle)}")
        self._computing.append(node)
        try:
            with seeded(self.rng_for(node.key)):
                value = plain(node.function.value(Spec(self.root.items, self._see, is_root=True)))
        except SpaceError:
            raise
        except Exception as error:
            what = f"{type(error).__name__}: {error}"
            raise SpaceError(f"{node.path}: {node.function!r} raised {what}") from error
        finally:
            self._computing.pop()
        no_grid = f"what {node.function!r} returns would come too late to be part of the grid"
        return self._resolve(parse_part(value, node.path, f"{node.key}()", no_grid))

    def _see(self, item: Any) -> Any:
        while isinstance(item, Pick):
            item = self._choose(item)
        if isinstance(item, (Drawn, Computed)):
            item = self._resolve(item)
        elif isinstance(item, Fixed):
            item = item.value
        if isinstance(item, Group):
            return Spec(item.items, self._see)
        if isinstance(item, Series):
            return SpecSeries(item.items, self._see)
        if type(item) is dict:
            return Spec(item, self._see)
        return fresh(item)
