"""Spaces and configurations as JSON data, and back.

What is plain data stays as it is, as do times, decimals, UUIDs and paths, which travel with a tag (see
`tagged_json`). A tuple becomes {"__tuple__": [...]}. A constant that is
neither (a class, a function) has a place in the space, and in a configuration that place stands for it:

    {"__space__": "model/activation", "index": 1, "shown": "torch.nn.modules.activation.Tanh"}

The place is the node's key (see `tree`). `index` is the option of a choice or a grid, and absent for
a constant; `shown` is for people.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from overtone.errors import SpaceError
from overtone.space.domain import Domain
from overtone.space.dsl import DOMAINS
from overtone.space.match import fits, is_same, option_of
from overtone.space.nesting import PLACE as PLACE
from overtone.space.nesting import TUPLE as TUPLE
from overtone.space.spec import Spec, fresh, plain
from overtone.space.tree import SCALARS, Computed, Drawn, Fixed, Group, Node, Pick, Series, parse
from overtone.tagged_json import tagged, untagged

DOMAIN = "__domain__"
"""Marks a domain, with the name of the function that makes it."""

OPAQUE = "__opaque__"
"""Marks a value that is not data, with a description of it."""

CONSTRAINT = "__constraint__"
"""Says that not all of a space may be tried, with a description of the function that tells."""

_TEXT = frozenset({str})
_KINDS = frozenset(SCALARS)
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


def is_data(value: Any) -> bool:
    """Return whether `value` is plain JSON data: text, numbers, None, lists, and dicts with text as keys."""
    if type(value) is dict:
        return all(type(key) is str and is_data(item) for key, item in value.items())
    if type(value) is list:
        return all(map(is_data, value))
    return type(value) in SCALARS


def is_data_alone(space: Any) -> bool:
    """Return whether each config of `space` is plain JSON data."""
    node = space if isinstance(space, Node) else parse(space)
    if isinstance(node, Group):
        return all(type(key) is str and is_data_alone(item) for key, item in node.items.items())
    if isinstance(node, Pick):
        return all(map(is_data_alone, node.options))
    if isinstance(node, Series):
        return node.kind is list and all(map(is_data_alone, node.items))
    return isinstance(node, Drawn) or (isinstance(node, Fixed) and is_data(node.value))


def _has_text(value: Any) -> bool:
    """Return whether `value` is data, or has tuples of data or tagged values in it."""
    if type(value) is dict:
        return all(type(key) is str and _has_text(item) for key, item in value.items())
    if type(value) is list or type(value) is tuple:
        return all(map(_has_text, value))
    return type(value) in SCALARS or tagged(value) is not None


def describe(value: Any) -> str:
    """Return a short name for a value that is not data; the same in every process."""
    name = getattr(value, "__qualname__", None)
    if isinstance(name, str):
        return f"{value.__module__}.{name}" if getattr(value, "__module__", None) else name
    try:
        text = repr(value)
    except Exception as error:  # a repr may do anything
        text = f"<{type(value).__name__}, whose repr raised {type(error).__name__}>"
    return _ADDRESS.sub("", text)[:200].encode("utf-8", "backslashreplace").decode()


def space_to_data(space: Any) -> Any:
    """Return `space` as JSON data; functions, classes and other objects only by their description."""
    root = parse(space)
    written = _written(root)
    return {**written, CONSTRAINT: {OPAQUE: describe(root.constraint)}} if root.constraint else written


def space_from_data(data: Any, find: Callable[[str], Any] = lambda _: None) -> Any:
    """Return the space that `space_to_data` wrote.

    Args:
        find: Returns the function or class of a description, such as "script.double"; None if it is unknown.

    Raises:
        SpaceError: Something in it was no data; the message names each place.
    """
    lost: list[str] = []
    space = _read(data, "", lost, find)
    if lost:
        raise SpaceError(f"the space has values that are not data; pass the space again: {'; '.join(lost)}")
    return space


def encode_config(space: Any, config: Mapping[str, Any]) -> dict[str, Any]:
    """Return `config`, which came from `space`, as JSON data.

    A value that is neither data nor from the space (only a scheduler's own exploration could have
    made it) is left as its description, which `decode_config` cannot turn back.
    """
    root = parse(space)
    are_scalars = _KINDS.issuperset(map(type, config.values())) and _TEXT.issuperset(map(type, config))
    if are_scalars and not _has_options(root):
        return dict(config)
    encoded: dict[str, Any] = _encode(root, config)
    return encoded


def decode_config(space: Any, data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the configuration that `encode_config` wrote; values that are not data are computed again.

    Raises:
        SpaceError: The space has no such place any more, or a value was only described.
    """
    root = parse(space)
    if _is_flat(root) and not any(isinstance(one, (dict, list)) for one in data.values()):
        return dict(data)  # most are such, and a resume reads each of them twice
    config = _decode(root, data, "")
    filled: dict[str, Any] = _filled(config, config)
    return filled


