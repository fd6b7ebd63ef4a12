"""A scene as SVG: no scripts, no references, colours by style sheet, every text as text."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence

from overtone.analysis.drawing.labels import fitted, text_width, wrapped
from overtone.analysis.drawing.legend import LegendEntry, legend_entries
from overtone.analysis.drawing.palette import SHADES
from overtone.analysis.drawing.scales import Scale, scale_of
from overtone.analysis.drawing.scene import Axis, ColourBar, Panel, Scene
from overtone.analysis.drawing.svg_marks import Area, escaped, titled
from overtone.analysis.drawing.svg_style import style_sheet

_SIZE = 12.0  # of the font, in pixels
_LINE = 16.0
_LEAST_PANEL = 240.0  # width below which panels stand below each other
_GAP = 22.0
_EDGE = 10.0
_TURN = 55  # degrees of labels that are turned


def svg(scene: Scene, width: float = 860.0, has_style: bool = True) -> str:
    """Return a figure as one SVG element.

    Args:
        scene: The figure.
        width: In pixels. Texts keep their size: a narrow figure has fewer columns and shorter labels.
        has_style: Whether the element has its own style sheet; a page with many figures needs one alone.
    """
    parts: list[str] = []
    top = _EDGE
    inner = width - 2 * _EDGE
    for line in wrapped(scene.title, inner, 15 * 1.16):
        top += 19
        parts.append(_text(_EDGE, top - 4, line, "title"))
    for line in wrapped(scene.note, inner, _SIZE, 4) if scene.note else ():
        top += _LINE
        parts.append(_text(_EDGE, top - 4, line, "faint"))
    if scene.empty or not scene.panels:
        for line in wrapped(scene.empty or "There is nothing to draw.", inner, _SIZE, 6):
            top += _LINE
            parts.append(_text(_EDGE, top, line, "faint"))
        return _framed(parts, scene.title, width, top + 2 * _EDGE, has_style)
    top += 4
    drawn, top = _legend(legend_entries(scene), top, width)
    parts += drawn
    if scene.colour_bar is not None:
        parts += _colour_bar(scene.colour_bar, top, inner)
        top += 24
    columns = max(1, min(scene.columns, len(scene.panels), int(inner // _LEAST_PANEL)))
    panel_width = (inner - _GAP * (columns - 1)) / columns
    for i in range(0, len(scene.panels), columns):
        row = scene.panels[i : i + columns]
        frames = [_Frame(panel, panel_width) for panel in row]
        above = max(frame.above for frame in frames)
        for j, frame in enumerate(frames):
            parts += frame.draw(_EDGE + j * (panel_width + _GAP), top + above - frame.above)
        top += above + max(frame.height - frame.above for frame in frames) + _EDGE
    return _framed(parts, scene.title, width, top, has_style)


def _framed(parts: Sequence[str], title: str, width: float, height: float, has_style: bool) -> str:
    style = f"<style>{style_sheet()}</style>" if has_style else ""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="overtone-figure" role="img" '
        f'aria-label="{escaped(fitted(title, 2000, _SIZE))}" viewBox="0 0 {width:g} {height:.0f}" '
        f'width="{width:g}" height="{height:.0f}">{style}{"".join(parts)}</svg>'
    )


def _text(x: float, y: float, text: str, name: str = "", anchor: str = "start", full: str = "") -> str:
    cls = f' class="{name}"' if name else ""
    end = f' text-anchor="{anchor}"' if anchor != "start" else ""
    return f'<text x="{x:.1f}" y="{y:.1f}"{cls}{end}>{titled(full)}{escaped(text)}</text>'


def _legend(entries: Sequence[LegendEntry], top: float, width: float) -> tuple[list[str], float]:
    """Return the elements of the legend in rows, and where they end."""
    parts: list[str] = []
    x, y = _EDGE, top + 12
    for entry in entries:
        label = fitted(entry.label, min(width - 2 * _EDGE - 26, 320), _SIZE)
        needed = 24 + text_width(label, _SIZE) + 14
        if x > _EDGE and x + needed > width - _EDGE:
            x, y = _EDGE, y + _LINE + 2
        full = entry.label if label != entry.label else ""
        parts.append(
            f'<g class="{entry.role}">{entry.sample(x, y - 4)}</g>{_text(x + 24, y, label, full=full)}'
        )
        x += needed
    return parts, (y + 8 if entries else top)


def _colour_bar(bar: ColourBar, top: float, room: float) -> Iterator[str]:
    n, step = len(SHADES), 8.0
    low, high = (fitted(label, room * 0.15, _SIZE) for label in (bar.low, bar.high))
    beside = n * step + text_width(low, _SIZE) + text_width(high, _SIZE) + 24
    title = fitted(bar.title, max(60.0, room - beside), _SIZE)
    x = _EDGE + text_width(title, _SIZE) + 8
    yield _text(_EDGE, top + 14, title, full=bar.title if title != bar.title else "")
    yield _text(x, top + 14, low, "faint")
    x += text_width(low, _SIZE) + 6
    for i in range(n):
        yield (
            f'<rect class="shade{i}" fill="currentColor" x="{x + i * step:.1f}" y="{top + 4:.1f}" '
            f'width="{step + 0.3}" height="11"/>'
        )
    yield _text(x + n * step + 6, top + 14, high, "faint")


class _Frame:
    """A panel with its axes, titles and marks.

    Args:
        panel: The panel.
        width: With labels, in pixels.

    Attributes:
        above: The height of the title above the plotting area.
        height: With title and labels.
    """

    def __init__(self, panel: Panel, width: float) -> None:
        self._panel = panel
        self._title = wrapped(panel.title, width, _SIZE * 1.16, 2) if panel.title else []
        self.above = _LINE * len(self._title) + 8
        self._x, self._y = scale_of(panel.x, panel.marks, True), scale_of(panel.y, panel.marks, False)
        most = width * (0.4 if panel.y.scale == "category" or panel.y.ticks else 0.3)
        self._y_ticks = _fewer(self._y.ticks(panel.height * 1.6), panel.height, _LINE)
        labels = [fitted(label, most, _SIZE) for _, label in self._y_ticks]
        widest = max((text_width(label, _SIZE) for label in labels), default=0.0)
        self._left = 4.0 if panel.y.is_hidden else widest + 8 + (18 if panel.y.title else 0)
        self._room = max(60.0, width - self._left - 8)
        self._y_labels = labels
        self._x_labels = _XLabels(self._x, self._room, panel.x, self._left)
        below = 8.0 if panel.x.is_hidden else self._x_labels.height + (18 if panel.x.title else 0) + 4
        self.height = self.above + panel.height + below

    def draw(self, left: float, top: float) -> Iterator[str]:
        """Return the elements of the panel at a place of the figure."""
        panel, height = self._panel, self._panel.height
        for i, line in enumerate(self._title):
            full = panel.title if "".join(self._title) != panel.title.replace(" ", "") and not i else ""
            yield _text(left, top + 12 + i * _LINE, line, "panel-title", full=full)
        x, y = left + self._left, top + self.above
        if not panel.y.is_hidden:
            yield from self._draw_y(x, y)
        if not panel.x.is_hidden:
            yield from self._x_labels.draw(x, y, height)
            if panel.x.title:
                title = fitted(panel.x.title, self._room + min(self._left, 60), _SIZE)
                at = y + height + self._x_labels.height + 14
                full = panel.x.title if title != panel.x.title else ""
                middle = x + self._room / 2
                half = text_width(title, _SIZE) / 2
                yield _text(max(left + half, middle), at, title, anchor="middle", full=full)
        area = Area(self._x, self._y, self._room, height)
        yield f'<svg x="{x:.1f}" y="{y:.1f}" width="{self._room:.1f}" height="{height:.1f}">'
        yield from (area.draw(mark) for mark in panel.marks)
        yield "</svg>"

    def _draw_y(self, x: float, y: float) -> Iterator[str]:
        panel, height = self._panel, self._panel.height
        is_listed = panel.y.scale == "category"
        for (share, full), label in zip(self._y_ticks, self._y_labels, strict=True):
            at = y + height * (1 - share)
            if not is_listed:
                yield f'<path class="grid" d="M{x:.1f} {at:.1f}h{self._room:.1f}"/>'
            yield _text(x - 6, at + 4, label, "faint", "end", full if label != full else "")
        if panel.y.title:
            title = fitted(panel.y.title, height, _SIZE)
            at_x, at_y = x - self._left + 12, y + height / 2
            full = panel.y.title if title != panel.y.title else ""
            yield (
                f'<g transform="translate({at_x:.1f} {at_y:.1f}) rotate(-90)">'
                f"{_text(0, 0, title, anchor='middle', full=full)}</g>"
            )


class _XLabels:
    """The labels below a panel: side by side, or turned where there is no room.

    Args:
        scale: Places the ticks.
        room: The width of the panel's area, in pixels.
        axis: Its horizontal axis.
        left: The width beside the area, into which turned labels may reach.
    """

    def __init__(self, scale: Scale, room: float, axis: Axis, left: float) -> None:
        self._ticks = scale.ticks(room)
        self._room = room
        widths = [text_width(label, _SIZE) for _, label in self._ticks]
        each = room / max(1, len(self._ticks))
        is_listed = axis.scale == "category" or bool(axis.ticks)
        self._is_turned = is_listed and max(widths, default=0.0) > each - 4 and len(self._ticks) > 1
        if self._is_turned:
            self._ticks = _fewer(self._ticks, room, 14.0)
            self._labels = [
                fitted(label, min(130.0, (left + share * room) / math.cos(math.radians(_TURN))), _SIZE)
                for share, label in self._ticks
            ]
            longest = max((text_width(label, _SIZE) for label in self._labels), default=0.0)
            self.height = longest * math.sin(math.radians(_TURN)) + 14
        else:
            if not is_listed:
                self._ticks = _fewer(self._ticks, room, max(widths, default=0.0) + 12)
            self._labels = [
                fitted(label, room if is_listed and len(self._ticks) == 1 else max(each, 60.0), _SIZE)
                for _, label in self._ticks
            ]
            self.height = _LINE + 4

    def draw(self, left: float, top: float, height: float) -> Iterator[str]:
        """Return labels and grid lines of a plotting area."""
        bottom = top + height
        yield f'<path class="axis" d="M{left:.1f} {bottom:.1f}h{self._room:.1f}"/>'
        for (share, full), label in zip(self._ticks, self._labels, strict=True):
            x = left + share * self._room
            shown = full if label != full else ""
            yield f'<path class="grid" d="M{x:.1f} {top:.1f}v{height:.1f}"/>'
            if self._is_turned:
                yield (
                    f'<g transform="translate({x + 3:.1f} {bottom + 12:.1f}) rotate(-{_TURN})">'
                    f"{_text(0, 0, label, 'faint', 'end', shown)}</g>"
                )
            else:
                yield _text(x, bottom + _LINE, label, "faint", "middle", shown)


def _fewer(ticks: list[tuple[float, str]], room: float, each: float) -> list[tuple[float, str]]:
    """Return every k-th tick, so that each label has `each` pixels."""
    if len(ticks) < 2:
        return ticks
    places = sorted(share for share, _ in ticks)
    closest = min(b - a for a, b in itertools.pairwise(places)) * room
    if closest >= each:
        return ticks
    kept: list[tuple[float, str]] = []
    for share, label in sorted(ticks):
        if not kept or (share - kept[-1][0]) * room >= each:
            kept.append((share, label))
    return kept
