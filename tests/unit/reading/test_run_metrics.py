"""Metrics of runs as text: Prometheus' own parser reads them."""

import math

import pytest

from overtone.reading.run_metrics import METRICS, NodeMetrics, RunMetrics, exposition

pytest.importorskip("prometheus_client")
from prometheus_client.parser import text_string_to_metric_families


def families(*runs):
    return {one.name: one for one in text_string_to_metric_families(exposition(runs).decode())}


def samples(*runs):
    return {
        (one.name, *one.labels.values()): one.value
        for family in families(*runs).values()
        for one in family.samples
    }


FULL = RunMetrics(
    "search", {"RUNNING": 2, "INTERRUPTED": 1}, 30, 8, {"loss": 0.25, "size": -3.0}, 1e9, True, 12.5, 99,
    {"a": NodeMetrics(0.5, 1e9, 2e9, 3e9, 4e9, [0.1, math.nan], [5.0, 6.0])},
)  # fmt: skip


def test_each_metric_has_its_type_and_meaning():
    assert set(families(FULL)) == {one.name.removesuffix("_total") for one in METRICS}
    for one in METRICS:
        family = families(FULL)[one.name.removesuffix("_total")]
        assert (family.type, family.documentation) == (one.kind, one.text)
        assert all({"experiment", *one.labels} == set(sample.labels) for sample in family.samples)


def test_counters_alone_end_in_total():
    assert [one.name for one in METRICS if one.name.endswith("_total") != (one.kind == "counter")] == []


def test_samples():
    found = samples(FULL)
    assert found["overtone_trials", "search", "RUNNING"] == 2
    assert found["overtone_trials", "search", "ERROR"] == 0
    assert found["overtone_trials", "search", "INTERRUPTED"] == 1
    assert found["overtone_best_value", "search", "size"] == -3
    assert found["overtone_records_total", "search"] == 99
    assert found["overtone_run_duration_seconds", "search"] == 12.5
    assert found["overtone_node_memory_bytes", "search", "a"] == 2e9
    assert found["overtone_gpu_ratio", "search", "a", "0"] == 0.1
    assert ("overtone_gpu_ratio", "search", "a", "1") not in found


def test_unknown_values_have_no_sample():
    found = samples(RunMetrics("search", {}, 0, best={"loss": math.inf}))
    assert found["overtone_best_value", "search", "loss"] == math.inf
    assert not {one[0] for one in found} & {"overtone_trials_planned", "overtone_records_total"}


def test_what_users_name_is_escaped():
    name = 'a "quoted" \\ name\nwith a line, \\n and } {'
    assert samples(RunMetrics(name, {}, 3, best={name: 0.5}))["overtone_best_value", name, name] == 0.5
    exposition([RunMetrics("\udcff", {}, 0)])


def test_several_runs_share_a_family():
    text = exposition([FULL, RunMetrics("other", {}, 1)]).decode()
    assert text.count("# TYPE overtone_results_total counter") == 1
    assert samples(FULL, RunMetrics("other", {}, 1))["overtone_results_total", "other"] == 1
