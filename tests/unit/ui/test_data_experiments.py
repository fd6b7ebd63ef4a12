"""A folder of experiments: the list, who follows, machines, and what cannot be read."""

from __future__ import annotations

import json
import threading
from types import SimpleNamespace

import numpy as np
import pytest

from overtone.control.holder import Holder
from overtone.core.types import Why
from overtone.errors import ArgumentError, GoalError, StorageError
from overtone.testing.scripted_journal import ScriptedJournal
from overtone.ui.data import experiment, listing, machines
from overtone.ui.data.binary_message import array_at, decoded
from overtone.ui.data.experiments import Experiments
from overtone.ui.data.journal_poller import JournalPoller
from overtone.ui.data.plain_json import nullable, plain


@pytest.fixture
def folder(tmp_path):
    for name, loss in (("first", 1.0), ("second", 2.0)):
        told = ScriptedJournal(tmp_path / name)
        told.run({"x": loss}, {"loss": loss})
        told.write()
        told.writer.close()
    return tmp_path


@pytest.fixture
def experiments(folder):
    found = Experiments(folder)
    yield found
    found.close()


def test_the_list_has_running_experiments_first(folder, experiments, monkeypatch):
    (folder / "broken").mkdir()
    (folder / "broken" / "journal.jsonl").write_bytes(b"not a journal\n")
    (folder / "other").mkdir()
    held = Holder(1, "host", 0.0)
    monkeypatch.setattr(
        "overtone.control.overview.holder",
        lambda journal, watches: held if journal.parent.name == "second" else None,
    )
    found = experiments.listing()
    assert found[0]["id"] == "second"
    assert {one["id"]: one["state"] for one in found} == {
        "first": "crashed", "second": "running", "broken": "damaged"
    }  # fmt: skip
    assert next(one["error"] for one in found if one["id"] == "broken")
    json.dumps(found, allow_nan=False)


def test_an_unchanged_journal_is_not_read_again(folder, experiments, monkeypatch):
    read = []
    own = listing.overview
    monkeypatch.setattr(listing, "overview", lambda journal, cache, watches: (
        read.append(journal.parent.name), own(journal, cache, watches))[1])  # fmt: skip
    monkeypatch.setattr(listing, "_MOST_SHARE", float("inf"))
    first = experiments.listing()
    assert experiments.listing() == first
    assert sorted(read) == ["first", "second"]
    told = folder / "first" / "journal.jsonl"
    told.write_bytes(told.read_bytes().rpartition(b"\n{")[0] + b"\n")
    experiments.listing()
    assert sorted(read) == ["first", "first", "second"]


def test_facts_are_not_old_because_reading_is_slow(folder, experiments, monkeypatch):
    now, states = [0.0], ["crashed", "running"]

    def slow(journal, cache, watches):
        now[0] += 60
        return {"name": "x", "started": None, "driver": {"pid": 1}, "state": states[now[0] > 200]}

    monkeypatch.setattr(listing, "overview", slow)
    monkeypatch.setattr(listing, "time", SimpleNamespace(monotonic=lambda: now[0]))
    assert {one["state"] for one in experiments.listing()} == {"crashed"}
    now[0] += 100
    assert {one["state"] for one in experiments.listing()} == {"running"}


@pytest.mark.parametrize("name", ["", "..", "third", "first/../second", "/etc", "%2e", "first\0"])
def test_only_what_the_list_has_is_opened(experiments, name):
    with pytest.raises(KeyError, match="there is no experiment"):
        experiments.get(name)


def test_the_folder_of_one_experiment(folder):
    experiments = Experiments(folder / "first")
    assert [one["id"] for one in experiments.listing()] == ["first"]
    assert experiments.get("first").overview()["name"] == "first"
    experiments.close()


def test_an_experiment_that_is_deleted_and_made_again(folder, experiments):
    one = experiments.get("first")
    assert one.overview()["trials"] == 1
    (folder / "first" / "journal.jsonl").unlink()
    assert one.overview()["state"] == "damaged"
    with pytest.raises(KeyError):
        experiments.get("first")
    (folder / "second").rename(folder / "third")
    assert experiments.get("third").overview()["best"]["value"] == 2.0


def test_how_far_a_reading_is_does_not_wait_for_it(folder, experiments):
    size = (folder / "first" / "journal.jsonl").stat().st_size
    one = experiments.get("first")
    assert one.reading() == {"n_bytes": 0, "of_bytes": size}
    reads, may_end, shown = threading.Event(), threading.Event(), []
    own = one._followed._note_bytes

    def slowly(offset):
        own(offset)
        if offset:
            reads.set()
            may_end.wait(30)

    one._followed._note_bytes = slowly
    reading = threading.Thread(target=one.columns)
    reading.start()
    assert reads.wait(30)
    shown.append(one.reading()["n_bytes"])
    may_end.set()
    reading.join(30)
    assert 0 < shown[0] < size
    assert one.reading() == {"n_bytes": size, "of_bytes": size}


