"""Suggestions without repeats, for finite spaces."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from math import inf
from typing import Any

from overtone.core.randomness import Random, keyed
from overtone.core.types import Config
from overtone.errors import SpaceError
from overtone.space import Cube
from overtone.space.constraint import allows
from overtone.space.finite import points, size
from overtone.space.match import is_same

MOST_LISTED = 1 << 20
"""Maximum size of a finite space that is searched point by point if random draws find nothing new."""

_TRIES = 20_000
_REDRAWN = 64
"""Number of points of an exhausted space that are drawn twice to find values computed at random."""


class Distinct:
    """The used configurations of a space, with a search for unused ones.

    A space whose computed values are random is searched as others, until each point was taken once. From
    then on, points are taken again: their configurations differ.

    Attributes:
        cube: The space as its unit cube.
        size: Maximum number of configurations; inf with a real number in the space, and if points are
            taken again.
        taken: The points that were taken, as `cube.to_unit` has them.
    """

    def __init__(self, space: Any, seed: int) -> None:
        self.cube = Cube(space)
        self.size = size(self.cube.root)
        self.taken: set[tuple[float, ...]] = set()
        self._seed = seed
        self._every: list[tuple[float, ...]] | None = None
        self._left: Iterator[tuple[float, ...]] | None = None
        self._is_exhausted = False
        self._repeats = False

    def take(self, config: Config) -> tuple[float, ...]:
        """Take note of a configuration; returns its point."""
        point = tuple(self.cube.to_unit(config))
        self.taken.add(point)
        return point

    def allowed(self, index: int, point: Sequence[float]) -> Config | None:
        """Return the configuration at `point`, where the space's constraint allows it."""
        config = self._drawn(point, str(index))
        return config if allows(self.cube.root, config) else None

    def new(self, index: int, candidates: Iterable[Sequence[float]]) -> Config | None:
        """Return the first of the candidates that is allowed and may be taken; it is taken now."""
        for point in candidates:
            config = self.allowed(index, point)
            if config is None:
                continue
            taken = tuple(self.cube.to_unit(config))
            if self._repeats or taken not in self.taken:
                self.taken.add(taken)
                return config
        return None

    def first_new(self, index: int, candidates: Iterable[Sequence[float]]) -> Config | None:
        """Return a candidate as `new` does, or else any other point; None if all points are taken.

        Raises:
            SpaceError: The constraint allows hardly anything, or nothing.
        """
        if self._is_exhausted:
            return None
        found = self.new(index, candidates)
        if found is not None:
            return found
        if self.size <= MOST_LISTED:
            found = self.new(index, self._unseen())
            if found is not None:
                return found
            if not self.taken:
                raise SpaceError(
                    f"the constraint allows none of the {self.size:,} configurations of the space"
                )
            if not self._is_redrawn(index):
                self._is_exhausted = True
                return None
            self.size, self._repeats = inf, True
        rng, is_any_allowed = self._rng(str(index), "anywhere"), False
        for _ in range(_TRIES):
            point = [rng.random() for _ in range(len(self.cube))]
            is_any_allowed = is_any_allowed or self.allowed(index, point) is not None
            found = self.new(index, [point])
            if found is not None:
                return found
        if not is_any_allowed:
            raise SpaceError(
                f"the constraint allowed none of {_TRIES:,} configurations that were drawn at random: "
                "write the space so that most of it is allowed"
            )
        return None

    def unseen(self) -> list[tuple[float, ...]]:
        """Return every point of a finite space that was not taken."""
        if self._every is None:
            self._every = list(points(self.cube))
        return [point for point in self._every if point not in self.taken]

    def _unseen(self) -> Iterator[tuple[float, ...]]:
        # skipped points need no second look: they were taken, or are not allowed
        if self._left is None:
            self._left = points(self.cube)
        return self._left

    def _is_redrawn(self, index: int) -> bool:
        """Return whether points give other configurations each time, by values computed at random."""
        for point in islice(self.taken, _REDRAWN):
            one, other = (self._drawn(point, f"{index} {name}") for name in ("one", "other"))
            if not is_same(one, other) and repr(one) != repr(other):
                return True
        return False

    def _drawn(self, point: Sequence[float], name: str) -> Config:
        return self.cube.from_unit(point, lambda key: self._rng(name, key))

    def _rng(self, name: str, key: str) -> Random:
        return keyed(self._seed, f"space:{key}", name)
