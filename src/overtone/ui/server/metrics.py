"""`/metrics`: the experiments of a folder that run, or ended lately, as Prometheus reads them."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from overtone.errors import OvertoneError
from overtone.reading.machine_samples import MachineSamples, machine_samples
from overtone.reading.run_metrics import CONTENT_TYPE, NodeMetrics, RunMetrics, exposition

if TYPE_CHECKING:
    from overtone.ui.data.experiment import Experiment
    from overtone.ui.data.experiments import Experiments

__all__ = ["CONTENT_TYPE", "metrics_of"]

LATELY_S = 3600.0
"""Seconds for which an experiment stays after its last record, so that its end is seen."""

MOST_RUNS = 50
"""Most experiments in an answer."""

_FRESH_S = 60.0


def metrics_of(experiments: Experiments) -> bytes:
    """Return the metrics of the experiments that run, or had a record in the last hour.

    Raises:
        StorageError: They are at a URL that cannot be read.
    """
    return exposition(_runs(experiments))


def _runs(experiments: Experiments) -> Iterator[RunMetrics]:
    now, n = time.time(), 0
    for facts in experiments.listing():
        is_running = facts["state"] == "running"
        if n == MOST_RUNS or not (is_running or now - _changed_at(facts["path"]) < LATELY_S):
            continue
        try:
            run = _run(experiments.get(facts["id"]), now)
        except (OvertoneError, OSError, LookupError):  # Damaged, or deleted meanwhile.
            continue
        n += 1
        yield run


def _changed_at(path: str) -> float:
    """Return when the experiment's journal on this machine changed, in seconds since 1970."""
    from overtone.store.cache import local_folder
    from overtone.store.files import is_url
    from overtone.store.folder_mark import JOURNAL

    try:
        return os.stat(os.path.join(local_folder(path) if is_url(path) else path, JOURNAL)).st_mtime
    except OSError:
        return 0.0


def _run(one: Experiment, now: float) -> RunMetrics:
    facts = one.overview()
    is_over = facts["state"] not in ("running", "stopping")
    return RunMetrics(
        experiment=facts["name"],
        trials=facts["statuses"],
        n_results=facts["results"],
        planned=facts["planned"],
        best=_best(facts.get("goals", [])),
        updated=now,
        is_over=is_over,
        duration_s=facts["duration_s"],
        n_records=facts["n"],
        nodes={} if is_over else dict(_nodes(machine_samples(one.journal.parent), now)),
    )


def _best(goals: list[dict[str, Any]]) -> dict[str, float]:
    values = {goal["metric"]: (goal["best"] or {}).get("value") for goal in goals}
    return {name: value for name, value in values.items() if isinstance(value, (int, float))}


def _nodes(samples: Mapping[str, MachineSamples], now: float) -> Iterator[tuple[str, NodeMetrics]]:
    """Give the newest sample of each node that has a fresh one."""
    for name, one in samples.items():
        if not len(one.time) or now - one.time[-1] > _FRESH_S:
            continue
        yield (
            name,
            NodeMetrics(
                cpu_ratio=float(one.cpu[-1]),
                memory_used_bytes=float(one.memory_used[-1]),
                memory_bytes=float(one.memory_total[-1]),
                disk_used_bytes=float(one.disk_used[-1]),
                disk_bytes=float(one.disk_total[-1]),
                gpu_ratios=one.gpu_use[-1].tolist(),
                gpu_memory_used_bytes=one.gpu_memory_used[-1].tolist(),
            ),
        )
