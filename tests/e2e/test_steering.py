"""Requests to real runs: of every kind, from several clients, over kill -9 and at the very end."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from overtone import tune
from overtone.cli import main
from overtone.control.answers import ControlError
from overtone.control.client import send
from overtone.control.holder import holder
from overtone.control.requests import requested
from overtone.core.messages import Requested
from overtone.core.table import TrialTable
from overtone.journal.reader import read

SOURCE = Path(__file__).parents[2] / "src"
MOST_S = 120.0

SCRIPT = """
import sys, time
from pathlib import Path
from overtone import tune

here = Path(sys.argv[1])

def train(config):
    for t in range(1, 4):
        while not (here / "go").exists():
            time.sleep(0.01)
        tune.report({"loss": config["x"] + t})

if __name__ == "__main__":
    tune.run(
        train, config={"x": tune.randint(1, 10)}, num_samples=2, metric="loss", mode="min", storage_path=str(here),
        name="exp", resume="AUTO", verbose=0, resources_per_trial={"cpu": 0.5}, log_to_file=False,
    )
"""


@pytest.fixture
def begin(tmp_path):
    """Starts the script, whose trials wait for the file "go", and kills what is left of it."""
    script, begun = tmp_path / "script.py", []
    script.write_text(SCRIPT)

    def start():
        command = [sys.executable, str(script), str(tmp_path)]
        environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
        begun.append(subprocess.Popen(command, env=environment, cwd=tmp_path))
        return begun[-1]

    yield start
    for process in begun:
        process.kill()
        process.wait()


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "exp"


def until(is_so):
    give_up_at = time.monotonic() + MOST_S
    while not (found := is_so()):
        assert time.monotonic() < give_up_at
        time.sleep(0.02)
    return found


def table_of(folder):
    table = TrialTable()
    for record in read(folder / "journal.jsonl"):
        table.apply(record)
    return table


def has_running(folder, n):
    try:
        statuses = [row.status for row in table_of(folder).rows.values()]
    except OSError:
        return False
    return statuses.count("RUNNING") >= n


def requests_in(folder):
    return [record.event for record in read(folder / "journal.jsonl") if type(record.event) is Requested]


def ctl(capsys, folder, *arguments):
    """Run `overtone ctl` with --json and return what it wrote."""
    capsys.readouterr()
    code = main(["ctl", str(folder), *arguments, "--json"])
    out, err = capsys.readouterr()
    assert code == 0, err
    return json.loads(out)


def test_requests_of_every_kind_from_the_command_line(begin, folder, capsys, tmp_path):
    driver = begin()
    until(lambda: has_running(folder, 2))
    first, second = table_of(folder).rows
    assert ctl(capsys, folder, "pause", "0", "--note", "too slow")["trial_id"] == first
    added = ctl(capsys, folder, "add", "--config", '{"x": 7}', "--priority", "2")["trial_id"]
    clone = ctl(capsys, folder, "clone", "1", "--set", "x=9")["trial_id"]
    ctl(capsys, folder, "limits", "--concurrency", "8", "--time", "2h")
    ctl(capsys, folder, "priority", "0", "5")
    ctl(capsys, folder, "note", "so far so good")
    ctl(capsys, folder, "note", "odd", "1")
    ctl(capsys, folder, "save", "1")
    (tmp_path / "go").touch()
    until(lambda: table_of(folder).rows[added].status == "TERMINATED")
    ctl(capsys, folder, "resume", "0")
    assert driver.wait(MOST_S) == 0
    rows = table_of(folder).rows
    assert {row.status for row in rows.values()} == {"TERMINATED"}
    assert [rows[trial].t for trial in (first, second, added, clone)] == [3] * 4
    assert [rows[trial].config["x"] for trial in (added, clone)] == [7, 9]
    kinds = ["pause_trial", "add", "add", "set_limits", "set_priority", "note", "note", "save_trial"]
    assert [event.what for event in requests_in(folder)] == [*kinds, "resume_trial"]
    assert {event.who.partition(" ")[2] for event in requests_in(folder)} == {"from the command line"}
    assert not (folder / "control.sock").exists()


def test_wrong_words_are_refused_with_what_was_meant(begin, folder, capsys):
    begin()
    until(lambda: has_running(folder, 2))
    for arguments, message in (
        (["add", "--config", '{"y": 7}'], "'y' is not in the space, which has 'x'"),
        (["stop", "x7"], "no trial 'x7': it has "),
        (["limits", "--num-samples", "-5"], "num_samples=-5"),
        (["limits"], "limits needs a limit: --concurrency N"),
    ):
        assert main(["ctl", str(folder), *arguments]) == 1
        assert message in capsys.readouterr().err
    for arguments, message in (
        (["paus", "1"], "did you mean 'pause'"),
        (["add", "--config", "x=7"], "is not JSON"),
        (["clone", "1", "--set", "x"], "must look like lr=0.01"),
        (["limits", "--time", "soon"], "is not a time"),
    ):
        assert main(["ctl", str(folder), *arguments]) == 2
        assert message in capsys.readouterr().err
    ctl(capsys, folder, "stop")


def test_requests_before_a_kill_are_made_again_and_those_after_it_are_made_then(begin, folder, tmp_path):
    driver = begin()
    until(lambda: has_running(folder, 2))
    run = tune.attach(folder)
    run.pause("0")  # The trials wait for "go": the requests have no effect on them yet.
    run.stop_trial("1")
    added = run.add({"x": 7})
    driver.send_signal(signal.SIGKILL)
    driver.wait()
    until(lambda: holder(folder / "journal.jsonl") is None)
    assert (folder / "control.sock").exists()
    assert run.add({"x": 8}) == ""
    run.note("the driver was killed")
    with pytest.raises(ControlError, match="needs a driver"):
        run.resume("0")
    (tmp_path / "go").touch()
    again = begin()
    until(lambda: len(rows := table_of(folder).rows) == 4 and list(rows.values())[3].status == "TERMINATED")
    first, second, *_ = table_of(folder).rows
    assert table_of(folder).rows[first].status not in ("RUNNING", "TERMINATED")
    run.resume(first)
    assert again.wait(MOST_S) == 0
    rows = table_of(folder).rows
    assert [(row.status, row.t) for row in rows.values()] == [
        ("TERMINATED", 3), ("TERMINATED", rows[second].t), ("TERMINATED", 3), ("TERMINATED", 3),
    ]  # fmt: skip
    assert not rows[second].t
    assert rows[added].config == {"x": 7}


def test_a_finished_experiment_to_which_a_trial_is_added_runs_it_when_it_is_resumed(begin, folder, tmp_path):
    (tmp_path / "go").touch()
    assert begin().wait(MOST_S) == 0
    assert tune.attach(folder).add({"x": 7}) == ""
    assert begin().wait(MOST_S) == 0
    assert [row.t for row in table_of(folder).rows.values()] == [3, 3, 3]


def test_every_request_at_the_end_of_a_run_has_an_answer(begin, folder, tmp_path):
    """Clients ask all the time while the run ends: each note is in the journal, once, with its number."""
    driver = begin()
    until(lambda: has_running(folder, 2))
    answers, is_over = {}, threading.Event()

    def talk(who):
        run, i = tune.attach(folder), 0
        while not is_over.is_set():
            i += 1
            answers[f"{who}/{i}"] = run.note(f"{who}/{i}")

    threads = [threading.Thread(target=talk, args=(who,)) for who in "ab"]
    for thread in threads:
        thread.start()
    until(lambda: len(answers) > 20)
    (tmp_path / "go").touch()
    assert driver.wait(MOST_S) == 0
    is_over.set()
    for thread in threads:
        thread.join()
    numbers = {r.event.note: r.n for r in read(folder / "journal.jsonl") if type(r.event) is Requested}
    assert numbers == answers
    assert len(requests_in(folder)) == len(answers)


def test_the_run_of_this_process_takes_the_same_requests(tmp_path):
    held = tmp_path / "go"

    def train(config):
        for t in range(1, 4):
            while not held.exists():
                time.sleep(0.01)
            tune.report({"loss": config["x"] + t})

    run = tune.start(
        train, config={"x": tune.randint(1, 10)}, num_samples=2, metric="loss", mode="min", storage_path=str(tmp_path),
        name="exp", verbose=0, resources_per_trial={"cpu": 0.5},
    )  # fmt: skip
    n = run.note("hello")
    added = run.add({"x": 7})
    assert run.set_priority(added, 3) > n
    assert run.set_limits(max_concurrent=3) > n
    with pytest.raises(ControlError, match="no trial 'zzz'"):
        run.stop_trial("zzz")
    assert run.note("an index", 1) > n
    assert repr(run) == f"Run({str(tmp_path / 'exp')!r}, running)"
    held.touch()
    assert len(run.wait().trials) == 3
    assert tune.verify(run.folder).is_same
    assert repr(run).endswith(", over)")
    assert run.note("after the end") > n
    assert run.add({"x": 8}) == ""


def test_a_callback_asks_without_waiting(tmp_path):
    asked, known = [], threading.Event()

    class Asking(tune.Callback):
        def on_trial_result(self, iteration, trials, trial, result, **info):
            known.wait(MOST_S)
            asked.append(run.note(f"from a callback at {result['training_iteration']}"))

    def train(config):
        tune.report({"loss": 1.0})

    run = tune.start(
        train,
        metric="loss",
        mode="min",
        storage_path=str(tmp_path),
        name="exp",
        verbose=0,
        callbacks=[Asking()],
    )
    known.set()
    run.wait()
    assert asked == [0]
    assert [event.note for event in requests_in(tmp_path / "exp")] == ["from a callback at 1"]


def test_the_same_request_to_the_next_driver_has_the_same_answer(begin, folder, tmp_path):
    driver = begin()
    until(lambda: has_running(folder, 2))
    event = requested({"what": "add", "request": "same", "config": {"x": 7}})
    first = send(folder, event)
    driver.send_signal(signal.SIGKILL)
    driver.wait()
    assert send(folder, event) == first
    again = begin()
    until(lambda: holder(folder / "journal.jsonl") is not None and has_running(folder, 2))
    assert send(folder, event) == first
    (tmp_path / "go").touch()
    assert again.wait(MOST_S) == 0
    assert len(table_of(folder).rows) == 3


def test_a_run_is_attached_by_its_name_and_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    tune.run(lambda config: {"loss": config["x"]}, config={"x": 1}, name="exp", metric="loss", mode="min", verbose=0)
    run = tune.attach("exp")
    assert run.folder == tmp_path / "overtone_results" / "exp"
    assert run.analysis.best_config == {"x": 1}
    assert "<table" in run._repr_html_()
