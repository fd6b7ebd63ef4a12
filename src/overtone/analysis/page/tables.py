"""Tables of a page: best trials, failures, and the history of a trial."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from overtone.analysis.page.html import short, table, text
from overtone.analysis.plots.objective import objective_of
from overtone.analysis.scenes.catalogue import is_varied
from overtone.reading.columns.trial_columns import Column, TrialColumns

MOST_BEST = 10
MOST_FAILURES = 20
_MOST_PARAMS = 8


def number(value: float) -> str:
    """Return a value as terminals show it, to 6 digits."""
    return f"{value:g}"


def ranked_rows(columns: TrialColumns, metric: str, mode: str) -> Any:
    """Return the rows of allowed trials with a finite last value, best first, shape (n,)."""
    losses = objective_of(columns, metric, mode).losses
    rows = np.flatnonzero(np.isfinite(losses) & columns.allowed)
    return rows[np.argsort(losses[rows], kind="stable")]


def config_text(config: Any) -> str:
    """Return a configuration as indented JSON; other values as their text."""
    return json.dumps(config, indent=2, ensure_ascii=False, default=str)


def failed_rows(columns: TrialColumns) -> Any:
    """Return the rows of trials that failed for good, shape (n,)."""
    status = columns.status
    levels = status.levels or ()
    code = levels.index("ERROR") if "ERROR" in levels else -1
    return np.flatnonzero((status.values == code) & ~status.missing)


def best_trials(
    columns: TrialColumns,
    rows: Sequence[int],
    metric: str,
    mode: str,
    heading: str = "<h2>Best trials</h2>\n",
) -> str:
    """Return the table of the best trials, with the hyperparameters that vary.

    Args:
        columns: The experiment.
        rows: Rows of trials, best first.
        metric: The metric that ranks them.
        mode: "min" or "max".
        heading: HTML above the table.
    """
    if not len(rows):
        return ""
    values = columns.metrics[metric]
    others = [name for name, _ in columns.goals if name != metric and name in columns.metrics]
    varied = [name for name, column in columns.params.items() if is_varied(column)]
    shown = varied[:_MOST_PARAMS]
    heads = ["trial", text("number"), short(metric, 28), *(short(name, 28) for name in others)]
    heads += ["best on the way", "results", *(short(name, 22) for name in shown)]
    cells = []
    for row in rows:
        best, t = values.best(mode)[row], int(values.best_t(mode)[row])
        cells.append([
            short(columns.ids[row], 24), str(row), number(values.last[row]),
            *(number(columns.metrics[name].last[row]) for name in others),
            f"{number(best)} at {t:,}", f"{int(columns.n_results[row]):,}",
            *(cell(columns.params[name], row) for name in shown),
        ])  # fmt: skip
    left_out = len(varied) - len(shown)
    note = f"<p class='faint small'>{left_out} more hyperparameters vary.</p>" if left_out else ""
    numbers = range(1, 4 + len(others) + 1)
    return f"{heading}{table(heads, cells, numbers, best=0)}{note}"


def cell(column: Column, row: int) -> str:
    """Return the value of a trial in a column as HTML."""
    if column.missing[row]:
        return "<span class=faint>none</span>"
    if column.levels is None:
        return text(number(float(column.values[row])))
    return short(column.levels[int(column.values[row])], 32)


def failures(trials: Sequence[Any], n_failed: int) -> str:
    """Return the table of failed trials, each with the last line of its error.

    Args:
        trials: Failed `RecordedTrial`s that are listed.
        n_failed: The number of all failed trials.
    """
    if not trials:
        return ""
    counts: dict[str, list[Any]] = {}
    for trial in trials:
        counts.setdefault(error_line(trial), []).append(trial)
    rows = [
        [
            short(error, 300) or "not recorded",
            str(len(them)),
            short(", ".join(one.trial_id for one in them), 60),
        ]
        for error, them in sorted(counts.items(), key=lambda pair: -len(pair[1]))
    ]
    note = f"<p class='faint small'>The first {len(trials)} of {n_failed:,} failed trials.</p>"
    listed = table(["error", "trials", "which"], rows, [1])
    return f"<h2>Failures</h2>\n{listed}{note if n_failed > len(trials) else ''}"


def error_line(trial: Any) -> str:
    """Return the last line of a trial's error."""
    told = (trial.traceback or trial.error or "").strip().splitlines()
    return told[-1].strip() if told else ""


def story(title: str, verdict: str, steps: Sequence[tuple[str, str, str]], most: int = 60) -> str:
    """Return the history of a trial.

    Args:
        title: The trial.
        verdict: Its end, in one sentence.
        steps: (time, iteration, text) of each step.
        most: The maximum number of steps; those in the middle are left out.
    """
    rows = [[text(after), text(t), text(what)] for after, t, what in steps]
    if len(rows) > most:
        left_out = len(rows) - most
        rows[most // 2 : most // 2 + left_out] = [
            ["", "", f"<span class=faint>{left_out:,} more steps</span>"]
        ]
    return f"<h3>{short(title, 80)}</h3><p>{text(verdict)}</p>" + table(
        ["after", "iter", "what"], rows, [0, 1]
    )
