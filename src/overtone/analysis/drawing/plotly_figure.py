"""A scene as a plotly figure."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np

from overtone.analysis.drawing.labels import fitted, printable, text_width, wrapped
from overtone.analysis.drawing.palette import ROLES, SHADES
from overtone.analysis.drawing.scales import Scale, scale_of
from overtone.analysis.drawing.scene import Axis, Band, Bars, Cells, Line, Mark, Panel, Points, Scene, Texts
from overtone.errors import MissingPackageError

_COLOUR_SCALE = [[i / (len(SHADES) - 1), colour.light] for i, colour in enumerate(SHADES)]
_WIDTH = 860.0  # that labels are fitted to; the figure itself follows its page
_HALF_LINE = 5.0  # pixels; a text that is moved down by less has its middle at its place
_MOST_LABEL = 120.0  # pixels of a label beside a panel
_GAP = 62.0  # between rows of panels, for their axis titles
_SYMBOLS = {"circle": "circle", "cross": "x", "diamond": "diamond", "bar": "line-ns-open"}


def plotly_figure(scene: Scene) -> Any:
    """Return a `plotly.graph_objects.Figure`.

    Raises:
        MissingPackageError: plotly is not installed.
    """
    try:
        from plotly.graph_objects import Figure
    except ImportError:
        raise MissingPackageError("plotly", "plot", "a plot") from None
    if scene.empty or not scene.panels:
        return Figure(layout=_empty_layout(scene))
    columns = min(scene.columns, len(scene.panels))
    rows = [scene.panels[i : i + columns] for i in range(0, len(scene.panels), columns)]
    heights = [max(panel.height for panel in row) * 1.15 for row in rows]
    title = _title(scene)
    margin = {"l": 10, "r": 16, "t": 30 + 20 * title["text"].count("<br>") + 26, "b": 60}
    inside = sum(heights) + _GAP * (len(rows) - 1)
    layout: dict[str, Any] = {
        "template": "plotly_white",
        "title": title,
        "height": inside + margin["t"] + margin["b"],
        "margin": margin,
        "legend": {"orientation": "h", "yref": "container", "y": 0, "yanchor": "bottom", "x": 0},
        "hovermode": "closest",
        "barmode": "overlay",
        "annotations": [],
    }
    if scene.colour_bar is not None:
        bar = scene.colour_bar
        layout["coloraxis"] = {
            "colorscale": _COLOUR_SCALE,
            "cmin": 0,
            "cmax": 1,
            "colorbar": {
                "title": {"text": _text(bar.title, 28), "side": "right"},
                "tickvals": [0, 1],
                "ticktext": [_text(bar.low, 14), _text(bar.high, 14)],
                "thickness": 12,
                "len": 0.8,
            },
        }
    traces: list[dict[str, Any]] = []
    labelled: set[str] = set()
    top, n = 1.0, 0
    for row, height in zip(rows, heights, strict=True):
        domain_y = (top - height / inside, top)
        for j, panel in enumerate(row):
            n += 1
            wide = 1.0 / columns
            # beside the first panel, each needs room for the labels of its y axis
            beside = max(map(_room_beside, (each[j] for each in rows if j < len(each)))) if j else 0.0
            end = (j + 1) * wide - (0.02 if j < columns - 1 else 0.0)
            domain_x = (min(j * wide + beside / _WIDTH, end - 0.4 * wide), end)
            _add_panel(panel, n, domain_x, (max(0.0, domain_y[0]), domain_y[1]), layout, columns)
            traces += _traces(panel, n, labelled, scene.colour_bar is not None)
        top -= (height + _GAP) / inside
    if scene.colour_bar is not None and not any(
        "coloraxis" in str(trace.get("marker", trace)) for trace in traces
    ):
        traces.append(_key(n))
    return Figure(data=traces, layout=layout)


def _key(n: int) -> dict[str, Any]:
    """Return a trace without marks, with which the key of the colours of lines is shown."""
    marker = {"color": [0.5], "coloraxis": "coloraxis"}
    trace = {"type": "scatter", "mode": "markers", "x": [None], "y": [None], "marker": marker}
    key = "" if n == 1 else str(n)
    return {**trace, "xaxis": f"x{key}", "yaxis": f"y{key}", "showlegend": False, "hoverinfo": "skip"}


def _room_beside(panel: Panel) -> float:
    """Return the pixels that the labels of a panel's y axis take."""
    axis = panel.y
    if axis.is_hidden:
        return 10.0
    labels = [label for _, label in axis.ticks] or list(axis.categories)
    widest = max((text_width(fitted(one, _MOST_LABEL, 12), 12) for one in labels), default=36.0)
    return widest + (30.0 if axis.title else 14.0)


def _text(text: object, most: int) -> str:
    return _plain(fitted(text, 6.5 * most, 11))


def _plain(text: object) -> str:
    """Return a text that plotly does not read as HTML or as mathematics."""
    return escape(printable(text)).replace("$", "&#36;")


