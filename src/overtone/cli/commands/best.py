"""`overtone best EXP`: the best trial, its config and where its checkpoint is."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from overtone.analysis.summary import SCOPES
from overtone.cli.arguments import Arguments, add_experiment, add_goal, add_json
from overtone.cli.exit_codes import OK, NotFoundError

if TYPE_CHECKING:
    from overtone.analysis import RecordedTrial


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `overtone best`."""
    add_experiment(parser)
    add_goal(parser)
    about = "compare the last value of each trial, its best one (all), or an average (last)"
    parser.add_argument("--scope", choices=SCOPES, default="last", help=about)
    add_json(parser)


def run(args: Arguments) -> int:
    """Show the best trial.

    Raises:
        NotFoundError: There is none.
    """
    from overtone.cli.lookup import analysis_of, journal_of
    from overtone.cli.ranking import goal_needed, ranking
    from overtone.cli.run_holder import holder

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
    data = _data(trial, metric, mode, value, args.scope, is_running=holder(journal) is not None)
    if args.json:
        from overtone.cli.json_output import write_json

        write_json(data)
    else:
        _show(data, trial, len(ranked))
    return OK


def _data(
    trial: RecordedTrial, metric: str, mode: str, value: float, scope: str, is_running: bool
) -> dict[str, Any]:
    from overtone.analysis.ranking import best_result
    from overtone.cli.trial_rows import trial_data

    peak = best_result(trial.results(), metric, mode) or {}
    checkpoint = trial.checkpoint
    return {
        **trial_data(trial, is_running, metric),
        "metric": metric,
        "mode": mode,
        "scope": scope,
        "value": value,
        "best_value": peak.get(metric),
        "best_iteration": peak.get("training_iteration"),
        "last_result": trial.last_result,
        "checkpoint": None if checkpoint is None else checkpoint.path,
    }


def _show(data: dict[str, Any], trial: RecordedTrial, n_ranked: int) -> None:
    from overtone.analysis.frames import flatten
    from overtone.cli.tables import show_facts
    from overtone.cli.trial_rows import parameter_shown
    from overtone.observers.display.plain_text import number, show

    scope, at = data["scope"], data["training_iteration"]
    where = f"({scope})" if scope != "last" else "at its last iteration" + ("" if at is None else f", {at}")
    if scope == "all" and data["best_iteration"] is not None:
        where = f"at iteration {data['best_iteration']}, its best"
    peak = data["best_value"]
    better = "" if peak in (None, data["value"]) else f"{show(peak)} at iteration {data['best_iteration']}"
    show_facts([
        ("trial", f"{trial.trial_id}, the best of {n_ranked}"),
        (data["metric"], f"{number(data['value'])} {where}"),
        (f"its {data['mode']}", better),
        ("status", data["status"]),
        *((f"config {name}", parameter_shown(one)) for name, one in flatten(trial.config).items()),
        ("checkpoint", data["checkpoint"] or ""),
        ("folder", data["path"]),
    ])  # fmt: skip
