"""A configuration as one flat dict, by the keys of the space's nodes, and back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from overtone.core.types import Config
from overtone.errors import SpaceError
from overtone.space.draw import Drawing, RngFor
from overtone.space.match import option_of
from overtone.space.tree import Computed, Drawn, Fixed, Group, Node, Pick, Series

_FOREIGN = ("hyperopt", "ax", "nevergrad", "ConfigSpace", "optuna")

Flat = dict[str, Any]
"""By node key: the value of a domain, the index of an option; only of branches that are taken."""


def flattened(root: Group, config: Mapping[str, Any]) -> Flat:
    """Return the choices that lead to `config` in the space `root`.

    Raises:
        SpaceError: The config does not belong to this space.
    """
    return dict(_taken(root, config))


def built(root: Group, flat: Mapping[str, Any], rng_for: RngFor) -> Config:
    """Return the configuration in which `flat` was chosen; what it does not name is drawn."""
    return _AsChosen(root, rng_for, flat).config()


def searched(node: Node) -> Iterator[Drawn | Pick]:
    """Yield every node under `node` that something may be chosen for, those in branches too."""
    if isinstance(node, (Drawn, Pick)):
        yield node
    inner: Any = ()
    if isinstance(node, Group):
        inner = node.by_key()
    elif isinstance(node, Series):
        inner = node.items
    elif isinstance(node, Pick):
        inner = node.options
    for item in inner:
        yield from searched(item)


def branches(root: Node) -> Iterator[Pick]:
    """Yield the choices under `root` that decide what else there is to choose."""
    for node in searched(root):
        options = node.options if isinstance(node, Pick) else ()
        if isinstance(node, Pick) and len(options) > 1 and any(next(searched(one), None) for one in options):
            yield node


def refuse_foreign(node: Node, who: str) -> None:
    """Raise if a space contains another library's domain, which would be taken for a constant.

    Raises:
        SpaceError: There is such a domain under `node`; the message names the searcher `who`.
    """
    if isinstance(node, (Group, Series)):
        for item in node.items.values() if isinstance(node, Group) else node.items:
            refuse_foreign(item, who)
    elif isinstance(node, Fixed) and type(node.value).__module__.split(".")[0] in _FOREIGN:
        raise SpaceError(
            f"{node.path}: {node.value!r:.200} is {type(node.value).__module__}'s; {who} searches what is "
            "written with overtone.tune, such as tune.uniform(0, 1)"
        )


def _taken(node: Node, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(node, Drawn):
        if not node.domain.contains(value):
            raise SpaceError(f"{node.path}={value!r} lies outside of {node.domain!r}")
        yield node.key, node.domain.cast(value)
    elif isinstance(node, Pick):
        option = option_of(node, value)
        if option is None:
            raise SpaceError(f"{node.path}={value!r} is none of {', '.join(map(repr, node.values))}")
        yield node.key, option
        yield from _taken(node.options[option], value)
    elif isinstance(node, (Group, Series)):
        items = node.items.items() if isinstance(node, Group) else enumerate(node.items)
        for key, item in items:
            if isinstance(item, (Fixed, Computed)):
                continue
            try:
                part = value[key]
            except (KeyError, IndexError, TypeError):
                raise SpaceError(f"the configuration has no {item.path}: {value!r}") from None
            yield from _taken(item, part)


class _AsChosen(Drawing):
    def __init__(self, root: Group, rng_for: RngFor, flat: Mapping[str, Any]) -> None:
        super().__init__(root, rng_for)
        self._flat = flat

    def option(self, pick: Pick) -> int:
        return self._flat[pick.key] if pick.key in self._flat else super().option(pick)

    def value(self, node: Drawn) -> Any:
        return self._flat[node.key] if node.key in self._flat else super().value(node)
