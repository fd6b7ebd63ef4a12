"""Configs of trials that people add: given values, checked and completed by the space."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from overtone.core.config_changes import complete_freely, merge
from overtone.core.randomness import Random, keyed
from overtone.core.types import Config

if TYPE_CHECKING:
    from overtone.space.tree import Group


def completion(space: Group, seed: int) -> Callable[[Config, int, Config | None], Config]:
    """Return a function from (values, index, source) to the whole config of the added trial of this index.

    Missing values are those of `source`, the config of the trial to clone. If it is None, they are drawn
    by the seed and the index. An empty space allows any config.

    The function raises a SpaceError if the space does not have a value, a grid lacks a value, or the
    constraint of the space does not allow the config.
    """

    def complete(values: Config, index: int, source: Config | None = None) -> Config:
        from overtone.errors import SpaceError
        from overtone.space import nested, pin
        from overtone.space.allowed import Allowed
        from overtone.space.constraint import allows
        from overtone.space.variants import Variants

        if not space.items:
            return complete_freely(values, index, source)

        def rng_for(name: str) -> Random:
            return keyed(seed, f"added:{name}", str(index))

        pinned = pin(space, values)
        if source is not None:
            given = values if values.keys() <= space.items.keys() else nested(values)
            config = merge(source, _chosen(given, Variants(pinned).config(0, rng_for)))
            if not allows(space, config):
                raise SpaceError(f"the constraint of the space does not allow {config!r:.300}")
            return config
        variants = Allowed(pinned)
        if variants.size > 1:
            raise SpaceError(f"the config leaves {variants.size} points of a grid: give a value of each grid")
        return variants.config(0, rng_for)

    return complete


def _chosen(values: Mapping[str, Any], config: Mapping[str, Any]) -> Config:
    """Return the parts of a whole config that `values` names."""
    found = {}
    for name, value in values.items():
        part = config[name]
        is_nested = isinstance(value, Mapping) and isinstance(part, Mapping)
        found[name] = _chosen(value, part) if is_nested else part
    return found
