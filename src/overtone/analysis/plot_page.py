"""The useful plots of an experiment on one page."""

from __future__ import annotations

import os
from collections.abc import Mapping

from overtone.analysis.drawing.scene import Scene
from overtone.analysis.drawing.svg import svg
from overtone.analysis.page.figures import figure
from overtone.analysis.page.html import page, text
from overtone.regular_files import replace_file

_WIDTH = 860.0


class PlotPage:
    """Plots on a page, which needs no package: a notebook shows it, and `save` writes it.

    Args:
        title: The heading.
        scenes: The figures by the names of their plots.
    """

    def __init__(self, title: str, scenes: Mapping[str, Scene]) -> None:
        self._title = title
        self._scenes = dict(scenes)

    @property
    def names(self) -> list[str]:
        """The names of the plots, which `tune.plots` has as "plot_<name>"."""
        return list(self._scenes)

    def html(self) -> str:
        """Return the page: one document that loads nothing."""
        return page(self._title, [f"<h1>{text(self._title)}</h1>", *map(figure, self._scenes.values())])

    def save(self, path: str | os.PathLike[str]) -> str:
        """Write the page to a file, atomically; returns its path."""
        replace_file(path, self.html().encode("utf-8", "replace"))
        return os.fspath(path)

    def _repr_html_(self) -> str:
        figures = (svg(scene, _WIDTH, has_style=not i) for i, scene in enumerate(self._scenes.values()))
        return f'<div style="overflow-x:auto">{"".join(figures)}</div>'

    def __repr__(self) -> str:
        return (
            f"PlotPage({self._title!r}, {', '.join(self.names)}): a notebook shows it; save(path) writes it"
        )
