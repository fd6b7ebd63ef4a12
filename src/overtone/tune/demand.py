"""Conversion of `resources_per_trial`, in all its forms, to `Resources`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from overtone.core.resources import Resources
from overtone.errors import ResourceError
from overtone.tune.run_config import ScalingConfig

_IGNORED = frozenset({"object_store_memory", "extra_object_store_memory"})


def demand(given: Any) -> Any:
    """Return a `Resources`, or `config -> Resources` for a callable, or None for None.

    Args:
        given: A mapping with cpu, gpu, memory, `extra_cpu` and the like, `custom_resources`
            and other amounts; a sequence of mappings, one per bundle; a `Resources`,
            `PlacementGroupFactory` or `ScalingConfig`; or a callable that makes one of these from a config.

    Raises:
        ResourceError: `given` is none of these, or an amount is invalid.
    """
    if given is None or isinstance(given, Resources):
        return given
    if isinstance(given, Mapping):
        return Resources.of(_flat(given))
    if isinstance(given, Sequence) and not isinstance(given, str):
        return Resources.of([_flat(one) for one in given])
    if isinstance(given, ScalingConfig):
        return Resources.of(given.bundles, given.placement_strategy)
    if callable(given):
        return _by_config(given)
    raise ResourceError(f'resources_per_trial must look like {{"cpu": 1, "gpu": 0.5}}, not {given!r}')


def _by_config(given: Callable[[Any], Any]) -> Callable[[Mapping[str, Any]], Any]:
    return lambda config: demand(given(config))


def _flat(amounts: Mapping[str, Any]) -> dict[str, Any]:
    """Return the amounts on one level: `extra_x` is added to x, `custom_resources` are merged in."""
    if not isinstance(amounts, Mapping):
        raise ResourceError(f'a bundle must look like {{"cpu": 1, "gpu": 0.5}}, not {amounts!r}')
    flat: dict[str, Any] = {}
    for name, value in amounts.items():
        if name in _IGNORED or value is None:
            continue
        if isinstance(value, Mapping):
            parts = {part.removeprefix("extra_"): amount for part, amount in value.items()}
        else:
            parts = {name.removeprefix("extra_"): value}
        for part, amount in parts.items():
            flat[part] = _sum(flat[part], amount) if part in flat else amount
    return flat


def _sum(one: Any, other: Any) -> Any:
    from overtone.core.resources import parse_bytes

    return parse_bytes(one) + parse_bytes(other)
