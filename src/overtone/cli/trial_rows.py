"""A trial as JSON for scripts, and as a row of a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from overtone.control.overview import status_now
from overtone.core.trial import state_word
from overtone.core.types import cause_of_end
from overtone.observers.display.plain_text import clean, cut, duration, number, show

if TYPE_CHECKING:
    from overtone.analysis import RecordedTrial
    from overtone.cli.tables import TableColumn
    from overtone.core.types import Why

_MAX_VALUE = 24
_MOST_PARAMETERS = 6


class RanksBy(NamedTuple):
    """The metric that ranks trials, its mode, and the value of each trial that counts."""

    metric: str | None
    mode: str | None = None
    scope: str = "last"


def trial_data(
    trial: RecordedTrial, is_running: bool, metric: str | None, scope: str = "last", mode: str | None = None
) -> dict[str, Any]:
    """Return a trial as data for scripts."""
    last = trial.last_result
    return {
        "trial_id": trial.trial_id,
        "index": trial.index,
        "name": str(trial),
        "status": status_now(trial.status, is_running),
        "end": end_of(trial),
        "config": trial.config,
        "value": trial.value(metric, mode or "max", scope) if metric is not None else None,
        "training_iteration": last.get("training_iteration"),
        "time_total_s": last.get("time_total_s"),
        "results": trial.num_results,
        "why": why_data(trial.why),
        "failures": trial.num_failures,
        "error": trial.error or None,
        "path": trial.local_path,
    }


def end_of(trial: RecordedTrial) -> str | None:
    """Return what ended a trial, as `TrialColumns.end` has it; None until then."""
    if not trial.is_finished():
        return None
    return "failed" if trial.status == "ERROR" else cause_of_end(trial.why)


def state_now(trial: RecordedTrial, is_running: bool) -> str:
    """Return in a word where a trial stands: "finished", or "stopped" if it was cut short."""
    word = state_word(trial.status, cause_of_end(trial.why))
    return status_now(word.upper(), is_running).lower()


def why_data(why: Why | None) -> dict[str, Any] | None:
    """Return a reason with all its fields."""
    if why is None:
        return None
    names = ("rule", "t", "rung", "cutoff", "rank", "of", "against", "note", "bracket")
    return {name: getattr(why, name) for name in names}


def parameter_names(trials: Sequence[RecordedTrial]) -> list[str]:
    """Return the parameters that a table shows: parameters that differ between trials."""
    from overtone.analysis.column_ranking import varying_parameters
    from overtone.analysis.recorded_trial import index_of
    from overtone.observers.columns import varying

    columns = index_of(trials[0]).columns if trials else None
    if columns is not None and len(columns) == len(trials):
        return varying_parameters(columns, list(trials))[:_MOST_PARAMETERS]
    return varying(trial.config for trial in trials)[:_MOST_PARAMETERS]


def nodes_of(trials: Sequence[RecordedTrial]) -> list[str]:
    """Return the address of the node where each trial ran last; "" for all if they ran on one node."""
    nodes = [trial.node_ip for trial in trials]
    return nodes if len({*nodes} - {""}) > 1 else [""] * len(nodes)


def table_columns(parameters: Sequence[str], by: RanksBy) -> list[TableColumn]:
    """Return the columns of a table of trials; `table_row` fills them, and `nodes_of` the last one."""
    from overtone.cli.tables import TableColumn

    metric = clean(by.metric or "result")

    return [
        TableColumn("trial"),
        TableColumn("status"),
        *(TableColumn(clean(name.rsplit("/", 1)[-1]), right=True, keep=5, least=9) for name in parameters),
        TableColumn(metric if by.scope == "last" else f"{metric} ({by.scope})", right=True, keep=8, least=10),
        TableColumn("iter", right=True, keep=6),
        TableColumn(f"best {metric} (iter)", right=True, keep=3, least=12),
        TableColumn("time", right=True, keep=2),
        TableColumn("why", keep=4, least=16),
        TableColumn("node", keep=1),
    ]


def table_row(trial: RecordedTrial, parameters: Sequence[str], by: RanksBy, is_running: bool) -> list[str]:
    """Return the cells of a trial."""
    from overtone.cli.ranking import peak
    from overtone.core.goal import lookup

    last = trial.last_result
    value = trial.value(by.metric, by.mode or "max", by.scope) if by.metric is not None else None
    best, at = peak(trial, by.metric, by.mode)
    seconds = last.get("time_total_s")
    return [
        trial.trial_id,
        state_now(trial, is_running),
        *(cut(_in_a_cell(lookup(trial.config, name)), _MAX_VALUE) for name in parameters),
        "" if value is None else number(value),
        show(last.get("training_iteration")),
        "" if best is None else f"{number(best)} ({show(at)})",
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
