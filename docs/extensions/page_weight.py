"""Pages load what they use, and nothing else of the theme.

The theme's style sheet has rules for much that these pages lack. After a build, its rules stay whose classes
are in a page or a script. Icon fonts and source maps go: `static/overtone.css` draws the few icons.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

from sphinx.application import Sphinx

_BLOCK_START = re.compile(r"[^{}]*\{")


def shrunk(css: str, used: set[str]) -> str:
    """Return a style sheet without comments, fonts, and rules for classes and ids that are not used.

    Args:
        css: The style sheet.
        used: The classes and ids.
    """
    return "".join(_kept(re.sub(r"/\*.*?\*/", "", css, flags=re.DOTALL), used))


def _kept(css: str, used: set[str]) -> Iterator[str]:
    position = 0
    while start := _BLOCK_START.match(css, position):
        end = _end(css, start.end())
        head, body = " ".join(start[0][:-1].split()), css[start.end() : end - 1]
        position = end
        statement, _, head = head.rpartition(";")  # such as @charset before a rule
        if statement:
            yield f"{statement};"
        head = head.strip()
        if head.startswith(("@media", "@supports", "@layer")):
            inner = shrunk(body, used)
            if inner:
                yield f"{head}{{{inner}}}"
        elif head.startswith("@font-face"):
            continue
        elif head.startswith("@"):
            yield f"{head}{{{_tight(body)}}}"
        elif selectors := [one.strip() for one in _parts(head) if _names(one) <= used]:
            yield f"{','.join(selectors)}{{{_tight(body)}}}"


def _end(css: str, position: int) -> int:
    depth = 1
    while depth:
        character = css[position]
        depth += (character == "{") - (character == "}")
        position += 1
    return position


def _parts(selector: str) -> list[str]:
    return re.split(r",(?![^(]*\))", selector)


def _names(selector: str) -> set[str]:
    """Return the classes and ids that an element must have; not those inside of `:not(...)`."""
    outside = re.sub(r"\([^()]*\)", "", re.sub(r"\([^()]*\)", "", selector))
    return {name.replace("\\", "") for name in re.findall(r"[.#]((?:[\w-]|\\.)+)", outside)}


def _tight(body: str) -> str:
    return re.sub(r"\s*([:;,{}])\s*", r"\1", " ".join(body.split())).strip("; ")


def names_in(folder: Path) -> set[str]:
    """Return the classes and ids of all pages, and the words in the scripts, which add classes."""
    used: set[str] = set()
    for page in folder.rglob("*.html"):
        for value in set(re.findall(r'\b(?:class|id)="([^"]*)"', page.read_text("utf-8"))):
            used.update(value.split())
    for script in (folder / "_static").rglob("*.js"):
        used.update(re.findall(r"[\w-]+", script.read_text("utf-8")))
    return used


def clean(app: Sphinx, error: Exception | None) -> None:
    """Remove from the output what no page needs."""
    if error is not None or app.builder.name != "html":
        return
    static = Path(app.outdir, "_static")
    for path in static.rglob("*.map"):
        path.unlink()
    shutil.rmtree(static / "vendor", ignore_errors=True)
    for name in (
        "webpack-macros.html",
        "styles/theme.css",
        "scripts/fontawesome.js",
        "scripts/fontawesome.js.LICENSE.txt",
    ):
        (static / name).unlink(missing_ok=True)
    used = names_in(Path(app.outdir))
    for name in ("styles/pydata-sphinx-theme.css", "basic.css", "pygments.css", "sg_gallery.css"):
        if (path := static / name).is_file():
            path.write_text(shrunk(path.read_text("utf-8"), used), "utf-8")
    for script in static.rglob("*.js"):
        script.write_text(re.sub(r"\n//# sourceMappingURL=.*", "", script.read_text("utf-8")), "utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect to Sphinx."""
    app.connect("build-finished", clean)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
