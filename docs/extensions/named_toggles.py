"""The buttons that open a part of the navigation have a name: the theme gives them a picture alone."""

from __future__ import annotations

from pathlib import Path

from sphinx.application import Sphinx

NAMES = {"en": "Show its pages", "zh_CN": "显示其页面"}
"""The name by language."""


def name_toggles(app: Sphinx, error: Exception | None) -> None:
    """Name the buttons of all pages."""
    if error is not None or app.builder.name != "html":
        return
    named = f'<summary aria-label="{NAMES[app.config.language]}"><span class="toctree-toggle"'
    for path in Path(app.outdir).rglob("*.html"):
        page = path.read_text("utf-8")
        if '<summary><span class="toctree-toggle"' in page:
            path.write_text(page.replace('<summary><span class="toctree-toggle"', named), "utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect to Sphinx."""
    app.connect("build-finished", name_toggles)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
