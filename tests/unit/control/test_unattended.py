"""Requests without a driver: one record each, under the lock, for the next resume."""

import errno
import os
import threading

import pytest

from overtone.control.answers import ControlError, refusal
from overtone.control.claim import claimed
from overtone.control.client import send
from overtone.control.holder import holder
from overtone.control.requests import requested
from overtone.errors import StorageError
from overtone.journal import lock as lock_module
from overtone.journal import writer as writer_module
from overtone.journal.header import new_header
from overtone.journal.lines import Lines
from overtone.journal.lock import WriterLock, is_locked
from overtone.journal.mirror import JournalMirror
from overtone.journal.reader import read
from overtone.journal.writer import JournalWriter
from overtone.reading.experiment_summary import ExperimentSummary
from overtone.reading.location import located
from overtone.run.attached import AttachedRun
from overtone.run.resume.target import is_finished
from overtone.space import choice, space_to_data, uniform
from overtone.store.files import RemoteFiles
from overtone.store.lease import Lease
from overtone.testing.scripted_records import Story

SPACE = {"lr": uniform(0, 1), "act": choice(["relu", "tanh"])}


@pytest.fixture
def folder(tmp_path):
    """A finished experiment of one trial."""
    told = Story()
    trial = told.add({"lr": 0.5, "act": "relu"})
    told.start(trial)
    told.report(trial, loss=1.0)
    told.end(trial)
    journal = tmp_path / "exp" / "journal.jsonl"
    journal.parent.mkdir()
    writer = JournalWriter(journal, new_header(1, {"space": space_to_data(SPACE)}))
    writer.append(
        [type(one)(writer.next_n + i, one.event, one.choices) for i, one in enumerate(told.records)]
    )
    writer.note("end", {"account": {"cost": 1.0}})
    writer.close()
    return journal.parent


def test_a_request_that_is_repeated_while_the_run_ends_has_its_answer(folder, monkeypatch):
    asked = requested({"what": "note", "note": "last words", "request": "repeated-1"})
    first = send(folder, asked)
    over = (refusal("the run is at its end", "over"), True)
    monkeypatch.setattr("overtone.control.client._asked", lambda *_: over)
    monkeypatch.setattr("overtone.control.client.holder", lambda *_, **__: pytest.fail("it is recorded"))
    assert send(folder, asked) == first


def events(folder):
    return [record.event for record in read(folder / "journal.jsonl")]


def summary(folder):
    found = ExperimentSummary()
    found.read(folder / "journal.jsonl")
    return found.summary()


def n_lines(folder):
    return sum(1 for _ in Lines(folder / "journal.jsonl", tail="error"))


def test_an_added_trial_waits_for_the_resume_of_an_experiment_that_is_unfinished_now(folder):
    before = events(folder)
    answer = send(folder, requested({"what": "add", "config": {"lr": 0.25}, "who": "user1"}))
    *earlier, added = events(folder)
    assert earlier == before
    assert (answer.n, answer.trial_id, answer.waits) == (n_lines(folder), "", True)
    assert (added.what, added.deferred, added.who, added.time) == ("add", True, "user1", before[-1].time)
    assert added.config == {"lr": 0.25}
    assert not is_finished(folder)
    assert (summary(folder)["is_finished"], summary(folder)["is_interrupted"]) == (False, True)
    assert not is_locked(folder / "journal.jsonl.lock")


def test_a_note_leaves_a_finished_experiment_finished(folder):
    AttachedRun(folder).note("the best so far", "0")
    assert events(folder)[-1].trial_id.endswith("_00000")
    assert is_finished(folder)
    assert summary(folder)["is_finished"]


def test_one_id_is_one_record(folder):
    event = requested({"what": "add", "request": "same", "config": {}})
    first, n = send(folder, event), n_lines(folder)
    assert send(folder, event) == first
    assert n_lines(folder) == n


def test_what_needs_a_driver_is_refused_with_what_needs_none(folder):
    before = n_lines(folder)
    with pytest.raises(
        ControlError, match=r"'stop trial' needs a driver.*add, note, set limits.*overtone resume"
    ):
        AttachedRun(folder).stop_trial("0")
    assert n_lines(folder) == before


def test_wrong_requests_are_refused_before_anything_is_written(folder):
    before = (folder / "journal.jsonl").read_bytes()
    for what in (
        {"what": "add", "config": {"lrr": 1}},
        {"what": "add", "config": {"act": "rleu"}},
        {"what": "set_priority", "trial_id": "7", "priority": 1},
        {"what": "add", "source": "7"},
    ):
        with pytest.raises(ControlError):
            send(folder, requested(what))
    assert (folder / "journal.jsonl").read_bytes() == before


def test_a_torn_end_is_cut_off_first(folder):
    with open(folder / "journal.jsonl", "ab") as file:
        file.write(b'{"n":9,"e":"rep')
    AttachedRun(folder).note("hello")
    assert events(folder)[-1].note == "hello"


def test_a_full_disk_leaves_the_journal_as_it_was_and_the_lock_free(folder, monkeypatch):
    before = (folder / "journal.jsonl").read_bytes()
    monkeypatch.setattr(writer_module.os, "write", _Full(os.write))
    with pytest.raises(StorageError, match="No space left"):
        AttachedRun(folder).note("a long enough note")
    monkeypatch.undo()
    assert (folder / "journal.jsonl").read_bytes() == before
    assert not is_locked(folder / "journal.jsonl.lock")
    AttachedRun(folder).note("a long enough note")


