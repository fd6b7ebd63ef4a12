"""Folders of Ray Tune in the layouts of its versions, of which nothing is unpickled."""

from __future__ import annotations

import json
import os
import sys

import pytest

from overtone import tune
from overtone.errors import OvertoneError, StorageError


def result(t, trial_id="a1b2c_00000", begin=1000.0, **metrics):
    return {
        "loss": 1.0 / t, "training_iteration": t, "time_total_s": 2.0 * t, "timestamp": int(begin + 2 * t),
        "trial_id": trial_id, "date": "x", "pid": 7, "hostname": "h", "node_ip": "1.2.3.4", "done": False,
        "config": {"lr": 0.1}, "experiment_tag": "0", "time_since_restore": 2.0 * t, **metrics,
    }  # fmt: skip


@pytest.fixture
def folder(tmp_path):
    """A folder with pickles that must not be opened."""
    folder = tmp_path / "exp"
    folder.mkdir()
    (folder / "tuner.pkl").write_bytes(b"cos\nsystem\n(S'touch /tmp/pickled'\ntR.")
    return folder


def add(folder, name, rows, params=None, tail=""):
    path = folder / name
    path.mkdir()
    (path / "params.pkl").write_bytes(b"cos\nsystem\n(S'touch /tmp/pickled'\ntR.")
    text = "".join(json.dumps(one) + "\n" for one in rows) + tail
    (path / "result.json").write_text(text)
    if params is not None:
        (path / "params.json").write_text(json.dumps(params))
    return path


def modern(folder, *entries):
    """Write a state as since Ray 2.5: two JSON texts a trial, with pickles as text in them."""
    pickled = {"_type": "CLOUDPICKLE_FALLBACK", "value": "80054e2e"}
    data = [
        [json.dumps({"trainable_name": "f", "storage": pickled, **one}), json.dumps({"start_time": begin})]
        for begin, one in entries
    ]
    text = json.dumps({"trial_data": data, "runner_data": {}, "stats": {}})
    (folder / "experiment_state-2026-01-02_03-04-05.json").write_text(text)


def test_the_layout_since_2_7(folder, take, trials_of):
    rows = [
        result(1, checkpoint_dir_name="checkpoint_000000"),
        result(2),
        result(3, checkpoint_dir_name="checkpoint_000001"),
    ]
    path = add(folder, "f_a1b2c_00000_0_lr=0.1", rows, {"lr": 0.1, "net": {"w": [1, 2]}})
    (path / "checkpoint_000000").mkdir()
    (path / "checkpoint_000000" / "w.txt").write_text("weights")
    failed = add(folder, "f_a1b2c_00001_1_lr=0.2", [result(1, "a1b2c_00001", 1001.0)], {"lr": 0.2})
    (failed / "error.txt").write_text("Traceback\n  line\nValueError: no\n")
    modern(
        folder,
        (1000.0, {"trial_id": "a1b2c_00000", "status": "TERMINATED", "relative_logdir": path.name}),
        (1001.0, {"trial_id": "a1b2c_00001", "status": "ERROR", "relative_logdir": failed.name}),
        (
            1002.0,
            {"trial_id": "a1b2c_00002", "status": "RUNNING", "relative_logdir": "gone", "config": {"lr": 3}},
        ),
        (None, {"trial_id": "a1b2c_00003", "status": "PENDING", "config": {"lr": 4}}),
    )
    found = take(folder)
    first, second, third, fourth = trials_of(found)
    assert [one.trial_id for one in (first, second, third, fourth)] == [f"a1b2c_0000{i}" for i in range(4)]
    assert [one.status for one in (first, second, third, fourth)] == [
        "TERMINATED",
        "ERROR",
        "RUNNING",
        "PENDING",
    ]
    assert first.config == {"lr": 0.1, "net": {"w": [1, 2]}}
    assert third.config == {"lr": 3}
    assert [(one["training_iteration"], one["loss"]) for one in first.results()] == [
        (1, 1.0),
        (2, 0.5),
        (3, 1 / 3),
    ]
    assert [one["time_total_s"] for one in first.results()] == [2.0, 4.0, 6.0]
    assert (second.error, second.traceback[:9]) == ("ValueError: no", "Traceback")
    ((checkpoint, saved),) = first.checkpoints()
    assert saved["training_iteration"] == 1
    with checkpoint.as_directory() as where, open(os.path.join(where, "w.txt")) as file:
        assert file.read() == "weights"
    assert os.path.islink(found.folder / "a1b2c_00000" / "checkpoint_000001" / "w.txt")
    assert any("1 checkpoint of" in one for one in found.lost)
    assert tune.verify(found.folder).is_same


