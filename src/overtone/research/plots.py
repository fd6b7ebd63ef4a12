"""The usual plots of a comparison, as matplotlib figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil, inf, isfinite, log10
from typing import Any

from overtone.errors import ArgumentError, MissingPackageError, OvertoneError
from overtone.research.over_time import incumbents, ranks_over_time
from overtone.research.rank_test import Ranking, friedman, groups
from overtone.research.search_outcomes import labelled, medians, outcomes
from overtone.research.survival import kaplan_meier

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#8c6d31")
"""Told apart by those who see colours differently (Okabe and Ito 2008), and brown."""

DASHES = ("-", (0, (5, 2)), (0, (1, 1.2)), (0, (6, 2, 1, 2)))


def plot_incumbents(frame: Any, columns: int = 4) -> Any:
    """Return the median of the best value so far over time, with its quartiles: one panel a setting."""
    found = incumbents(frame)
    settings, looks = list(dict.fromkeys(found["setting"])), _looks(frame)
    figure, panels = _panels(settings, columns)
    for panel, setting in zip(panels, settings, strict=True):
        one = found[found["setting"] == setting]
        sign = 1.0 if one["mode"].iloc[0] == "max" else -1.0
        for method, look in looks.items():
            values = one[one["method"] == method].pivot_table(
                index="time_s", columns="seed", values="value", dropna=False
            )
            if not len(values):
                continue
            losses = (-sign * values).fillna(inf)  # who has none yet is worst
            low, middle, high = (
                losses.quantile(q, axis=1, interpolation="nearest").replace(inf, float("nan"))
                for q in (0.25, 0.5, 0.75)
            )
            panel.plot(values.index, -sign * middle, drawstyle="steps-post", **look)
            panel.fill_between(
                values.index, -sign * low, -sign * high.fillna(high.max()), step="post", alpha=0.12,
                color=look["color"], linewidth=0,
            )  # fmt: skip
        panel.set_xscale("log")
        _zoom(panel, one, sign)
        metric = labelled(frame).query("setting == @setting")["metric"].iloc[0]
        panel.set_title(f"{_shown(setting, 30)}", fontsize=9)
        panel.set_ylabel(_shown(metric), fontsize=8)
        panel.set_xlabel("virtual time (s)", fontsize=8)
    return _finished(figure, panels, looks)


def plot_ranks(frame: Any) -> Any:
    """Return the mean rank of each method over time, over all settings and seeds."""
    found, looks = ranks_over_time(frame), _looks(frame)
    figure, (panel,) = _panels(["one"], 1, (6.4, 3.6))
    for method, look in looks.items():
        one = found[found["method"] == method]
        panel.plot(one["share"], one["rank"], **look)
    panel.set_xscale("log")
    panel.set_xlabel("share of the longest search", fontsize=8)
    panel.set_ylabel("mean rank (1 is the best)", fontsize=8)
    panel.invert_yaxis()
    return _finished(figure, [panel], looks)


def plot_times_to_target(
    frame: Any, target: float | Mapping[str, float] | None = None, columns: int = 4
) -> Any:
    """Plot the share of searches that reached the target over time (Kaplan and Meier), by setting.

    A tick marks the end of a search that did not reach the target.

    Raises:
        OvertoneError: There is no target.
    """
    ends, looks = outcomes(frame, target), _looks(frame)
    ends = ends[ends["target"].notna()]
    if not len(ends):
        raise OvertoneError("there is no target: give Problem(target=...), or target=... here")
    settings = list(dict.fromkeys(ends["setting"]))
    figure, panels = _panels(settings, columns)
    for panel, setting in zip(panels, settings, strict=True):
        here = ends[ends["setting"] == setting]
        for method, look in looks.items():
            one = here[here["method"] == method]
            if not len(one):
                continue
            curve = kaplan_meier(one["reached_s"], one["is_reached"])
            until = float(one["reached_s"].max())
            x = [0.0, *(at for at, _ in curve), until]
            y = [0.0, *(share for _, share in curve), curve[-1][1] if curve else 0.0]
            panel.plot(x, y, drawstyle="steps-post", **look)
            lost = one[~one["is_reached"]]["reached_s"]
            shares = [max((share for at, share in curve if at <= time), default=0.0) for time in lost]
            panel.plot(lost, shares, linestyle="none", marker="|", markersize=9, color=look["color"])
        panel.set_ylim(-0.03, 1.04)
        earliest = float(here.loc[here["reached_s"] > 0, "reached_s"].min())
        if earliest > 0:  # not so where all searches failed at once
            panel.set_xscale("log")
            panel.set_xlim(left=earliest / 1.5)
        panel.set_title(f"{_shown(setting, 30)} to {here['target'].iloc[0]:.5g}", fontsize=9)
        panel.set_xlabel("virtual time (s)", fontsize=8)
        panel.set_ylabel("searches at the target", fontsize=8)
    return _finished(figure, panels, looks)


def ranking(frame: Any, by: str = "auto", alpha: float = 0.05) -> tuple[list[str], Ranking, str]:
    """Return the methods, how they rank over settings (Demsar 2006), and by what.

    Args:
        frame: The frame that `compare` returned.
        by: "time" to the target, the final "value", or "auto": "time" if there are targets.
        alpha: The level of the test.

    Raises:
        ValueError: There are less than two methods or settings.
    """
    from overtone.research.search_outcomes import bests

    if by not in ("auto", "time", "value"):
        raise ArgumentError(f'by={by!r}: choose "time", "value" or "auto"')
    has_targets = bool(labelled(frame)["target"].notna().all())
    if by == "time" or (by == "auto" and has_targets):
        table, what = medians(frame), "median time to the target"
    else:
        ends = outcomes(frame)
        signs = ends.groupby("setting")["mode"].first().map({"max": -1.0, "min": 1.0})
        table, what = bests(frame).mul(signs, axis=0), "mean of the best value found"
    return list(table.columns), friedman(table.to_numpy().tolist(), alpha), what


def plot_critical_differences(frame: Any, by: str = "auto", alpha: float = 0.05) -> Any:
    """Plot the mean ranks of methods over settings; bars join methods that do not differ (Demsar 2006).

    Args:
        frame: The frame that `compare` returned.
        by: "time" to the target, the final "value", or "auto": "time" if there are targets.
        alpha: The level of the test.

    Raises:
        ValueError: There are less than two methods or settings.
    """
    methods, found, what = ranking(frame, by, alpha)
    looks = _looks(frame)
    bars = groups(found.mean_ranks, found.critical_difference)
    k, half = len(methods), ceil(len(methods) / 2)
    top = 1.0 + 0.22 * len(bars)
    figure, (panel,) = _panels(["one"], 1, (7.2, 0.9 + 0.28 * (half + len(bars) + 1)))
    panel.set_axis_off()
    panel.set_xlim(0.5 - 0.45 * k, k + 0.5 + 0.45 * k)
    panel.plot([1, k], [0, 0], color="black", linewidth=1)
    for mark in range(1, k + 1):
        panel.plot([mark, mark], [0, -0.12], color="black", linewidth=1)
        panel.text(mark, -0.2, str(mark), ha="center", va="bottom", fontsize=8)
    for i, at in enumerate(sorted(range(k), key=lambda one: found.mean_ranks[one])):
        is_left = i < half
        y = top + 0.34 * (i if is_left else k - 1 - i)
        rank, end = found.mean_ranks[at], 0.8 if is_left else k + 0.2
        panel.plot([rank, rank, end], [0, y, y], color=looks[methods[at]]["color"], linewidth=1)
        panel.text(
            end + (-0.05 if is_left else 0.05), y, f"{_shown(methods[at], 32)}  {rank:.2f}",
            ha="right" if is_left else "left", va="center", fontsize=8,
        )  # fmt: skip
    for i, (low, high) in enumerate(bars):
        bar = 0.28 + 0.22 * i
        panel.plot([low - 0.04, high + 0.04], [bar, bar], color="black", linewidth=3.5, solid_capstyle="butt")
    difference = min(found.critical_difference, k - 1.0)
    panel.plot([1, 1 + difference], [-0.75, -0.75], color="black", linewidth=1, marker="|", markersize=6)
    panel.text(
        1 + difference + 0.08,
        -0.75,
        f"critical difference {found.critical_difference:.2f}",
        va="center",
        fontsize=8,
    )
    panel.set_ylim(top + 0.34 * half, -1.0)
    shown = f"p = {found.p:.2g}" if found.p >= 0.001 else "p < 0.001"
    panel.set_title(f"ranks by {what}, {found.n} settings, Friedman {shown}", fontsize=9)
    return figure


def _looks(frame: Any) -> dict[str, dict[str, Any]]:
    """Colour and line of each method: the same in all plots of a frame."""
    return {
        method: {
            "color": COLOURS[i % len(COLOURS)],
            "linestyle": DASHES[i // len(COLOURS) % len(DASHES)],
            "linewidth": 1.5,
        }
        for i, method in enumerate(dict.fromkeys(labelled(frame)["method"]))
    }


def _panels(
    titles: Sequence[str], columns: int, size: tuple[float, float] | None = None
) -> tuple[Any, list[Any]]:
    """Return a figure without a window, and a panel for each title."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingPackageError("matplotlib", "research", "a plot") from None
    across = max(1, min(columns, len(titles)))
    down = max(1, ceil(len(titles) / across))
    figure = Figure(figsize=size or (2.9 * across + 0.3, 2.3 * down + 0.5), layout="constrained")
    FigureCanvasAgg(figure)
    return figure, [figure.add_subplot(down, across, i + 1) for i in range(len(titles))]


