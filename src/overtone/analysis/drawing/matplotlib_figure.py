"""A scene as a matplotlib figure."""

from __future__ import annotations

from typing import Any

import numpy as np

from overtone.analysis.drawing.labels import fitted, wrapped
from overtone.analysis.drawing.legend import legend_entries
from overtone.analysis.drawing.palette import ROLES, SHADES
from overtone.analysis.drawing.scales import Scale, power_of_ten, scale_of
from overtone.analysis.drawing.scene import Axis, Band, Bars, Cells, Line, Mark, Panel, Points, Scene, Texts
from overtone.errors import MissingPackageError

_DPI = 100.0
_WIDTH = 900.0
_SYMBOLS = {"circle": "o", "cross": "x", "diamond": "D", "bar": "|"}


def matplotlib_figure(scene: Scene) -> Any:
    """Return a `matplotlib.figure.Figure` that no window holds; `savefig` writes it.

    Its background is that of the current style, such as `plt.style.use("dark_background")`.

    Raises:
        MissingPackageError: matplotlib is not installed.
    """
    try:
        from matplotlib import rcParams
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.colors import ListedColormap, to_rgb

        from overtone.analysis.drawing.notebook_figure import NotebookFigure
    except ImportError:
        raise MissingPackageError("matplotlib", "plot", "a plot") from None
    is_dark = sum(to_rgb(rcParams["figure.facecolor"])) < 1.5
    columns = max(1, min(scene.columns, len(scene.panels)))
    rows = [scene.panels[i : i + columns] for i in range(0, len(scene.panels), columns)]
    heights = [max(panel.height for panel in row) for row in rows] or [120.0]
    title = [*wrapped(scene.title, _WIDTH, 15)]
    note = wrapped(scene.note or scene.empty, _WIDTH, 12) if scene.note or scene.empty else []
    high = sum(heights) + 85 * len(rows) + 24 * (len(title) + len(note)) + 40
    figure = NotebookFigure(figsize=(_WIDTH / _DPI, high / _DPI), dpi=_DPI, layout="constrained")
    FigureCanvasAgg(figure)
    figure.suptitle(_plain("\n".join([*title, *note])), fontsize=11, x=0.01, ha="left")
    if scene.empty or not scene.panels:
        return figure
    painter = _Painter(is_dark, ListedColormap([pair.dark if is_dark else pair.light for pair in SHADES]))
    grid = figure.add_gridspec(len(rows), columns, height_ratios=heights)
    for i, row in enumerate(rows):
        for j, panel in enumerate(row):
            painter.draw(figure.add_subplot(grid[i, j]), panel, (_WIDTH - 60) / columns)
    _add_legend(figure, scene, painter)
    if scene.colour_bar is not None:
        from matplotlib.cm import ScalarMappable

        bar = figure.colorbar(ScalarMappable(cmap=painter.shades), ax=figure.axes, fraction=0.03, pad=0.01)
        bar.set_ticks(
            [0.0, 1.0], labels=[_label(scene.colour_bar.low, 14), _label(scene.colour_bar.high, 14)]
        )
        bar.set_label(_label(scene.colour_bar.title, 40), fontsize=9)
        bar.ax.tick_params(labelsize=8)
    return figure


def _label(text: object, most: int) -> str:
    return _plain(fitted(text, 6.5 * most, 11))


def _plain(text: str) -> str:
    """Return a text that matplotlib does not read as mathematics."""
    return text.replace("$", r"\$")