def _hover(texts: Sequence[str]) -> list[str] | None:
    return ["<br>".join(map(_plain, text.split("\n"))) for text in texts] if len(texts) else None


def _title(scene: Scene) -> dict[str, Any]:
    lines = [f"<b>{_plain(line)}</b>" for line in wrapped(scene.title, _WIDTH, 16)]
    notes = wrapped(scene.note, _WIDTH, 12) if scene.note else []
    lines += [f'<span style="font-size:12px">{_plain(line)}</span>' for line in notes]
    return {
        "text": "<br>".join(lines),
        "x": 0,
        "xref": "container",
        "pad": {"l": 10, "t": 10 + 16 * (len(lines) - 1)},  # plotly puts the middle line at the top
        "y": 1,
        "yref": "container",
        "yanchor": "top",
        "font": {"size": 16},
    }


def _empty_layout(scene: Scene) -> dict[str, Any]:
    lines = wrapped(scene.empty or "There is nothing to draw.", 600, 14, 6)
    note = {
        "text": "<br>".join(map(_plain, lines)),
        "xref": "paper",
        "yref": "paper",
        "x": 0.5,
        "y": 0.5,
        "showarrow": False,
        "font": {"size": 14},
    }
    hidden = {"visible": False}
    return {
        "template": "plotly_white",
        "title": _title(scene),
        "height": 240,
        "annotations": [note],
        "xaxis": hidden,
        "yaxis": hidden,
    }


# --- axes ----------------------------------------------------------------------------------


def _add_panel(
    panel: Panel, n: int, domain_x: Any, domain_y: Any, layout: dict[str, Any], columns: int
) -> None:
    key = "" if n == 1 else str(n)
    room = _WIDTH / columns
    x = _axis(panel.x, scale_of(panel.x, panel.marks, True), room, False)
    y = _axis(panel.y, scale_of(panel.y, panel.marks, False), panel.height, True)
    layout[f"xaxis{key}"] = {**x, "domain": list(domain_x), "anchor": f"y{key}"}
    layout[f"yaxis{key}"] = {**y, "domain": list(domain_y), "anchor": f"x{key}"}
    if panel.title:
        layout["annotations"].append(
            {
                "text": f"<b>{_plain(fitted(panel.title, room, 12))}</b>",
                "xref": "paper",
                "yref": "paper",
                "x": domain_x[0],
                "y": domain_y[1],
                "xanchor": "left",
                "yanchor": "bottom",
                "showarrow": False,
                "font": {"size": 12},
                "hovertext": _text(panel.title, 300),
            }
        )


