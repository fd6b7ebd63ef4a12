"""Cells of tables as values."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from overtone.space.pins import nested

_WORDS = {"true": True, "false": False, "none": None, "null": None, "": None}
_FEW_DIGITS = 18


def cell_value(text: str | None) -> Any:
    """Return a cell as a number, a truth value, None, a list or an object of JSON, or the text that it is."""
    if text is None:
        return None
    stripped = text.strip()
    if (lower := stripped.lower()) in _WORDS:
        return _WORDS[lower]
    try:
        if stripped.lstrip("+-").isdigit() and len(stripped) <= _FEW_DIGITS:
            return int(stripped)
        if "_" not in stripped:
            return float(stripped)
    except ValueError:
        pass
    if stripped[:1] in "[{":
        try:
            return json.loads(stripped)
        except ValueError:
            pass
    return text


def nested_names(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row with "a/b" in its names as nested dicts."""
    return nested(row)
