"""A driver keeps the overview of a long experiment."""

from __future__ import annotations

import pytest

from overtone import tune
from overtone.reading import overview_file
from overtone.reading.experiment_summary import ExperimentSummary
from overtone.run.storage import overview


def train(config):
    for step in range(5):
        tune.report(loss=config["x"] + step)


def run(tmp_path, **options):
    return tune.run(
        train, config={"x": tune.grid_search([1, 2, 3])}, metric="loss", mode="min", name="exp", verbose=0,
        storage_path=str(tmp_path), engine="inline", **options,
    )  # fmt: skip


def kept(tmp_path):
    journal = tmp_path / "exp" / "journal.jsonl"
    summary = ExperimentSummary()
    summary.read(journal)
    loaded = overview_file.OverviewFile(journal).load()
    return None if loaded is None else loaded.data, summary.data


@pytest.fixture
def few(monkeypatch):
    monkeypatch.setattr(overview, "FEWEST", 10)


def test_a_run_leaves_the_overview_that_a_reading_makes(tmp_path, few):
    run(tmp_path)
    loaded, read = kept(tmp_path)
    assert loaded == read
    assert (loaded["results"], loaded["is_finished"]) == (15, True)


def test_a_resume_reads_on_from_it(tmp_path, few):
    run(tmp_path)
    run(tmp_path, resume=True)
    loaded, read = kept(tmp_path)
    assert loaded == read
    assert loaded["runs"] == 2


def test_a_short_run_leaves_none(tmp_path):
    run(tmp_path)
    assert not (tmp_path / "exp" / overview_file.NAME).exists()


def test_an_overview_that_cannot_be_written_ends_nothing(tmp_path, few):
    (tmp_path / "exp" / f"{overview_file.NAME}.new").mkdir(parents=True)
    assert len(run(tmp_path).trials) == 3
