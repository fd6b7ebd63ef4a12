"""Docstrings become reStructuredText: their code is in single backticks, and their examples are indented."""

from __future__ import annotations

import re
from typing import Any

from sphinx.application import Sphinx

_CODE = re.compile(r"(``.+?``|`[^`]+`)", re.DOTALL)
_SECTION = re.compile(r"[A-Z][a-z]+:$")


def rst(text: str) -> str:
    """Return the text of a docstring as reStructuredText, with code as literals and no other markup."""
    pieces = _CODE.split(text)
    for index, piece in enumerate(pieces):
        if index % 2:
            pieces[index] = f"``{' '.join(piece.strip('`').split())}``"
            if index + 1 < len(pieces) and re.match(r"\w", pieces[index + 1]):
                pieces[index] += "\\ "
            if re.search(r"\w$", pieces[index - 1]):
                pieces[index] = f"\\ {pieces[index]}"
        else:
            pieces[index] = re.sub(r"(\*|\||(?<=\w)_(?!\w))", r"\\\1", piece)
    return "".join(pieces)


def converted(lines: list[str]) -> list[str]:
    """Return the lines of a docstring as those of reStructuredText."""
    parts: list[tuple[bool, list[str]]] = []  # whether it is an example, and its lines
    is_example, before = False, ""
    for line in lines:
        if line.strip():
            if not line.startswith("    "):
                is_example = False
            elif not is_example and before == "" and parts and not _starts_section(parts):
                is_example = True
        if not parts or parts[-1][0] != is_example:
            parts.append((is_example, []))
        parts[-1][1].append(line)
        before = line.strip()
    found: list[str] = []
    for example, part in parts:
        found += ["::", "", *part, ""] if example else rst("\n".join(part)).split("\n")
    return found


def _starts_section(parts: list[tuple[bool, list[str]]]) -> bool:
    """Return whether the last line without indentation is a heading such as "Args:"."""
    flat = [line for _, part in parts for line in part if line.strip() and not line.startswith(" ")]
    return not flat or bool(_SECTION.match(flat[-1]))


def process(_app: Sphinx, _what: str, _name: str, _value: Any, _options: Any, lines: list[str]) -> None:
    """Convert a docstring before napoleon reads its sections."""
    lines[:] = converted(lines)


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect to Sphinx."""
    app.connect("autodoc-process-docstring", process, priority=400)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
