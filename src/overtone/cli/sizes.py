"""Bytes as people write them."""

from __future__ import annotations


def bytes_shown(count: float) -> str:
    """`512 B`, `3.4 kB`, `12 MB`: in steps of 1000."""
    for unit in ("B", "kB", "MB", "GB"):
        if count < 999.5:
            return f"{count:.0f} {unit}" if unit == "B" or count >= 9.95 else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.0f} TB" if count >= 9.95 else f"{count:.1f} TB"
