"""The report of a comparison: one HTML file that needs nothing else."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from datetime import datetime
from html import escape
from io import BytesIO
from math import isfinite, isnan
from pathlib import Path
from typing import Any

from overtone.errors import OvertoneError
from overtone.research import plots
from overtone.research.search_outcomes import bests, labelled, medians, outcomes, speedups

STYLE = """
:root { color-scheme: light; }
body { font: 15px/1.5 system-ui, sans-serif; color: #1a1a1a; background: #fff; max-width: 1180px;
  margin: 2rem auto; padding: 0 1.2rem; }
h1 { font-size: 1.7rem; margin-bottom: .2rem; } h2 { font-size: 1.2rem; margin-top: 2.2rem; }
p.facts, p.note { color: #555; } p.note { font-size: .88rem; max-width: 60rem; }
.wide { overflow-x: auto; } img { max-width: 100%; height: auto; }
table { border-collapse: collapse; font-size: .88rem; font-variant-numeric: tabular-nums; }
th, td { padding: .25rem .7rem; border-bottom: 1px solid #e3e3e3; text-align: right; white-space: nowrap; }
th:first-child, td:first-child { text-align: left; } thead th { border-bottom: 2px solid #999; }
td.best { font-weight: 700; }
.warning { background: #fff3cd; border-left: 4px solid #e0a800; padding: .5rem 1rem; }
"""

MOST_ERRORS = 10
"""Maximum number of different failures in the list."""

POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"
"""Says to the browser that the page loads nothing and runs nothing."""


def report(
    frame: Any, path: str | Path, *, title: str = "Schedulers compared", baseline: str | None = None
) -> Path:
    """Write a self-contained HTML file with the tables and plots of a comparison; return its path.

    Args:
        frame: The frame that `compare` returned.
        path: The file; an existing file is replaced.
        title: The heading.
        baseline: The method to compare times with; the first method when None.

    Raises:
        OvertoneError: Every search failed.
        ValueError: `baseline` is not a method of the comparison.
        MissingPackageError: matplotlib is not installed.
    """
    made = labelled(frame)
    ends = outcomes(frame)
    errors = made[made["is_end"] & (made["error"] != "")]
    if not len(ends):
        raise OvertoneError(f"every search failed, the first one with: {errors['error'].iloc[0]}")
    baseline = baseline if baseline is not None else str(ends["method"].iloc[0])
    has_targets = bool(ends["target"].notna().any())
    parts = [f"<h1>{escape(title)}</h1>", _facts(made, ends), _failures(errors, made)]
    if has_targets:
        parts += _times(frame, ends, baseline)
    parts += [
        "<h2>Best value found</h2>",
        "<p class=note>Mean over seeds of the best value when the search ended. "
        + ("One that ends at its target finds little more than that.</p>" if has_targets else "</p>"),
        _table(bests(frame), "{:.6g}".format, _modes(ends)),
        "<h2>Best value over time</h2>",
        "<p class=note>Median over seeds, with its quartiles. A search that ended keeps its value.</p>",
        _image(plots.plot_incumbents(frame), "best value over time"),
        "<h2>Ranks over time</h2>",
        "<p class=note>Mean rank by the best value so far, over settings and seeds; up is better.</p>",
        _image(plots.plot_ranks(frame), "mean rank over time"),
        *_differences(frame),
        "<h2>What it took</h2>",
        "<p class=note>Means over the searches of a method.</p>",
        _table(_bill(ends), _amount, {}),
    ]
    html = (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{STYLE}</style></head>\n<body>\n"
    )
    file = Path(path)
    file.write_text(html + "\n".join(filter(None, parts)) + "\n</body></html>\n", encoding="utf-8")
    return file


def _facts(made: Any, ends: Any) -> str:
    import platform

    from overtone.version import __version__

    numbers = {name: made[name].nunique() for name in ("method", "setting", "seed")}
    counts = ", ".join(f"{n} {name}{'s' * (n != 1)}" for name, n in numbers.items())
    n_searches = int(made["is_end"].sum())
    now = datetime.now().strftime("%Y-%m-%d %H:%M")
    return (
        f"<p class=facts>{n_searches} searches: {counts}; {int(ends['n_trials'].sum()):,} trials and "
        f"{int(ends['n_results'].sum()):,} results. Overtone {escape(__version__)}, Python "
        f"{platform.python_version()}, {now}.</p>"
    )


def _failures(errors: Any, made: Any) -> str:
    parts = ""
    if not made.attrs.get("is_complete", True):
        parts += "<p class=warning>The comparison was interrupted: not every search is here.</p>"
    if len(errors):
        counts = errors.groupby(["method", "setting", "error"], sort=False).size()
        listed = counts.head(MOST_ERRORS)
        lines = "".join(
            f"<li>{escape(str(method))} on {escape(str(setting))}, {n} times: {escape(str(error)[:300])}</li>"
            for (method, setting, error), n in listed.items()
        )
        if len(counts) > len(listed):
            lines += f"<li>and {int(counts.sum() - listed.sum())} others</li>"
        parts += f"<div class=warning>{len(errors)} searches failed and are left out:<ul>{lines}</ul></div>"
    return parts


def _times(frame: Any, ends: Any, baseline: str) -> list[str]:
    reached = ends.groupby(["setting", "method"])["is_reached"].agg(["sum", "size"])
    n_short = int(reached["size"].sum() - reached["sum"].sum())
    note = "Every search reached it."
    if n_short:
        note = (
            f"{n_short} of {int(reached['size'].sum())} searches ended before they reached it and count as "
            "censored; a median that was not reached is shown as &infin;."
        )
    return [
        "<h2>Time to the target</h2>",
        f"<p class=note>Median over seeds (Kaplan and Meier), in virtual seconds. {note}</p>",
        _table(medians(frame), _amount, "min"),
        f"<p class=note>How many times sooner than {escape(baseline)}: ratios of these medians, with the "
        "median of the searches' ends for one that was not reached. "
        "The last line is their geometric mean.</p>",
        _table(_with_mean(speedups(frame, baseline)), "{:.2f}".format, "max"),
        _image(plots.plot_times_to_target(frame), "share of searches at the target over time"),
    ]


def _with_mean(table: Any) -> Any:
    import numpy as np

    table = table.copy()
    with np.errstate(divide="ignore", invalid="ignore"):
        table.loc["geometric mean"] = np.exp(np.log(table).mean(axis=0, skipna=False))
    return table


def _differences(frame: Any) -> list[str]:
    heading = "<h2>Critical differences</h2>"
    try:
        figure = plots.plot_critical_differences(frame)
    except ValueError as error:
        return [heading, f"<p class=note>Not shown: {escape(str(error))}.</p>"]
    return [
        heading,
        "<p class=note>Mean ranks over settings. Methods that a bar joins are not significantly different "
        "(Friedman test after Iman and Davenport, Nemenyi's critical difference, level 0.05; "
        "Dem&scaron;ar 2006).</p>",
        _image(figure, "critical differences"),
    ]


def _bill(ends: Any) -> Any:
    """Means over all searches of a method, of what is known."""
    names = {
        "n_trials": "trials", "n_results": "results", "time_s": "virtual time (s)",
        "trial_s": "trial time (s)", "lost_s": "lost (s)", "cost": "cost",
    }  # fmt: skip
    table = ends.groupby("method", sort=False)[list(names)].mean().rename(columns=names)
    return table.dropna(axis=1, how="all")


def _modes(ends: Any) -> Mapping[str, str]:
    modes: Mapping[str, str] = ends.groupby("setting")["mode"].first().to_dict()
    return modes


def _table(table: Any, shown: Callable[[float], str], better: str | Mapping[str, str]) -> str:
    """Return a table; in each row the best of several is bold.

    Args:
        better: "max" or "min", or which of them in which row; rows without stay plain.
    """
    head = "".join(f"<th scope=col>{escape(str(name))}</th>" for name in table.columns)
    lines = []
    for name, row in table.iterrows():
        mode = better if isinstance(better, str) else better.get(str(name))
        values = [float(one) for one in row]
        known = [one for one in values if not isnan(one)]
        best = (max if mode == "max" else min)(known) if mode and known and len(set(known)) > 1 else None
        cells = "".join(
            f"<td{' class=best' if one == best else ''}>{_number(one, shown)}</td>" for one in values
        )
        lines.append(f"<tr><td>{escape(str(name))}</td>{cells}</tr>")
    body = "".join(lines)
    return (
        f"<div class=wide><table><thead><tr><th></th>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _amount(value: float) -> str:
    """Five digits, and all of them before the point."""
    return f"{value:,.0f}" if abs(value) >= 1e4 else f"{value:,.5g}"


def _number(value: float, shown: Callable[[float], str]) -> str:
    if isfinite(value):
        return escape(shown(value))
    return "&ndash;" if isnan(value) else "&infin;" if value > 0 else "-&infin;"


def _image(figure: Any, what: str) -> str:
    """Return the figure as an image that is part of the page."""
    file = BytesIO()
    figure.savefig(file, format="svg", metadata={"Date": None})
    data = base64.b64encode(file.getvalue()).decode("ascii")
    return f'<p><img alt="{escape(what)}" src="data:image/svg+xml;base64,{data}"></p>'
