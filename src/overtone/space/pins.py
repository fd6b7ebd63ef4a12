"""Values that a user wants in a trial, put in the place of what would be drawn."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from overtone.errors import SpaceError
from overtone.lazy import nearest
from overtone.space.match import is_same, option_of
from overtone.space.tree import Computed, Drawn, Fixed, Group, Node, Pick, Series, parse

Tell = Callable[[str], None]
"""Takes a sentence on a value that does not fit, or raises."""


def pin(space: Any, point: Any, tell: Tell | None = None) -> Group:
    """Return `space` with the values that `point` names held fast; the rest is drawn as before.

    Args:
        space: A dict, or what `parse` made of one.
        point: Some of the space's values, nested as the space is or with "a/b" for what lies
            deeper. Of a branch it may name a part: the first branch that it fits is taken.
        tell: Called with a sentence for each value outside its domain, which is then held fast
            all the same. By default such a value is an error.

    Raises:
        SpaceError: It names something that the space does not have, or a value outside its domain.
    """
    if not isinstance(point, Mapping):
        raise SpaceError(f'{point!r:.200} is not a point of the space: write a dict, such as {{"lr": 0.01}}')
    pinned = _pin(parse(space), point, tell or _refuse)
    assert isinstance(pinned, Group)
    return pinned


def _refuse(misfit: str) -> None:
    raise SpaceError(misfit)


def nested(flat: Mapping[Any, Any]) -> dict[Any, Any]:
    """Return a mapping with "a/b" in its keys as nested dicts: {"a/b": 1} becomes {"a": {"b": 1}}."""
    result: dict[Any, Any] = {}
    for key, value in flat.items():
        target, name = result, key
        while isinstance(name, str) and "/" in name.strip("/"):
            outer, _, name = name.partition("/")
            inner = target.get(outer)
            target[outer] = dict(inner) if isinstance(inner, Mapping) else {}
            target = target[outer]
        target[name] = value
    return result


def _pin(node: Node, value: Any, tell: Tell) -> Node:
    if isinstance(node, Group):
        return _pin_group(node, value, tell)
    if isinstance(node, Series):
        return _pin_series(node, value, tell)
    if isinstance(node, Pick):
        return _pin_pick(node, value, tell)
    if isinstance(node, Drawn):
        if node.domain.contains(value):
            value = node.domain.cast(value)
        else:
            tell(f"{node.path}={value!r:.200} lies outside of {node.domain!r}")
    elif not isinstance(node, Computed):
        assert isinstance(node, Fixed)
        if is_same(node.value, value) or is_same(_listed(node.value), _listed(value)):
            value = node.value
        else:
            tell(f"{node.path}={value!r:.200}: the space fixes it at {node.value!r}")
    return Fixed(node.path, node.key, value)


def _listed(value: Any) -> Any:
    """Return a value with lists in place of tuples, as JSON has it."""
    if isinstance(value, (list, tuple)):
        return [_listed(part) for part in value]
    return {key: _listed(part) for key, part in value.items()} if type(value) is dict else value


def _pin_group(node: Group, value: Any, tell: Tell) -> Group:
    if not isinstance(value, Mapping):
        raise SpaceError(f"{node.path}={value!r:.200} must be a dict with some of {_names(node)}")
    if not value.keys() <= node.items.keys():
        value = nested(value)
    unknown = [key for key in value if key not in node.items]
    if unknown:
        where = f"{node.path}: " if node.path else ""
        hint = nearest(str(unknown[0]), map(str, node.items))
        raise SpaceError(f"{where}{unknown[0]!r:.200} is not in the space, which has {_names(node)}{hint}")
    items = {key: _pin(item, value[key], tell) if key in value else item for key, item in node.items.items()}
    return Group(node.path, node.key, items, node.constraint)


def _pin_series(node: Series, value: Any, tell: Tell) -> Series:
    if not isinstance(value, (list, tuple)) or len(value) != len(node.items):
        raise SpaceError(f"{node.path}={value!r:.200} must be a list of {len(node.items)} values")
    items = [_pin(item, part, tell) for item, part in zip(node.items, value, strict=True)]
    return Series(node.path, node.key, items, node.kind)


def _pin_pick(node: Pick, value: Any, tell: Tell) -> Node:
    whole = option_of(node, value)
    for option in node.options if whole is None else [node.options[whole]]:
        try:
            return _pin(option, value, _refuse)
        except SpaceError:
            continue
    shown = ", ".join(map(repr, node.values[:10])) + (", ..." if len(node.values) > 10 else "")
    texts = [one for one in node.values if isinstance(one, str)]
    hint = nearest(value, texts) if isinstance(value, str) else ""
    tell(f"{node.path}={value!r:.200} is none of {shown}{hint}")
    return Fixed(node.path, node.key, value)


def _names(node: Group) -> str:
    return ", ".join(map(repr, node.items)) or "nothing"
