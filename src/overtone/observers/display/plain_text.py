"""Text that is safe to print and whose width on a screen is known.

Names, configs and metrics come from users and from what users load. An escape sequence in one
of them must not move the cursor, recolour the screen or reorder a line.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Any

from overtone.quantity_text import number as number

ELLIPSIS = "..."

_ESCAPES = re.compile(
    r"(?P<colour>\x1b\[[0-9;:]*m)"
    r"|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)"  # titles, links, clipboard
    r"|\x1b\[[0-?]*[ -/]*[@-~]"  # cursor, erase, modes
    r"|\x1b."
    r"|[\x00-\x08\x0b-\x1f\x7f-\x9f]"
)


def clean(value: Any) -> str:
    """Return `value` as one line of printable text; what could act on a terminal is spelled out.

    >>> clean("a\\x1b[31mb\\n")
    'a\\\\x1b[31mb\\\\n'
    """
    text = value if type(value) is str else str(value)
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def printable_output(text: str, colours: bool) -> str:
    """Return a trial's output without characters that move the cursor.

    Colours are kept if `colours`. A line that overwrites itself (a progress bar) is reduced to
    its last visible text.
    """
    text = text.replace("\r\n", "\n")
    if "\r" in text:
        text = "\n".join(_last_overwrite(line) for line in text.split("\n"))
    if "\x1b" not in text and text.isascii() and text.replace("\n", "").replace("\t", "").isprintable():
        return text
    return _ESCAPES.sub(lambda match: match[0] if colours and match["colour"] else "", text)


def _last_overwrite(line: str) -> str:
    parts = [part for part in line.split("\r") if part]
    return parts[-1] if parts else ""


def width(text: str) -> int:
    """Return the width of `text` in columns: two for wide (CJK) characters, none for combining ones."""
    if text.isascii():
        return len(text)
    return sum(_cell(c) for c in text)


def _cell(character: str) -> int:
    if unicodedata.combining(character) or unicodedata.category(character) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in ("W", "F") else 1


def pad(text: str, columns: int, right: bool = False) -> str:
    """Return `text` filled with spaces to `columns`; unchanged where it is wider."""
    space = " " * (columns - width(text))
    return space + text if right else text + space


def cut(text: str, columns: int, keep_end: bool = False) -> str:
    """Return `text` in at most `columns`, with an ellipsis where something is missing."""
    if width(text) <= columns:
        return text
    room = columns - len(ELLIPSIS)
    if room <= 0:
        return ELLIPSIS[: max(columns, 0)]
    kept: list[str] = []
    for character in reversed(text) if keep_end else text:
        room -= _cell(character)
        if room < 0:
            break
        kept.append(character)
    return ELLIPSIS + "".join(reversed(kept)) if keep_end else "".join(kept) + ELLIPSIS


def folded(text: str, room: int) -> list[str]:
    """Return `text` in lines of at most `room` columns, broken at spaces where there are some."""
    lines, rest = [], text
    while width(rest) > room:
        at = room
        while at > 1 and width(rest[:at]) > room:
            at -= 1
        space = rest.rfind(" ", room // 3, at + 1)
        at = space if space > 0 else at
        lines.append(rest[:at].rstrip())
        rest = rest[at:].lstrip()
    return [*lines, rest]


def show(value: Any) -> str:
    """Any value of a config or a result in one short line; None is empty."""
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:g}"
    return clean(value)


def duration(seconds: float) -> str:
    """Seconds as people write them: "0.8 s", "42 s", "3 min 05 s", "2 h 07 min", "3 d 4 h"."""
    if seconds < 10:
        return f"{max(seconds, 0.0):.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    if whole < 86400:
        return f"{whole // 3600} h {whole % 3600 // 60:02d} min"
    return f"{whole // 86400} d {whole % 86400 // 3600} h"
