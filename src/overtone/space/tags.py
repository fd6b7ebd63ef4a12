"""A configuration in few words: for a trial's name and for tables."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from overtone.space.data import describe
from overtone.space.match import active
from overtone.space.nesting import flatten
from overtone.space.tree import Computed, Drawn, Fixed, Group, Node, Pick, parse

_UNFIT = re.compile(r"[^\w.+-]+", re.ASCII)
_VALUE_CHARS = 40
_TAG_CHARS = 160
_NO_KEY = object()


def tag(space: Any, config: Mapping[str, Any], index: int) -> str:
    """Return the experiment tag of trial `index`, such as "6_lr=0.0003,momentum=0.31"; fit for file names.

    It has the values that differ between trials, sorted by path: numbers with 4 significant digits,
    each under the last part of its path, or all of it where two would have the same name.
    """
    root = parse(space)
    try:
        values = [(name, config[key]) for key, name in _names_by_key(root)]
    except KeyError:
        variables = list(active(root, config))
        names = _names(tuple([node.path for node, _ in variables]))
        values = [(name, value) for name, (_, value) in zip(names, variables, strict=True)]
    words = [
        f"{name}={value:.4g}" if type(value) is float else f"{name}={_clean(_text(value))}"
        for name, value in values
    ]
    return f"{index}_{','.join(words)}"[:_TAG_CHARS] if words else str(index)


@lru_cache(64)
def _names_by_key(root: Group) -> list[tuple[Any, str]]:
    """Return the names of its values, sorted by key; a placeholder key if some values have parts."""
    nodes = [(key, root.items[key]) for key in sorted(root.items, key=str)]
    variables = [(key, node) for key, node in nodes if not isinstance(node, Fixed)]
    if not all(_is_single(node) for _, node in variables):
        return [(_NO_KEY, "")]
    names = _names(tuple([node.path for _, node in variables]))
    return [(key, name) for (key, _), name in zip(variables, names, strict=True)]


def _is_single(node: Node) -> bool:
    """Return whether its values have no parts with names of their own."""
    if isinstance(node, Pick):
        return all(isinstance(option, Fixed) for option in node.options)
    return isinstance(node, (Drawn, Computed))


@lru_cache(1024)
def _names(paths: tuple[str, ...]) -> list[str]:
    """Return the names of the values at these paths."""
    parts = [path.split("/") for path in paths]
    short = Counter(map(_last, parts))
    return [_clean(_last(one) if short[_last(one)] == 1 else ".".join(one)) for one in parts]


def variables(space: Any) -> list[str]:
    """Return the paths that may differ between configs, in the order in which they are written."""
    return list(dict.fromkeys(_variables(parse(space), in_branch=False)))


def _variables(node: Node, in_branch: bool) -> Iterator[str]:
    if isinstance(node, Group):
        for item in node.items.values():
            yield from _variables(item, in_branch)
    elif isinstance(node, Pick):
        for option in node.options:
            if not isinstance(option, Fixed):
                yield from _variables(option, in_branch=True)
            elif isinstance(option.value, Mapping) and option.value:
                yield from (f"{node.path}/{name}" for name in flatten(option.value))
            else:
                yield node.path
    elif in_branch or not isinstance(node, Fixed):
        yield node.path


def _last(parts: list[str]) -> str:
    # a place in a list means nothing without the list's name
    start = len(parts) - 1
    while start > 0 and parts[start].isdigit():
        start -= 1
    return ".".join(parts[start:])


def _text(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, (str, int)):
        return str(value)
    if isinstance(value, Mapping):
        return " ".join(f"{key}={_text(item)}" for key, item in flatten(value).items())
    if isinstance(value, (list, tuple)):
        return " ".join(map(_text, value))
    return describe(value).rpartition(".")[2]


def _clean(text: str) -> str:
    return _UNFIT.sub("_", text).strip("_")[:_VALUE_CHARS]
