"""Figures over the number of a trial: values and the best so far, hypervolume, improvement to expect."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from overtone.analysis.drawing import scene as s
from overtone.analysis.drawing.labels import number
from overtone.analysis.drawing.palette import series
from overtone.analysis.plots.edf import Edf
from overtone.analysis.plots.hypervolume_history import HypervolumeHistory
from overtone.analysis.plots.optimization_history import OptimizationHistory
from overtone.analysis.plots.terminator_improvement import TerminatorImprovement
from overtone.analysis.scenes import common
from overtone.reading.columns.trial_columns import TrialColumns


def optimization_history(found: OptimizationHistory, columns: Sequence[TrialColumns]) -> s.Scene:
    """Draw the value of each trial, and the best so far."""
    title = common.heading("Optimization history", found.shown)
    if not found.shown.n_all:
        return s.Scene(title, empty=common.no_value(found.metric))
    marks: list[s.Mark] = []
    largest = common.largest_count([one.points for one in found.experiments])
    is_single = len(found.experiments) == 1
    for i, (one, its) in enumerate(zip(found.experiments, columns, strict=True)):
        role = "trial" if is_single else series(i)
        label = "trial" if is_single else f"{one.name}: trials"
        if found.band is None:
            marks += common.trial_marks(one.points, its, most=largest, role=role, label=label)
    if found.band is not None:
        marks += _band_marks(found)
    else:
        for i, one in enumerate(found.experiments):
            if len(one.best.x):
                label = "best so far" if is_single else f"{one.name}: best so far"
                marks.append(common.step_line(one.best, "best" if is_single else series(i), label, 2.5))
    panel = s.Panel(
        s.Axis("trial number", is_whole=True), common.goal_axis(found.y, found.mode), tuple(marks)
    )
    return s.Scene(title, (panel,), colour_bar=common.count_bar(largest) if largest else None)


def _band_marks(found: OptimizationHistory) -> list[s.Mark]:
    band = found.band
    assert band is not None
    x = band.x.astype(np.float64)
    name = f"mean and standard deviation of {len(found.experiments)} experiments"
    return [
        s.Band(x, band.mean - band.std, band.mean + band.std, "trial"),
        s.Points(x, band.mean, "trial", f"trial: {name}", size=5),
        s.Band(x, band.best_mean - band.best_std, band.best_mean + band.best_std, "best"),
        s.Line(x, band.best_mean, "best", "best so far: mean", is_step=True, width=2.5),
    ]


def hypervolume_history(found: HypervolumeHistory) -> s.Scene:
    """Draw the hypervolume over the number of trials."""
    title = common.heading("Hypervolume history", found.shown)
    if not len(found.steps.x):
        return s.Scene(title, empty="No trial has a value of every objective yet.")
    corner = ", ".join(
        f"{metric} {number(value)}" for (metric, _), value in zip(found.goals, found.reference, strict=True)
    )
    panel = s.Panel(
        s.Axis("trial number", is_whole=True),
        s.Axis("hypervolume"),
        (common.step_line(found.steps, "best", "hypervolume"),),
    )
    return s.Scene(title, (panel,), note=f"Measured from the reference point: {corner}.")


def terminator_improvement(found: TerminatorImprovement) -> s.Scene:
    """Draw the improvement that was to be expected of further trials."""
    title = common.heading("Expected improvement of further trials", found.shown)
    if not len(found.x):
        return s.Scene(title, empty=common.no_value(found.metric))
    x = found.x.astype(np.float64)
    is_sure = found.x >= found.min_n_trials
    marks: list[s.Mark] = [s.Line(x, found.improvement, "trial", width=1.2, opacity=0.6)]
    early = ~is_sure
    if early.any():
        label = f"fewer than {found.min_n_trials} trials: uncertain"
        marks.append(s.Points(x[early], found.improvement[early], "pending", label, size=4))
    if is_sure.any():
        marks.append(
            s.Points(x[is_sure], found.improvement[is_sure], "trial", "expected improvement", size=4)
        )
    if found.error is not None:
        ends = np.array([x[0], x[-1] if len(x) > 1 else x[0] + 1])
        level = np.full(2, found.error)
        marks.append(s.Line(ends, level, "cutoff", "improvement not worth a trial", is_dashed=True))
    panel = s.Panel(
        s.Axis("trial number", is_whole=True), s.Axis(f"expected improvement of {found.metric}"), tuple(marks)
    )
    return s.Scene(title, (panel,))


def edf(found: Edf) -> s.Scene:
    """Draw the share of trials that are at most as large as each value."""
    title = common.heading("Distribution of values", found.shown)
    if not found.lines or not len(found.x):
        return s.Scene(title, empty=common.no_value(found.metric))
    x, lines = found.x, [line.y for line in found.lines]
    if len(x) and x[0] == x[-1]:  # one value: a line of no width would not be seen
        half = abs(x[0]) * 0.05 or 0.5
        x = np.array([x[0] - half, x[0], x[0] + half])
        lines = [np.array([0.0, 1.0, 1.0]) for _ in lines]
    is_single = len(lines) == 1
    marks = tuple(
        s.Line(x, y, "trial" if is_single else series(i), line.name, is_step=True, width=2, is_dashed=i >= 8)
        for i, (line, y) in enumerate(zip(found.lines, lines, strict=True))
    )
    panel = s.Panel(
        common.goal_axis(found.axis, found.mode),
        s.Axis("share of trials", low=0, high=1.02),
        marks,
    )
    return s.Scene(title, (panel,))
