"""What this machine remembers of a run, also if two commands follow it at the same moment."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from overtone.cluster.run_folder import new_id
from overtone.cluster.run_record import RunRecord, active_runs


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "runs").mkdir()
    return tmp_path


def test_facts_of_two_commands_are_both_kept(folder):
    run_id = new_id()
    submit, attach = RunRecord(folder, run_id), RunRecord(folder, run_id)
    submit.note({"status": 0, "end": {"status": 0}})
    attach.note_experiment("~/a", Path("/here/a"), None)
    submit.note_experiment("~/b", Path("/here/b"), None)
    facts = RunRecord(folder, run_id).facts
    assert facts["status"] == 0
    assert facts["end"] == {"status": 0}
    assert set(facts["experiments"]) == {"~/a", "~/b"}


def test_a_folder_that_another_command_renamed_is_known(folder):
    run_id = new_id()
    submit, attach = RunRecord(folder, run_id), RunRecord(folder, run_id)
    submit.note_experiment("~/a", Path("/here/a"), None)
    attach.move(Path("/here/a"), Path("/here/aside"))
    submit.note_experiment("~/b", Path("/here/a"), None)
    assert submit.here("~/a") == Path("/here/aside")


def test_many_notes_at_the_same_moment(folder):
    run_id = new_id()

    def note(n: int) -> None:
        RunRecord(folder, run_id).note_experiment(f"~/{n}", Path(f"/here/{n}"), None)

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(note, range(50)))
    assert len(RunRecord(folder, run_id).facts["experiments"]) == 50


def test_a_run_is_active_until_the_last_command_leaves_it(folder):
    run_id = new_id()
    with RunRecord(folder, run_id).active():
        with RunRecord(folder, run_id).active():
            assert active_runs(folder) == [run_id]
        assert active_runs(folder) == [run_id]
    assert active_runs(folder) == []


def test_two_runs_that_end_at_the_same_moment_do_not_wait_for_each_other(folder):
    runs = [RunRecord(folder, new_id()) for _ in range(2)]
    with runs[0].active(), runs[1].active():
        assert active_runs(folder) == sorted(run.id for run in runs)
        for run in runs:
            run.note({"status": 0, "end": {"status": 0}})
        assert active_runs(folder) == []