def _axis(axis: Axis, scale: Scale, room: float, is_y: bool) -> dict[str, Any]:
    limits = [scale.high, scale.low] if axis.is_reversed else [scale.low, scale.high]
    found: dict[str, Any] = {
        "range": limits,
        "type": "log" if axis.scale == "log" else "linear",
        "title": {"text": _plain(fitted(axis.title, room, 13)), "standoff": 8},
        "automargin": True,
        "zeroline": False,
    }
    if axis.is_hidden:
        return {**found, "visible": False}
    if axis.is_whole:
        found |= {"tickformat": ",d"} | ({"dtick": 1} if scale.high - scale.low < 12 else {})
    if axis.scale == "log":
        found |= {"dtick": 1 if scale.high - scale.low >= 1 else "D2", "exponentformat": "power"}
    pairs = axis.ticks or tuple((float(i), label) for i, label in enumerate(axis.categories))
    if axis.is_time:
        pairs = tuple(
            (scale.low + share * (scale.high - scale.low), label) for share, label in scale.ticks(room)
        )
    if pairs:
        most = max(4, int(room / (26 if is_y else max(60, 7 * min(len(pairs), 20)))))
        every = (
            1 if axis.ticks or axis.is_time else max(1, -(-len(pairs) // (int(room / 14) if is_y else 24)))
        )
        found["tickvals"] = [value for value, _ in pairs[::every]]
        found["ticktext"] = [
            _plain(fitted(label, _MOST_LABEL, 12)) if is_y else _text(label, max(16, most))
            for _, label in pairs[::every]
        ]
    return found


# --- marks ---------------------------------------------------------------------------------


def _traces(panel: Panel, n: int, labelled: set[str], has_bar: bool) -> list[dict[str, Any]]:
    key = "" if n == 1 else str(n)
    traces = []
    for mark in panel.marks:
        trace = _trace(mark, has_bar)
        label = getattr(mark, "label", "")
        trace |= {"xaxis": f"x{key}", "yaxis": f"y{key}", "showlegend": bool(label) and label not in labelled}
        if label:
            trace |= {"name": _text(label, 48), "legendgroup": _plain(label)[:200]}
            labelled.add(label)
        traces.append(trace)
    return traces


def _trace(mark: Mark, has_bar: bool) -> dict[str, Any]:
    match mark:
        case Points():
            return _points(mark, has_bar)
        case Line():
            colour = ROLES[mark.role].light if mark.shade is None else _shade(mark.shade)
            line = {"color": colour, "width": mark.width, "dash": "dash" if mark.is_dashed else "solid"}
            line["shape"] = "hv" if mark.is_step else "linear"
            return {
                "type": "scatter",
                "mode": "lines",
                "x": mark.x,
                "y": mark.y,
                "line": line,
                "opacity": mark.opacity,
                "connectgaps": False,
                **_line_hover(mark),
            }
        case Band():
            shown = np.isfinite(mark.x) & np.isfinite(mark.low) & np.isfinite(mark.high)
            x, low, high = mark.x[shown], mark.low[shown], mark.high[shown]
            return {
                "type": "scatter",
                "mode": "lines",
                "x": np.concatenate([x, x[::-1]]),
                "y": np.concatenate([low, high[::-1]]),
                "fill": "toself",
                "line": {"width": 0},
                "fillcolor": _see_through(ROLES[mark.role].light, 0.18),
                "hoverinfo": "skip",
            }
        case Bars():
            return _bars(mark)
        case Cells():
            hover = _hover(mark.hover)
            rows, columns = mark.shades.shape
            texts = None if hover is None else [hover[i * columns : (i + 1) * columns] for i in range(rows)]
            return {
                "type": "heatmap",
                "x": mark.x_edges,
                "y": mark.y_edges,
                "z": mark.shades,
                "hovertext": texts,
                "hoverinfo": "text" if texts else "skip",
                "hoverongaps": False,
                **_coloured(has_bar, "z"),
            }
        case Texts():
            upwards = "top" if mark.dy > 0 else ("bottom" if mark.dy < -_HALF_LINE else "middle")
            side = {"start": "right", "middle": "center", "end": "left"}[mark.anchor]
            return {
                "type": "scatter",
                "mode": "text",
                "x": mark.x,
                "y": mark.y,
                "text": [_beside(_text(text, 24 if mark.room else 90), mark) for text in mark.texts],
                "hovertext": [_text(text, 300) for text in mark.texts],
                "hoverinfo": "text",
                "textposition": f"{upwards} {side}",
                "textfont": {"size": 11, "shadow": "0 0 2px white, 0 0 3px white"},
            }


def _beside(text: str, mark: Texts) -> str:
    """Return a text with a gap at the end that is at a mark."""
    gap = "\N{NO-BREAK SPACE}" * round(abs(mark.dx) / 4)
    return f"{text}{gap}" if mark.anchor == "end" else f"{gap}{text}"


def _coloured(has_bar: bool, values: str) -> dict[str, Any]:
    if has_bar:
        return {"coloraxis": "coloraxis"}
    return {"colorscale": _COLOUR_SCALE, f"{values}min": 0, f"{values}max": 1, "showscale": False}


def _points(mark: Points, has_bar: bool) -> dict[str, Any]:
    marker: dict[str, Any] = {"size": mark.size + 1, "symbol": _SYMBOLS[mark.symbol]}
    if mark.shades is None:
        marker["color"] = ROLES[mark.role].light
    else:
        marker |= {"color": mark.shades, **_coloured(has_bar, "c")}
    if mark.symbol == "bar":
        marker["line"] = {"width": 1.8, "color": marker["color"]} if mark.shades is None else {"width": 1.8}
    if len(mark.x) > 1000:
        marker["opacity"] = 0.6
    trace = {"type": "scatter", "mode": "markers", "x": mark.x, "y": mark.y, "marker": marker}
    hover = _hover(mark.hover)
    return trace | ({"hovertext": hover, "hoverinfo": "text"} if hover else {})


def _line_hover(mark: Line) -> dict[str, Any]:
    if not mark.hover:
        return {"hoverinfo": "skip"} if mark.shade is not None else {}
    return {"hovertext": _hover([mark.hover])[0], "hoverinfo": "text+x+y"}  # type: ignore[index]


def _bars(mark: Bars) -> dict[str, Any]:
    along, across, side = ("x", "y", "h") if mark.is_horizontal else ("y", "x", "v")
    hover = _hover(mark.hover)
    trace = {
        "type": "bar",
        "orientation": side,
        "base": mark.start,
        along: mark.end - mark.start,
        across: mark.at,
        "width": mark.thickness,
        "marker": {"color": ROLES[mark.role].light, "line": {"width": 0}},
        **({"hovertext": hover, "hoverinfo": "text"} if hover else {}),
        "textposition": "none",
    }
    if mark.error_low is not None and mark.error_high is not None:
        trace[f"error_{along}"] = {
            "type": "data",
            "symmetric": False,
            "array": mark.error_high - mark.end,
            "arrayminus": mark.end - mark.error_low,
            "color": ROLES["cutoff"].light,
            "thickness": 1.2,
            "width": 4,
        }
    return trace


def _shade(value: float) -> str:
    return SHADES[min(max(int(value * len(SHADES)), 0), len(SHADES) - 1)].light


def _see_through(colour: str, opacity: float) -> str:
    return f"rgba({int(colour[1:3], 16)},{int(colour[3:5], 16)},{int(colour[5:7], 16)},{opacity})"
