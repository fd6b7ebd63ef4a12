"""Questions about constants of a space that look like ranges."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

_BOUNDS = (("min", "max"), ("low", "high"), ("lower", "upper"))


def questions(space: Any) -> Iterator[str]:
    """Yield a line for each constant of a space, as users write it, that may be meant as a range.

    Such constants are a mapping of bounds, like {"min": 0, "max": 1}, and a tuple of two rising numbers.
    """
    if isinstance(space, Mapping):
        yield from _in(space, "")


def _in(space: Mapping[Any, Any], path: str) -> Iterator[str]:
    for key, value in space.items():
        name = f"{path}/{key}" if path else str(key)
        bounds = _bounds(value)
        if bounds is not None:
            low, high = bounds
            ranges = f"tune.uniform({low!r}, {high!r})"
            if isinstance(low, int) and isinstance(high, int):
                ranges += f", or for integers tune.randint({low!r}, {high + 1!r}), whose end is excluded"
            constant = f". For a constant, write [{low!r}, {high!r}]" if isinstance(value, tuple) else ""
            yield f"{name!r}: {value!r} is a constant. For a range, write {ranges}{constant}"
        elif isinstance(value, Mapping):
            yield from _in(value, name)


def _bounds(value: Any) -> tuple[Any, Any] | None:
    """Return the two numbers of what looks like a range."""
    found: Any = None
    if type(value) is tuple and len(value) == 2:
        found = value
    elif isinstance(value, Mapping):
        found = next(((value[a], value[b]) for a, b in _BOUNDS if {a, b} <= value.keys()), None)
    if found is None or not all(type(one) in (int, float) for one in found) or not found[0] < found[1]:
        return None
    return found[0], found[1]
