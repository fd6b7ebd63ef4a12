"""Numbers, sizes, ages and moments as people write them."""

from __future__ import annotations

from datetime import datetime, timezone


def count_text(n: int, noun: str) -> str:
    """Return a number of things: "1 trial", "1,200 trials"."""
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"


def size_text(n_bytes: float, digits: int = 3) -> str:
    """Return a number of bytes in steps of 1000: "512 bytes", "3.4 kB", "12 MB"."""
    for unit in ("bytes", "kB", "MB", "GB", "TB"):
        if n_bytes < 999.5 or unit == "TB":
            break
        n_bytes /= 1000
    return f"{n_bytes:.{max(digits, len(str(round(n_bytes))))}g} {unit}"


def age_text(seconds: float) -> str:
    """Return how long ago something was: "7 s", "12 min", "3.5 h"."""
    if seconds < 120:
        return f"{max(seconds, 0.0):.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def moment(seconds: float | None) -> str | None:
    """Seconds since 1970 as "2026-11-21T12:03:04Z"; None where they are none that a clock shows."""
    try:
        return datetime.fromtimestamp(seconds, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError, OSError):
        return None


def number(value: float) -> str:
    """Return a number as tables show it: whole ones exactly, others to 6 digits."""
    return str(value) if isinstance(value, int) else f"{value:g}"
