"""A search space as it is understood: what is fixed, drawn, picked, computed, and what contains it.

    Fixed     a constant
    Drawn     a number from a domain
    Pick      one of several options: a choice, or a grid; an option is again any of these
    Computed  what a function of the user makes of the other values
    Group     a dict
    Series    a list or a tuple

Every node has a `path` for people, such as "optimizer/lr", and a `key` that no other node has,
such as "optimizer#1/lr" for the value in the second branch; draws are made by key.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import prod
from typing import Any

from overtone.errors import SpaceError
from overtone.space.domain import Domain, listed
from overtone.space.function import Function
from overtone.space.normal import Unbounded

_MOST_BITS = 14283  # 4,300 digits, the most that Python reads and writes
SCALARS = (str, int, float, bool, type(None))
"""The types of single values that are plain data."""

_SPEC_NAMES = ("spec", "config", "_")


class Node:
    """One place in a space.

    Attributes:
        size: How many points the grids in it have.
    """

    __slots__ = ("key", "path", "size")

    def __init__(self, path: str, key: str, size: int = 1) -> None:
        self.path = path
        self.key = key
        self.size = size


class Fixed(Node):
    """A constant."""

    __slots__ = ("value",)

    def __init__(self, path: str, key: str, value: Any) -> None:
        super().__init__(path, key)
        self.value = value


class Drawn(Node):
    """A number from a domain."""

    __slots__ = ("domain",)

    def __init__(self, path: str, key: str, domain: Domain) -> None:
        super().__init__(path, key)
        self.domain = domain


class Computed(Node):
    """A value that a function computes from the other values."""

    __slots__ = ("function",)

    def __init__(self, path: str, key: str, function: Function) -> None:
        super().__init__(path, key)
        self.function = function


class Pick(Node):
    """One of several options, by chance or as part of a grid.

    Attributes:
        values: The options as they were written.
        options: The options as they are understood.
    """

    __slots__ = ("is_grid", "options", "values")

    def __init__(self, path: str, key: str, values: list[Any], no_grid: str, is_grid: bool) -> None:
        self.values = values
        self.options = [_option(value, path, f"{key}#{i}", no_grid) for i, value in enumerate(values)]
        self.is_grid = is_grid
        super().__init__(path, key, sum(option.size for option in self.options) if is_grid else 1)


class Group(Node):
    """A dict, in the user's order of keys.

    Attributes:
        constraint: Says which configurations may be tried; of the whole space alone.
    """

    __slots__ = ("constraint", "items")

    def __init__(
        self, path: str, key: str, items: dict[Any, Node], constraint: Callable[..., Any] | None = None
    ) -> None:
        super().__init__(path, key, prod(item.size for item in items.values()))
        self.items = items
        self.constraint = constraint

    def by_key(self) -> Iterator[Node]:
        """Return the values, sorted by their keys: the order of grids, of the cube and of tags."""
        return (self.items[key] for key in sorted(self.items, key=str))


class Series(Node):
    """A list or a tuple."""

    __slots__ = ("items", "kind")

    def __init__(self, path: str, key: str, items: list[Node], kind: type) -> None:
        super().__init__(path, key, prod(item.size for item in items))
        self.items = items
        self.kind = kind


def parse(space: Any) -> Group:
    """Return the tree of `space`; a tree is returned unchanged.

    A plain function in the space is a value to compute if its only argument is named `spec`, `config`
    or `_`, as in scripts for early versions of Tune; any other function is a constant. `choice([f])`
    makes any function a constant.

    Raises:
        SpaceError: The space is not a dict, or a value in it cannot be used.
    """
    if isinstance(space, Group):
        return space
    if space is None:
        return Group("", "", {})
    if not isinstance(space, Mapping):
        raise SpaceError(
            f"the search space is {_shown(space)}; it must be a dict of names and values or domains, "
            'such as {"lr": tune.loguniform(1e-4, 1e-1), "layers": 2}'
        )
    try:
        root = _group(space, "", "", "")
    except RecursionError:
        raise SpaceError("the search space has too many levels, or a part of it holds itself") from None
    assert isinstance(root, Group)
    return root


def parse_part(value: Any, path: str, key: str, no_grid: str) -> Node:
    """Return the tree of a part of a space; `no_grid` says why it may have no grid, empty where it may."""
    if isinstance(value, Domain) and value.categories is not None:
        if value.is_grid():
            return _grid(value.categories, path, key, no_grid)
        inner = "a branch of a choice: the number of trials would depend on chance; use a choice there too"
        return Pick(path, key, value.categories, inner, is_grid=False)
    if isinstance(value, Function):
        return Computed(path, key, value)
    if isinstance(value, Domain):
        return Drawn(path, key, value)
    if isinstance(value, Mapping) and len(value) == 1 and "grid_search" in value:
        return _grid(value["grid_search"], path, key, no_grid)
    if isinstance(value, Mapping):
        return _group(value, path, key, no_grid)
    if type(value) is list or type(value) is tuple:
        return _series(value, path, key, no_grid)
    if _is_spec_function(value):
        return Computed(path, key, Function(value))
    _refuse_mistakes(value, path)
    _refuse_huge(value, path)
    return Fixed(path, key, value)


def _grid(values: Any, path: str, key: str, no_grid: str) -> Pick:
    if no_grid:
        raise SpaceError(f"{path}: grid_search({_shown(values)}) inside {no_grid}")
    try:
        options = listed("grid_search", values)
    except SpaceError as error:
        raise SpaceError(f"{path}: {error}") from None
    return Pick(path, key, options, "", is_grid=True)


def _option(value: Any, path: str, key: str, no_grid: str) -> Node:
    if isinstance(value, (Domain, Mapping, list, tuple)):
        node = parse_part(value, path, key, no_grid)
        if is_dynamic(node):
            return node
    _refuse_huge(value, path)
    return Fixed(path, key, value)


def _group(value: Mapping[Any, Any], path: str, key: str, no_grid: str) -> Group:
    items = {k: parse_part(v, _join(path, k), _key(key, k), no_grid) for k, v in value.items()}
    if len({str(k) for k in items}) < len(items):
        twice = sorted(str(k) for k in items if not isinstance(k, str) and str(k) in items)
        raise SpaceError(f"{path or 'the space'}: {', '.join(twice)} is a key both as text and otherwise")
    constraint = getattr(value, "constraint", None) if type(value) is not dict else None
    if constraint is not None and path:
        raise SpaceError(f"{path}: a constraint is for the whole space: give it to the outermost one")
    return Group(path, key, items, constraint)


def _series(value: Sequence[Any], path: str, key: str, no_grid: str) -> Node:
    if all(type(item) in SCALARS for item in value):
        for item in value:
            _refuse_huge(item, path)
        return Fixed(path, key, value)
    items = [parse_part(v, _join(path, i), _key(key, i), no_grid) for i, v in enumerate(value)]
    if type(value) is tuple and not any(is_dynamic(item) for item in items):
        return Fixed(path, key, value)
    return Series(path, key, items, type(value))


def is_dynamic(node: Node) -> bool:
    """Return whether the node's value may differ between trials."""
    if isinstance(node, Group):
        return any(is_dynamic(item) for item in node.items.values())
    if isinstance(node, Series):
        return any(is_dynamic(item) for item in node.items)
    return not isinstance(node, Fixed)


