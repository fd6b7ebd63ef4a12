"""The figure of several experiments side by side."""

from __future__ import annotations

import numpy as np

from overtone.analysis.drawing import scene as s
from overtone.analysis.drawing.labels import number
from overtone.analysis.drawing.palette import N_SERIES, series
from overtone.analysis.plots.compare import Comparison
from overtone.analysis.scenes import common
from overtone.analysis.scenes.curves import box_marks


def compare(found: Comparison) -> s.Scene:
    """Draw the best value so far of each experiment, and the spread of its values."""
    title = common.heading("Experiments compared", found.shown)
    known = [one for one in found.experiments if one.n_values]
    if not known:
        return s.Scene(title, empty=common.no_value(found.metric))
    panels = []
    for name, axis in (
        ("by_trial", s.Axis("trial number", is_whole=True)),
        ("by_clock", s.Axis("time since the start", is_time=True)),
    ):
        lines = tuple(
            s.Line(
                getattr(one, name).x,
                getattr(one, name).y,
                series(i),
                one.name,
                is_step=True,
                width=2,
                is_dashed=i >= N_SERIES,
            )
            for i, one in enumerate(found.experiments)
            if one.n_values
        )
        panels.append(s.Panel(axis, common.goal_axis(found.best_y, found.mode), lines, "Best value so far"))
    roles = [series(i) for i in range(len(found.experiments))]
    names = tuple(one.name for one in found.experiments)
    at = np.arange(len(names), dtype=np.float64)
    boxes = box_marks(at, np.stack([one.quantiles for one in found.experiments]), roles, names)
    value = common.goal_axis(found.y, found.mode)
    panels.append(s.Panel(s.Axis("", "category", names), value, tuple(boxes), "Values of all trials"))
    bests = ", ".join(f"{one.name} {number(one.best)}" for one in known[:4])
    return s.Scene(title, tuple(panels), f"Best: {bests}." if len(known) <= 4 else "", columns=3)
