"""Figures about hyperparameters: slices, importances, parallel coordinates."""

from __future__ import annotations

import numpy as np

from overtone.analysis.drawing import scene as s
from overtone.analysis.drawing.labels import number, shortened
from overtone.analysis.drawing.palette import SHADES, series
from overtone.analysis.plots.importances import Importances
from overtone.analysis.plots.parallel_coordinate import ParallelCoordinate
from overtone.analysis.plots.slices import Slices
from overtone.analysis.scenes import common
from overtone.reading.columns.trial_columns import TrialColumns

_MOST_BARS = 30
_BUNDLE_LEVELS = (0.06, 0.12, 0.25, 0.45)


def slices(found: Slices, columns: TrialColumns) -> s.Scene:
    """Draw the value of each trial over each hyperparameter."""
    title = common.heading("Slices", found.shown)
    if not found.panels or not found.shown.n_all:
        return s.Scene(
            title, empty=common.no_value(found.metric) if found.panels else "There is no hyperparameter."
        )
    largest = common.largest_count([panel.points for panel in found.panels])
    ends = (0.0, float(max(len(columns) - 1, 1)))
    panels = tuple(
        s.Panel(
            common.scene_axis(panel.axis),
            common.goal_axis(found.y, found.mode) if not i % 3 else common.scene_axis(found.y, ""),
            tuple(common.trial_marks(panel.points, columns, None if largest else ends, largest)),
            height=220,
        )
        for i, panel in enumerate(found.panels)
    )
    bar = common.count_bar(largest) if largest else s.ColourBar("trial number", "0", f"{int(ends[1]):,}")
    return s.Scene(title, panels, columns=3, colour_bar=bar)


def param_importances(found: Importances) -> s.Scene:
    """Draw the importance of each hyperparameter, with its bootstrap interval."""
    title = common.heading("Importance of hyperparameters", found.shown)
    targets = [target for target in found.targets if target.params]
    if not targets:
        return s.Scene(title, empty="Too few trials have values, or no hyperparameter varies.")
    order = targets[0].params
    names = order[:_MOST_BARS]
    places = {name: i for i, name in enumerate(names)}
    thickness = 0.8 / len(targets)
    marks: list[s.Mark] = []
    furthest = 0.0  # of the marks, if there are texts behind them
    for i, target in enumerate(targets):
        rows = np.array([row for row, name in enumerate(target.params) if name in places], dtype=np.int64)
        at = np.array([places[target.params[row]] for row in rows], dtype=np.float64)
        at += (i - (len(targets) - 1) / 2) * thickness
        texts = [
            f"{target.params[row]}\n{target.target}: {number(round(float(target.values[row]), 4))}"
            + (f" ({target.low[row]:.3f} to {target.high[row]:.3f})" if np.isfinite(target.low[row]) else "")
            for row in rows
        ]
        is_single = len(targets) == 1
        if is_single:
            ends = np.fmax(target.values, target.high)[rows]
            shares = [f"{target.values[row]:.2f}" if target.values[row] >= 0.005 else "<0.01" for row in rows]
            marks.append(s.Texts(ends, at, shares, "start", dx=5, dy=-4))
            furthest = 1.1 * float(ends.max(initial=0.0))
        marks.append(
            s.Bars(
                at,
                np.zeros(len(rows)),
                target.values[rows],
                "trial" if is_single else series(i),
                "" if is_single else target.target,
                texts,
                thickness=thickness * 0.9,
                error_low=target.low[rows],
                error_high=target.high[rows],
            )
        )
    share = (
        f"share of the importance for {targets[0].target}" if len(targets) == 1 else "share of the importance"
    )
    panel = s.Panel(
        s.Axis(share, low=0.0, high=furthest or None),
        s.Axis("", "category", names, is_reversed=True),
        tuple(marks),
        height=max(70.0, len(names) * (12 + 12 * len(targets)) + 10.0),
    )
    note = (
        "Lines: 5 % to 95 % of bootstrap samples." if any(np.isfinite(t.low).any() for t in targets) else ""
    )
    if len(order) > len(names):
        note = f"The {len(names)} most important of {len(order)} hyperparameters. {note}".strip()
    return s.Scene(title, (panel,), note)