def _is_flat(node: Node) -> bool:
    """Return whether it is one level of numbers from domains, and constants."""
    if not isinstance(node, Group):
        return False
    return all(type(one) in (Drawn, Fixed) and type(key) is str for key, one in node.items.items())


@lru_cache(64)
def _has_options(root: Group) -> bool:
    """Return whether a value of its first level may be an option of a choice."""
    return any(isinstance(node, Pick) for node in root.items.values())


def _written(node: Node) -> Any:
    if isinstance(node, Fixed):
        return _written_value(node.value)
    if isinstance(node, Drawn):
        return _written_domain(node.domain)
    if isinstance(node, Computed):
        return {DOMAIN: "sample_from", "func": {OPAQUE: describe(node.function.func)}}
    if isinstance(node, Pick):
        options = [_written(option) for option in node.options]
        return {"grid_search": options} if node.is_grid else {DOMAIN: "choice", "categories": options}
    if isinstance(node, Group):
        return {str(key): _written(item) for key, item in node.items.items()}
    assert isinstance(node, Series)
    items = [_written(item) for item in node.items]
    return {TUPLE: items} if node.kind is tuple else items


def _written_domain(domain: Domain) -> dict[str, Any]:
    arguments = domain.arguments().items()
    written = {name: _written_domain(item) if isinstance(item, Domain) else item for name, item in arguments}
    return {DOMAIN: domain.name, **written}


def _written_value(value: Any) -> Any:
    if is_data(value):
        return fresh(value)
    if (tag := tagged(value)) is not None:
        return untagged(tag)
    if type(value) is tuple:
        return {TUPLE: [_written_value(item) for item in value]}
    if type(value) is list:
        return [_written_value(item) for item in value]
    if type(value) is dict and all(type(key) is str for key in value):
        return {key: _written_value(item) for key, item in value.items()}
    return {OPAQUE: describe(value)}


def _read(data: Any, path: str, lost: list[str], find: Callable[[str], Any]) -> Any:
    if isinstance(data, list):
        return [_read(item, f"{path}/{i}", lost, find) for i, item in enumerate(data)]
    if not isinstance(data, Mapping):
        return data
    if OPAQUE in data:
        if (found := find(data[OPAQUE])) is not None:
            return found
        lost.append(f"{path.lstrip('/')} ({data[OPAQUE]})")
        return None
    if TUPLE in data:
        return tuple(_read(item, f"{path}/{i}", lost, find) for i, item in enumerate(data[TUPLE]))
    before = len(lost)
    is_domain = DOMAIN in data
    is_part = is_domain or data.keys() == {"grid_search"}  # its arguments have no names that users know
    parts = {k: _read(item, path if is_part else f"{path}/{k}", lost, find) for k, item in data.items()}
    return _domain(parts) if is_domain and len(lost) == before else parts


def _domain(data: Mapping[str, Any]) -> Domain:
    arguments = dict(data)
    name = arguments.pop(DOMAIN)
    if name not in DOMAINS:
        raise SpaceError(f"{data!r} names no domain; {DOMAIN!r} must be one of {', '.join(DOMAINS)}")
    try:
        return DOMAINS[name](**arguments)
    except TypeError as error:
        raise SpaceError(f"{data!r} does not fit {name}(): {error}") from error


