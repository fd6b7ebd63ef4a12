"""Figures over pairs of hyperparameters: contours and ranks."""

from __future__ import annotations

import numpy as np

from overtone.analysis.drawing import scene as s
from overtone.analysis.drawing.labels import number
from overtone.analysis.plots.contour import Contour, ContourPanel
from overtone.analysis.plots.rank import Rank
from overtone.analysis.scenes import common
from overtone.reading.columns.trial_columns import TrialColumns

_NO_PAIR = "Two hyperparameters with values are needed."


def contour(found: Contour, columns: TrialColumns) -> s.Scene:
    """Draw the smoothed value over each pair of hyperparameters."""
    title = common.heading(f"Contour of {found.metric}", found.shown)
    if not found.panels:
        return s.Scene(title, empty=_NO_PAIR)
    low, high = found.z_range
    panels = tuple(_contour_panel(panel, columns, found) for panel in found.panels)
    name = common.value_title(found.metric, found.mode, found.value.is_log)
    bar = s.ColourBar(name, number(low), number(high))
    return s.Scene(title, panels, _left_out(found.params, found.n_params), _columns(len(panels)), bar)


def _contour_panel(panel: ContourPanel, columns: TrialColumns, found: Contour) -> s.Panel:
    marks: list[s.Mark] = []
    if panel.z.size:
        x = common.centre_edges(panel.grid_x, panel.x.is_log)
        y = common.centre_edges(panel.grid_y, panel.y.is_log)
        marks.append(s.Cells(x, y, common.shades(panel.z, *found.z_range, found.value.is_log)))
    if panel.points.density is None:
        rows = panel.points.rows
        texts = common.TrialTexts(columns, rows)
        size = 4.0 if len(rows) < 500 else 2.5
        marks.append(s.Points(panel.points.x, panel.points.y, "page", size=size + 2.5))
        marks.append(s.Points(panel.points.x, panel.points.y, "cutoff", "trial", None, texts, size))
    return s.Panel(common.scene_axis(panel.x), common.scene_axis(panel.y), tuple(marks))


def rank(found: Rank, columns: TrialColumns) -> s.Scene:
    """Draw each pair of hyperparameters, with the ranks of the trials as colours."""
    title = common.heading(f"Ranks by {found.metric}", found.shown)
    if not found.panels:
        return s.Scene(title, empty=_NO_PAIR)
    panels = tuple(
        s.Panel(
            common.scene_axis(panel.x),
            common.scene_axis(panel.y),
            tuple(common.trial_marks(panel.points, columns, (0.0, 1.0))),
        )
        for panel in found.panels
    )
    least, greatest = float(found.ticks[0]), float(found.ticks[-1])
    bar = s.ColourBar(common.goal_title(found.metric, found.mode), number(least), number(greatest))
    note = _left_out(found.params, found.n_params)
    if np.isfinite(found.ticks[2]):
        middle = number(float(found.ticks[2]))
        note = f"Colours are ranks: half of the trials have at most {middle}. {note}".strip()
    return s.Scene(title, panels, note, _columns(len(panels)), bar)


def _left_out(params: tuple[str, ...], n_params: int) -> str:
    return f"Pairs of {len(params)} of {n_params} hyperparameters; name others with params=." * (
        len(params) < n_params
    )


def _columns(n: int) -> int:
    return 1 if n == 1 else (2 if n in (2, 4) else 3)
