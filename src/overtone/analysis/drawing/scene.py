"""A figure as data: panels with axes and marks, which every renderer draws.

Texts are stored as users wrote them. Each renderer escapes and shortens texts itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
AxisScale = Literal["linear", "log", "category"]
Symbol = Literal["circle", "cross", "diamond", "bar"]


@dataclass(frozen=True, slots=True)
class Axis:
    """One axis of a panel.

    Attributes:
        title: The text beside the axis.
        scale: "linear", "log" (base 10, values above 0 only) or "category" (values count into `categories`).
        categories: The labels of values 0, 1, ... of a category axis.
        ticks: (value, label) pairs; chosen by the renderer if empty.
        low, high: Limits of the axis; None means the limits of the marks.
        is_reversed: Whether values grow to the left, or downwards.
        is_time: Whether the values are seconds, shown as "90 s", "5 min" or "2 h".
        is_whole: Whether the values are whole numbers, such as counts: no tick stands between them.
        is_hidden: Whether the axis has neither line, ticks nor title.
    """

    title: str = ""
    scale: AxisScale = "linear"
    categories: tuple[str, ...] = ()
    ticks: tuple[tuple[float, str], ...] = ()
    low: float | None = None
    high: float | None = None
    is_reversed: bool = False
    is_time: bool = False
    is_whole: bool = False
    is_hidden: bool = False


@dataclass(frozen=True, slots=True)
class Points:
    """Markers at (x, y).

    Attributes:
        x, y: Shape (n,). Points that are not finite are left out.
        role: The meaning, which decides the colour (`palette.ROLES`).
        label: The legend entry; "" for none.
        shades: Shape (n,), 0 to 1 on the sequential colour scale; replaces the colour of `role`.
        hover: A text for each point, or none.
        size: The diameter in pixels.
        symbol: "circle", "cross", "diamond" or "bar" (a short vertical line).
    """

    x: Floats
    y: Floats
    role: str = "trial"
    label: str = ""
    shades: Floats | None = None
    hover: Sequence[str] = ()
    size: float = 6.0
    symbol: Symbol = "circle"


@dataclass(frozen=True, slots=True)
class Line:
    """A line through (x, y), broken where a value is NaN.

    Attributes:
        x, y: Shape (n,).
        role: The meaning, which decides the colour.
        label: The legend entry; "" for none.
        is_step: Whether each value is held until the next x.
        is_dashed: Whether the line is dashed.
        width: In pixels.
        opacity: 0 to 1.
        shade: 0 to 1 on the sequential colour scale; replaces the colour of `role`.
        hover: One text for the line.
    """

    x: Floats
    y: Floats
    role: str = "trial"
    label: str = ""
    is_step: bool = False
    is_dashed: bool = False
    width: float = 1.5
    opacity: float = 1.0
    shade: float | None = None
    hover: str = ""


@dataclass(frozen=True, slots=True)
class Band:
    """The area between two lines; all arrays have shape (n,).

    Attributes:
        x, low, high: The area, where all three are finite.
        role: The meaning, which decides the colour.
        label: The legend entry; "" for none.
    """

    x: Floats
    low: Floats
    high: Floats
    role: str = "trial"
    label: str = ""


@dataclass(frozen=True, slots=True)
class Bars:
    """Bars from `start` to `end` at the places `at`; all arrays have shape (n,).

    Attributes:
        at: The middle of each bar on the other axis.
        start, end: The ends of each bar.
        role: The meaning, which decides the colour.
        label: The legend entry; "" for none.
        hover: A text for each bar, or none.
        is_horizontal: Whether `start` and `end` are values of x.
        thickness: In units of the axis of `at`.
        error_low, error_high: The ends of an interval around `end`, or None.
    """

    at: Floats
    start: Floats
    end: Floats
    role: str = "trial"
    label: str = ""
    hover: Sequence[str] = ()
    is_horizontal: bool = True
    thickness: float = 0.7
    error_low: Floats | None = None
    error_high: Floats | None = None


@dataclass(frozen=True, slots=True)
class Cells:
    """A heat map.

    Attributes:
        x_edges, y_edges: Shapes (columns + 1,) and (rows + 1,).
        shades: Shape (rows, columns), 0 to 1 on the sequential colour scale; NaN is left empty.
        hover: One text for each cell, row by row, or none.
    """

    x_edges: Floats
    y_edges: Floats
    shades: Floats
    hover: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Texts:
    """Texts at (x, y), such as the names of the axes of parallel coordinates.

    Attributes:
        x, y: Shape (n,).
        texts: One for each place.
        anchor: Which end of the text is at x.
        dx, dy: Pixels to the right and upwards.
        room: The width of a text in units of x, above which it is shortened; 0 means up to the panel's edge.
    """

    x: Floats
    y: Floats
    texts: Sequence[str]
    anchor: Literal["start", "middle", "end"] = "middle"
    dx: float = 0.0
    dy: float = 0.0
    room: float = 0.0


Mark = Points | Line | Band | Bars | Cells | Texts


@dataclass(frozen=True, slots=True)
class ColourBar:
    """The key of the sequential colour scale.

    Attributes:
        title: The meaning of the colours.
        low, high: The labels of shade 0 and shade 1.
    """

    title: str
    low: str
    high: str


@dataclass(frozen=True, slots=True)
class Panel:
    """One coordinate system.

    Attributes:
        x, y: The axes.
        marks: Drawn in this order.
        title: The text above the panel.
        height: The height of the plotting area, in pixels.
    """

    x: Axis
    y: Axis
    marks: tuple[Mark, ...]
    title: str = ""
    height: float = 260.0


@dataclass(frozen=True, slots=True)
class Scene:
    """One figure.

    Attributes:
        title: The heading.
        note: A sentence below the title, such as how marks were aggregated.
        panels: Row by row.
        columns: The number of panels side by side, if there is room.
        colour_bar: The key of shades, if the marks have shades.
        least_width: The width in pixels below which the figure is scrolled, not squeezed.
        empty: The reason why nothing is drawn; "" if there are marks.
    """

    title: str
    panels: tuple[Panel, ...] = ()
    note: str = ""
    columns: int = 1
    colour_bar: ColourBar | None = None
    least_width: float = 0.0
    empty: str = ""


def plain_data(value: Any) -> Any:
    """Return a scene, or a part of one, as values that JSON has; numbers that are not finite are None."""
    if is_dataclass(value) and not isinstance(value, type):
        data = {field.name: plain_data(getattr(value, field.name)) for field in fields(value)}
        return {"kind": type(value).__name__, **data}
    if isinstance(value, np.ndarray):
        return [plain_data(part) for part in value] if value.ndim > 1 else _numbers(value)
    if isinstance(value, (list, tuple)):
        return [plain_data(part) for part in value]
    if isinstance(value, (float, np.floating)):
        return float(value) if np.isfinite(value) else None
    return value


def _numbers(values: NDArray[Any]) -> list[float | None]:
    if values.dtype.kind != "f" or np.isfinite(values).all():
        return values.tolist()  # type: ignore[no-any-return]
    return [
        value if finite else None for value, finite in zip(values.tolist(), np.isfinite(values), strict=True)
    ]