def _encode(node: Node | None, value: Any) -> Any:
    if isinstance(node, Pick):
        index = option_of(node, value)
        if index is None:
            return _encode(None, value)
        if isinstance(node.options[index], Fixed):
            return _written_value(value) if _has_text(value) else _place(node, node.values[index], index)
        return _encode(node.options[index], value)
    if type(value) in SCALARS:
        return value
    if isinstance(node, Fixed) and not _has_text(value) and is_same(node.value, value):
        return _place(node, node.value)
    if isinstance(value, Mapping):
        children = node.items if isinstance(node, Group) else {}
        return {str(key): _encode(children.get(key), item) for key, item in value.items()}
    if type(value) is list or (type(value) is tuple and (isinstance(node, Series) or _has_text(value))):
        nodes = _children(node, len(value))
        items = [_encode(child, item) for child, item in zip(nodes, value, strict=True)]
        return {TUPLE: items} if type(value) is tuple else items
    if hasattr(value, "item") and getattr(value, "ndim", None) == 0 and type(value.item()) in SCALARS:
        return value.item()
    if (tag := tagged(value)) is not None:
        return untagged(tag)
    return _place(node, value) if isinstance(node, Computed) else {OPAQUE: describe(value)}


def _children(node: Node | None, n: int) -> Sequence[Node | None]:
    return node.items if isinstance(node, Series) and len(node.items) == n else [None] * n


def _place(node: Node, value: Any, index: int | None = None) -> dict[str, Any]:
    return {PLACE: node.key, **({} if index is None else {"index": index}), "shown": describe(value)}


def _decode(node: Node | None, data: Any, path: str) -> Any:
    if isinstance(data, Mapping) and OPAQUE in data:
        raise SpaceError(f"{path}: {data[OPAQUE]} was no data and no part of the space: it is lost")
    if isinstance(data, Mapping) and PLACE in data:
        return _placed(node, data, path)
    if isinstance(node, Pick):
        return _decode_option(node, data, path)
    if isinstance(data, Mapping) and TUPLE in data:
        return tuple(_decode(node, data[TUPLE], path))
    if isinstance(data, Mapping):
        children = node.items if isinstance(node, Group) else {}
        names = {str(key): key for key in children}
        keys = [(names.get(key, key), item) for key, item in data.items()]
        return {key: _decode(children.get(key), item, f"{path}/{key}".lstrip("/")) for key, item in keys}
    if isinstance(data, list):
        nodes = _children(node, len(data))
        decoded = [_decode(nodes[i], item, f"{path}/{i}") for i, item in enumerate(data)]
        return node.kind(decoded) if isinstance(node, Series) else decoded
    return data


def _decode_option(pick: Pick, data: Any, path: str) -> Any:
    for option in pick.options:
        try:
            value = _decode(option, data, path)
        except SpaceError:
            continue
        if fits(option, value):
            return value
    return _decode(None, data, path)


def _placed(node: Node | None, data: Mapping[str, Any], path: str) -> Any:
    index = data.get("index")
    if node is not None and node.key == data[PLACE]:
        if isinstance(node, Fixed) and index is None:
            return fresh(node.value)
        if isinstance(node, Pick) and index is not None and index < len(node.options):
            return fresh(node.values[index])
        if isinstance(node, Computed) and index is None:
            return _Later(node)
    if isinstance(node, Pick):
        for option in node.options:
            if isinstance(option, Pick) and f"{data[PLACE]}#".startswith(f"{option.key}#"):
                return _placed(option, data, path)
    raise SpaceError(f"{path}: the space has no place {dict(data)!r} any more")


class _Later:
    """A computed value that was no data: computed again when the others are there."""

    def __init__(self, node: Computed) -> None:
        self.node = node

    def value(self, config: dict[str, Any]) -> Any:
        def see(item: Any) -> Any:
            if isinstance(item, _Later):
                return item.value(config)
            return Spec(item, see) if type(item) is dict else item

        return plain(self.node.function.value(Spec(config, see, is_root=True)))


def _filled(part: Any, config: dict[str, Any]) -> Any:
    if isinstance(part, _Later):
        return part.value(config)
    if type(part) is dict:
        return {key: _filled(item, config) for key, item in part.items()}
    if type(part) is list or type(part) is tuple:
        return type(part)(_filled(item, config) for item in part)
    return part
