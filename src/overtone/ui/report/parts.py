"""The answers of a report: what the page asks a server for, asked beforehand."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from overtone.analysis.page.tables import failed_rows, ranked_rows
from overtone.analysis.plots.importances import param_importances
from overtone.analysis.scenes.catalogue import is_varied, useful_plots
from overtone.errors import OvertoneError
from overtone.ui.report.packing import packed_json, packed_message

if TYPE_CHECKING:
    from overtone.reading.columns.trial_columns import TrialColumns
    from overtone.ui.data.experiment import Experiment

MOST_BEST, MOST_FAILED = 50, 20
"""Trials that a report has in full, if the experiment has more than `FEW`."""
FEW = 120
MOST_DECISIONS = 200
_MOST_METRICS = 6
_MOST_POINTS = 200
_MOST_AT_ONCE = 50  # curves
_MOST_PAIRED = 4
_MOST_CURVES = 300
_QUANTILES = ("0.05", "0.25", "0.5")


def columns_part(experiment: Experiment, mantissa_bits: int | None) -> tuple[str, str]:
    """Return the name and the packed text of the columns of all trials.

    Args:
        mantissa_bits: See `packed_message`. Objectives are exact, for ranks, and so are all values of the
            trials that the report has in full.
    """
    columns = experiment.followed.columns()
    goals = {f"metric:{metric}{of}" for metric, _ in columns.goals for of in ("", ":min", ":max")}
    packed = packed_message(experiment.columns(), mantissa_bits, chosen_rows(columns), goals)
    return f"{experiment.name}/columns", packed


def parts_of(experiment: Experiment) -> Iterator[tuple[str, str]]:
    """Yield the name and the packed text of each answer about an experiment but its columns."""
    name, columns = experiment.name, experiment.followed.columns()
    rows = chosen_rows(columns)
    ids = [columns.ids[row] for row in rows]
    yield f"{name}/overview", packed_json({**experiment.overview(), "id": name})
    yield f"{name}/rows", packed_json(experiment.rows(rows))
    yield f"{name}/trials", packed_json({one: {**experiment.trial(one), "allowed": []} for one in ids})
    yield f"{name}/curves", packed_json(_curves(experiment, columns, ids))
    yield f"{name}/decisions", packed_json(experiment.decisions(limit=MOST_DECISIONS))
    yield f"{name}/machines", packed_json(experiment.machines())
    known: dict[str, int] = {}
    for plot, options in plots_of(columns):
        try:
            message = experiment.plot(plot, **options)
        except OvertoneError:
            continue  # the view says the same of a plot that is not there
        yield f"{name}/plots/{len(known)}", packed_message(message)
        known[plot_key(plot, options)] = len(known)
    yield f"{name}/plots", packed_json(known)


def chosen_rows(columns: TrialColumns) -> list[int]:
    """Return the rows of the trials that a report has in full: all of a few, else the best and the failed."""
    if len(columns) <= FEW:
        return list(range(len(columns)))
    best: list[int] = []
    for metric, mode in columns.goals:
        if metric in columns.metrics:
            best += ranked_rows(columns, metric, mode)[:MOST_BEST].tolist()
    return list(dict.fromkeys([*best, *failed_rows(columns)[:MOST_FAILED].tolist()]))


def plots_of(columns: TrialColumns) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the plots that a report has, with the options that the page's views ask for."""
    useful = set(useful_plots(columns))
    yield from ((name, {}) for name in ("pareto_front", "hypervolume_history") if name in useful)
    for metric, _ in columns.goals:
        goal = {"metric": metric}
        yield "learning_curves", {**goal, "max_curves": _MOST_CURVES}
        yield from ((name, goal) for name in ("rungs", "lineage", "cost", "edf"))
        if "param_importances" in useful:
            yield "param_importances", goal
            yield from (("param_importances", {**goal, "quantile": one}) for one in _QUANTILES)
        if "contour" not in useful:
            continue
        order = _important(columns, metric)[:_MOST_PAIRED]
        pairs = [[x, y] for x in order for y in order if x != y]
        for name in ("contour", "rank"):
            yield name, goal
            yield from ((name, {**goal, "params": _json(pair)}) for pair in pairs)


def _json(names: Sequence[str]) -> str:
    """Return JSON as JavaScript writes it."""
    return json.dumps(names, separators=(",", ":"), ensure_ascii=False)


def _important(columns: TrialColumns, metric: str) -> list[str]:
    """Return the hyperparameters that vary, the most important first."""
    varied = [name for name, column in columns.params.items() if is_varied(column)]
    if len(varied) <= _MOST_PAIRED:
        return varied
    ranked = param_importances(columns, metric=metric, n_bootstrap=0).targets
    return [name for name in ranked[0].params if name in varied] if ranked else varied


def plot_key(name: str, options: Mapping[str, Any]) -> str:
    """Return the key of a plot with options, as `plotKey` of js/data/embedded.js makes it."""
    return "?".join([name, *sorted(f"{key}={value}" for key, value in options.items())])


def _curves(experiment: Experiment, columns: TrialColumns, ids: Sequence[str]) -> dict[str, Any]:
    names = list(dict.fromkeys([*(metric for metric, _ in columns.goals), *columns.metrics]))
    found = {}
    for name in [name for name in names if name in columns.metrics][:_MOST_METRICS]:
        parts = [
            experiment.curves(ids[first : first + _MOST_AT_ONCE], name, _MOST_POINTS)
            for first in range(0, len(ids), _MOST_AT_ONCE)
        ]
        if parts:
            found[name] = {**parts[0], "trials": [trial for part in parts for trial in part["trials"]]}
    return found
