"""The figure of several objectives: the Pareto front."""

from __future__ import annotations

import itertools

import numpy as np

from overtone.analysis.drawing import scene as s
from overtone.analysis.drawing.scene import Symbol
from overtone.analysis.plots.pareto_front import ParetoFront
from overtone.analysis.scenes import common
from overtone.reading.columns.trial_columns import TrialColumns


def pareto_front(found: ParetoFront, columns: TrialColumns) -> s.Scene:
    """Draw trials in the space of objectives; three objectives are shown as three pairs."""
    title = common.heading("Pareto front", found.shown)
    if not len(found.front) and not len(found.others):
        return s.Scene(title, empty="No trial has a value of every objective yet.")
    pairs = list(itertools.combinations(range(len(found.axes)), 2))
    return s.Scene(title, tuple(_panel(found, columns, i, j) for i, j in pairs), columns=len(pairs))


def _panel(found: ParetoFront, columns: TrialColumns, i: int, j: int) -> s.Panel:
    marks: list[s.Mark] = []
    for is_allowed in (False, True):
        rows = np.flatnonzero(found.is_allowed == is_allowed)
        if not len(rows):
            continue
        counts = found.counts[rows].tolist()
        extra = [f"stands for {count:,} trials" if count > 1 else "" for count in counts]
        texts = common.TrialTexts(columns, found.other_rows[rows], extra)
        role, label = ("trial", "dominated trial") if is_allowed else ("disallowed", "breaks a constraint")
        symbol: Symbol = "circle" if is_allowed else "cross"
        marks.append(
            s.Points(found.others[rows, i], found.others[rows, j], role, label, None, texts, 5, symbol)
        )
    texts = common.TrialTexts(columns, found.front_rows)
    x, y = found.front[:, i], found.front[:, j]
    if len(found.axes) == 2 and len(x) > 1:
        marks.append(s.Line(x, y, "best", width=1.2, is_dashed=True, opacity=0.7))
    marks.append(s.Points(x, y, "best", "Pareto front", None, texts, 8, "diamond"))
    titles = [common.goal_title(axis.name, mode) for axis, mode in zip(found.axes, found.modes, strict=True)]
    return s.Panel(
        common.scene_axis(found.axes[i], titles[i]),
        common.scene_axis(found.axes[j], titles[j]),
        tuple(marks),
        height=300,
    )
