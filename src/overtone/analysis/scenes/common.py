"""Shared parts of several plots' figures: axes, trials as points or densities, texts of trials."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from overtone.analysis.drawing import scene as s
from overtone.analysis.drawing.labels import number, shortened
from overtone.analysis.plots.axis import Axis
from overtone.analysis.plots.points import Density, Points
from overtone.analysis.plots.shown import Shown
from overtone.analysis.plots.steps import Steps
from overtone.core.trial import state_word
from overtone.core.types import FINISHED
from overtone.reading.columns.trial_columns import Column, TrialColumns

_MOST_PARAMS = 12
_FEW_PARAMS = 3  # beside many trials: a figure has at most 5 MB
_MANY_TRIALS = 1000
_MOST_CELL_TEXTS = 3000


class TrialTexts(Sequence[str]):
    """A text for each of some trials, made when it is read: its id, values and hyperparameters.

    Args:
        columns: The trials.
        rows: Their rows, shape (n,).
        extra: A line for each trial, or none.

    Attributes:
        rows, extra: The same.
    """

    def __init__(self, columns: TrialColumns, rows: Any, extra: Sequence[str] = ()) -> None:
        self._columns, self.rows, self.extra = columns, np.asarray(rows), extra

    def __len__(self) -> int:
        return len(self.rows)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        most = _MOST_PARAMS if len(self) <= _MANY_TRIALS else _FEW_PARAMS
        lines = trial_lines(self._columns, int(self.rows[index]), most)
        return "\n".join([*lines, *([self.extra[index]] if self.extra else [])])


def trial_lines(columns: TrialColumns, row: int, most: int = _MOST_PARAMS) -> list[str]:
    """Return what is known of a trial: its id and status, its last values, its hyperparameters."""
    status, end = _level(columns.status, row), _level(columns.end, row)
    word = f", {state_word(status, end or FINISHED)}" if status else ""
    lines = [f"{shortened(columns.ids[row], 40)} (number {row}{word})"]
    for metric, _ in columns.goals:
        if metric in columns.metrics:
            values = columns.metrics[metric]
            lines.append(
                f"{shortened(metric, 40)} = {number(values.last[row])} at iteration {int(values.last_t[row])}"
            )
    params = list(columns.params.items())
    for name, column in params[:most]:
        if not column.missing[row]:
            value = column.values[row]
            text = number(float(value)) if column.levels is None else shortened(column.levels[int(value)], 40)
            lines.append(f"{shortened(name, 40)} = {text}")
    if len(params) > most:
        lines.append(f"and {len(params) - most} more hyperparameters")
    return lines


def _level(column: Column, row: int) -> str:
    return str(column.levels[int(column.values[row])]) if column.levels and not column.missing[row] else ""


def heading(text: str, shown: Shown) -> str:
    """Return the title of a plot, which says whether and how trials are aggregated."""
    if shown.is_aggregated and shown.n_shown == shown.n_all:  # each trial counts, and none has a mark
        return f"{text} of {shown.n_all:,} trials"
    return f"{text}: {shown.note}" if shown.note else text


def goal_title(metric: str, mode: str | None) -> str:
    """Return the title of a metric's axis: "loss (lower is better)"."""
    better = {"min": " (lower is better)", "max": " (higher is better)"}.get(mode or "", "")
    return f"{metric}{better}"


def value_title(metric: str, mode: str | None, is_log: bool) -> str:
    """Return the title of a colour scale of values."""
    return f"{goal_title(metric, mode)}, log scale" if is_log else goal_title(metric, mode)


def scene_axis(axis: Axis, title: str | None = None) -> s.Axis:
    """Return the axis of a hyperparameter or a metric."""
    name = axis.name if title is None else title
    if axis.labels is not None:
        labels = tuple(axis.labels)
        return s.Axis(name, "category", labels if labels else ("",))
    is_known = bool(np.isfinite(axis.low) and np.isfinite(axis.high) and axis.low < axis.high)
    low, high = (axis.low, axis.high) if is_known else (None, None)
    return s.Axis(name, "log" if axis.is_log else "linear", low=low, high=high)


def goal_axis(axis: Axis, mode: str | None) -> s.Axis:
    """Return the axis of a metric, whose title says which values are better."""
    return scene_axis(axis, goal_title(axis.name, mode))


