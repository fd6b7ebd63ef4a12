"""`overtone best EXP`: the best trial, its config and where its checkpoint is."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from overtone.cli.arguments import Arguments, add_experiment, add_goal, add_json, add_scope
from overtone.cli.exit_codes import OK, NotFoundError

if TYPE_CHECKING:
    from overtone.analysis import RecordedTrial


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `overtone best`."""
    add_experiment(parser)
    add_goal(parser)
    add_scope(parser)
    add_json(parser)


def run(args: Arguments) -> int:
    """Show the best trial.

    Raises:
        NotFoundError: There is none.
    """
    from overtone.cli.lookup import analysis_of, journal_of
    from overtone.cli.ranking import goal_needed, ranking
    from overtone.control.holder import holder

    journal = journal_of(args.experiment, args.dir)
    analysis, trials = analysis_of(journal, args.metric, args.mode)
    metric, mode = goal_needed(analysis, args.metric, args.mode)
    ranked = ranking(analysis, trials, metric, mode, args.scope)
    if not ranked:
        from overtone.analysis.aim import check_reported

        check_reported(metric, (result for one in trials for result in one.results()))
        raise NotFoundError(
            f"{journal.parent} has no best trial yet: none of {len(trials)} reported a finite {metric!r}"
        )
    value, trial = ranked[0]
    is_running = holder(journal) is not None
    data = _data(trial, metric, mode, value, args.scope, is_running)
    if args.json:
        from overtone.cli.json_output import write_json

        write_json(data)
    else:
        _show(data, trial, len(ranked), is_running)
    return OK


def _data(
    trial: RecordedTrial, metric: str, mode: str, value: float, scope: str, is_running: bool
) -> dict[str, Any]:
    from overtone.cli.ranking import peak
    from overtone.cli.trial_rows import trial_data

    best_value, best_iteration = peak(trial, metric, mode)
    checkpoint = trial.checkpoint
    return {
        **trial_data(trial, is_running, metric),
        "metric": metric,
        "mode": mode,
        "scope": scope,
        "value": value,
        "best_value": best_value,
        "best_iteration": best_iteration,
        "last_result": trial.last_result,
        "checkpoint": None if checkpoint is None else checkpoint.path,
    }


def _show(data: dict[str, Any], trial: RecordedTrial, n_ranked: int, is_running: bool) -> None:
    from overtone.analysis.frames import flatten
    from overtone.cli.ranking import SCOPES_SHOWN, peak_shown
    from overtone.cli.tables import show_facts
    from overtone.cli.trial_rows import parameter_shown, state_now
    from overtone.observers.display.plain_text import number, show

    at = data["best_iteration"] if data["scope"] == "all" else data["training_iteration"]
    where = f" at iteration {show(at)}" if at is not None and data["scope"] in ("last", "all") else ""
    best_value = data["best_value"]
    better = "" if best_value == data["value"] else peak_shown(best_value, data["best_iteration"])
    show_facts([
        ("trial", f"{trial.trial_id}, the best of {n_ranked} by the {SCOPES_SHOWN[data['scope']]}"),
        (data["metric"], f"{number(data['value'])}{where} ({SCOPES_SHOWN[data['scope']]})"),
        ("on the way", better),
        ("status", state_now(trial, is_running)),
        *((f"config {name}", parameter_shown(one)) for name, one in flatten(trial.config).items()),
        ("checkpoint", data["checkpoint"] or ""),
        ("folder", data["path"]),
    ])  # fmt: skip
