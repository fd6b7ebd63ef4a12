"""Values that JSON does not have, as JSON objects with one key, and back.

    NaN, the infinities   {"__float__": "nan"}
    datetime              {"__datetime__": "2026-11-23T01:02:03"}
    Decimal               {"__decimal__": "1.10"}
    UUID                  {"__uuid__": "12345678-1234-5678-1234-567812345678"}
    Path                  {"__path__": "/data/a.csv"}

A value comes back as an object of the standard library; no other class is ever looked up. The modules
are imported when the first such value comes back.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

MARK = '__":"'
"""A part of every compact JSON text that has a tag, and of few others."""

_FLOATS = {"nan": float("nan"), "inf": float("inf"), "-inf": float("-inf")}
_CLASSES = (("datetime", "datetime"), ("decimal", "Decimal"), ("uuid", "UUID"), ("pathlib", "Path"))


def tagged(value: Any) -> dict[str, str] | None:
    """Return a value as an object with a tag; None if it has none, or would not come back as it is."""
    if type(value) is float:
        return {"__float__": repr(value)} if value - value != 0.0 else None
    kind = _tag_of(type(value))
    if kind is None:
        return None
    try:
        found = {f"__{kind}__": value.isoformat() if kind == "datetime" else str(value)}
        back = untagged(found)
        is_same = back == value or (kind == "decimal" and str(back) == str(value))  # NaN equals nothing
    except Exception:  # a subclass may do anything
        return None
    return found if is_same and back is not found else None


def is_tagged(kind: type) -> bool:
    """Return whether objects of a class are given with a tag, apart from floats."""
    return _tag_of(kind) is not None


def untagged(found: dict[str, Any]) -> Any:
    """Return the value of an object with a tag; another object as it is. An `object_hook` of JSON readers."""
    if len(found) != 1:
        return found
    ((name, text),) = found.items()
    read = _READERS.get(name)
    if read is None or type(text) is not str:
        return found
    try:
        return read(text)
    except (ValueError, ArithmeticError, KeyError):
        return found


def _tag_of(kind: type) -> str | None:
    for module, name in _CLASSES:
        known = sys.modules.get(module)  # else there is no object of its classes
        if known is not None and issubclass(kind, getattr(known, name)):
            return name.lower()
    return None


def _datetime(text: str) -> Any:
    from datetime import datetime

    return datetime.fromisoformat(text)


def _decimal(text: str) -> Any:
    from decimal import Decimal

    return Decimal(text)


def _uuid(text: str) -> Any:
    from uuid import UUID

    return UUID(text)


def _path(text: str) -> Any:
    from pathlib import Path

    return Path(text)


_READERS: dict[str, Callable[[str], Any]] = {
    "__float__": _FLOATS.__getitem__,
    "__datetime__": _datetime,
    "__decimal__": _decimal,
    "__uuid__": _uuid,
    "__path__": _path,
}
