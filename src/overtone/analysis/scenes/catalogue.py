"""Every plot by its name: from the columns of experiments to a figure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from overtone.analysis.drawing.scene import Scene
from overtone.analysis.plots.compare import compare
from overtone.analysis.plots.contour import contour
from overtone.analysis.plots.cost import cost
from overtone.analysis.plots.edf import edf
from overtone.analysis.plots.hypervolume_history import hypervolume_history
from overtone.analysis.plots.importances import param_importances
from overtone.analysis.plots.intermediate_values import intermediate_values
from overtone.analysis.plots.learning_curves import learning_curves
from overtone.analysis.plots.lineage import lineage
from overtone.analysis.plots.optimization_history import optimization_history
from overtone.analysis.plots.parallel_coordinate import parallel_coordinate
from overtone.analysis.plots.pareto_front import pareto_front
from overtone.analysis.plots.rank import rank
from overtone.analysis.plots.rungs import rungs
from overtone.analysis.plots.slices import slices
from overtone.analysis.plots.terminator_improvement import terminator_improvement
from overtone.analysis.plots.timeline import timeline
from overtone.analysis.scenes import compare as comparing
from overtone.analysis.scenes import curves, history, objectives, pairs, params, trials
from overtone.reading.columns.trial_columns import TrialColumns

Maker = Callable[..., Scene]
"""Makes a figure of the columns of one experiment (or of several, for plots of several), and options."""


SEVERAL: dict[str, Maker] = {
    "optimization_history": lambda many, **o: history.optimization_history(
        optimization_history(many, **o), many
    ),
    "edf": lambda many, **o: history.edf(edf(many, **o)),
    "compare": lambda many, **o: comparing.compare(compare(many, **o)),
}
"""The plots of one or several experiments."""

ONE: dict[str, Maker] = {
    "intermediate_values": lambda c, **o: curves.intermediate_values(intermediate_values(c, **o), c),
    "learning_curves": lambda c, **o: curves.learning_curves(learning_curves(c, **o), c),
    "rungs": lambda c, **o: curves.rungs(rungs(c, **o)),
    "slice": lambda c, **o: params.slices(slices(c, **o), c),
    "param_importances": lambda c, **o: params.param_importances(param_importances(c, **o)),
    "parallel_coordinate": lambda c, **o: params.parallel_coordinate(parallel_coordinate(c, **o), c),
    "contour": lambda c, **o: pairs.contour(contour(c, **o), c),
    "rank": lambda c, **o: pairs.rank(rank(c, **o), c),
    "pareto_front": lambda c, **o: objectives.pareto_front(pareto_front(c, **o), c),
    "hypervolume_history": lambda c, **o: history.hypervolume_history(hypervolume_history(c, **o)),
    "terminator_improvement": lambda c, **o: history.terminator_improvement(terminator_improvement(c, **o)),
    "timeline": lambda c, **o: trials.timeline(timeline(c, **o), c),
    "lineage": lambda c, **o: trials.lineage(lineage(c, **o), c),
    "cost": lambda c, **o: trials.cost(cost(c, **o)),
}
"""The plots of one experiment."""


def scene_of(name: str, columns: Sequence[TrialColumns], **options: Any) -> Scene:
    """Return the figure of a plot.

    Args:
        name: The plot's name, without "plot_".
        columns: The experiments; plots of one experiment take the first.
        options: Those of the plot's numbers.
    """
    if name in ("contour", "rank") and options.get("params") is None:
        varied = [param for param, column in columns[0].params.items() if is_varied(column)]
        options["params"] = varied if len(varied) > 1 else None  # nothing is seen over a constant
    if name in SEVERAL:
        return SEVERAL[name](list(columns), **options)
    return ONE[name](columns[0], **options)


def useful_plots(columns: TrialColumns) -> list[str]:
    """Return the names of the plots that say something about an experiment, most telling first."""
    n_goals = len(columns.goals)
    n_params = sum(is_varied(column) for column in columns.params.values())
    names = ["pareto_front", "hypervolume_history"] if 1 < n_goals <= 3 else ["optimization_history"]
    if n_goals and bool((columns.n_results > 1).any()):
        names.append("learning_curves")
    if bool(np.isfinite(columns.rung).any()):
        names.append("rungs")
    if bool((columns.source >= 0).any()):
        names.append("lineage")
    if n_goals and n_params and len(columns) > 2:
        names += ["param_importances"] if n_params > 1 else []
        names += ["parallel_coordinate", "slice"]
        names += ["contour"] if n_params > 1 else []
    if bool(np.isfinite(columns.started).any()):
        names += ["timeline", "cost"] if n_goals else ["timeline"]
    return names


def is_varied(column: Any) -> bool:
    """Return whether a column has two different values."""
    values = column.values[~column.missing]
    return len(values) > 1 and bool((values != values[0]).any())


def page_scenes(columns: TrialColumns, most_slices: int = 9, most_pairs: int = 3) -> dict[str, Scene]:
    """Return the useful plots of an experiment by name, with the most important hyperparameters alone.

    Args:
        columns: The experiment.
        most_slices: The maximum number of hyperparameters in slices and parallel coordinates.
        most_pairs: The maximum number of hyperparameters in contours.
    """
    names = useful_plots(columns)
    order = [name for name, column in columns.params.items() if is_varied(column)]
    if "param_importances" in names and len(order) > most_pairs:
        ranked = param_importances(columns, n_bootstrap=0).targets
        if ranked:
            first = [name for name in ranked[0].params if name in order]
            order = [*first, *(name for name in order if name not in first)]
    varied = [name for name in columns.params if name in order]
    scenes = {}
    for name in names:
        options: dict[str, Any] = {}
        if name in ("slice", "parallel_coordinate"):
            options = {"params": order[:most_slices]}
        elif name == "param_importances":
            options = {"params": varied}
        elif name == "contour":
            options = {"params": order[:most_pairs]}
        scenes[name] = scene_of(name, [columns], **options)
    return scenes
