"""The view of a configuration that functions in a space get."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

See = Callable[[Any], Any]
"""Turns an item of a container into what the function gets: a value, or a further view."""


class Spec(Mapping[str, Any]):
    """A part of a configuration, by item and by attribute; values are drawn when they are asked for.

    The whole configuration is also its own attribute `config`, so that `spec.config.x`,
    `config.x` and `config["x"]` are the same value.
    """

    def __init__(self, items: Mapping[Any, Any], see: See, is_root: bool = False) -> None:
        self._items = items
        self._see = see
        self._is_root = is_root

    def __getitem__(self, key: Any) -> Any:
        if key in self._items:
            return self._see(self._items[key])
        if key == "config" and self._is_root:
            return self
        raise KeyError(f"{key!r}: there is only {', '.join(map(repr, self._items)) or 'nothing'}")

    def __getattr__(self, name: str) -> Any:
        if name == "config" and self._is_root and name not in self._items:
            return self
        if name.startswith("__"):
            raise AttributeError(name)
        try:
            return self[name]
        except KeyError as error:
            raise AttributeError(error.args[0]) from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __repr__(self) -> str:
        return repr(plain(self))


class SpecSeries(Sequence[Any]):
    """A list in a configuration; items are drawn when they are asked for."""

    def __init__(self, items: Sequence[Any], see: See) -> None:
        self._items = items
        self._see = see

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self._see(item) for item in self._items[index]]
        return self._see(self._items[index])

    def __len__(self) -> int:
        return len(self._items)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, (list, tuple, SpecSeries)) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(plain(self))


def plain(value: Any) -> Any:
    """Return `value` with every view in it replaced by the dict or list that it shows."""
    if isinstance(value, Spec) or type(value) is dict:
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, SpecSeries) or type(value) is list:
        return [plain(item) for item in value]
    if type(value) is tuple:
        return tuple(plain(item) for item in value)
    return fresh(value)


def fresh(value: Any) -> Any:
    """Return `value` with its dicts and lists copied, so that no trial can change another's."""
    if type(value) is dict:
        return {key: fresh(item) for key, item in value.items()}
    if type(value) is list:
        return [fresh(item) for item in value]
    return value