class _Full:
    """A disk with room for ten bytes more."""

    def __init__(self, write):
        self._write, self._room = write, 10

    def __call__(self, fd, data):
        if not self._room:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        written = self._write(fd, data[: self._room])
        self._room -= written
        return written


def test_many_at_once_wait_for_one_another(folder):
    before, found = n_lines(folder), []
    threads = [
        threading.Thread(target=lambda i=i: found.append(AttachedRun(folder).add({"lr": i / 8}) == ""))
        for i in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [True] * 8
    assert n_lines(folder) == before + 8
    assert sorted(one.config["lr"] for one in events(folder)[-8:]) == [i / 8 for i in range(8)]


def test_a_driver_that_begins_meanwhile_gets_the_request(folder):
    """The lock is free when the client looks, and taken when it wants to write."""
    from overtone.control import client

    lock, append = WriterLock(folder / "journal.jsonl.lock"), client.append_unattended
    looks = iter([None])

    def looked(*_, **__):
        found = next(looks, lock)
        if found is lock:
            lock.release()  # The driver's run was short.

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(client, "holder", looked)
        answer = send(folder, requested({"what": "note", "note": "hello"}))
    assert (answer.waits, client.append_unattended) == (True, append)


def test_no_experiment_and_no_simulation_take_requests(tmp_path, folder):
    with pytest.raises(ControlError, match="holds no experiment"):
        AttachedRun(tmp_path).note("hello")
    simulated = tmp_path / "simulated"
    simulated.mkdir()
    JournalWriter(simulated / "journal.jsonl", new_header(1, {"engine": "Simulated"})).close()
    with pytest.raises(ControlError, match="is a simulation"):
        AttachedRun(simulated).add({})


@pytest.mark.parametrize(
    "ask", [lambda run: run.stop(), lambda run: run.note("hello"), lambda run: run.stack("0")]
)
def test_a_simulation_that_runs_answers_at_once(tmp_path, ask, monkeypatch):
    JournalWriter(tmp_path / "journal.jsonl", new_header(1, {"engine": "Simulated"})).close()
    monkeypatch.setattr("overtone.control.client.time.sleep", pytest.fail)  # Nothing is waited for.
    lock = WriterLock(tmp_path / "journal.jsonl.lock")
    try:
        with pytest.raises(ControlError, match="is a simulation.* only stop and note, from the process"):
            ask(AttachedRun(tmp_path))
    finally:
        lock.release()


@pytest.fixture
def remote(folder, tmp_path, monkeypatch):
    """The URL of the experiment, mirrored there, and its folder on this machine."""
    pytest.importorskip("fsspec")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    url = f"memory:/{tmp_path}/exp"
    files = RemoteFiles(url)
    lease = Lease.acquire(files)
    JournalMirror(
        folder / "journal.jsonl", (folder / "journal.jsonl").stat().st_size.__int__, files, lease
    ).push()
    lease.release()
    return url, located(url).parent


def test_a_request_to_an_experiment_at_a_url_is_there_for_all(remote, tmp_path, monkeypatch):
    url, here = remote
    assert AttachedRun(here).add({"lr": 0.25}) == ""
    with monkeypatch.context() as other_machine:
        other_machine.setenv("XDG_CACHE_HOME", str(tmp_path / "another"))
        there = located(url).parent
        assert there != here
        assert events(there)[-1].config == {"lr": 0.25}
        AttachedRun(there).note("from the other machine", "0")
    assert holder(there / "journal.jsonl") is None  # The lease is released.
    assert AttachedRun(here).note("the folder here is behind") == n_lines(there) + 1
    assert [one.note for one in events(here)[-2:]] == ["from the other machine", "the folder here is behind"]


def test_a_url_that_cannot_be_written_leaves_the_journal_as_it_was(remote, monkeypatch):
    url, here = remote
    before = (here / "journal.jsonl").read_bytes()

    def fail(*_):
        raise StorageError("the store is away")

    with monkeypatch.context() as patch:
        patch.setattr(JournalMirror, "push", fail)
        with pytest.raises(StorageError, match="the store is away"):
            AttachedRun(here).note("hello")
    assert (here / "journal.jsonl").read_bytes() == before
    AttachedRun(here).note("hello")


def test_a_driver_at_a_url_is_not_disturbed(remote):
    url, here = remote
    before = (here / "journal.jsonl").read_bytes()
    lease = Lease.acquire(RemoteFiles(url))
    try:
        with pytest.raises(ControlError, match=f"held by process {os.getpid()}"):
            send(here, requested({"what": "note", "note": "hello"}), timeout_s=0.0)
    finally:
        lease.release()
    assert (here / "journal.jsonl").read_bytes() == before


def test_a_driver_that_begins_meanwhile_waits(folder, monkeypatch):
    """A resume at the moment of a request is not refused."""
    with claimed(folder) as claim:
        monkeypatch.setattr(lock_module.time, "sleep", lambda seconds: claim.lock.release())
        WriterLock(folder / "journal.jsonl.lock").release()