def parallel_coordinate(found: ParallelCoordinate, columns: TrialColumns) -> s.Scene:
    """Draw each trial as a line over the axes of objectives and hyperparameters."""
    title = common.heading("Parallel coordinates", found.shown)
    if not found.shown.n_all or not found.dimensions:
        return s.Scene(title, empty=common.no_value(found.metric))
    n = len(found.dimensions)
    is_log = found.n_objectives == 1 and found.dimensions[0].axis.is_log
    x = np.arange(n, dtype=np.float64)
    marks: list[s.Mark] = _bundles(found) if found.bundles else []
    if len(found.rows):
        heights = np.stack([dimension.places for dimension in found.dimensions], axis=1)
        colours = common.shades(found.color, *found.color_range, is_log)
        groups = np.clip(np.nan_to_num(colours, nan=0.0) * len(SHADES), 0, len(SHADES) - 1).astype(np.int64)
        order = range(len(SHADES)) if found.mode == "max" else range(len(SHADES) - 1, -1, -1)
        many = max(0.25, min(0.9, 60 / max(1, len(found.rows))))
        for group in order:
            rows = np.flatnonzero((groups == group) & found.is_allowed)
            if len(rows):
                marks.append(_joined(x, heights[rows], many, (group + 0.5) / len(SHADES)))
        broken = np.flatnonzero(~found.is_allowed)
        if len(broken):
            line = _joined(x, heights[broken], many, None)
            marks.append(s.Line(line.x, line.y, "disallowed", "breaks a constraint", is_dashed=True, width=1))
        if found.n_objectives > 1:
            front = np.flatnonzero((found.color == 0) & found.is_allowed)
            line = _joined(x, heights[front], 1.0, None)
            marks.append(s.Line(line.x, line.y, "best", "Pareto front", width=2))
        elif found.is_allowed[-1]:
            best = "\n".join(common.trial_lines(columns, int(found.rows[-1])))
            marks.append(s.Line(x, heights[-1], "best", "best trial", width=3, hover=best))
    has_missing = any(-0.1 in dimension.ticks for dimension in found.dimensions)
    for i, dimension in enumerate(found.dimensions):
        marks.append(s.Line(np.full(2, float(i)), np.array([0.0, 1.0]), "cutoff", width=1.2))
        pairs = [(at, text) for at, text in zip(dimension.ticks, dimension.tick_labels, strict=True) if text]
        if len(pairs) > 6:
            pairs = [pairs[0], pairs[len(pairs) // 2], pairs[-1]]
        is_last = 0 < i == n - 1  # its labels have no room behind it
        marks.append(
            s.Texts(
                np.full(len(pairs), float(i)),
                np.array([at for at, _ in pairs]),
                [text for _, text in pairs],
                "end" if is_last else "start",
                dx=-4 if is_last else 4,
                dy=3,
                room=0.9,
            )
        )
    names = tuple(dimension.axis.name for dimension in found.dimensions)
    panel = s.Panel(
        s.Axis("", "category", names),
        s.Axis(low=-0.16 if has_missing else -0.05, high=1.06, is_hidden=True),
        tuple(marks),
        height=300,
    )
    low, high = found.color_range
    name = common.value_title(shortened(found.metric, 40), None, is_log)
    bar = s.ColourBar(name, number(low), number(high)) if len(found.rows) else None
    return s.Scene(title, (panel,), colour_bar=bar, least_width=90.0 * n)


def _joined(x: s.Floats, heights: s.Floats, opacity: float, shade: float | None) -> s.Line:
    """Return many lines as one, with a gap after each."""
    gaps = np.full((len(heights), 1), np.nan)
    y = np.concatenate([heights, gaps], axis=1).ravel()
    return s.Line(np.tile(np.append(x, np.nan), len(heights)), y, width=1.2, opacity=opacity, shade=shade)


def _bundles(found: ParallelCoordinate) -> list[s.Mark]:
    """Return the numbers of trials between neighbouring axes as lines of four strengths."""
    largest = max(int(one.counts.max(initial=0)) for one in found.bundles)
    paths: list[list[s.Floats]] = [[] for _ in _BUNDLE_LEVELS]
    for i, bundle in enumerate(found.bundles):
        left, right = ((edges[1:] + edges[:-1]) / 2 for edges in (bundle.x_edges, bundle.y_edges))
        rows, places = np.nonzero(bundle.counts)  # rows are heights on the right axis
        shares = np.log1p(bundle.counts[rows, places]) / np.log1p(max(largest, 1))
        levels = np.minimum((shares * len(_BUNDLE_LEVELS)).astype(np.int64), len(_BUNDLE_LEVELS) - 1)
        for level in range(len(_BUNDLE_LEVELS)):
            kept = levels == level
            count = int(kept.sum())
            if count:
                x = np.tile([float(i), i + 1.0, np.nan], count)
                y = np.stack([left[places[kept]], right[rows[kept]], np.full(count, np.nan)], axis=1).ravel()
                paths[level].append(np.stack([x, y]))
    marks: list[s.Mark] = []
    for opacity, path in zip(_BUNDLE_LEVELS, paths, strict=True):
        if path:
            x, y = np.concatenate(path, axis=1)
            marks.append(s.Line(x, y, "trial", width=2.2, opacity=opacity))
    return marks