@pytest.mark.parametrize("as_text", [True, False])
def test_the_layout_of_0_8_to_2_4(folder, take, trials_of, as_text):
    """`checkpoints` are texts, in 0.8 objects; ids have no number; checkpoints are named by iteration."""
    path = add(
        folder,
        "Trainable_0_lr=0.1_2020-01-01_00-00-00abc",
        [result(1, "f0e1d2c3"), result(5, "f0e1d2c3", done=True)],
        {"lr": 0.1},
    )
    (path / "checkpoint_5").mkdir()
    entry = {
        "trial_id": "f0e1d2c3",
        "status": "TERMINATED",
        "logdir": f"/somewhere/else/{path.name}",
        "config": "80054e2e",
    }
    state = {"checkpoints": [json.dumps(entry) if as_text else entry], "runner_data": {}, "timestamp": 1.0}
    (folder / "experiment_state-2020-01-01_00-00-00.json").write_text(json.dumps(state))
    (trial,) = trials_of(take(folder))
    assert (trial.trial_id, trial.status, trial.config) == ("f0e1d2c3", "TERMINATED", {"lr": 0.1})
    assert [one.t for one in trial.references()] == [5]


def test_folders_alone(folder, take, trials_of):
    """Without a state the results tell; without result.json the table does."""
    add(folder, "one", [result(1), result(2, done=True)], {"lr": 0.1})
    add(folder, "two", [result(1, "b")], tail='{"loss": 0.')
    table = folder / "three"
    table.mkdir()
    (table / "params.json").write_text('{"lr": 0.3}')
    (table / "progress.csv").write_text(
        "loss,nested/a,training_iteration,time_total_s,timestamp,done,trial_id\n"
        "0.5,nan,1,1.0,3000,False,c\n0.25,,2,2.0,3001,True,c\n"
    )
    found = take(folder)
    trials = {one.trial_id: one for one in trials_of(found)}
    assert {name: one.status for name, one in trials.items()} == {
        "a1b2c_00000": "TERMINATED", "b": "RUNNING", "c": "TERMINATED",
    }  # fmt: skip
    assert [one["loss"] for one in trials["c"].results()] == [0.5, 0.25]
    assert trials["b"].config == {"lr": 0.1}  # Of its result.


def test_results_that_repeat_an_iteration(folder, take, trials_of):
    add(folder, "one", [result(1), result(2), result(2, again=1), result(1), result(3)], {"lr": 0.1})
    found = take(folder)
    (trial,) = trials_of(found)
    assert [one["training_iteration"] for one in trial.results()] == [1, 2, 3]
    assert any("2 results at an iteration" in one for one in found.lost)


def test_a_state_that_is_cut_and_an_id_that_is_no_folder(folder, take, trials_of):
    add(folder, "one", [result(1, "../../etc")], {"lr": float("nan")})
    (folder / "experiment_state-1.json").write_text('{"trial_data": [[')
    (trial,) = trials_of(take(folder))
    assert "/" not in trial.trial_id
    assert trial.config["lr"] != trial.config["lr"]


def test_damage_is_named(folder, take, tmp_path):
    path = add(folder, "one", [], {"lr": 0.1})
    (path / "result.json").write_text("garbage\n" + json.dumps(result(1)) + "\n")
    with pytest.raises(StorageError, match="result.json, line 1"):
        take(folder)
    with pytest.raises(OvertoneError, match="nothing that is known"):
        take(tmp_path)


def test_no_pickle_is_opened(folder, take):
    path = add(folder, "one", [result(1)], {"lr": 0.1})
    modern(folder, (1.0, {"trial_id": "x", "status": "ERROR", "relative_logdir": "one"}))
    (path / "error.pkl").write_bytes(b"cos\nsystem\n(S'true'\ntR.")
    seen = []
    sys.addaudithook(lambda event, args: seen.append((event, args)) if is_on[0] else None)
    is_on = [True]
    try:
        take(folder)
    finally:
        is_on[0] = False
    assert not [one for one in seen if one[0] == "pickle.find_class"]
    opened = [str(args[0]) for event, args in seen if event == "open"]
    assert any(one.endswith("result.json") for one in opened)
    assert not [one for one in opened if one.endswith(".pkl")]


def test_a_trial_of_the_state_lies_in_the_folder(folder, take, trials_of):
    (folder.parent / "result.json").write_text(json.dumps(result(1)) + "\n")
    state = {"trial_id": "a1b2c_00000", "status": "TERMINATED", "relative_logdir": ".."}
    modern(folder, (1000.0, state))
    (trial,) = trials_of(take(folder))
    assert not trial.last_result


def test_a_trial_with_the_name_of_the_journal_gets_another_id(folder, take, trials_of):
    path = add(folder, "train_1", [result(1, "journal.jsonl", checkpoint_dir_name="checkpoint_000000")])
    (path / "checkpoint_000000").mkdir()
    (trial,) = trials_of(take(folder))
    assert trial.trial_id != "journal.jsonl"


@pytest.mark.parametrize("more", [{"checkpoint_dir_name": "checkpoint_000001"}, {}])
def test_a_checkpoint_that_is_a_link_is_left_out(folder, take, trials_of, tmp_path, more):
    path = add(folder, "train_1", [result(1, **more)])
    (tmp_path / "secrets").mkdir()
    (path / "checkpoint_000001").symlink_to(tmp_path / "secrets")
    (trial,) = trials_of(take(folder))
    assert trial.checkpoint is None