def _add_legend(figure: Any, scene: Scene, painter: _Painter) -> None:
    from matplotlib.lines import Line2D

    handles, labels = [], []
    for entry in legend_entries(scene):
        colour = painter.colour(entry.role)
        look: dict[str, Any] = {"color": colour, "linewidth": 2}
        if entry.kind == "dashes":
            look["linestyle"] = "--"
        elif entry.kind in ("area", "band"):
            look |= {"linewidth": 7, "alpha": 0.3 if entry.kind == "band" else 1.0}
        elif entry.kind != "line":
            look = {"color": colour, "linestyle": "none", "marker": _SYMBOLS[entry.kind], "markersize": 6}
        handles.append(Line2D([], [], **look))
        labels.append(f" {_label(entry.label, 48)}")  # matplotlib leaves out labels that begin with "_"
    if handles:
        columns = max(1, min(len(labels), int(_WIDTH / (60 + 7 * max(map(len, labels))))))
        figure.legend(handles, labels, loc="outside lower center", ncols=columns, fontsize=9, frameon=False)


class _Painter:
    """Draws panels on axes of matplotlib.

    Args:
        is_dark: Whether the figure's background is dark.
        shades: The sequential colour scale.
    """

    def __init__(self, is_dark: bool, shades: Any) -> None:
        self._is_dark = is_dark
        self.shades = shades

    def colour(self, role: str) -> str:
        """Return the colour of a meaning."""
        return ROLES[role].dark if self._is_dark else ROLES[role].light

    def draw(self, axes: Any, panel: Panel, room: float) -> None:
        """Draw a panel."""
        x, y = scale_of(panel.x, panel.marks, True), scale_of(panel.y, panel.marks, False)
        for axis, scale, is_x in ((panel.x, x, True), (panel.y, y, False)):
            _set_axis(axes, axis, scale, is_x, room if is_x else panel.height)
        if panel.title:
            lines = wrapped(panel.title, room, 12, 2)
            axes.set_title(_plain("\n".join(lines)), fontsize=9, loc="left", fontweight="bold")
        for mark in panel.marks:
            self._mark(axes, mark)
        axes.tick_params(labelsize=8)
        axes.grid(True, which="major", linewidth=0.4, alpha=0.4)
        axes.set_axisbelow(True)
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)
        if panel.x.is_hidden:
            axes.xaxis.set_visible(False)
            axes.spines["bottom"].set_visible(False)
        if panel.y.is_hidden:
            axes.yaxis.set_visible(False)
            axes.spines["left"].set_visible(False)

    def _mark(self, axes: Any, mark: Mark) -> None:
        match mark:
            case Points():
                self._points(axes, mark)
            case Line():
                shade = None if mark.shade is None else self.shades(float(mark.shade))
                axes.plot(
                    mark.x,
                    mark.y,
                    color=self.colour(mark.role) if shade is None else shade,
                    alpha=mark.opacity,
                    linewidth=mark.width,
                    linestyle="--" if mark.is_dashed else "-",
                    drawstyle="steps-post" if mark.is_step else "default",
                )
            case Band():
                axes.fill_between(
                    mark.x, mark.low, mark.high, color=self.colour(mark.role), alpha=0.18, linewidth=0
                )
            case Bars():
                self._bars(axes, mark)
            case Cells():
                axes.pcolormesh(
                    mark.x_edges,
                    mark.y_edges,
                    np.ma.masked_invalid(mark.shades),
                    cmap=self.shades,
                    vmin=0,
                    vmax=1,
                    rasterized=True,
                )
            case Texts():
                self._texts(axes, mark)

    def _texts(self, axes: Any, mark: Texts) -> None:
        from matplotlib import rcParams
        from matplotlib.patheffects import withStroke

        halo = [withStroke(linewidth=2.5, foreground=rcParams["figure.facecolor"])]
        side = {"start": "left", "middle": "center", "end": "right"}[mark.anchor]
        for x, y, text in zip(mark.x.tolist(), mark.y.tolist(), mark.texts, strict=True):
            offset = {"xytext": (mark.dx, mark.dy), "textcoords": "offset pixels"}
            look = {"fontsize": 8, "ha": side, "annotation_clip": False, "path_effects": halo}
            axes.annotate(_label(text, 24), (x, y), **offset, **look)

    def _points(self, axes: Any, mark: Points) -> None:
        shown = np.isfinite(mark.x) & np.isfinite(mark.y)
        colours: dict[str, Any] = {"color": self.colour(mark.role)}
        if mark.shades is not None:
            colours = {"c": mark.shades[shown], "cmap": self.shades, "vmin": 0, "vmax": 1}
        axes.scatter(
            mark.x[shown],
            mark.y[shown],
            s=(mark.size * 0.72) ** 2,
            marker=_SYMBOLS[mark.symbol],
            alpha=0.6 if len(mark.x) > 1000 else 1.0,
            linewidths=1.2 if mark.symbol in ("cross", "bar") else 0,
            **colours,
        )

    def _bars(self, axes: Any, mark: Bars) -> None:
        draw = axes.barh if mark.is_horizontal else axes.bar
        length, origin = ("width", "left") if mark.is_horizontal else ("height", "bottom")
        thickness = "height" if mark.is_horizontal else "width"
        if len(mark.at) > 500:
            self._many_bars(axes, mark)
        else:
            places = {length: mark.end - mark.start, origin: mark.start, thickness: mark.thickness}
            draw(mark.at, color=self.colour(mark.role), **places)
        if mark.error_low is not None and mark.error_high is not None:
            sides = np.stack([mark.end - mark.error_low, mark.error_high - mark.end])
            x, y = (mark.end, mark.at) if mark.is_horizontal else (mark.at, mark.end)
            spread = {"xerr" if mark.is_horizontal else "yerr": np.nan_to_num(np.maximum(sides, 0.0))}
            axes.errorbar(x, y, fmt="none", ecolor=self.colour("cutoff"), elinewidth=1, capsize=2.5, **spread)

    def _many_bars(self, axes: Any, mark: Bars) -> None:
        from matplotlib.collections import PolyCollection

        low, high = mark.at - mark.thickness / 2, mark.at + mark.thickness / 2
        corners = [(mark.start, low), (mark.end, low), (mark.end, high), (mark.start, high)]
        boxes = np.stack(
            [np.stack(corner if mark.is_horizontal else corner[::-1], 1) for corner in corners], 1
        )
        axes.add_collection(PolyCollection(list(boxes), facecolor=self.colour(mark.role), linewidth=0))


