"""The machines of an experiment: what they do, which trials they have, and which of them is slow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from overtone.core.trial import Status
from overtone.quantity_text import number
from overtone.reading.columns.metric_fold import TIME
from overtone.reading.columns.trial_columns import TrialColumns
from overtone.reading.machine_samples import MachineSamples, machine_samples
from overtone.ui.data.experiment_view import ExperimentView
from overtone.ui.data.plain_json import nullable, plain
from overtone.worker.machines import DRIVER

POINTS = 600
SLOW = 1.25
"""The ratio to the other nodes from which on a node is called slow."""

_FEWEST_RESULTS = 10
_MOST_TRIALS = 200
_PLACED = [i for i, status in enumerate(Status) if status.is_placed]
_ERROR = list(Status).index(Status.ERROR)
_FINAL = [i for i, status in enumerate(Status) if status.is_final]


def machines(experiment: ExperimentView) -> dict[str, Any]:
    """Return the machines.

    Returns:
        {"nodes": [...], "slowest": a name or None, "sentence": which node is slow, and how slow}. A node has
        "name"; "time" (seconds since 1970), "cpu" (0 to 1), "memory_used", "disk_used" (bytes) as lists of
        at most `POINTS` numbers; "n_cpus", "memory_total", "disk_total"; "gpus" with "use",
        "memory_used" and "memory_total"; "trials" that run there now; "n_trials", "ended", "failed";
        "results", "results_per_minute" while trials ran there, "seconds_per_iteration" (the median of its
        trials), and "slowness": the ratio to the median of the other nodes. None if unknown.
    """
    columns = experiment.followed.columns()
    is_running = experiment.driver() is not None
    names, now = experiment.followed.live(lambda columns, reader: (dict(reader.run.names), reader.time))
    samples = _by_name(machine_samples(experiment.journal.parent), names)
    levels = [str(one) for one in columns.node.levels or ()]
    speeds = {name: _speed(columns, code) for code, name in enumerate(levels)}
    nodes = []
    for name in dict.fromkeys([*levels, *samples]):
        code = levels.index(name) if name in levels else -1
        nodes.append({
            "name": name, **_series(samples.get(name)), **_trials(columns, code, is_running, now),
            "seconds_per_iteration": speeds.get(name),
            "slowness": _slowness(name, speeds),
        })  # fmt: skip
    slowest, sentence = _verdict(nodes)
    return {"nodes": plain(nodes), "slowest": slowest, "sentence": sentence}


def _by_name(samples: Mapping[str, MachineSamples], names: Mapping[str, str]) -> dict[str, MachineSamples]:
    """Return the samples by the names that people see; a node whose name is taken keeps its address.

    Those of the driver's machine are left out where it is a node with samples of its own.
    """
    found: dict[str, MachineSamples] = {}
    for node in sorted(samples, key=lambda node: node == DRIVER):
        name = names.get(node, node)
        if node != DRIVER or name not in found:
            found[node if name in found else name] = samples[node]
    return found


def _series(samples: MachineSamples | None) -> dict[str, Any]:
    if samples is None or not len(samples.time):
        names = ("n_cpus", "memory_total", "disk_total")
        return {"time": [], "cpu": [], "memory_used": [], "disk_used": [], "gpus": [], **dict.fromkeys(names)}
    groups = _groups(len(samples.time))
    newest = {
        name: nullable(getattr(samples, name)[-1:])[0] for name in ("n_cpus", "memory_total", "disk_total")
    }

    def thinned(values: NDArray[np.float64], most: bool = True) -> list[Any]:
        """Return the greatest value of each group, so that peaks stay."""
        filled = np.where(np.isnan(values), -np.inf, values)
        return nullable((np.maximum if most else np.minimum).reduceat(filled, groups))

    gpus = [
        {
            "use": thinned(samples.gpu_use[:, i]),
            "memory_used": thinned(samples.gpu_memory_used[:, i]),
            "memory_total": nullable(samples.gpu_memory_total[-1:, i])[0],
        }
        for i in range(samples.gpu_use.shape[1])
    ]
    return {
        "time": nullable(samples.time[groups]), "cpu": thinned(samples.cpu),
        "memory_used": thinned(samples.memory_used), "disk_used": thinned(samples.disk_used),
        "gpus": gpus, **newest,
    }  # fmt: skip


def _groups(n: int) -> NDArray[np.int64]:
    return np.unique(np.linspace(0, n - 1, min(n, POINTS)).astype(np.int64))


def _trials(columns: TrialColumns, code: int, is_running: bool, now: float) -> dict[str, Any]:
    there = (columns.node.values == code) & ~columns.node.missing & (code >= 0)
    status = columns.status.values
    placed = np.flatnonzero(there & np.isin(status, _PLACED)) if is_running else np.zeros(0, np.int64)
    results = int(columns.n_results[there].sum())
    minutes = _occupied_minutes(columns, there, now)
    return {
        "trials": [{"trial_id": columns.ids[row], "row": row} for row in placed[:_MOST_TRIALS].tolist()],
        "n_trials": int(there.sum()),
        "ended": int((there & np.isin(status, _FINAL)).sum()),
        "failed": int((there & (status == _ERROR)).sum()),
        "results": results,
        "results_per_minute": results / minutes if minutes else None,
    }


def _occupied_minutes(columns: TrialColumns, there: NDArray[np.bool_], now: float) -> float:
    """Return the minutes in which at least one of these trials ran, up to the run's time `now`."""
    rows = np.flatnonzero(there & np.isfinite(columns.started))
    if not len(rows):
        return 0.0
    begin = columns.started[rows]
    end = np.where(np.isfinite(columns.ended[rows]), columns.ended[rows], now)
    order = np.argsort(begin, kind="stable")
    begin, end = begin[order], np.maximum.accumulate(end[order])
    gaps = np.maximum(begin[1:] - end[:-1], 0).sum()
    return float(end[-1] - begin[0] - gaps) / 60


def _speed(columns: TrialColumns, code: int) -> float | None:
    """Return the median over a node's trials of the seconds per iteration; None if they are too few."""
    there = (columns.node.values == code) & ~columns.node.missing & (columns.n_results > 0)
    time = columns.metrics.get(TIME)
    if time is None or int(columns.n_results[there].sum()) < _FEWEST_RESULTS:
        return None
    iterations = np.maximum(time.last_t[there], 1)
    seconds = time.last[there] / iterations
    seconds = seconds[np.isfinite(seconds)]
    return float(np.median(seconds)) if len(seconds) else None


def _slowness(name: str, speeds: dict[str, float | None]) -> float | None:
    own = speeds.get(name)
    others = [one for other, one in speeds.items() if other != name and one is not None]
    if own is None or not others or not (middle := float(np.median(others))):
        return None
    return own / middle


def _verdict(nodes: list[dict[str, Any]]) -> tuple[str | None, str]:
    known = [one for one in nodes if one["slowness"] is not None]
    if len(known) < 2:
        n = len(nodes)
        return (
            None,
            f"{n} node{'' if n == 1 else 's'}: a slow node shows once two nodes have 10 results each.",
        )
    slowest = max(known, key=lambda one: one["slowness"])
    if slowest["slowness"] < SLOW:
        spread = slowest["slowness"] * 100 - 100
        return None, (
            f"No node is slow: the slowest, {slowest['name']}, takes {max(0.0, spread):.0f} % more time per "
            "iteration than the others."
        )
    return slowest["name"], (
        f"{slowest['name']} is slow: an iteration takes "
        f"{number(round(slowest['seconds_per_iteration'], 3))} s there, {slowest['slowness']:.1f} times "
        "as long as on the other nodes."
    )
