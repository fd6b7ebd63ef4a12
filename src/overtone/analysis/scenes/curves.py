"""Figures over the iterations of trials: learning curves, intermediate values, rungs."""

from __future__ import annotations

import numpy as np

from overtone.analysis.drawing import scene as s
from overtone.analysis.drawing.labels import number
from overtone.analysis.plots.intermediate_values import IntermediateValues
from overtone.analysis.plots.learning_curves import LearningCurve, LearningCurves
from overtone.analysis.plots.rungs import RungCounts, Rungs
from overtone.analysis.scenes import common
from overtone.reading.columns.trial_columns import TrialColumns

_TIME = "training_iteration"


def learning_curves(found: LearningCurves, columns: TrialColumns) -> s.Scene:
    """Draw the curves of the best trials over the spread of the others."""
    title = common.heading("Learning curves", found.shown)
    if not found.curves:
        return s.Scene(title, empty=common.no_value(found.metric))
    marks: list[s.Mark] = []
    if found.band is not None:
        t = found.band.t.astype(np.float64)
        marks.append(s.Band(t, found.band.low, found.band.high, "trial", "middle half of the trials"))
    n_others = len(found.curves) - min(found.n_best, max(1, len(found.curves) // 5))
    for i, curve in enumerate(found.curves[:n_others]):
        marks += _curve(curve, columns, "trial", "other trials" if not i else "", 1.0, 0.35)
    if found.band is not None:
        marks.append(s.Line(t, found.band.median, "cutoff", "median", is_dashed=True))
    best = found.curves[n_others:]
    for i, curve in enumerate(best):
        is_first = i == len(best) - 1
        label = "best trial" if len(best) == 1 else f"{len(best)} best trials"
        marks += _curve(curve, columns, "best", label if is_first else "", 3.0 if is_first else 1.5, 1.0)
    panel = s.Panel(s.Axis(_TIME, is_whole=True), common.goal_axis(found.y, found.mode), tuple(marks))
    return s.Scene(title, (panel,))


def _curve(
    curve: LearningCurve,
    columns: TrialColumns,
    role: str,
    label: str,
    width: float,
    opacity: float,
    shade: float | None = None,
) -> list[s.Mark]:
    t = curve.t.astype(np.float64)
    finite = np.isfinite(curve.values)
    texts = "\n".join(common.trial_lines(columns, curve.row))
    if np.count_nonzero(finite) < 2:  # a line through one place cannot be seen
        shades = None if shade is None else np.full(int(finite.sum()), shade)
        return [
            s.Points(t[finite], curve.values[finite], role, label, shades, [texts] * int(finite.sum()), 4)
        ]
    return [
        s.Line(
            t,
            curve.values,
            role,
            label,
            width=width,
            opacity=opacity,
            shade=shade,
            hover=texts,
            is_dashed=not curve.is_allowed,
        )
    ]


def intermediate_values(found: IntermediateValues, columns: TrialColumns) -> s.Scene:
    """Draw the values that each trial reported, coloured by the trial's rank."""
    title = common.heading("Intermediate values", found.shown)
    if not found.curves:
        return s.Scene(title, empty=common.no_value(found.metric))
    marks: list[s.Mark] = []
    for curve in sorted(found.curves, key=lambda one: -1.0 if np.isnan(one.rank) else 1.0 - one.rank):
        rank = 1.0 if np.isnan(curve.rank) else curve.rank
        marks += _curve(curve, columns, "trial", "", 1.3, 0.8, 1.0 - rank)
    panel = s.Panel(s.Axis(_TIME, is_whole=True), common.scene_axis(found.y), tuple(marks))
    bar = s.ColourBar("rank of the trial", "worst", "best")
    return s.Scene(title, (panel,), colour_bar=bar)


def rungs(found: Rungs) -> s.Scene:
    """Draw how many trials of each bracket reached each rung, and the values of trials by highest rung."""
    title = common.heading("Rungs", found.shown)
    n_levels = len(found.all.levels)
    if not n_levels:
        return s.Scene(title, empty="The scheduler compared no trials at rungs.")
    panels = [
        _rung_counts(each, f"Trials of bracket {n} that reached each rung")
        for n, each in ((one.bracket, one) for one in found.brackets)
        if len(each.levels)
    ] or [_rung_counts(found.all, "Trials that reached each rung")]
    levels = _levels(found.all)
    boxes = box_marks(np.arange(n_levels, dtype=np.float64), found.quantiles, ["trial"] * n_levels, levels)
    if boxes:
        x = s.Axis("highest rung of the trial", "category", levels)
        y = common.goal_axis(found.y, found.mode)
        panels.append(s.Panel(x, y, tuple(boxes), "Values of trials by their highest rung"))
    notes = []
    if found.n_below:
        notes.append(f"{_trials(found.n_below)} with results reached no rung.")
    if found.n_unknown:
        notes.append(f"{_trials(found.n_unknown)} with results: bracket not recorded.")
    if found.n_brackets > 1 and not found.brackets:
        notes.append(f"The trials of {found.n_brackets:,} brackets are counted together.")
    return s.Scene(title, tuple(panels), " ".join(notes), columns=2)


def _trials(n: int) -> str:
    return f"{n:,} trial{'s' * (n != 1)}"


def _levels(found: RungCounts) -> tuple[str, ...]:
    return tuple(number(float(level)) for level in found.levels)


def _rung_counts(found: RungCounts, title: str) -> s.Panel:
    """Draw how many trials reached each rung."""
    n, levels = len(found.levels), _levels(found)
    at = np.arange(n, dtype=np.float64)
    ended, active = found.n_ended.astype(np.float64), found.n_active.astype(np.float64)
    reached = found.n_reached.astype(np.float64)
    further = reached - ended - active
    parts = (
        ("completed", "went further", np.zeros(n), further),
        ("running", "still there", further, further + active),
        ("stopped", "ended there", further + active, reached),
    )
    bars = tuple(
        s.Bars(
            at,
            start,
            end,
            role,
            label,
            [f"rung {level}: {int(size):,} {label}" for level, size in zip(levels, end - start, strict=True)],
            is_horizontal=False,
        )
        for role, label, start, end in parts
        if (end > start).any()
    )
    x = s.Axis("rung", "category", levels)
    return s.Panel(x, s.Axis("trials", low=0.0, is_whole=True), bars, title)


def box_marks(at: s.Floats, quantiles: s.Floats, roles: list[str], names: tuple[str, ...]) -> list[s.Mark]:
    """Return boxes from the lower to the upper quartile, with the median, and lines to the ends.

    Args:
        at: Places on the x axis, shape (n,).
        quantiles: 0, 25, 50, 75 and 100 %, shape (n, 5); rows with NaN are left out.
        roles: The meaning of each box.
        names: The name of each box, for its text.
    """
    marks: list[s.Mark] = []
    for x, row, role, name in zip(at.tolist(), quantiles, roles, names, strict=True):
        if not np.isfinite(row).all():
            continue
        low, first, median, third, high = row.tolist()
        text = f"{name}\nbest and worst {number(low)}, {number(high)}\nmedian {number(median)}"
        text += f"\nmiddle half {number(first)} to {number(third)}"
        place = np.array([x])
        marks += [
            s.Line(np.array([x, x]), np.array([low, high]), role, width=1.2),
            s.Bars(
                place,
                np.array([first]),
                np.array([third]),
                role,
                hover=[text],
                is_horizontal=False,
                thickness=0.5,
            ),
            s.Line(np.array([x - 0.25, x + 0.25]), np.array([median, median]), "cutoff", width=2.0),
        ]
    return marks
