"""Durations as people write them: "90s", "5m", "1h30m"."""

from __future__ import annotations

import math
import re
from typing import Any

_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_PART = re.compile(r"(\d+(?:\.\d+)?)\s*([smhd])\s*", re.ASCII)


def seconds_of(value: Any) -> float | None:
    """Return the seconds of "5m", "1h30m", "2 h" or 90; None if the value is not a duration."""
    if isinstance(value, bool):
        return None
    if isinstance(value, (int, float)):
        return float(value) if 0 <= value < math.inf else None
    if not isinstance(value, str):
        return None
    text, seconds, at = value.strip().lower(), 0.0, 0
    if re.fullmatch(r"\d+(\.\d+)?", text, re.ASCII):
        return float(text)
    while match := _PART.match(text, at):
        seconds, at = seconds + float(match[1]) * _UNITS[match[2]], match.end()
    return seconds if text and at == len(text) else None


def duration_text(seconds: float) -> str:
    """Return a duration as a config writes it: "45s", "5m", "1h30m"."""
    rest, text = round(seconds), ""
    for unit, size in (("h", 3600), ("m", 60), ("s", 1)):
        count, rest = divmod(rest, size)
        text += f"{count}{unit}" if count else ""
    return text or "0s"
