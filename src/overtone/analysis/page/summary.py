"""An experiment in a notebook: its best configuration and its best trials."""

from __future__ import annotations

from typing import Any

from overtone.analysis.page.html import lines, short, text
from overtone.analysis.page.tables import best_trials, config_text, number, ranked_rows
from overtone.quantity_text import count_text
from overtone.reading.columns.trial_columns import TrialColumns

_MOST_TRIALS = 5


def summary(columns: TrialColumns, config_of: Any, path: str) -> str:
    """Return a summary as HTML without a style sheet: a notebook has its own.

    Args:
        columns: The experiment.
        config_of: Returns the whole configuration of the trial with an id.
        path: The experiment's folder.
    """
    status = columns.status
    counts: dict[str, int] = {}
    for code in status.values[~status.missing].tolist():
        word = str(status.levels[code]) if status.levels else ""
        counts[word] = counts.get(word, 0) + 1
    told = ", ".join(f"{n:,} {word.lower()}" for word, n in counts.items())
    trials = count_text(len(columns), "trial")
    parts = [f"<div><b>{short(columns.name, 80)}</b>: {trials} ({text(told)})</div>"]
    if columns.goals:
        metric, mode = columns.goals[0]
        rows = ranked_rows(columns, metric, mode)[:_MOST_TRIALS].tolist()
        if rows:
            value = number(columns.metrics[metric].last[rows[0]])
            config = config_text(config_of(columns.ids[rows[0]]))
            parts.append(
                f"<div>best: <b>{short(metric)} = {value}</b>, "
                f"the last value of {text(columns.ids[rows[0]])}</div>"
                f'<pre style="margin:.4em 0">{lines(config)}</pre>'
            )
            parts.append(best_trials(columns, rows, metric, mode, heading=""))
    parts.append(f"<div><small>{text(path)}</small></div>")
    return "".join(parts)
