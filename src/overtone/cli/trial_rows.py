"""A trial as JSON for scripts, and as a row of a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from overtone.cli.overview import status_now
from overtone.observers.display.plain_text import clean, cut, duration, number, show

if TYPE_CHECKING:
    from overtone.analysis import RecordedTrial
    from overtone.cli.tables import Column
    from overtone.core.types import Why

_MAX_VALUE = 24
_MOST_PARAMETERS = 6


def trial_data(trial: RecordedTrial, is_running: bool, metric: str | None) -> dict[str, Any]:
    """Return a trial as data for scripts."""
    last = trial.last_result
    return {
        "trial_id": trial.trial_id,
        "index": trial.index,
        "name": str(trial),
        "status": status_now(trial.status, is_running),
        "config": trial.config,
        "value": trial.value(metric) if metric is not None else None,
        "training_iteration": last.get("training_iteration"),
        "time_total_s": last.get("time_total_s"),
        "results": trial.num_results,
        "why": why_data(trial.why),
        "failures": trial.num_failures,
        "error": trial.error or None,
        "path": trial.local_path,
    }


def why_data(why: Why | None) -> dict[str, Any] | None:
    """Return a reason with all its fields."""
    if why is None:
        return None
    names = ("rule", "t", "rung", "cutoff", "rank", "of", "against", "note")
    return {name: getattr(why, name) for name in names}


def parameter_names(trials: Sequence[RecordedTrial]) -> list[str]:
    """Return the parameters that a table shows: parameters that differ between trials."""
    from overtone.observers.columns import varying

    return varying(trial.config for trial in trials)[:_MOST_PARAMETERS]


def table_columns(parameters: Sequence[str], metric: str | None) -> list[Column]:
    """Return the columns of a table of trials; `table_row` fills them."""
    from overtone.cli.tables import Column

    return [
        Column("trial"),
        Column("status"),
        *(Column(clean(name.rsplit("/", 1)[-1]), right=True, keep=5, least=9) for name in parameters),
        Column(clean(metric or "result"), right=True, keep=8, least=10),
        Column("iter", right=True, keep=6),
        Column("time", right=True, keep=2),
        Column("why", keep=4, least=16),
    ]


def table_row(
    trial: RecordedTrial, parameters: Sequence[str], metric: str | None, is_running: bool
) -> list[str]:
    """One trial in cells."""
    from overtone.core.goal import lookup

    last = trial.last_result
    value = trial.value(metric) if metric is not None else None
    seconds = last.get("time_total_s")
    return [
        trial.trial_id,
        status_now(trial.status, is_running),
        *(cut(_in_a_cell(lookup(trial.config, name)), _MAX_VALUE) for name in parameters),
        "" if value is None else number(value),
        show(last.get("training_iteration")),
        duration(seconds) if isinstance(seconds, (int, float)) else "",
        in_short(trial),
    ]


def parameter_shown(value: Any) -> str:
    """Return a parameter's value as text; for a value that is not data, its description."""
    from overtone.space.data import PLACE

    return show(value.get("shown")) if isinstance(value, dict) and PLACE in value else show(value)


def _in_a_cell(value: Any) -> str:
    """Return the same, rounded: a table is there to compare."""
    return f"{value:.4g}" if isinstance(value, float) else parameter_shown(value)


def in_short(trial: RecordedTrial) -> str:
    """Return the reason for a trial's state, "asha at rung 4: 7 of 9", or its error, in one line."""
    if trial.error:
        return trial.error.strip().split("\n", 1)[0]
    why = trial.why
    if why is None or why.rule in ("returned", "halted"):
        return ""
    if why.rule == "stop" and why.note:
        return why.note
    words = why.rule.replace("_", " ")
    if why.rung is not None:
        words += f" at rung {number(why.rung)}"
    if why.rank is not None:
        words += f": {why.rank} of {why.of}" if why.of is not None else f": rank {why.rank}"
    elif why.note:
        words = why.note
    return words
