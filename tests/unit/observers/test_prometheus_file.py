"""Metrics for Prometheus: its own parser reads them, and the file is whole at any moment."""

import os

import pytest

from overtone import tune
from overtone.engines.simulated import Simulated

pytest.importorskip("prometheus_client")
from prometheus_client.parser import text_string_to_metric_families


def samples(text):
    return {
        (one.name, *one.labels.values()): one.value
        for family in text_string_to_metric_families(text)
        for one in family.samples
    }


def search(folder, path, **more):
    def curve(config, t):
        if config["x"] == 3:
            raise RuntimeError("three is unlucky")
        return {"score": -config["x"] * t} if t <= 2 else None

    return tune.run(
        curve, config={"x": tune.grid_search([1, 2, 3])}, metric="score", mode="max", storage_path=str(folder), name="search",
        engine=Simulated(workers=1), verbose=0, raise_on_failed_trial=False, callbacks=[tune.PrometheusCallback(path, **more)],
    )  # fmt: skip


def test_a_run_writes_its_metrics(tmp_path):
    search(tmp_path, tmp_path / "search.prom", every_s=0)
    found = samples((tmp_path / "search.prom").read_text())
    updated = found.pop(("overtone_updated_timestamp_seconds", "search"))
    assert found == {
        ("overtone_trials", "search", "PENDING"): 0, ("overtone_trials", "search", "RUNNING"): 0,
        ("overtone_trials", "search", "PAUSED"): 0, ("overtone_trials", "search", "TERMINATED"): 2,
        ("overtone_trials", "search", "ERROR"): 1, ("overtone_results_total", "search"): 4,
        ("overtone_trials_planned", "search"): 3, ("overtone_best_value", "search", "score"): -2,
        ("overtone_run_over", "search"): 1,
    }  # fmt: skip
    assert updated == pytest.approx(os.stat(tmp_path / "search.prom").st_mtime, abs=5)
    assert os.stat(tmp_path / "search.prom").st_mode & 0o444 == 0o444
    assert list(tmp_path.glob("*.prom*")) == [tmp_path / "search.prom"]


def test_a_folder_that_is_gone_is_told_once(tmp_path, capfd):
    analysis = search(tmp_path, tmp_path / "nowhere" / "search.prom", every_s=0)
    assert len(analysis.trials) == 3
    assert capfd.readouterr().err.count("cannot be written") == 1


def test_the_name_must_end_in_prom(tmp_path):
    with pytest.raises(ValueError, match=r"must end in \.prom"):
        tune.PrometheusCallback(tmp_path / "metrics.txt")
