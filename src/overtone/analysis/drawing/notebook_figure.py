"""Figures of matplotlib that notebooks show."""

from __future__ import annotations

import io

from matplotlib.figure import Figure


class NotebookFigure(Figure):
    """A figure that a notebook shows as a picture, also if pyplot was never imported."""

    def _repr_png_(self) -> bytes:
        picture = io.BytesIO()
        self.savefig(picture, format="png")
        return picture.getvalue()
