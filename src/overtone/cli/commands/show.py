"""`overtone show EXP [TRIAL]`: an experiment and its trials, or one trial."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from overtone.cli.arguments import Arguments, add_experiment, add_goal, add_json, add_scope, positive
from overtone.cli.exit_codes import OK

if TYPE_CHECKING:
    from overtone.analysis import RecordedTrial
    from overtone.cli.trial_rows import RanksBy

_NODES = 3
_ROWS = 20


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `overtone show`."""
    add_experiment(parser)
    parser.add_argument("trial", metavar="TRIAL", nargs="?", help="show this trial only")
    parser.add_argument("-n", type=positive, metavar="N", help=f"so many trials ({_ROWS}); 0: all")
    order = parser.add_mutually_exclusive_group()
    order.add_argument("--newest", action="store_true", help="the newest trials first, not the best")
    order.add_argument("--failed", action="store_true", help="failed trials only")
    add_goal(parser)
    add_scope(parser)
    add_json(parser)


def run(args: Arguments) -> int:
    """Show it."""
    from overtone.cli.lookup import analysis_of, journal_of, trial_id
    from overtone.cli.ranking import goal_of, ranking
    from overtone.cli.trial_rows import RanksBy
    from overtone.control.overview import overview
    from overtone.reading.summary_cache import SummaryCache

    journal = journal_of(args.experiment, args.dir)
    with SummaryCache() as index:
        facts = overview(journal, index)
    analysis, trials = analysis_of(journal, args.metric, args.mode)
    metric, mode = goal_of(analysis, args.metric, args.mode)
    ranked = ranking(analysis, trials, metric, mode, args.scope)
    best = _best(*ranked[0], metric, mode, args.scope) if ranked else None
    facts = {**facts, "metric": metric, "mode": mode, "best": best}
    is_running = facts["driver"] is not None
    if args.trial is not None:
        wanted = trial_id(args.trial, (one.trial_id for one in trials), journal.parent)
        _show_trial(next(one for one in trials if one.trial_id == wanted), metric, is_running, args.json)
        return OK
    ordered = _ordered([one for _, one in ranked], trials, args)
    if args.json:
        from overtone.cli.json_output import write_json
        from overtone.cli.trial_rows import trial_data

        kept = ordered[: args.n] if args.n else ordered
        header = analysis.runner_data()
        write_json({
            **facts,
            "seed": header.get("seed"),
            "command": header.get("command"),
            "directory": header.get("directory"),
            "code": header.get("code"),
            "parts": header.get("parts"),
            "trial_list": [trial_data(one, is_running, metric, args.scope, mode) for one in kept],
        })  # fmt: skip
        return OK
    _show(facts, analysis.runner_data(), ranked[0][1] if ranked else None)
    by = RanksBy(metric, mode, args.scope)
    _show_table(ordered, _ROWS if args.n is None else args.n, trials, by, is_running)
    return OK


def _best(
    value: float, trial: RecordedTrial, metric: str | None, mode: str | None, scope: str
) -> dict[str, Any]:
    from overtone.cli.ranking import peak

    best_value, best_iteration = peak(trial, metric, mode)
    return {
        "trial_id": trial.trial_id, "value": value, "scope": scope,
        "best_value": best_value, "best_iteration": best_iteration,
    }  # fmt: skip


def _ordered(
    ranked: list[RecordedTrial], trials: list[RecordedTrial], args: Arguments
) -> list[RecordedTrial]:
    if args.failed:
        return [one for one in trials if one.num_failures or one.status == "ERROR"]
    if args.newest:
        return trials[::-1]
    known = {one.trial_id for one in ranked}
    return [*ranked, *(one for one in trials if one.trial_id not in known)]


