"""Figures of a page: each for wide and for narrow screens."""

from __future__ import annotations

from collections.abc import Iterable

from overtone.analysis.drawing.scene import Scene
from overtone.analysis.drawing.svg import svg

_WIDE, _NARROW = 868.0, 358.0


def figure(scene: Scene) -> str:
    """Return a figure that is drawn twice; the page shows the one that fits."""
    wide, narrow = (svg(scene, width, has_style=False) for width in (_WIDE, max(_NARROW, scene.least_width)))
    return f'<figure><div class="wide">{wide}</div><div class="narrow">{narrow}</div></figure>'


def figures(scenes: Iterable[Scene]) -> str:
    """Return the section with all figures."""
    drawn = "\n".join(figure(scene) for scene in scenes)
    return f"<h2>Plots</h2>\n{drawn}" if drawn else ""
