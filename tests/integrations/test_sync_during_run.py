"""`overtone sync` beside a search that runs, and syncs that are killed: nothing is doubled, nothing is lost."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from tracker_contents import expected, in_mlflow, in_wandb, n_values, same, start

from tests.integrations.programs import await_that, begun
from tests.integrations.test_trackers import empty_database  # noqa: F401


def is_recorded(folder, least):
    journal = Path(folder, "search", "journal.jsonl")
    return journal.exists() and journal.read_text().count('"e":"reported"') >= least


@pytest.mark.full
@pytest.mark.parametrize("kind", ["wandb", "mlflow"])
def test_a_running_search_is_followed_to_its_end(tmp_path, request, monkeypatch, kind):
    """One sync is killed, and two others begin at once. The driver is killed as well, and resumes."""
    pytest.importorskip(kind)
    database, journal = tmp_path / "mlflow.db", tmp_path / "search/journal.jsonl"
    options = ("--project", "tests", "--offline")
    if kind == "mlflow":
        shutil.copy(request.getfixturevalue("empty_database"), database)
        options = ("--uri", f"sqlite:///{database}")
    words = ("sync", tmp_path / "search", "--to", kind, *options)

    def has_begun():
        runs = tmp_path.glob("search/*/wandb/offline-run-*/run-*.wandb")
        return n_values(database) >= 3 if kind == "mlflow" else any(one.stat().st_size > 1000 for one in runs)

    gate = tmp_path / "gate"
    monkeypatch.setenv("TRACKED_SEARCH_GATE", str(gate))
    processes = [start(tmp_path, "none", "-", 0.0)]
    try:
        await_that(lambda: is_recorded(tmp_path, 6), "three results of two trials")
        processes.append(begun(*words, cwd=tmp_path, output=tmp_path / "first.txt"))
        await_that(has_begun, "the first values", 800)
        for one in reversed(processes):
            one.kill()
            one.wait()
        processes.append(start(tmp_path, "none", "-", 0.0))
        await_that(lambda: '"e":"resumed"' in journal.read_text(), "the resume")
        for name in ("second", "third"):
            output = tmp_path / f"{name}.txt"
            processes.append(begun(*words, cwd=tmp_path, output=output))
            await_that(lambda output=output: "search runs" in output.read_text(), "another sync")
        gate.touch()
        assert [one.wait(800) for one in processes[2:]] == [0, 0, 0]
    finally:
        for one in processes:
            one.kill()
            one.wait()
    for name in ("second", "third"):
        assert f"{kind} has all of search: 4 trials, 40 results" in (tmp_path / f"{name}.txt").read_text()
    if kind == "wandb":
        values, tags = in_wandb(tmp_path)
        assert same(values, expected(tmp_path))
        assert [trial[-1] for trial, some in tags.items() if "best" in some] == ["1"]
        return
    values, runs = in_mlflow(database)
    assert same(values, expected(tmp_path))
    by_index = {trial[-1]: facts for trial, facts in runs.items()}
    assert [by_index[one][0] for one in "0123"] == ["FINISHED", "FINISHED", "FINISHED", "FAILED"]
    assert [i for i in "0123" if by_index[i][1].get("overtone.best") == "true"] == ["1"]