def _join(path: str, part: Any) -> str:
    return f"{path}/{part}" if path else str(part)


def _key(key: str, part: Any) -> str:
    # a slash in a name is doubled, so that {"a/b": ...} and {"a": {"b": ...}} are drawn independently
    return _join(key, str(part).replace("/", "//"))


def _is_spec_function(value: Any) -> bool:
    code = getattr(value, "__code__", None) if type(value).__name__ == "function" else None
    if code is None or code.co_argcount != 1 or code.co_kwonlyargcount or code.co_flags & 0x0C:
        return False
    return code.co_varnames[0] in _SPEC_NAMES


def _refuse_huge(value: Any, path: str) -> None:
    """Refuse an integer that Python does not write as text, and that no journal can hold."""
    if type(value) is int and value.bit_length() > _MOST_BITS:
        raise SpaceError(
            f"{path}: an integer of {value.bit_length()} bits is too long to be recorded: give it as text, "
            f"such as hex(...), or put it into an object"
        )


def _refuse_mistakes(value: Any, path: str) -> None:
    if getattr(value, "__module__", None) == "overtone.space.dsl":
        name = value.__name__
        raise SpaceError(f"{path}: tune.{name} is the function itself; call it, as in tune.{name}(...)")
    if isinstance(value, Unbounded):
        raise SpaceError(f"{path}: {value!r} has no distribution: write tune.randn(mean, sd)")
    if type(value).__module__.startswith("ray.tune.search"):
        raise SpaceError(
            f"{path}: {value!r} was made by Ray Tune; here it must be made by: from overtone import tune"
        )


def _shown(value: Any) -> str:
    text = repr(value)
    return f"{type(value).__name__} {text if len(text) <= 80 else text[:77] + '...'}"
