"""A plot as a figure of plotly or matplotlib, from what users have of an experiment."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def drawn_plot(
    name: str,
    *,
    backend: str | None,
    experiment: Any = None,
    experiments: Any = None,
    target: Any = None,
    target_name: Any = None,
    **options: Any,
) -> Any:
    """Return the figure of a plot by its name.

    Args:
        name: The name without "plot_".
        backend: "plotly" or "matplotlib"; by default the first one that is installed.
        experiment: The experiment, for a plot of one.
        experiments: One experiment or a sequence, for a plot of several.
        target: A metric, or a function from a trial to a number.
        target_name: The name of such a function's values.
        options: Those of the plot's numbers.
    """
    from overtone.analysis.drawing.backends import drawn
    from overtone.analysis.plot_sources import all_columns, with_target
    from overtone.analysis.scenes.catalogue import SEVERAL, scene_of

    sources = experiments if experiment is None else experiment
    columns = all_columns(sources)
    if target is not None:
        is_many = name in SEVERAL and isinstance(sources, Sequence) and not isinstance(sources, str)
        pairs = zip(sources if is_many else [sources], columns, strict=True)
        found = [with_target(source, each, target, target_name) for source, each in pairs]
        columns = [each for each, _ in found]
        options["metric"] = found[0][1]
    return drawn(scene_of(name, columns, **options), backend)
