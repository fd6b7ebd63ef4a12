"""Ax's parameters, which are dicts with a name each, as a space of ours, and its constraints of them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from overtone.errors import SpaceError
from overtone.space import choice, lograndint, loguniform, parse, randint, uniform
from overtone.space.tree import Group

_TERM = re.compile(r"\s*([+-]?)\s*(\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+)?\s*\*?\s*([A-Za-z_][\w./]*)?\s*")
_SIDES = re.compile(r"([<>])=?")


def from_ax(space: Any) -> Any:
    """Return a list of Ax's parameters as a dict of domains; a "/" in a name is a dict within; else `space`.

    Raises:
        SpaceError: A parameter has no counterpart.
    """
    if not isinstance(space, Sequence) or isinstance(space, str):
        return space
    found: dict[str, Any] = {}
    for one in space:
        if not isinstance(one, Mapping) or "name" not in one:
            raise SpaceError(
                f"{one!r:.100}: write a parameter as a dict with name, type, and bounds or values"
            )
        *above, last = one["name"].split("/")
        place = found
        for name in above:
            place = place.setdefault(name, {})
        place[last] = _domain(one)
    return found


def _domain(one: Mapping[str, Any]) -> Any:
    kind = one.get("type")
    if kind == "fixed":
        return one["value"]
    if kind == "choice":
        return choice(list(one["values"]))
    if kind != "range":
        raise SpaceError(f"{one['name']}: the type {kind!r} is none of range, choice, fixed")
    low, high = one["bounds"]
    is_whole = one.get("value_type") == "int" if "value_type" in one else type(low) is type(high) is int
    if is_whole:
        return (lograndint if one.get("log_scale") else randint)(int(low), int(high) + 1)
    return (loguniform if one.get("log_scale") else uniform)(low, high)


@dataclass(frozen=True)
class Linear:
    """A constraint such as "x1 + 2*x2 <= 3" or "x1 <= x2".

    Attributes:
        factors: The factor of each parameter.
        most: The largest value of the sum of the products.
    """

    factors: Mapping[str, float]
    most: float

    def __call__(self, config: Mapping[str, Any]) -> bool:
        return bool(sum(factor * _at(config, name) for name, factor in self.factors.items()) <= self.most)


@dataclass(frozen=True)
class Every:
    """All of several constraints."""

    parts: tuple[Any, ...]

    def __call__(self, config: Mapping[str, Any]) -> bool:
        return all(part(config) for part in self.parts)


def limited(space: Any, constraints: Sequence[str]) -> Group:
    """Return `space` with these constraints, and its own.

    Raises:
        SpaceError: One is no comparison of two linear sums.
    """
    root = parse(space)
    parts = tuple(filter(None, [root.constraint, *map(linear, constraints)]))
    return Group(root.path, root.key, root.items, Every(parts)) if constraints else root


def linear(text: str) -> Linear:
    """Return the constraint that `text` says.

    Raises:
        SpaceError: It is no comparison of two linear sums.
    """
    sides = _SIDES.split(text) if isinstance(text, str) else []
    if len(sides) != 3:
        raise SpaceError(f'{text!r:.100}: write a constraint as "x1 + 2*x2 <= 3"')
    sign = 1.0 if sides[1] == "<" else -1.0
    factors: dict[str, float] = {}
    for side, direction in ((sides[0], sign), (sides[2], -sign)):
        for name, factor in _terms(side, text):
            factors[name] = factors.get(name, 0.0) + direction * factor
    return Linear(factors, -factors.pop("", 0.0))


def _terms(side: str, text: str) -> list[tuple[str, float]]:
    """Return the name of each term and its factor; "" is the name of a constant."""
    terms, at = list[tuple[str, float]](), 0
    while at < len(side):
        found = _TERM.match(side, at)
        sign, number, name = found.groups() if found else ("", None, None)
        if found is None or not (number or name) or (terms and not sign):
            raise SpaceError(f'{text!r:.100}: write a constraint as "x1 + 2*x2 <= 3"')
        terms.append((name or "", (-1.0 if sign == "-" else 1.0) * float(number or 1)))
        at = found.end()
    if not terms:
        raise SpaceError(f"{text!r:.100}: nothing is on one side")
    return terms


def _at(config: Mapping[str, Any], name: str) -> Any:
    value: Any = config
    for part in [name] if name in config else name.split("/"):
        value = value[part]
    return value