def _show(facts: dict[str, Any], header: dict[str, Any], first: RecordedTrial | None) -> None:
    from overtone.cli.tables import show_facts
    from overtone.control.overview import counted
    from overtone.observers.display.plain_text import duration
    from overtone.quantity_text import size_text
    from overtone.reading.imported import origin_of

    can_resume = facts["is_resumable"] and not origin_of(header)
    of = f" of {facts['planned']} planned" if (facts["planned"] or 0) > facts["trials"] else ""
    results = f"{facts['results']} result{'' if facts['results'] == 1 else 's'}"
    show_facts([
        ("experiment", facts["name"]),
        ("state", _state(facts)),
        ("imported", origin_of(header)),
        ("to go on", f"overtone resume {_quoted(facts['path'])}" if can_resume else ""),
        ("trainable", facts["trainable"]),
        ("trials", f"{facts['trials']}{of}: {counted(facts['statuses'])}; {results}"),
        ("best", _shown_best(facts)),
        ("its config", "" if first is None else _shown_config(first)),
        ("goal", _goal(facts, header)),
        ("scheduler", _part(header, "scheduler")),
        ("searcher", _part(header, "searcher")),
        ("started", _started(facts)),
        ("ran for", duration(facts["duration_s"])),
        ("machines", _machines(facts["path"])),
        ("command", _command(header)),
        ("code", _code(header.get("code"))),
        ("folder", f"{facts['path']} ({size_text(facts['size_bytes'])})"),
    ])  # fmt: skip


def _goal(facts: dict[str, Any], header: dict[str, Any]) -> str:
    """Return text such as `min loss`; of several objectives all, with the one that ranks here first."""
    from overtone.errors import GoalError
    from overtone.reading.recorded_goal import recorded_objectives

    if facts["metric"] is None:
        return ""
    text = f"{facts['mode']} {facts['metric']}"
    try:
        recorded = recorded_objectives({"parts": header.get("parts")})
    except GoalError:
        return text
    others = [f"{mode} {name}" for name, mode in zip(recorded.metrics, recorded.modes, strict=False)]
    others = [one for one in others if one != text]
    return f"{', '.join([text, *others])}: ranked by the first" if others else text


def _machines(folder: str) -> str:
    """Return text such as `vm: CPU 83 % on average, memory up to 12 GiB of 31 GiB`, of the first nodes."""
    import os

    from overtone.worker.machines.ring import FOLDER

    if not os.path.isdir(os.path.join(folder, FOLDER)):
        return ""  # spares the import of NumPy
    import numpy as np

    from overtone.quantity_text import size_text
    from overtone.reading.machine_samples import machine_samples

    lines = []
    for node, one in machine_samples(folder).items():
        known = one.cpu[~np.isnan(one.cpu)]
        cpu = f"CPU {known.mean():.0%} on average, " if len(known) else ""
        if len(one.time):
            most = int(one.memory_used.argmax())
            used, total = size_text(int(one.memory_used[most])), size_text(int(one.memory_total[most]))
            lines.append(f"{node}: {cpu}memory up to {used} of {total}")
    more = f"; and {len(lines) - _NODES} more" if len(lines) > _NODES else ""
    return "; ".join(lines[:_NODES]) + more


def _shown_best(facts: dict[str, Any]) -> str:
    """Return text such as `loss=0.125 by 57c12_00009 (last value); on the way 0.12 at iteration 18`."""
    from overtone.cli.ranking import SCOPES_SHOWN, peak_shown
    from overtone.observers.display.plain_text import number

    best = facts["best"]
    if best is None:
        return ""
    text = f"{facts['metric']}={number(best['value'])} by {best['trial_id']} ({SCOPES_SHOWN[best['scope']]})"
    if best["best_value"] == best["value"]:
        return text
    return f"{text}; on the way {peak_shown(best['best_value'], best['best_iteration'])}"


def _shown_config(trial: RecordedTrial) -> str:
    from overtone.cli.trial_rows import parameter_shown

    return ", ".join(f"{name}={parameter_shown(one)}" for name, one in trial.evaluated_params.items())


def _state(facts: dict[str, Any]) -> str:
    if facts["driver"] is not None:
        if facts["driver"]["pid"] is None:
            return "running"
        return f"running: process {facts['driver']['pid']} on {facts['driver']['hostname']}"
    return str(facts["state"])


