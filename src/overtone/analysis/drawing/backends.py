"""The packages that draw figures, chosen by name or by what is installed."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

from overtone.analysis.drawing.scene import Scene
from overtone.errors import ArgumentError, MissingPackageError

BACKENDS = ("plotly", "matplotlib")


def drawn(scene: Scene, backend: str | None = None) -> Any:
    """Return a scene as a figure of plotly or matplotlib.

    Args:
        scene: The figure.
        backend: "plotly" or "matplotlib"; by default the first one that is installed.

    Raises:
        ArgumentError: `backend` is not a name of one.
        MissingPackageError: The package is not installed.
    """
    if backend is None:
        backend = next((name for name in BACKENDS if find_spec(name) is not None), None)
        if backend is None:
            raise MissingPackageError("plotly or matplotlib", "plot", "a plot")
    if backend == "plotly":
        from overtone.analysis.drawing.plotly_figure import plotly_figure

        return plotly_figure(scene)
    if backend == "matplotlib":
        from overtone.analysis.drawing.matplotlib_figure import matplotlib_figure

        return matplotlib_figure(scene)
    raise ArgumentError(f'backend={backend!r}: choose "plotly" or "matplotlib"')