def test_who_waits_hears_of_new_records(folder, experiments):
    told = ScriptedJournal(folder / "live")
    trial = told.add({"x": 1.0})
    told.start(trial)
    told.write()
    one = experiments.get("live")
    n = decoded(one.columns())[0]["n"]
    assert one.wait(n - 1, 30) == n
    assert one.wait(n, 0) == n
    heard = []
    waiting = threading.Thread(target=lambda: heard.append(one.wait(n, 30)))
    waiting.start()
    told.report(trial, loss=0.25)
    told.write()
    waiting.join(30)
    assert heard == [n + 1]
    header, data = decoded(one.update_since(n))
    assert array_at(data, header["arrays"][0]).tolist() == [0]
    assert one.is_watched
    experiments.close()
    assert not any(thread.name == "overtone-ui-follow" for thread in threading.enumerate())
    told.writer.close()


def test_the_thread_ends_when_nobody_waits(monkeypatch):
    monkeypatch.setattr("overtone.ui.data.journal_poller.IDLE_S", 0.0)
    read = threading.Event()
    poller = JournalPoller(read.set, 0.001)
    poller.wait(lambda: False, 0.01)
    for thread in threading.enumerate():
        if thread.name == "overtone-ui-follow":
            thread.join(30)
    assert read.is_set()
    assert not poller.is_running


def test_a_reader_that_fails_does_not_end_the_thread():
    reads = []

    def read():
        reads.append(len(reads))
        if len(reads) == 1:
            raise RuntimeError("odd")
        return len(reads)

    poller = JournalPoller(read, 0.001)
    poller.wait(lambda: len(reads) > 2, 30)
    assert len(reads) > 2
    poller.close()


def test_the_overview_of_a_run(folder, monkeypatch):
    told = ScriptedJournal(folder / "live", limits={"total": 8, "max_concurrent": None})
    told.capacity({"a": {"cpu": 4.0}, "b": {"cpu": 2.0}})
    for i in range(3):
        trial = told.add({"x": float(i)}, {"cpu": 2.0})
        told.start(trial, hostname="a")
        told.time += 10.0
        told.report(trial, loss=1.0 - i / 10)
    told.end(trial)
    told.write()
    monkeypatch.setattr(experiment, "holder", lambda journal, watches: Holder(7, "host", 0.0))
    experiments = Experiments(folder)
    found = experiments.get("live").overview()
    assert found["state"] == "running"
    assert found["driver"]["pid"] == 7
    assert found["statuses"] == {"RUNNING": 2, "TERMINATED": 1}
    assert found["slots"] == {"used": 2, "of": 3}
    assert found["planned"] == 8
    assert [(one["trial_id"], one["value"], one["node"]) for one in found["running"]] == [
        ("358bb_00001", 0.9, "a"), ("358bb_00000", 1.0, "a")
    ]  # fmt: skip
    assert found["now"]["eta_s"] > 0
    assert found["best"]["trial_id"] == "358bb_00002"
    json.dumps(found, allow_nan=False)
    told.writer.close()
    experiments.close()


def test_a_silent_driver_is_a_warning(folder, monkeypatch):
    import os

    told = ScriptedJournal(folder / "live")
    told.start(told.add({"x": 1.0}))
    os.utime(told.write(), (1.0, 1.0))
    monkeypatch.setattr(experiment, "holder", lambda journal, watches: Holder(7, "host", 0.0))
    experiments = Experiments(folder)
    assert "silent for" in experiments.get("live").overview()["warnings"][-1]["text"]
    told.writer.close()
    experiments.close()


def test_which_machine_is_slow(folder):
    told = ScriptedJournal(folder / "nodes")
    for i, node in enumerate(["a", "b", "c"] * 3):
        trial = told.add({"x": float(i)})
        told.start(trial, node=f"10.0.0.{node}", hostname=node)
        for _ in range(5):
            told.time += 3.0 if node == "b" else 1.0
            told.report(trial, loss=1.0)
        told.end(trial, why=Why("returned"))
    told.write()
    experiments = Experiments(folder)
    found = experiments.get("nodes").machines()
    assert found["slowest"] == "b"
    assert found["sentence"] == (
        "b is slow: an iteration takes 3 s there, 3.0 times as long as on the other nodes."
    )
    nodes = {one["name"]: one for one in found["nodes"]}
    assert nodes["a"]["seconds_per_iteration"] == 1.0
    assert nodes["b"]["slowness"] == 3.0
    assert nodes["c"]["ended"] == 3
    told.writer.close()
    experiments.close()