def _set_axis(axes: Any, axis: Axis, scale: Scale, is_x: bool, room: float) -> None:
    limits = (scale.low, scale.high)
    if axis.scale == "log":
        (axes.set_xscale if is_x else axes.set_yscale)("log")
        limits = (power_of_ten(scale.low), power_of_ten(scale.high))
    (axes.set_xlim if is_x else axes.set_ylim)(*(limits[::-1] if axis.is_reversed else limits))
    title = _plain(fitted(axis.title, room, 12))
    (axes.set_xlabel if is_x else axes.set_ylabel)(title, fontsize=9)
    one = axes.xaxis if is_x else axes.yaxis
    if axis.scale == "category" or axis.ticks or axis.is_time:
        ticks = scale.ticks(room)
        every = max(1, -(-len(ticks) // max(1, int(room / 16)))) if axis.scale == "category" else 1
        width = scale.high - scale.low
        shares = [1 - share if axis.is_reversed else share for share, _ in ticks[::every]]
        values = [scale.low + share * width for share in shares]
        labels = [_label(label, 28) for _, label in ticks[::every]]
        one.set_ticks(
            [power_of_ten(value) for value in values] if axis.scale == "log" else values, labels=labels
        )
        if is_x and max(map(len, labels), default=0) * 7 * len(labels) > room:
            for label in axes.get_xticklabels():
                label.set(rotation=40, ha="right", rotation_mode="anchor")
    elif axis.scale == "log":
        from matplotlib.ticker import LogLocator, NullFormatter

        if scale.high - scale.low >= 1.5:
            one.set_minor_formatter(NullFormatter())
            one.set_major_locator(LogLocator(numticks=8))
    elif axis.is_whole:
        from matplotlib.ticker import MaxNLocator

        one.set_major_locator(MaxNLocator(integer=True))
