"""Values and sweeps in Hydra's grammar of overrides."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from overtone.errors import ArgumentError
from overtone.program.text_metrics import number
from overtone.space import dsl

_PLAIN = re.compile(r"[A-Za-z_/][\w./@-]*")
_WORDS = {"true": True, "false": False, "null": None}


def override(name: str, value: Any) -> str:
    """Return `name=value` as Hydra writes it; `name` may begin with "+", "++" or "~"."""
    return name if name.startswith("~") and value is None else f"{name}={quoted(value)}"


def quoted(value: Any) -> str:
    """Return a value in Hydra's grammar."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, Mapping):
        return "{" + ",".join(f"{quoted(key)}:{quoted(one)}" for key, one in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(map(quoted, value)) + "]"
    text = str(value)
    if _PLAIN.fullmatch(text) and text.lower() not in (*_WORDS, "inf", "nan"):
        return text
    # Hydra takes a backslash as it stands, except before a quote and at the end.
    text = re.sub(r"(\\*)'", lambda found: found[1] * 2 + r"\'", text)
    trailing = len(text) - len(text.rstrip("\\"))
    return f"'{text}{chr(92) * trailing}'"


def swept(text: str) -> Any:
    """Return the domain that the value of an override sweeps over; None if it is one value.

    These are `a,b`, `choice(a, b)`, `range(start, stop, step)`, `interval(low, high)`,
    `tag(log, interval(low, high))`, and `int(...)` around an interval. Lists are grids under `grid`.

    Raises:
        ArgumentError: It looks like a sweep, and is not one.
    """
    call = re.fullmatch(r"\s*(choice|range|interval|tag|int|float)\s*\((.*)\)\s*", text, re.DOTALL)
    if call is None:
        parts = _split(text)
        return dsl.choice([plain(part) for part in parts]) if len(parts) > 1 else None
    name, parts = call[1], _split(call[2])
    try:
        if name == "choice":
            return dsl.choice([plain(part) for part in parts])
        if name == "range":
            start, stop, *step = (
                [float(part.partition("=")[2] or part) for part in parts]
                if len(parts) > 1
                else [0.0, float(parts[0])]
            )
            return dsl.choice(_range(start, stop, step[0] if step else 1.0))
        if name == "interval":
            low, high = (float(part.partition("=")[2] or part) for part in parts)
            return dsl.uniform(low, high)
        inner = swept(parts[-1])
        if inner is None and name == "int":
            return None
        tags = {part.strip() for part in parts[:-1]}
        is_whole = name == "int"
        if not hasattr(inner, "lower"):
            return inner
        if is_whole:
            make = dsl.lograndint if inner.log else dsl.randint
            return make(int(inner.lower), int(inner.upper) + 1)
        return dsl.loguniform(inner.lower, inner.upper) if "log" in tags else inner
    except (ValueError, TypeError, IndexError):
        raise ArgumentError(
            f"{text!r} is not a sweep: write choice(1,2,3), range(1,10), interval(0.1,1) or "
            "tag(log,interval(1e-5,1e-1))"
        ) from None


def plain(text: str) -> Any:
    """Return the value of a text without sweeps."""
    text = text.strip()
    if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"":
        return text[1:-1].replace(f"\\{text[0]}", text[0])
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    if text[:1] == "[" and text[-1:] == "]":
        return [plain(part) for part in _split(text[1:-1])] if text[1:-1].strip() else []
    return number(text)


def _range(start: float, stop: float, step: float) -> list[float]:
    if not step:
        raise ValueError
    count = max(0, -int(-(stop - start) // step))
    values = [start + step * at for at in range(count)]
    return [int(one) for one in values] if all(one.is_integer() for one in (start, step)) else values


def _split(text: str) -> list[str]:
    """Split at the commas outside of quotes and brackets."""
    parts, depth, quote = [""], 0, ""
    for at, char in enumerate(text):
        if quote:
            quote = "" if char == quote and text[at - 1] != "\\" else quote
        elif char in "'\"":
            quote = char
        elif char in "([{":
            depth += 1
        elif char in ")]}":
            depth -= 1
        elif char == "," and not depth:
            parts.append("")
            continue
        parts[-1] += char
    return parts
