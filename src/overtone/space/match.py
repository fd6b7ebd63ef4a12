"""Matching of values to parts of a space."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from overtone.space.tree import Computed, Drawn, Fixed, Group, Node, Pick, Series


def is_same(a: Any, b: Any) -> bool:
    """Return whether two constants are the same: identical, or equal (arrays only if identical)."""
    if a is b:
        return True
    try:
        return bool(a == b)
    except Exception:  # arrays and other values without a truth value
        return False


def option_of(pick: Pick, value: Any) -> int | None:
    """Return the option of `pick` that `value` came from; None if there is none.

    Of equal options the one of the same type is meant (1, 1.0 and True are equal); of several
    branches that `value` fits, the first.
    """
    constants = [(i, option.value) for i, option in enumerate(pick.options) if isinstance(option, Fixed)]
    equal = [i for i, constant in constants if is_same(constant, value)]
    for i in equal:
        if type(pick.values[i]) is type(value):
            return i
    if equal:
        return equal[0]
    branches = [(i, option) for i, option in enumerate(pick.options) if not isinstance(option, Fixed)]
    for is_exact in (True, False):
        for i, option in branches:
            if fits(option, value, is_exact):
                return i
    return None


def fits(node: Node, value: Any, is_exact: bool = False) -> bool:
    """Return whether `value` may have come from `node`; with `is_exact`, also by the types of its numbers."""
    if isinstance(node, Fixed):
        return is_same(node.value, value)
    if isinstance(node, Drawn):
        if not node.domain.contains(value):
            return False
        return not is_exact or type(node.domain.cast(value)) is type(value)
    if isinstance(node, Pick):
        return option_of(node, value) is not None
    if isinstance(node, Group):
        return (
            isinstance(value, Mapping)
            and value.keys() == node.items.keys()
            and all(fits(item, value[key], is_exact) for key, item in node.items.items())
        )
    if isinstance(node, Series):
        return (
            isinstance(value, (list, tuple))
            and len(value) == len(node.items)
            and all(fits(item, part, is_exact) for item, part in zip(node.items, value, strict=True))
        )
    return isinstance(node, Computed)


def active(node: Node, value: Any, in_branch: bool = False) -> Iterator[tuple[Node, Any]]:
    """Yield the variables that made `value`, with the value of each, sorted by path.

    In a branch the constants count too: they tell branches apart. A branch itself is given as
    its parts.
    """
    if isinstance(node, Group):
        if isinstance(value, Mapping):
            for key in sorted(node.items, key=str):
                if key in value:
                    yield from active(node.items[key], value[key], in_branch)
    elif isinstance(node, Series):
        if isinstance(value, (list, tuple)):
            for item, part in zip(node.items, value, strict=False):
                yield from active(item, part, in_branch)
    elif isinstance(node, Pick):
        index = option_of(node, value)
        if index is None or isinstance(node.options[index], Fixed):
            yield node, value
        else:
            yield from active(node.options[index], value, in_branch=True)
    elif in_branch or not isinstance(node, Fixed):
        yield node, value
