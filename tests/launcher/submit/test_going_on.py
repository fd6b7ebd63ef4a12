"""Experiments that go on on another head: after the first one is lost, and from this machine."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from overtone import tune
from overtone.cluster.head import Head
from overtone.cluster.results import Results
from overtone.cluster.resuming import bring_there, note_places, of_earlier_run, of_experiment, taken_up
from overtone.cluster.run_folder import new_id
from overtone.cluster.run_record import RunRecord
from overtone.errors import OvertoneError
from overtone.reading.journal_index import JournalIndex
from tests.launcher.submit.local_head import LocalRemote

SCRIPT = """
import os, pathlib, time
from overtone import tune

class Counts(tune.Trainable):
    def setup(self, config):
        self.t = 0
    def step(self):
        self.t += 1
        if self.t == 4 and not os.path.exists(GO):
            print("at four", flush=True)
            while not os.path.exists(GO):
                time.sleep(0.05)
        return {"loss": 1.0 / self.t, "restored": getattr(self, "restored", 0)}
    def save_checkpoint(self, folder):
        pathlib.Path(folder, "t").write_text(str(self.t))
    def load_checkpoint(self, folder):
        self.t = self.restored = int(pathlib.Path(folder, "t").read_text())

tune.run(Counts, name="counting", stop={"training_iteration": 6}, engine="local", verbose=1,
         checkpoint_freq=1, resources_per_trial={"cpu": 1}, NAMED)
"""


class Machine:
    """This machine: its home, its state folder, and the heads that it meets."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.state = folder / "state"
        self.state.mkdir()
        self.go = folder / "go"
        self.groups: list[int] = []

    def head(self, name: str, more: str = "") -> Head:
        remote = LocalRemote(self.folder / name)
        (remote.home / "overtone_work").mkdir()
        code = SCRIPT.replace("GO", repr(str(self.go))).replace(", NAMED", f", {more}" if more else "")
        (remote.home / "overtone_work" / "script.py").write_text(code)
        return Head(remote)

    def begin(self, head: Head, going_on: Any, wait_for: bytes = b"") -> tuple[RunRecord, Results]:
        """Submit the script, and follow it until it says `wait_for`, or to its end."""
        record = RunRecord(self.state, new_id())
        command = {
            "command": [None, "script.py"], "directory": "~/overtone_work", "key": "script.py", "cluster": "c",
            "terminal": None, "on_ray": False, "resume": going_on.resume,
        }  # fmt: skip
        assert head.prepare(record.id, command) is None
        home = str(head.remote.home)
        record.note({"key": "script.py", "home": home})
        note_places(record, going_on, home)
        head.begin(record.id)
        taken_up(self.state, "script.py", but=record.id)
        said = bytearray()

        def feed(offset: int, data: bytes) -> None:
            said.extend(data)
            if wait_for and wait_for in said:
                raise StopIteration

        try:
            head.follow(record.id, 0, feed)
        except StopIteration:
            folder = head.remote.home / ".overtone" / "cluster" / "runs" / record.id
            self.groups.append(json.loads((folder / "pid").read_text())["pid"])
        return record, Results(head, record, None, "~/overtone_work", "c")

    def end(self) -> None:
        for group in self.groups:
            try:
                os.killpg(group, signal.SIGKILL)
            except ProcessLookupError:
                continue


def facts_of(head: Head, run_id: str) -> dict[str, Any]:
    return next(facts for facts in head.runs() if facts["id"] == run_id)


def last_result(folder: Path) -> dict[str, Any]:
    index = JournalIndex(folder / "journal.jsonl")
    index.refresh()
    (row,) = index.table.rows.values()
    return {**row.metrics, "t": row.t}


@pytest.fixture
def machine(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "here"))
    made = Machine(tmp_path)
    yield made
    made.end()


def brought(head: Head, record: RunRecord, results: Results, t: int) -> Path:
    """Bring results until the copy has iteration `t`."""
    here = Path(os.environ["HOME"], "overtone_results", "counting")
    while True:
        results.bring(facts_of(head, record.id))
        if (here / "journal.jsonl").exists() and last_result(here)["t"] >= t:
            return here
        time.sleep(0.1)


def test_a_run_whose_head_is_gone_resumes_from_what_came_back(machine):
    first = machine.head("first")
    record, results = machine.begin(first, of_earlier_run(machine.state, "script.py"), b"at four")
    here = brought(first, record, results, 3)
    machine.end()
    first.remote.is_gone = True
    machine.go.touch()

    second = machine.head("second")
    going_on = of_earlier_run(machine.state, "script.py")
    assert going_on.resume == "~/overtone_results/counting"
    bring_there(second, going_on)
    bring_there(second, going_on)  # again, after a lost connection
    record, results = machine.begin(second, going_on)
    assert facts_of(second, record.id)["status"] == 0
    results.bring(facts_of(second, record.id))
    assert last_result(here)["t"] == 6
    assert last_result(here)["restored"] == 3
    assert results.is_whole
    assert [path.name for path in here.parent.iterdir()] == ["counting"]
    assert of_earlier_run(machine.state, "script.py").folders == {}


def test_an_interrupted_run_resumes_only_if_its_script_says_so(machine):
    first = machine.head("first")
    record, results = machine.begin(first, of_earlier_run(machine.state, "script.py"), b"at four")
    first.stop(record.id)
    machine.go.touch()
    first.follow(record.id, 0, lambda offset, data: None)
    here = brought(first, record, results, 3)
    record.note({"status": facts_of(first, record.id)["status"]})

    second = machine.head("second", 'resume="AUTO"')
    going_on = of_earlier_run(machine.state, "script.py")
    assert going_on.resume is None
    bring_there(second, going_on)
    record, results = machine.begin(second, going_on)
    results.bring(facts_of(second, record.id))
    assert last_result(here)["t"] == 6
    assert last_result(here)["restored"] > 0


def test_an_experiment_of_this_machine_goes_on_there_and_comes_back(machine, tmp_path):
    here = tmp_path / "mine" / "counting"
    text = (machine.head("other").remote.home / "overtone_work" / "script.py").read_text()
    own = tmp_path / "script.py"
    own.write_text(text.replace("verbose=1", f'verbose=1, storage_path="{here.parent}"'))
    with subprocess.Popen([sys.executable, own], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert any("at four" in line for line in process.stdout)
        process.send_signal(signal.SIGINT)
        machine.go.touch()
        process.stdout.read()

    head = machine.head("head")
    going_on = of_experiment(here)
    bring_there(head, going_on)
    record, results = machine.begin(head, going_on)
    results.bring(facts_of(head, record.id))
    assert results.places == [str(here)]
    assert (last_result(here)["t"], last_result(here)["restored"]) == (6, 4)


def test_another_experiment_on_the_head_is_not_overwritten(machine, tmp_path):
    def train(config: dict[str, Any]) -> None:
        tune.report({"loss": 1.0})

    tune.run(train, name="counting", storage_path=tmp_path / "mine", engine="inline", verbose=0)
    head = machine.head("head")
    tune.run(train, name="counting", storage_path=head.remote.home / "overtone_results", engine="inline", verbose=0)
    with pytest.raises(OvertoneError, match="another experiment"):
        bring_there(head, of_experiment(tmp_path / "mine" / "counting"))
