"""JSON text for readers of a trial's files: NaN as NaN, times and paths as text, decimals as numbers."""

from __future__ import annotations

from math import isfinite
from typing import Any

from overtone.core.json_encoder import encoder
from overtone.journal.text import as_data
from overtone.tagged_json import tagged


def readable(value: Any) -> Any:
    """Return the JSON form, for people and other programs, of a value that JSON does not support."""
    found = tagged(value)
    if found is None:
        return as_data(value)
    ((tag, text),) = found.items()
    if tag == "__decimal__" and isfinite(number := _float(text)):
        return number
    return text


def _float(text: str) -> float:
    try:
        return float(text)
    except ValueError:  # a signalling NaN
        return float("nan")


encode = encoder(readable, allow_nan=True)
"""Return compact JSON text."""

encode_spaced = encoder(readable, allow_nan=True, is_spaced=True)
"""Return JSON text with a space after each comma and each colon."""
