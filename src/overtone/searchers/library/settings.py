"""Arguments that are a dict of numbers with names: those of an algorithm's model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from overtone.errors import ArgumentError
from overtone.lazy import nearest
from overtone.space.domain import is_number

Known = Mapping[str, tuple[Any, ...]]
"""By name: the default, the least and the most, whole where the least is; or texts, the default first."""


def settings(argument: str, given: Any, known: Known) -> dict[str, Any]:
    """Return the settings of all names of `known`: the defaults, overridden by `given`.

    Args:
        argument: The name of the argument `given`, for errors.

    Raises:
        ValueError: `given` is not a dict, or has an unknown name or a value that is not allowed.
    """
    if given is not None and not isinstance(given, Mapping):
        raise ArgumentError(f"{argument}={given!r:.100} must be a dict with some of {', '.join(known)}")
    for name, value in (given or {}).items():
        if name not in known:
            listed = ", ".join(known)
            raise ArgumentError(f"{argument} has {name!r}{nearest(str(name), known)} (known: {listed})")
        if not _is_allowed(value, known[name]):
            raise ArgumentError(f"{argument}: {name}={value!r:.100} must be {_text(known[name])}")
    return {**{name: one[0] for name, one in known.items()}, **(given or {})}


def _is_allowed(value: Any, one: tuple[Any, ...]) -> bool:
    if isinstance(one[0], str):
        return value in one
    default, least, most = one
    if value is None:
        return default is None
    return (
        is_number(value) and least <= value <= most and (type(least) is float or hasattr(value, "__index__"))
    )


def _text(one: tuple[Any, ...]) -> str:
    if isinstance(one[0], str):
        return "one of " + ", ".join(map(repr, one))
    _, least, most = one
    kind = "a number" if type(least) is float else "a whole number"
    return f"{kind} from {least:g} to {most:g}"
