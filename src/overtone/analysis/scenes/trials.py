"""Figures of trials in time: timeline, lineage, cost."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from overtone.analysis.drawing import scene as s
from overtone.analysis.drawing.labels import duration, number, shortened
from overtone.analysis.plots.cost import Cost
from overtone.analysis.plots.lineage import ConfigChange, Lineage
from overtone.analysis.plots.timeline import RunningTrials, Timeline
from overtone.analysis.scenes import common
from overtone.reading.columns.trial_columns import TrialColumns

STATE_ROLES = {
    "finished": ("completed", "finished"),
    "stopped": ("stopped", "stopped early"),
    "failed": ("failed", "failed"),
    "running": ("running", "running"),
    "paused": ("paused", "paused"),
    "pending": ("pending", "pending"),
}
"""The meaning and the legend entry of each word of `core.trial.STATES`."""

_MOST_LABELLED = 40  # nodes of a lineage with texts beside them


def timeline(found: Timeline, columns: TrialColumns) -> s.Scene:
    """Draw when each trial ran, or how many trials ran if there are too many."""
    title = common.heading("Timeline", found.shown)
    time = s.Axis("time since the start", is_time=True, low=0.0)
    if found.running is not None:
        panel = s.Panel(
            time, s.Axis("trials that ran", low=0.0), tuple(_stacked(found.running, found.statuses))
        )
        return s.Scene(
            title, (panel,), note="Mean number of trials that ran, by the status that they have now."
        )
    if not len(found.rows):
        return s.Scene(title, empty="No trial has started yet.")
    marks: list[s.Mark] = []
    at = found.rows.astype(np.float64)
    for i, status in enumerate(found.statuses):
        for is_allowed in (True, False):
            rows = np.flatnonzero((found.status == i) & (found.is_allowed == is_allowed))
            if not len(rows):
                continue
            role, label = STATE_ROLES[status]
            if not is_allowed:
                role, label = "disallowed", "breaks a constraint"
            times = [
                f"ran {duration(end - start)}"
                for start, end in zip(found.start[rows].tolist(), found.end[rows].tolist(), strict=True)
            ]
            texts = common.TrialTexts(columns, found.rows[rows], times)
            marks.append(
                s.Bars(at[rows], found.start[rows], found.end[rows], role, label, texts, thickness=0.8)
            )
    n = int(at.max() - at.min()) + 1
    low, high = float(at.min()) - 0.6, float(at.max()) + 0.6
    ticks = tuple((float(row), str(row)) for row in found.rows.tolist()) if n <= 20 else ()
    y = s.Axis("trial number", is_whole=True, is_reversed=True, ticks=ticks, low=low, high=high)
    return s.Scene(title, (s.Panel(time, y, tuple(marks), height=float(min(520, max(90, 18 * n)))),))


def _stacked(running: RunningTrials, statuses: tuple[str, ...]) -> list[s.Mark]:
    left, right = running.edges[:-1], running.edges[1:]
    x = np.stack([left, right], axis=1).ravel()
    base = np.zeros(len(left))
    marks: list[s.Mark] = []
    for status, counts in zip(statuses, running.n_running, strict=True):
        if not counts.any():
            continue
        role, label = STATE_ROLES[status]
        low, high = np.repeat(base, 2), np.repeat(base + counts, 2)
        marks += [s.Band(x, low, high, role), s.Line(x, high, role, label, width=1.5)]
        base = base + counts
    return marks


def lineage(found: Lineage, columns: TrialColumns) -> s.Scene:
    """Draw which trial went on from which and when, with the hyperparameters that changed.

    Few lives of trials are rows of a tree, with their changes beside them; many are nodes in lanes.
    """
    title = common.heading("Lineage", found.shown)
    n = len(found.rows)
    if not n:
        return s.Scene(title, empty="No trial went on from another one.")
    is_tree = n <= _MOST_LABELLED
    x = found.generation.astype(np.float64)
    y = _tree_rows(found.source) if is_tree else found.lane
    marks: list[s.Mark] = [_descent(x, y, found.source, is_tree)]
    known = np.isfinite(found.values)
    ends = (float(found.values[known].min()), float(found.values[known].max())) if known.any() else (0.0, 1.0)
    changes = ["\n".join(change.text for change in each[: 12 if n <= 1000 else 3]) for each in found.changes]
    kinds = (
        (found.is_over, "went on from another", 6),
        (~known & ~found.is_over, "no value", 10),
        (known, "", 10),
    )
    for is_one, label, size in kinds:
        rows = np.flatnonzero(is_one)
        if len(rows):
            colours = common.shades(found.values[rows], *ends) if not label else None
            texts = common.TrialTexts(columns, found.rows[rows], [changes[row] for row in rows])
            role = "stopped" if label == kinds[0][1] else "pending"
            marks.append(s.Points(x[rows], y[rows], role, label, colours, texts, size))
    last = float(x.max())
    if is_tree:
        names = [
            f"{row}{f' from {number(t)} on' if t else ''}{_changed(each)}"
            for row, t, each in zip(found.rows.tolist(), found.t.tolist(), found.changes, strict=True)
        ]
        marks.append(s.Texts(x, y, names, "start", dx=9, dy=-4))
        across = s.Axis(low=-0.3, high=max(4.0, 2.5 * last + 3.0), is_hidden=True)
        note = "Each trial stands below the one that it went on from: its number, its time, and what changed."
        height = 22.0 * n
    else:
        every = max(1, int(last) // 12)
        ticks = tuple((float(i), str(i)) for i in range(0, int(last) + 1, every))
        across = s.Axis("generation", ticks=ticks)
        note, height = "", min(900.0, max(120.0, 24 * (float(np.ptp(y)) + 1)))
    panel = s.Panel(across, s.Axis(is_hidden=True, is_reversed=is_tree), tuple(marks), height=height)
    bar = s.ColourBar(common.goal_title(found.metric, found.mode), number(ends[0]), number(ends[1]))
    return s.Scene(title, (panel,), note, colour_bar=bar if known.any() else None)


def _tree_rows(source: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the row of each trial such that descendants follow their source, shape (n,)."""
    children: dict[int, list[int]] = {}
    for place, origin in enumerate(source.tolist()):
        children.setdefault(origin, []).append(place)
    rows, waiting, n = np.zeros(len(source)), children.get(-1, [])[::-1], 0
    while waiting:
        place = waiting.pop()
        rows[place] = n
        n += 1
        waiting += children.get(place, [])[::-1]
    return rows