def shades(values: NDArray[np.float64], low: float, high: float, is_log: bool = False) -> NDArray[np.float64]:
    """Return values as shares between two limits; 0.5 if the limits are equal, NaN for NaN.

    Args:
        values: Any shape; positive if `is_log`.
        low, high: The limits.
        is_log: Whether the scale is logarithmic.
    """
    if not low < high:
        return np.where(np.isfinite(values), 0.5, np.nan)
    shares: NDArray[np.float64] = np.clip(Axis("", low, high, is_log).unit(values), 0.0, 1.0)
    return shares


def trial_marks(
    points: Points,
    columns: TrialColumns,
    color_range: tuple[float, float] | None = None,
    most: int = 0,
    role: str = "trial",
    label: str = "",
    size: float = 6.0,
) -> list[s.Mark]:
    """Return the marks of trials: points with texts, or a heat map if they are too many.

    Args:
        points: The trials.
        columns: The columns that the rows of `points` count into.
        color_range: The values at the ends of the colour scale; None if colours stand for counts.
        most: The greatest count of the colour scale; by default that of these points.
        role: The meaning of points without a colour.
        label: The legend entry of the points.
        size: The diameter of points.
    """
    if points.density is not None:
        return [density_cells(points.density, color_range, most)]
    marks: list[s.Mark] = []
    for is_allowed in (False, True):
        rows = np.flatnonzero(points.is_allowed == is_allowed)
        if not len(rows):
            continue
        colours = None
        if points.color is not None and color_range is not None and is_allowed:
            colours = shades(points.color[rows], *color_range)
        marks.append(
            s.Points(
                points.x[rows],
                points.y[rows],
                role if is_allowed else "disallowed",
                label if is_allowed else "breaks a constraint",
                colours,
                TrialTexts(columns, points.rows[rows]),
                size,
                "circle" if is_allowed else "cross",
            )
        )
    return marks


def density_cells(
    density: Density, color_range: tuple[float, float] | None = None, most: int = 0, has_texts: bool = True
) -> s.Cells:
    """Return a density as a heat map: the mean colour of each cell, or the logarithm of its count."""
    counts = density.counts
    if density.color is not None and color_range is not None:
        values = shades(density.color, *color_range)
    else:
        largest = max(most, int(counts.max(initial=0)), 2)
        values = np.where(counts > 0, np.log1p(counts) / np.log1p(largest), np.nan)
    texts: tuple[str, ...] = ()
    if has_texts and counts.size <= _MOST_CELL_TEXTS:
        texts = tuple(
            f"{count:,} trial{'s' * (count != 1)}" if count else "" for count in counts.ravel().tolist()
        )
    return s.Cells(density.x_edges, density.y_edges, values, texts)


def count_bar(largest: int) -> s.ColourBar:
    """Return the key of densities without colours."""
    return s.ColourBar("trials in a cell", "1", f"{max(largest, 2):,}")


def largest_count(points: Sequence[Points]) -> int:
    """Return the greatest count of all densities; 0 if there are none."""
    return max(
        (int(one.density.counts.max(initial=0)) for one in points if one.density is not None), default=0
    )


def step_line(steps: Steps, role: str, label: str = "", width: float = 2.0) -> s.Line:
    """Return a step function as a line."""
    return s.Line(steps.x, steps.y, role, label, is_step=True, width=width)


def no_value(metric: str) -> str:
    """Return the sentence for a plot without trials."""
    return (
        f"No trial has a value of {shortened(metric, 60)!r} yet." if metric else "No trial has a value yet."
    )


def centre_edges(centres: NDArray[np.float64], is_log: bool) -> NDArray[np.float64]:
    """Return the borders of cells around ascending centres, shape (n + 1,)."""
    places = np.log(centres) if is_log else centres
    if len(places) < 2:
        edges = np.concatenate([places - 0.5, places + 0.5])
    else:
        middles = places[1:] / 2 + places[:-1] / 2  # Halves: sums of large numbers may be infinite.
        first, last = places[0] + (places[0] - middles[0]), places[-1] + (places[-1] - middles[-1])
        edges = np.concatenate([[first], middles, [last]])
    limit = np.finfo(np.float64).max
    with np.errstate(over="ignore"):
        return np.asarray(np.clip(np.exp(edges) if is_log else edges, -limit, limit), np.float64)
