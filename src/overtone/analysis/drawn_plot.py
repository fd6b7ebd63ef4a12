"""A plot as a figure of plotly or matplotlib, from what users have of an experiment."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def drawn_plot(
    name: str, sources: Any, backend: str | None, target: Any = None, target_name: Any = None, **options: Any
) -> Any:
    """Return the figure of a plot by its name.

    Args:
        name: The name without "plot_".
        sources: One experiment, or several for plots of several.
        backend: "plotly" or "matplotlib"; by default the first one that is installed.
        target: A metric, or a function from a trial to a number.
        target_name: The name of such a function's values.
        options: Those of the plot's numbers.
    """
    from overtone.analysis.drawing.backends import drawn
    from overtone.analysis.plot_sources import all_columns, with_target
    from overtone.analysis.scenes.catalogue import SEVERAL, scene_of

    columns = all_columns(sources)
    if target is not None:
        is_many = name in SEVERAL and isinstance(sources, Sequence) and not isinstance(sources, str)
        pairs = zip(sources if is_many else [sources], columns, strict=True)
        found = [with_target(source, each, target, target_name) for source, each in pairs]
        columns = [each for each, _ in found]
        options["metric"] = found[0][1]
    return drawn(scene_of(name, columns, **options), backend)
