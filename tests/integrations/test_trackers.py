"""Real trackers: their contents equal result.json, also after the driver was killed and resumed."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import pytest
from tracked_search import search, tracker
from tracker_contents import artifacts, expected, in_comet, in_mlflow, in_wandb, n_values, same, saved, start

from overtone.observers.trackers.mark import MarkFile
from overtone.observers.trackers.projection import follow_journal
from overtone.observers.trackers.tracker import place_name
from overtone.store.folder_mark import FolderMark
from tests.integrations.programs import await_that


@pytest.fixture(scope="module")
def empty_database(tmp_path_factory):
    """A database of MLflow's without runs; to make its tables takes seconds."""
    mlflow = pytest.importorskip("mlflow")
    path = tmp_path_factory.mktemp("mlflow") / "empty.db"
    mlflow.MlflowClient(f"sqlite:///{path}").search_experiments()
    return path


def test_offline_files_equal_the_results(tmp_path):
    pytest.importorskip("wandb")
    pytest.importorskip("comet_ml")
    search(str(tmp_path), [tracker("wandb", ""), tracker("comet", str(tmp_path / "comet"))])
    wanted = expected(tmp_path)
    values, tags = in_wandb(tmp_path)
    assert same(values, wanted)
    best = next(trial for trial in wanted if trial.endswith("_00001"))  # x=3
    assert [trial for trial, some in tags.items() if "best" in some] == [best]
    values, tags = in_comet(tmp_path / "comet")
    assert same(values, wanted)
    assert [trial for trial, some in tags.items() if "best" in some] == [best]


def test_wandbs_own_process_has_ended_when_the_callback_is_closed(tmp_path):
    """It writes the files; killed before, on a busy machine, it would leave a part of them."""
    pytest.importorskip("wandb")
    psutil = pytest.importorskip("psutil")

    def writers():
        found = psutil.Process().children(recursive=True)
        return [one for one in found if "wandb-core" in one.name() and one.status() != psutil.STATUS_ZOMBIE]

    search(str(tmp_path), [], n=1)
    folder, sent = FolderMark.of(tmp_path / "search"), tracker("wandb", "")
    file = MarkFile(folder, place_name(sent.kind, sent.settings()))
    assert file.acquire()
    follow_journal(folder, sent, file, lambda: True, time.sleep, pytest.fail, pytest.fail)
    assert writers()
    sent.close()
    assert not writers()
    file.release()
    assert same(in_wandb(tmp_path)[0], expected(tmp_path))


def test_mlflow_after_an_end_at_any_request(tmp_path, empty_database, monkeypatch):
    """Each process ends before its request, or after it without knowing; the mark is of the last batch."""
    import mlflow

    class End(BaseException):
        pass

    monkeypatch.chdir(tmp_path)
    shutil.copy(empty_database, tmp_path / "mlflow.db")
    search(str(tmp_path), [])
    folder = FolderMark.of(tmp_path / "search")
    requests = ("create_run", "log_batch", "set_tag", "set_terminated")
    plain = {name: getattr(mlflow.MlflowClient, name) for name in requests}
    is_over, n_ends = False, 0
    while not is_over:
        left = [1 + n_ends // 2]  # one request more at each second attempt

        def ending(name, left=left, is_before=n_ends % 2 == 0):
            def call(self, *args, **given):
                left[0] -= 1
                if left[0] == 0 and is_before:
                    raise End
                answer = plain[name](self, *args, **given)
                if left[0] == 0:
                    raise End
                return answer

            return call

        for name in requests:
            monkeypatch.setattr(mlflow.MlflowClient, name, ending(name))
        sent = tracker("mlflow", str(tmp_path))
        file = MarkFile(folder, place_name(sent.kind, sent.settings()))
        assert file.acquire()
        try:
            follow_journal(folder, sent, file, lambda: True, time.sleep, pytest.fail, pytest.fail)
            is_over = True
        except End:
            n_ends += 1
        file.release()
    assert n_ends > 4  # requests are put together by the time that they take
    values, runs = in_mlflow(tmp_path / "mlflow.db")
    assert same(values, expected(tmp_path))
    assert sorted(facts[0] for facts in runs.values()) == ["FAILED", "FINISHED", "FINISHED", "FINISHED"]
    assert [trial[-1] for trial, facts in runs.items() if facts[1].get("overtone.best") == "true"] == ["1"]


def test_mlflow_after_a_kill_of_the_driver(tmp_path, empty_database):
    """The driver is killed while values arrive; a second one ends well."""
    database = tmp_path / "mlflow.db"
    shutil.copy(empty_database, database)
    driver = start(tmp_path, "mlflow", str(tmp_path), 0.4)
    try:
        while n_values(database) < 5 and driver.poll() is None:
            time.sleep(0.05)
    finally:
        driver.send_signal(signal.SIGKILL)
        driver.wait()
    assert start(tmp_path, "mlflow", str(tmp_path), 0.4).wait() == 0
    values, runs = in_mlflow(database)
    assert same(values, expected(tmp_path))
    by_index = {trial[-1]: facts for trial, facts in runs.items()}
    assert [by_index[one][0] for one in "0123"] == ["FINISHED", "FINISHED", "FINISHED", "FAILED"]
    assert [i for i in "0123" if by_index[i][1].get("overtone.best") == "true"] == ["1"]
    assert by_index["2"][2] == {"x": "4", "pause_s": "0.4"}
    assert "five is unlucky" in by_index["3"][1]["error"]
    assert len(saved(tmp_path)) == 4
    assert artifacts(database) == saved(tmp_path)
    await_that(
        lambda: not [one for one in os.listdir(tempfile.gettempdir()) if one.startswith(f"overtone-tracker-{driver.pid}-")],
        "the end of the killed driver's temporary files",
    )  # fmt: skip


def test_a_place_that_mlflow_refuses_lacks_all_results(tmp_path):
    """Since 3.13, MLflow refuses to track in a folder."""
    search(str(tmp_path), [], n=2)
    sync = [sys.executable, "-m", "overtone", "sync", str(tmp_path / "search"), "--to", "mlflow", "--timeout", "3"]
    for _ in range(2):
        said = subprocess.run([*sync, "--uri", str(tmp_path / "mlruns")], capture_output=True, text=True)
        assert said.returncode == 1, said.stdout
        assert "mlflow lacks 20 of 20 results (" in said.stdout + said.stderr


def test_sync_after_a_run_without_a_tracker(tmp_path, empty_database):
    shutil.copy(empty_database, tmp_path / "mlflow.db")
    search(str(tmp_path), [], n=3)
    sync = [sys.executable, "-m", "overtone", "sync", str(tmp_path / "search"), "--to", "mlflow"]
    said = subprocess.run([*sync, "--uri", f"sqlite:///{tmp_path}/mlflow.db"], capture_output=True, text=True)
    assert (said.returncode, said.stdout.splitlines()) == (
        0,
        ["mlflow has all of search: 3 trials, 30 results"],
    )
    values, _ = in_mlflow(tmp_path / "mlflow.db")
    assert same(values, expected(tmp_path))