def test_the_drivers_machine_is_shown_once():
    own, there = object(), object()
    hosts = {"10.0.0.1": "head", "10.0.0.2": "other", "driver": "head"}
    found = machines._by_name({"10.0.0.1": own, "10.0.0.2": there, "driver": object()}, hosts)
    assert found == {"head": own, "other": there}
    assert machines._by_name({"driver": own, "zoo": there}, {"driver": "head"}) == {"zoo": there, "head": own}


def test_several_nodes_of_one_host_are_several_machines(folder):
    told = ScriptedJournal(folder / "nodes")
    told.capacity({"10.0.0.1": {"cpu": 4.0}, "10.0.0.1:2": {"cpu": 2.0}})
    for node in ("10.0.0.1", "10.0.0.1:2", "10.0.0.1"):
        trial = told.add({"x": 1.0})
        told.start(trial, node=node, hostname="big")
        told.report(trial, loss=1.0)
    told.write()
    experiments = Experiments(folder)
    names = ["big", "big (10.0.0.1:2)"]
    nodes = experiments.get("nodes").machines()["nodes"]
    assert [(one["name"], one["n_trials"]) for one in nodes] == list(zip(names, (2, 1), strict=True))
    # on another day the host has another address, and is the same machine
    told.capacity({"10.0.0.7": {"cpu": 4.0}})
    told.start(told.add({"x": 1.0}), node="10.0.0.7", hostname="big")
    told.write()
    experiments.close()
    experiments = Experiments(folder)
    nodes = experiments.get("nodes").machines()["nodes"]
    assert [(one["name"], one["n_trials"]) for one in nodes] == list(zip(names, (3, 1), strict=True))
    told.writer.close()
    experiments.close()


def test_the_rate_of_a_node_counts_the_time_of_its_running_trials(folder):
    told = ScriptedJournal(folder / "rate")
    trial = told.add({"x": 1.0})
    told.start(trial, hostname="a")
    for _ in range(6):
        told.time += 10.0
        told.report(trial, loss=1.0)
    told.write()
    experiments = Experiments(folder)
    (node,) = experiments.get("rate").machines()["nodes"]
    assert node["results_per_minute"] == pytest.approx(6.0)
    told.writer.close()
    experiments.close()


def test_samples_are_thinned_and_peaks_stay():
    from overtone.reading.machine_samples import MachineSamples

    n = 5000
    time = np.arange(n, dtype=float)
    cpu = np.full(n, 0.25)
    cpu[1234] = 1.0
    cpu[:3] = np.nan
    many = np.ones(n)
    none = np.zeros((n, 0))
    found = machines._series(MachineSamples(time, cpu, *[many] * 5, none, none, none))
    assert len(found["time"]) == len(found["cpu"]) <= machines.POINTS
    assert max(one for one in found["cpu"] if one is not None) == 1.0
    assert found["n_cpus"] == 1.0


@pytest.mark.parametrize(
    ("name", "options"),
    [("nothing", {}), ("slice", {"colour": "red"}), ("slice", {"params": '["y"]'}),
     ("learning_curves", {"max_curves": "many"}), ("edf", {"max_curves": "3"})],
)  # fmt: skip
def test_wrong_plots(experiments, name, options):
    with pytest.raises(ArgumentError):
        experiments.get("first").plot(name, **options)


def test_wrong_metrics(experiments):
    with pytest.raises(GoalError):
        experiments.get("first").plot("edf", metric="nothing")


def test_too_much_is_refused(experiments):
    one = experiments.get("first")
    with pytest.raises(ArgumentError):
        one.curves(["0"] * 51)
    with pytest.raises(ArgumentError):
        experiments.comparison([])
    assert one.rows([5, -1])["rows"] == []


def test_a_journal_that_was_always_damaged(folder, experiments):
    (folder / "bad").mkdir()
    (folder / "bad" / "journal.jsonl").write_bytes(b"not a journal\n")
    one = experiments.get("bad")
    found = one.overview()
    assert found["state"] == "damaged"
    assert found["error"]
    assert found.keys() >= experiments.get("first").overview().keys()
    for read in (one.columns, one.decisions, one.machines, lambda: one.trial("0")):
        with pytest.raises(StorageError):
            read()


def test_users_values_as_json():
    found = plain({"a": [float("nan"), float("inf"), -float("inf")], 1: 2**60, "s": "\ud800", "o": object})
    assert found["a"] == ["NaN", "Infinity", "-Infinity"]
    assert found["1"] == str(2**60)
    json.dumps(found, allow_nan=False).encode()
    deep: list = []
    for _ in range(500):
        deep = [deep]
    json.dumps(plain(deep))
    assert nullable([1.0, float("nan")]) == [1.0, None]