def _started(facts: dict[str, Any]) -> str:
    from overtone.cli.json_output import at_home

    times = f", and resumed {facts['runs'] - 1} times" if facts["runs"] > 2 else ""
    return at_home(facts["started"]) + (", and resumed once" if facts["runs"] == 2 else times)


def _part(header: dict[str, Any], name: str) -> str:
    parts = header.get("parts")
    part = parts.get(name) if isinstance(parts, dict) else None
    if isinstance(part, dict):
        part = part.get("path", "")
    return str(part or "").rsplit(".", 1)[-1]


def _code(facts: Any) -> str:
    """Return the commit and the packages of the experiment's code."""
    if not isinstance(facts, dict):
        return ""
    packages = facts.get("packages")
    shown = [f"{name} {version}" for name, version in packages.items()] if isinstance(packages, dict) else []
    if isinstance(commit := facts.get("commit"), str):
        changes = {True: ", with changes that are not committed", None: ""}.get(facts.get("is_modified"), "")
        shown.insert(0, f"commit {commit[:10]}{changes}")
    return "; ".join(shown)


def _command(header: dict[str, Any]) -> str:
    command = header.get("command")
    return " ".join(_quoted(str(one)) for one in command) if isinstance(command, list) else ""


def _quoted(text: str) -> str:
    from shlex import quote

    return quote(text)


def _show_table(
    ordered: list[RecordedTrial],
    rows: int,
    trials: list[RecordedTrial],
    by: RanksBy,
    is_running: bool,
) -> None:
    from overtone.cli.tables import say, show_table
    from overtone.cli.trial_rows import nodes_of, parameter_names, table_columns, table_row

    if not ordered:
        return
    shown = ordered[:rows] if rows else ordered
    parameters = parameter_names(trials)
    say()
    show_table(
        table_columns(parameters, by),
        [
            [*table_row(one, parameters, by, is_running), node]
            for one, node in zip(shown, nodes_of(shown), strict=True)
        ],
    )
    if len(shown) < len(ordered):
        say(f"... {len(ordered) - len(shown)} more: -n 0 shows all", "dim")


def _show_trial(trial: RecordedTrial, metric: str | None, is_running: bool, as_json: bool) -> None:
    from overtone.cli.trial_rows import trial_data

    saved = [{"path": one.path, "training_iteration": ref.t} for one, ref in _saved(trial)]
    data = {
        **trial_data(trial, is_running, metric),
        "last_result": trial.last_result or None,
        "checkpoints": saved,
        "traceback": trial.traceback or None,
    }
    if as_json:
        from overtone.cli.json_output import write_json

        write_json(data)
        return
    from overtone.analysis.frames import flatten
    from overtone.cli.tables import say, show_facts
    from overtone.cli.trial_rows import in_short, parameter_shown, state_now
    from overtone.core.goal import OWN_FIELDS
    from overtone.observers.display.plain_text import duration, show

    reported = flatten({**trial.last_result, "config": None})
    seconds = data["time_total_s"]
    took = f" in {duration(seconds)}" if isinstance(seconds, (int, float)) else ""
    show_facts([
        ("trial", f"{trial.trial_id} (index {trial.index})"),
        ("status", state_now(trial, is_running)),
        ("why", in_short(trial)),
        ("node", "" if trial.node_ip.startswith("127.") else trial.node_ip),
        *((f"config {name}", parameter_shown(one)) for name, one in flatten(trial.config).items()),
        *((f"last {name}", show(one)) for name, one in reported.items() if name not in OWN_FIELDS),
        ("results", f"{trial.num_results}{took}"),
        ("checkpoint", saved[-1]["path"] if saved else ""),
        ("folder", trial.local_path),
    ])  # fmt: skip
    if trial.traceback:
        say()
        for line in trial.traceback.rstrip().split("\n"):
            say(line)


def _saved(trial: RecordedTrial) -> list[tuple[Any, Any]]:
    return [(trial.opened(one), one) for one in trial.references()]
