"""Texts and numbers as figures show them: one line, printable, short."""

from __future__ import annotations

import math
import unicodedata

_ELLIPSIS = "\N{HORIZONTAL ELLIPSIS}"
_WIDE = 1.0
_NARROW_LETTERS = frozenset("fijlrtI.,:;'|!()[]{} -/")


def printable(text: object) -> str:
    """Return a text in one line, without control characters and without marks that turn its direction."""
    line = str(text)
    if not line.isprintable():
        line = "".join(letter if letter.isprintable() else " " for letter in line)
    return line


def shortened(text: object, most: int) -> str:
    """Return a printable text of at most `most` letters, shortened in the middle.

    The ends of names tell them apart: "optimizer/.../learning_rate".
    """
    line = str(text)
    if len(line) > 4 * most + 64:  # names of any length: look at the ends alone
        line = f"{line[: 2 * most]}{_ELLIPSIS}{line[-2 * most :]}"
    line = " ".join(printable(line).split())
    if len(line) <= most:
        return line
    tail = (most - 1) // 2
    return f"{line[: most - 1 - tail]}{_ELLIPSIS}{line[len(line) - tail :]}"


def text_width(text: str, size: float) -> float:
    """Return about how wide a text is, in units of `size`; rather too wide than too narrow."""
    width = 0.0
    for letter in text:
        if letter in _NARROW_LETTERS:
            width += 0.38
        elif letter > "\u2e7f" and unicodedata.east_asian_width(letter) in "WF":
            width += _WIDE
        elif letter.isupper() or letter in "mwMW%@":
            width += 0.78
        else:
            width += 0.62
    return width * size


def fitted(text: object, width: float, size: float) -> str:
    """Return a text that is at most `width` wide at a font size, shortened in the middle.

    What is in brackets at the end stays, such as "(lower is better)", if it takes less than two thirds.
    """
    name, bracket, rest = str(text).rpartition(" (") if str(text)[-1:] == ")" else ("", "", "")
    bracket += rest
    if name and text_width(bracket, size) < width * 2 / 3 and text_width(str(text), size) > width:
        return fitted(name, width - text_width(bracket, size), size) + printable(bracket)
    most = max(3, int(width / (0.36 * size)))
    line = shortened(text, most)
    while most > 3 and text_width(line, size) > width:
        most = min(most - 1, int(len(line) * width / text_width(line, size)))
        line = shortened(text, max(3, most))
    return line


def wrapped(text: object, width: float, size: float, most_lines: int = 3) -> list[str]:
    """Return a text in lines of at most `width`; what does not fit in `most_lines` is shortened."""
    lines: list[str] = []
    words = " ".join(printable(str(text)[:2000]).split()).split(" ")
    line = ""
    for i, word in enumerate(words):
        longer = f"{line} {word}".strip()
        if text_width(longer, size) <= width:
            line = longer
        elif len(lines) == most_lines - 1:
            return [*lines, fitted(" ".join([line, *words[i:]]).strip(), width, size)]
        elif line:
            lines.append(line)
            line = fitted(word, width, size)
        else:
            line = fitted(word, width, size)
    return [*lines, line] if line else lines


def number(value: float) -> str:
    """Return a number with at most four digits that tell: "0.01234", "1.5e-07", "123,457"."""
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else ("inf" if value > 0 else "-inf")
    if value == 0:
        return "0"
    if value == int(value) and abs(value) < 1e7:
        return f"{int(value):,}"
    size = abs(value)
    if 1e4 <= size < 1e7:
        return f"{value:,.0f}"
    if size < 1e-3 or size >= 1e7:
        mantissa, exponent = f"{value:.3e}".split("e")
        return f"{mantissa.rstrip('0').rstrip('.')}e{int(exponent)}"
    return f"{value:.4g}"


def duration(seconds: float) -> str:
    """Return a time with its unit: "6.5 ms", "0.25 s", "90 s", "5 min", "2.5 h", "3 d"."""
    size = abs(seconds)
    if 0 < size < 0.1:
        return f"{seconds * 1000:.2g} ms" if size >= 1e-4 else f"{seconds:.2g} s"
    for limit, unit, name in ((120.0, 1.0, "s"), (7200.0, 60.0, "min"), (172800.0, 3600.0, "h")):
        if size < limit:
            return f"{seconds / unit:.3g} {name}"
    return f"{seconds / 86400.0:.3g} d"
