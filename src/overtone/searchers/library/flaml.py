"""The searchers of FLAML (Wang et al. 2021, "Economical Hyperparameter Optimization with Blended Search
Strategy"): https://microsoft.github.io/FLAML

They have Ray Tune's form, and run through its adapter; here they get the space as FLAML writes it.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from overtone.errors import MissingPackageError, SpaceError
from overtone.space import parse
from overtone.space.tree import Drawn, Fixed, Group, Node, Pick, Series, is_dynamic


class BlendSearch:
    """Searcher that blends local and global search; for its arguments, see FLAML's documentation.

    Raises:
        MissingPackageError: FLAML is not installed.
    """

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        return _converted("BlendSearch")(*args, **kwargs)


class CFO:
    """Searcher for spaces where some values cost more; for its arguments, see FLAML's documentation.

    Raises:
        MissingPackageError: FLAML is not installed.
    """

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        return _converted("CFO")(*args, **kwargs)


@cache
def _converted(name: str) -> Any:
    """Return FLAML's class of this name, which gets the space of a run in FLAML's form."""
    try:
        import flaml
    except ImportError:
        raise MissingPackageError("flaml", "", name) from None
    kind: Any = getattr(flaml, name)

    def set_search_properties(
        self: Any, metric: Any, mode: Any, config: Mapping[str, Any], **spec: Any
    ) -> bool:
        return bool(kind.set_search_properties(self, metric, mode, to_flaml(config), **spec))

    return type(name, (kind,), {"set_search_properties": set_search_properties})


def to_flaml(space: Any) -> Any:
    """Return a space with FLAML's domains.

    Raises:
        SpaceError: A part of it has no counterpart, such as a grid or branches.
    """
    return _written(parse(space))


def _written(node: Node) -> Any:
    from flaml import tune as dialect

    if isinstance(node, Group):
        return {key: _written(item) for key, item in node.items.items()}
    if isinstance(node, Series):
        return [_written(item) for item in node.items]
    if isinstance(node, Pick) and not node.is_grid and not any(map(is_dynamic, node.options)):
        return dialect.choice(node.values)
    if isinstance(node, Fixed):
        return node.value
    make = getattr(dialect, node.domain.name, None) if isinstance(node, Drawn) else None
    if make is None or not isinstance(node, Drawn):
        raise SpaceError(
            f"{node.path} has no counterpart in FLAML: use uniform, randint, choice and their kin"
        )
    return make(*node.domain.arguments().values())