def _descent(
    x: NDArray[np.float64], y: NDArray[np.float64], source: NDArray[np.int64], is_tree: bool
) -> s.Line:
    """Return the lines from sources to trials; in a tree they go down first."""
    children = np.flatnonzero(source >= 0)
    sources = source[children]
    gaps = np.full(len(children), np.nan)
    parts_x, parts_y = [x[sources], x[children], gaps], [y[sources], y[children], gaps]
    if is_tree:
        parts_x.insert(1, x[sources])
        parts_y.insert(1, y[children])
    along, across = (np.stack(parts, axis=1).ravel() for parts in (parts_x, parts_y))
    return s.Line(along, across, "cutoff", "", width=1.2)


def _changed(changes: Sequence[ConfigChange]) -> str:
    more = f" and {len(changes) - 6} more" if len(changes) > 6 else ""
    texts = [shortened(change.text, 48) for change in changes[:6]]
    return f": {', '.join(texts)}{more}" if texts else ""


def cost(found: Cost) -> s.Scene:
    """Draw the best value over what was spent, and where the time went."""
    title = common.heading("Cost", found.shown)
    if not found.n_trials.sum():
        return s.Scene(title, empty="No trial has started yet.")
    value = common.goal_axis(found.y, found.mode)
    panels = [
        s.Panel(axis, value, (common.step_line(steps, "best", "best so far"),), height=200)
        for axis, steps in (
            (s.Axis("time since the start", is_time=True), found.by_clock),
            (s.Axis("time of all trials together", is_time=True), found.by_trial_time),
            (s.Axis("results of all trials together", is_whole=True), found.by_results),
        )
        if len(steps.x)
    ]
    kept = [i for i in range(len(found.statuses)) if found.n_trials[i]]
    looks = [STATE_ROLES[status] for status in found.statuses]
    spent = found.seconds.tolist()
    texts = [
        f"{label}: {n:,} trials, {duration(seconds)}, {n_results:,} results"
        for (_, label), n, seconds, n_results in zip(
            looks, found.n_trials.tolist(), spent, found.n_results.tolist(), strict=True
        )
    ]
    bars = tuple(
        s.Bars(np.array([float(at)]), np.zeros(1), np.array([spent[i]]), looks[i][0], "", [texts[i]])
        for at, i in enumerate(kept)
    )
    names = tuple(f"{looks[i][1]} ({int(found.n_trials[i]):,})" for i in kept)
    times = s.Axis("time of all trials together", is_time=True, low=0.0)
    panels.append(
        s.Panel(
            times,
            s.Axis("", "category", names, is_reversed=True),
            bars,
            "Time by the status of trials",
            60.0 + 28 * len(names),
        )
    )
    if len(found.duration_counts):
        panels.append(_durations(found))
    return s.Scene(title, tuple(panels), columns=3)


def _durations(found: Cost) -> s.Panel:
    low, high = found.duration_edges[:-1], found.duration_edges[1:]
    n = len(low)
    texts = [
        f"{duration(a)} to {duration(b)}: {count:,} trials"
        for a, b, count in zip(low.tolist(), high.tolist(), found.duration_counts.tolist(), strict=True)
    ]
    # bars of equal width, since borders may be logarithmic
    every = max(1, n // 4)
    ticks = tuple((i - 0.5, duration(float(found.duration_edges[i]))) for i in range(0, n + 1, every))
    bars = s.Bars(
        np.arange(n, dtype=np.float64),
        np.zeros(n),
        found.duration_counts.astype(np.float64),
        "trial",
        "",
        texts,
        is_horizontal=False,
        thickness=0.92,
    )
    axis = s.Axis("time of a trial", ticks=ticks, low=-0.6, high=n - 0.4)
    return s.Panel(axis, s.Axis("trials", low=0.0, is_whole=True), (bars,), "Times of trials", height=200)
