"""Marks as SVG elements, inside the plotting area of a panel."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import Any

import numpy as np

from overtone.analysis.drawing.labels import fitted, printable
from overtone.analysis.drawing.palette import SHADES
from overtone.analysis.drawing.scales import Scale
from overtone.analysis.drawing.scene import Band, Bars, Cells, Floats, Line, Mark, Points, Texts

_MOST_TITLED = 400
"""Marks beyond this number are one path: they have no texts of their own, and take 10 bytes each."""

_MOST_HOVER_LETTERS = 400


def escaped(text: object) -> str:
    """Return a text as SVG and HTML show it, without control characters."""
    return escape(printable(text))


def titled(text: str) -> str:
    """Return the element that browsers show for the mark under the pointer."""
    if not text:
        return ""
    cut = text if len(text) <= _MOST_HOVER_LETTERS else text[:_MOST_HOVER_LETTERS] + " ..."
    return f"<title>{chr(10).join(escaped(line) for line in cut.splitlines())}</title>"


class Area:
    """The plotting area: values to pixels.

    Args:
        x, y: The scales.
        width, height: In pixels.
    """

    def __init__(self, x: Scale, y: Scale, width: float, height: float) -> None:
        self._x, self._y = x, y
        self.width, self.height = width, height

    def x(self, values: Any) -> Floats:
        """Return pixels from the left edge; NaN where the axis cannot show the value."""
        return np.clip(self._x.shares(values), -9.0, 10.0) * self.width

    def y(self, values: Any) -> Floats:
        """Return pixels from the upper edge; NaN where the axis cannot show the value."""
        return (1.0 - np.clip(self._y.shares(values), -9.0, 10.0)) * self.height

    def draw(self, mark: Mark) -> str:
        """Return the elements of a mark."""
        match mark:
            case Points():
                return "".join(self._points(mark))
            case Line():
                return self._line(mark)
            case Band():
                return self._band(mark)
            case Bars():
                return "".join(self._bars(mark))
            case Cells():
                return "".join(self._cells(mark))
            case Texts():
                return "".join(self._texts(mark))

    # --- points ----------------------------------------------------------------------------

    def _points(self, mark: Points) -> Iterator[str]:
        x, y = self.x(mark.x), self.y(mark.y)
        shown = np.isfinite(x) & np.isfinite(y)
        if mark.shades is None:
            groups = [(mark.role, np.flatnonzero(shown))]
        else:
            shades = shade_indices(mark.shades)
            groups = [(f"shade{i}", np.flatnonzero(shown & (shades == i))) for i in range(len(SHADES))]
        for name, rows in groups:
            if not len(rows):
                continue
            yield f'<g class="{name}">'
            if len(mark.hover) and np.count_nonzero(shown) <= _MOST_TITLED:
                for row in rows.tolist():
                    shape = _shapes(x[row : row + 1], y[row : row + 1], mark)
                    yield f"<g>{titled(mark.hover[row])}{shape}</g>"
            else:
                places = np.unique(np.round(np.stack([x[rows], y[rows]], 1) * 2) / 2, axis=0)
                opacity = ' opacity=".55"' if len(places) > 1000 and mark.shades is None else ""
                yield f"<g{opacity}>{_shapes(places[:, 0], places[:, 1], mark)}</g>"
            yield "</g>"

    # --- lines and areas -------------------------------------------------------------------

    def _line(self, mark: Line) -> str:
        path = _path(self.x(mark.x), self.y(mark.y), mark.is_step)
        if not path:
            return ""
        name = mark.role if mark.shade is None else f"shade{shade_indices(np.array([mark.shade]))[0]}"
        dashes = ' stroke-dasharray="5 4"' if mark.is_dashed else ""
        opacity = f' opacity="{mark.opacity:.2g}"' if mark.opacity < 1 else ""
        return (
            f'<g class="{name}">{titled(mark.hover)}<path d="{path}" fill="none" stroke="currentColor" '
            f'stroke-width="{mark.width:g}" stroke-linejoin="round"{dashes}{opacity}/></g>'
        )

    def _band(self, mark: Band) -> str:
        x, low, high = self.x(mark.x), self.y(mark.low), self.y(mark.high)
        shown = np.isfinite(x) & np.isfinite(low) & np.isfinite(high)
        if not shown.any():
            return ""
        x = np.concatenate([x[shown], x[shown][::-1]])
        y = np.concatenate([low[shown], high[shown][::-1]])
        return (
            f'<g class="{mark.role}"><path d="{_path(x, y, False)}Z" fill="currentColor" opacity=".18"/></g>'
        )

    # --- bars and cells --------------------------------------------------------------------

    def _bars(self, mark: Bars) -> Iterator[str]:
        along, across = (self.x, self.y) if mark.is_horizontal else (self.y, self.x)
        one, other = across(mark.at - mark.thickness / 2), across(mark.at + mark.thickness / 2)
        start, end = along(mark.start), along(mark.end)
        boxes = np.stack(
            [np.minimum(start, end), np.minimum(one, other), abs(end - start), abs(other - one)], 1
        )
        if not mark.is_horizontal:
            boxes = boxes[:, [1, 0, 3, 2]]
        # a bar too short to be seen is shown a pixel wide
        boxes[:, 2:] = np.maximum(boxes[:, 2:], [[1.0, 0.5]] if mark.is_horizontal else [[0.5, 1.0]])
        rows = np.flatnonzero(np.isfinite(boxes).all(axis=1))
        yield f'<g class="{mark.role}" fill="currentColor">'
        if len(mark.hover) and len(rows) <= _MOST_TITLED:
            for row in rows.tolist():
                x, y, width, height = boxes[row]
                yield (
                    f'<path d="M{_short(x)} {_short(y)}h{_short(width)}v{_short(height)}h-{_short(width)}Z">'
                    f"{titled(mark.hover[row])}</path>"
                )
        else:
            pieces = (boxes[row].tolist() for row in rows)
            parts = (
                f"M{_short(x)} {_short(y)}h{_short(w)}v{_short(h)}h-{_short(w)}Z" for x, y, w, h in pieces
            )
            yield f'<path d="{"".join(parts)}"/>'
        yield "</g>"
        if mark.error_low is not None and mark.error_high is not None:
            ends = along(mark.error_low), along(mark.error_high), across(mark.at)
            for low, high, at in zip(*(values.tolist() for values in ends), strict=True):
                if low == low and high == high and at == at:
                    cap = (
                        f"M{_short(low)} {_short(at - 3)}v6M{_short(low)} {_short(at)}H{_short(high)}m0 -3v6"
                    )
                    if not mark.is_horizontal:
                        cap = f"M{_short(at - 3)} {_short(low)}h6m-3 0V{_short(high)}m-3 0h6"
                    yield f'<g class="cutoff"><path d="{cap}" fill="none" stroke="currentColor"/></g>'

    def _cells(self, mark: Cells) -> Iterator[str]:
        x, y = self.x(mark.x_edges).tolist(), self.y(mark.y_edges).tolist()
        has_titles = len(mark.hover) and mark.shades.size <= _MOST_TITLED
        shades = shade_indices(mark.shades)
        for shade in np.unique(shades[shades >= 0]).tolist():
            yield f'<g class="shade{shade}" fill="currentColor">'
            path = []
            for row, column in np.argwhere(shades == shade).tolist():
                left, right = sorted((x[column], x[column + 1]))
                top, bottom = sorted((y[row], y[row + 1]))
                # half a pixel more hides the seams between cells
                wide, high = _short(right - left + 0.4), _short(bottom - top + 0.4)
                box = f"M{_short(left)} {_short(top)}h{wide}v{high}h-{wide}Z"
                if has_titles:
                    yield f'<path d="{box}">{titled(mark.hover[row * shades.shape[1] + column])}</path>'
                else:
                    path.append(box)
            yield f'<path d="{"".join(path)}"/></g>' if path else "</g>"

    def _texts(self, mark: Texts) -> Iterator[str]:
        for x, y, text in zip(self.x(mark.x).tolist(), self.y(mark.y).tolist(), mark.texts, strict=True):
            if x != x or y != y:
                continue
            x, y = x + mark.dx, y - mark.dy
            room = {"start": self.width - x, "end": x, "middle": 2 * min(x, self.width - x)}[mark.anchor]
            if mark.room:
                room = min(room, abs(float(np.diff(self.x([0.0, mark.room]))[0])) - 6)
            label = fitted(text, max(room, 30.0), 11)
            full = titled(text) if label != text else ""
            yield (
                f'<text class="halo" x="{_short(x)}" y="{_short(y)}" text-anchor="{mark.anchor}" '
                f'font-size="11">{full}{escaped(label)}</text>'
            )


def shade_indices(shades: Any) -> Any:
    """Return the index in `SHADES` of each shade; -1 for NaN."""
    shades = np.asarray(shades, dtype=np.float64)
    known = np.isfinite(shades)
    indices = np.clip(np.where(known, shades, 0.0) * len(SHADES), 0, len(SHADES) - 1).astype(np.int64)
    return np.where(known, indices, -1)


def _shapes(x: Floats, y: Floats, mark: Points) -> str:
    """Return one path with the symbol of `mark` at each place."""
    half = mark.size / 2
    symbol = {
        "circle": "h0",
        "cross": f"m{_short(-half)} {_short(-half)}l{_short(2 * half)} {_short(2 * half)}"
        f"m{_short(-2 * half)} 0l{_short(2 * half)} {_short(-2 * half)}",
        "diamond": f"m0 {_short(-half)}l{_short(half)} {_short(half)}l{_short(-half)} {_short(half)}"
        f"l{_short(-half)} {_short(-half)}Z",
        "bar": f"m0 {_short(-half)}v{_short(2 * half)}",
    }[mark.symbol]
    path = "".join(f"M{_short(a)} {_short(b)}{symbol}" for a, b in zip(x.tolist(), y.tolist(), strict=True))
    width = mark.size if mark.symbol == "circle" else 1.8
    fill = "currentColor" if mark.symbol == "diamond" else "none"
    look = f'fill="{fill}" stroke="currentColor" stroke-width="{width:g}" stroke-linecap="round"'
    return f'<path d="{path}" {look}/>'


def _path(x: Floats, y: Floats, is_step: bool) -> str:
    """Return a path through the places, broken at NaN; points closer than half a pixel are left out."""
    parts: list[str] = []
    is_open, before = False, (np.nan, np.nan)
    for a, b in zip(x.tolist(), y.tolist(), strict=True):
        if a != a or b != b:
            is_open = False
            continue
        if not is_open:
            parts.append(f"M{_short(a)} {_short(b)}")
        elif abs(a - before[0]) < 0.4 and abs(b - before[1]) < 0.4:
            continue
        elif is_step:
            parts.append(f"H{_short(a)}V{_short(b)}")
        else:
            parts.append(f"L{_short(a)} {_short(b)}")
        is_open, before = True, (a, b)
    return "".join(parts)


def _short(value: float) -> str:
    """Return a number of pixels with one decimal: "3", "3.5", "-0.5"."""
    text = f"{value:.1f}"
    return text[:-2] if text.endswith(".0") else text
