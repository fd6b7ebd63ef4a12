"""The `== Status ==` block: label by label what users of Ray Tune know; pure rendering."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from overtone.core.goal import lookup, real
from overtone.observers.columns import DEFAULT_METRICS, Columns, headed, inferred_metrics, varying
from overtone.observers.display.plain_text import clean
from overtone.observers.display.text_table import boxed
from overtone.observers.trial_view import SeenTrial

SHOWN_ORDER = ("RUNNING", "PAUSED", "PENDING", "TERMINATED", "ERROR")
"""The order of statuses in a table."""

MAX_PARAMETERS = 8
"""The number of parameter columns if the user names none."""

_GIB = 2**30
_KNOWN_RESOURCES = ("cpu", "gpu", "memory", "object_store_memory")


def memory_line(used_bytes: float, total_bytes: float) -> str:
    """Return text such as `Memory usage on this node: 19.0/250.9 GiB`."""
    return f"Memory usage on this node: {used_bytes / _GIB:.1f}/{total_bytes / _GIB:.1f} GiB"


def resources_line(used: Mapping[str, float], capacity: Mapping[str, float]) -> str:
    """Return text such as `Resources requested: 20.0/112 CPUs, 16.0/16 GPUs, 0.0/689.53 GiB heap ...`."""
    parts = [
        f"{_held(used.get('cpu', 0.0))}/{_there(capacity.get('cpu', 0.0))} CPUs",
        f"{_held(used.get('gpu', 0.0))}/{_there(capacity.get('gpu', 0.0))} GPUs",
    ]
    for name, label in (("memory", "heap"), ("object_store_memory", "objects")):
        if name in capacity:
            held, there = used.get(name, 0.0) / _GIB, capacity[name] / _GIB
            parts.append(f"{_held(held)}/{_there(there)} GiB {label}")
    custom = [
        f"{_held(used.get(name, 0.0))}/{_held(amount)} {clean(name)}"
        for name, amount in sorted(capacity.items())
        if name not in _KNOWN_RESOURCES and not name.startswith("node:")
    ]
    return "Resources requested: " + ", ".join(parts) + (f" ({', '.join(custom)})" if custom else "")


def _held(amount: float) -> str:
    return str(round(float(amount), 2))


def _there(amount: float) -> str:
    return f"{round(amount, 2):.15g}"


def best_of(
    trials: Iterable[SeenTrial],
    metric: str,
    mode: str,
    allows: Callable[[Mapping[str, Any]], bool] | None = None,
) -> tuple[SeenTrial, float] | None:
    """Return the trial with the best last result, and its value; never NaN, nor what is not allowed."""
    sign = -1.0 if mode == "min" else 1.0
    best: tuple[SeenTrial, float] | None = None
    for trial in trials:
        value = lookup(trial.metrics, metric)
        if not isinstance(value, (int, float)) or value != value:
            continue
        value = real(value)
        if allows is not None and not allows(trial.metrics):
            continue
        value = real(value)
        if best is None or value * sign > best[1] * sign:
            best = trial, value
    return best


def best_line(trial_id: str, metric: str, value: float, parameters: Mapping[str, Any]) -> str:
    """Return `Current best trial: 358bb_00006 with mean_accuracy=0.1174 and parameters={...}`."""
    shown = clean(repr(dict(parameters)))
    return f"Current best trial: {clean(trial_id)} with {clean(metric)}={value} and parameters={shown}"


def count_line(trials: Iterable[SeenTrial], total: int | None) -> str:
    """Return text such as `Number of trials: 32/32 (25 PENDING, 4 RUNNING, 3 TERMINATED)`."""
    counts: dict[str, int] = {}
    for trial in trials:
        counts[trial.status] = counts.get(trial.status, 0) + 1
    n = sum(counts.values())
    listed = ", ".join(f"{counts[status]} {status}" for status in sorted(counts))
    return f"Number of trials: {n}{'' if total is None else f'/{total}'}{f' ({listed})' if listed else ''}"


def fair_share(counts: Mapping[str, int], room: int) -> dict[str, int]:
    """Return the number of rows for each status: equal shares; unused rows go to other statuses."""
    shares = dict.fromkeys(counts, 0)
    while room > 0:
        wanting = [status for status in sorted(counts) if shares[status] < counts[status]]
        if not wanting:
            break
        for status in wanting[:room]:
            shares[status] += 1
        room -= len(wanting)
    return shares


def select_rows(
    trials: Iterable[SeenTrial], max_rows: int, metric: str | None = None, mode: str = "max"
) -> tuple[list[SeenTrial], dict[str, int]]:
    """Return the trials to show, in their order, and how many of each status are left out.

    Args:
        metric: Sort by it, the best first, within each status; None keeps the order of creation.
    """
    groups: dict[str, list[SeenTrial]] = {}
    for trial in trials:
        groups.setdefault(trial.status, []).append(trial)
    shares = fair_share({status: len(group) for status, group in groups.items()}, max_rows)
    rows: list[SeenTrial] = []
    for status in SHOWN_ORDER:
        group = groups.get(status, [])
        if metric is not None:
            group = sorted(group, key=lambda trial: _rank(trial, metric, mode))
        rows += group[: shares.get(status, 0)]
    hidden = {status: len(groups[status]) - shares[status] for status in sorted(groups)}
    return rows, {status: count for status, count in hidden.items() if count}


def _rank(trial: SeenTrial, metric: str, mode: str) -> float:
    value = lookup(trial.metrics, metric)
    if not isinstance(value, (int, float)) or value != value:
        return float("inf")
    return value if mode == "min" else -value


def trial_table(
    rows: Sequence[SeenTrial],
    parameter_columns: Columns = None,
    metric_columns: Columns = None,
    infer_limit: int = 3,
    max_column_length: int = 20,
) -> list[str]:
    """Return the boxed table of `rows`; columns that would be empty are left out."""
    parameters = headed(parameter_columns) or headed(
        varying(row.evaluated_params for row in rows)[:MAX_PARAMETERS]
    )
    metrics = headed(metric_columns)
    if metric_columns is None:
        inferred = inferred_metrics((row.metrics for row in rows), infer_limit, DEFAULT_METRICS)
        metrics = {**DEFAULT_METRICS, **headed(inferred)}
    columns: list[tuple[str, list[Any]]] = [
        ("Trial name", [str(row) for row in rows]),
        ("status", [row.status for row in rows]),
        ("loc", [row.location for row in rows]),
    ]
    for name, header in parameters.items():
        columns.append((header, [lookup(row.config, name) for row in rows]))
    for name, header in metrics.items():
        cells = [lookup(row.metrics, name) for row in rows]
        if any(cell is not None for cell in cells):
            columns.append((header, cells))
    cells_by_row = list(zip(*(cells for _, cells in columns), strict=True))
    return boxed([header for header, _ in columns], cells_by_row, max_column_length)


def hidden_line(hidden: Mapping[str, int]) -> str:
    """Return text such as `... 12 more trials not shown (12 PENDING)`."""
    listed = ", ".join(f"{count} {status}" for status, count in hidden.items())
    return f"... {sum(hidden.values())} more trials not shown ({listed})"


def error_table(trials: Iterable[SeenTrial], max_rows: int) -> list[str]:
    """Return the failed trials with their error and the file that has the traceback; empty for none."""
    failed = [trial for trial in trials if trial.status == SeenTrial.ERROR]
    if not failed:
        return []
    shown = [
        (
            str(trial),
            trial.error.split("\n", 1)[0],
            os.path.relpath(trial.error_file, trial.local_experiment_path),
        )
        for trial in failed[:max_rows]
        if trial.error_file
    ]
    lines = [
        f"Number of errored trials: {len(failed)}",
        *boxed(("Trial name", "error", "error file"), shown, 80),
    ]
    if len(failed) > max_rows:
        lines.append(f"... {len(failed) - max_rows} more failed trials not shown")
    return lines
