"""`llms.txt`: every page with what it is about, for readers that are programs."""

from __future__ import annotations

import re
from pathlib import Path

from page_sources import DOCS, PARTS, page_at
from sphinx.application import Sphinx

_ROW = re.compile(r"^\| (.+?) \| (.+?) \|$", re.MULTILINE)
_LINK = re.compile(r"\[([^\]]+)\]\(([^)\s#]+)\)")


def text() -> str:
    """Return the file's text."""
    readme = (DOCS / "README.md").read_text("utf-8")
    summary = next(part for part in readme.split("\n\n") if not part.startswith(("#", "|", "!")))
    lines = ["# Overtone", "", "> " + " ".join(summary.split())]
    for part in PARTS[1:]:
        path = DOCS / f"{part}.md"
        source = path.read_text("utf-8")
        lines += ["", f"## {source.partition(chr(10))[0].removeprefix('# ')}", ""]
        for cell, about in _ROW.findall(source):
            for title, target in _LINK.findall(cell):
                plain = _LINK.sub(r"\1", about)
                if page := page_at((path.parent / target).resolve()):
                    lines.append(f"- [{title}]({page}.html): {plain}")
    return "\n".join(lines) + "\n"


def write(app: Sphinx, error: Exception | None) -> None:
    """Write the file beside the pages in English."""
    if error is None and app.builder.name == "html" and app.config.language == "en":
        Path(app.outdir, "llms.txt").write_text(text(), "utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect to Sphinx."""
    app.connect("build-finished", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
