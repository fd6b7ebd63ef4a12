"""Variants of a space without a run, and the parts of a space as lists: what custom searchers use."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from overtone.core.randomness import Random, key
from overtone.errors import SpaceError
from overtone.space import Categorical, Domain, RngFor, Variants, parse
from overtone.space.draw import RecursiveDependencyError as RecursiveDependencyError
from overtone.space.generators import generator
from overtone.space.tree import Computed, Drawn, Fixed, Group, Node, Pick, Series

Path = tuple[Any, ...]
"""A place in nested dicts and lists: the keys and indices that lead to it."""


def generate_variants(
    unresolved_spec: Mapping[str, Any], constant_grid_search: bool = False, random_state: Any = None
) -> Iterator[tuple[dict[Path, Any], dict[str, Any]]]:
    """Yield the configs of a space, one for each grid point, with values drawn for the rest.

    Args:
        unresolved_spec: A space, or a dict that holds one, such as `{"run": ..., "config": {...}}`.
        constant_grid_search: Whether all grid points have the same drawn values.
        random_state: A seed, or a NumPy generator; by default NumPy's global generator if NumPy is
            imported, else Python's.

    Returns:
        Pairs of the values that were chosen, by their place, and the config.
    """
    seed = generator(random_state).getrandbits(31)
    variants = Variants(unresolved_spec)
    for point in range(variants.size):
        index = 0 if constant_grid_search else point
        config = variants.config(point, _rng_for(seed, index))
        places = {path: _at(config, path) for path, _ in _dynamic(variants.root, ())}
        yield {path: value for path, value in places.items() if value is not _ABSENT}, config


def parse_spec_vars(
    spec: Mapping[str, Any],
) -> tuple[list[tuple[Path, Any]], list[tuple[Path, Domain]], list[tuple[Path, Any]]]:
    """Return a space as three lists of (place, value): constants, domains, and grids as choices."""
    constants: list[tuple[Path, Any]] = []
    domains: list[tuple[Path, Domain]] = []
    grids: list[tuple[Path, Any]] = []
    for path, node in _leaves(parse(spec), ()):
        if isinstance(node, Pick):
            (grids if node.is_grid else domains).append((path, Categorical(node.values)))
        elif isinstance(node, Drawn):
            domains.append((path, node.domain))
        elif isinstance(node, Computed):
            domains.append((path, node.function))
        elif isinstance(node, Fixed):
            constants.append((path, node.value))
    return constants, domains, sorted(grids, key=lambda one: str(one[0]))


def resolve_nested_dict(nested_dict: Mapping[Any, Any]) -> dict[Path, Any]:
    """Return the values of nested dicts by their place: {"a": {"b": 1}} becomes {("a", "b"): 1}."""
    found: dict[Path, Any] = {}
    for name, value in nested_dict.items():
        inner = resolve_nested_dict(value) if isinstance(value, Mapping) else {(): value}
        found.update({(name, *path): item for path, item in inner.items()})
    return found


def format_vars(resolved_vars: Mapping[Path, Any]) -> str:
    """Return values by their place as text, such as "lr=0.0100,units=3"."""
    words = []
    for path, value in sorted(resolved_vars.items(), key=lambda one: str(one[0])):
        if path[:1] in (("run",), ("env",), ("resources_per_trial",)):
            continue
        last = [str(path[-1])] if not str(path[-1]).isdigit() else [str(part) for part in path[-2:]]
        shown = f"{value:.4f}" if isinstance(value, float) else str(value)
        words.append(f"{_for_names('_'.join(last))}={_for_names(shown)}")
    return ",".join(words)


def assign_value(spec: Any, path: Path, value: Any) -> None:
    """Set the value at a place in nested dicts and lists; a tuple on the way is replaced.

    Raises:
        SpaceError: The place is in a tuple that is `spec` itself.
    """
    *above, last = path
    parent, key = None, None
    for part in above:
        parent, key, spec = spec, part, spec[part]
    if isinstance(spec, tuple):
        if parent is None:
            raise SpaceError(f"{path}: a value of a tuple cannot be set")
        parent[key] = (*spec[:last], value, *spec[last + 1 :])
    else:
        spec[last] = value


def _for_names(text: str) -> str:
    """Return `text` with one "_" for each run of characters that are not for file names."""
    return _UNFIT.sub("_", text).strip("_")


_ABSENT = object()
_UNFIT = re.compile(r"[^\w.+-]+", re.ASCII)


def _rng_for(seed: int, index: int) -> RngFor:
    return lambda name: Random(key(seed, f"space:{name}", str(index)))


def _leaves(node: Node, path: Path) -> Iterator[tuple[Path, Node]]:
    if isinstance(node, Group):
        for name, item in node.items.items():
            yield from _leaves(item, (*path, name))
    elif isinstance(node, Series):
        for i, item in enumerate(node.items):
            yield from _leaves(item, (*path, i))
    else:
        yield path, node


def _dynamic(node: Node, path: Path) -> Iterator[tuple[Path, Node]]:
    return ((place, one) for place, one in _leaves(node, path) if not isinstance(one, Fixed))


def _at(config: Any, path: Path) -> Any:
    for part in path:
        try:
            config = config[part]
        except (KeyError, IndexError, TypeError):
            return _ABSENT
    return config