def _finished(figure: Any, panels: Sequence[Any], looks: Mapping[str, Any]) -> Any:
    for panel in panels:
        panel.tick_params(labelsize=7)
        panel.grid(True, which="major", linewidth=0.4, alpha=0.4)
        for side in ("top", "right"):
            panel.spines[side].set_visible(False)
    from matplotlib.lines import Line2D
    from matplotlib.ticker import NullFormatter

    for panel in panels:
        panel.xaxis.set_minor_formatter(NullFormatter())  # "2 x 10^3" beside "3 x 10^3" cannot be read
    names = [_shown(name) for name in looks]
    width = 0.065 * max(map(len, names)) + 0.55  # in inches, of a column: its letters, and its line
    figure.legend(
        [Line2D([], [], **look) for look in looks.values()], names, loc="outside lower center",
        ncols=max(1, min(6, len(looks), int(figure.get_figwidth() / width))), fontsize=8, frameon=False,
    )  # fmt: skip
    return figure


def _zoom(panel: Any, one: Any, sign: float) -> None:
    """Show what differs: from the medians of all at a tenth of the time to the best."""
    values = one["value"].dropna()
    if not len(values):
        return
    best = values.max() if sign > 0 else values.min()
    early = one[one["share"] <= 0.02]["value"].dropna()
    start = (early if len(early) else values).median()
    if not (isfinite(best) and isfinite(start)) or best == start:
        return
    span = abs(best - start)
    scale = max(abs(best), abs(start), 10.0**-300)
    if log10(scale / span) > 12:
        return
    low, high = sorted((best + sign * 0.06 * span, start - sign * 0.1 * span))
    panel.set_ylim(low, high)


def _shown(name: Any, most: int = 24) -> str:
    """Return a name as text that matplotlib does not read as mathematics, cut."""
    text = str(name)
    text = text if len(text) <= most else text[: most - 3] + "..."
    return text.replace("$", r"\$")
