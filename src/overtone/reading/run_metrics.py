"""Metrics of runs in Prometheus' text format: one table for the file of a run and for `/metrics`."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
"""The media type of `exposition`."""

SHOWN = ("PENDING", "RUNNING", "PAUSED", "TERMINATED", "ERROR")
"""Statuses that have a sample even if no trial has them."""


@dataclass(frozen=True, slots=True)
class NodeMetrics:
    """The newest sample of a node; NaN for what is not known.

    Attributes:
        cpu_ratio: The part of all CPUs that works, from 0 to 1.
        memory_used_bytes, memory_bytes: The used and the whole memory.
        disk_used_bytes, disk_bytes: The used and the whole file system with the experiment's folder.
        gpu_ratios: The part of the time in which each GPU computed, from 0 to 1.
        gpu_memory_used_bytes: The used memory of each GPU.
    """

    cpu_ratio: float = math.nan
    memory_used_bytes: float = math.nan
    memory_bytes: float = math.nan
    disk_used_bytes: float = math.nan
    disk_bytes: float = math.nan
    gpu_ratios: Sequence[float] = ()
    gpu_memory_used_bytes: Sequence[float] = ()


@dataclass(frozen=True, slots=True)
class RunMetrics:
    """The metrics of one run.

    Attributes:
        experiment: The name of its folder.
        trials: Number of trials by the status that users see.
        n_results: Number of results of all trials.
        planned: Number of trials that the search will make; None if unknown.
        best: For each metric of the goal that has one, the best of the last values of all trials.
        updated: When this was measured, in seconds since 1970.
        is_over: Whether the run has ended.
        duration_s: Seconds that the run has lasted; None if unknown.
        n_records: The number of the journal's last record; None if unknown.
        nodes: The newest sample of each node, by the node's name.
    """

    experiment: str
    trials: Mapping[str, int]
    n_results: int
    planned: int | None = None
    best: Mapping[str, float] = field(default_factory=dict)
    updated: float = 0.0
    is_over: bool = False
    duration_s: float | None = None
    n_records: int | None = None
    nodes: Mapping[str, NodeMetrics] = field(default_factory=dict)


Samples = Iterable[tuple[Sequence[str], "float | None"]]


class Metric(NamedTuple):
    """A metric: its name, type, meaning and further labels, and its samples of a run."""

    name: str
    kind: str
    text: str
    labels: Sequence[str]
    samples: Callable[[RunMetrics], Samples]


def _trials(run: RunMetrics) -> Samples:
    return [((status,), run.trials.get(status, 0)) for status in dict.fromkeys((*SHOWN, *run.trials))]


def _by_node(value: Callable[[NodeMetrics], float]) -> Callable[[RunMetrics], Samples]:
    return lambda run: [((name,), value(node)) for name, node in run.nodes.items()]


def _by_gpu(values: Callable[[NodeMetrics], Sequence[float]]) -> Callable[[RunMetrics], Samples]:
    return lambda run: [
        ((name, str(gpu)), value)
        for name, node in run.nodes.items()
        for gpu, value in enumerate(values(node))
    ]


_NODE, _GPU = ("node",), ("node", "gpu")

METRICS = (
    Metric("overtone_trials", "gauge", "Trials by status.", ("status",), _trials),
    Metric("overtone_results_total", "counter", "Results that trials reported.", (),
           lambda run: [((), run.n_results)]),
    Metric("overtone_trials_planned", "gauge", "Trials that the search will make.", (),
           lambda run: [((), run.planned)]),
    Metric("overtone_best_value", "gauge", "Best of the trials' last values.", ("metric",),
           lambda run: [((metric,), value) for metric, value in run.best.items()]),
    Metric("overtone_run_over", "gauge", "Whether the run has ended: 0 or 1.", (),
           lambda run: [((), run.is_over)]),
    Metric("overtone_run_duration_seconds", "gauge", "Seconds that the run has lasted.", (),
           lambda run: [((), run.duration_s)]),
    Metric("overtone_records_total", "counter", "Records in the journal.", (),
           lambda run: [((), run.n_records)]),
    Metric("overtone_updated_timestamp_seconds", "gauge", "When these metrics were measured.", (),
           lambda run: [((), run.updated)]),
    Metric("overtone_node_cpu_ratio", "gauge", "Part of a node's CPUs that works, from 0 to 1.", _NODE,
           _by_node(lambda node: node.cpu_ratio)),
    Metric("overtone_node_memory_used_bytes", "gauge", "Used memory of a node.", _NODE,
           _by_node(lambda node: node.memory_used_bytes)),
    Metric("overtone_node_memory_bytes", "gauge", "Memory of a node.", _NODE,
           _by_node(lambda node: node.memory_bytes)),
    Metric("overtone_node_disk_used_bytes", "gauge", "Used space where the experiment lies.", _NODE,
           _by_node(lambda node: node.disk_used_bytes)),
    Metric("overtone_node_disk_bytes", "gauge", "Size of the file system of the experiment.", _NODE,
           _by_node(lambda node: node.disk_bytes)),
    Metric("overtone_gpu_ratio", "gauge", "Part of the time in which a GPU computed, from 0 to 1.", _GPU,
           _by_gpu(lambda node: node.gpu_ratios)),
    Metric("overtone_gpu_memory_used_bytes", "gauge", "Used memory of a GPU.", _GPU,
           _by_gpu(lambda node: node.gpu_memory_used_bytes)),
)  # fmt: skip
"""All metrics; each has the label `experiment`, too."""


def exposition(runs: Iterable[RunMetrics]) -> bytes:
    """Return the metrics of runs in Prometheus' text format, version 0.0.4."""
    known, lines = list(runs), []
    for metric in METRICS:
        lines += [f"# HELP {metric.name} {metric.text}", f"# TYPE {metric.name} {metric.kind}"]
        for run in known:
            for values, number in metric.samples(run):
                if number is None or math.isnan(number):
                    continue
                labels = zip(("experiment", *metric.labels), (run.experiment, *values), strict=True)
                text = ",".join(f'{name}="{_escaped(value)}"' for name, value in labels)
                lines.append(f"{metric.name}{{{text}}} {_number(number)}")
    return "\n".join([*lines, ""]).encode("utf-8", "replace")


def _escaped(label: str) -> str:
    return label.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"')


def _number(value: float) -> str:
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    return repr(float(value))
