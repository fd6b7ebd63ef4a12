from __future__ import annotations

import pytest

from overtone.core.messages import Interrupted


def test_states_and_counts(overtone, tell):
    running = tell("running")
    trial = running.add({})
    running.start(trial)
    running.write()
    crashed = tell("crashed")
    crashed.start(crashed.add({}))
    crashed.add({})
    crashed.close(finished=False)
    interrupted = tell("interrupted")
    interrupted.tell(Interrupted(0.0))
    interrupted.close(finished=False)
    finished = tell("finished")
    finished.run({}, 1.0)
    finished.close()
    found = {one["name"]: one for one in overtone("ls", "--json").data}
    assert {name: one["state"] for name, one in found.items()} == {
        "running": "running", "crashed": "crashed", "interrupted": "interrupted", "finished": "finished",
    }  # fmt: skip
    assert {name for name, one in found.items() if one["is_resumable"]} == {"crashed", "interrupted"}
    assert found["running"]["driver"]["pid"] is not None
    assert found["running"]["statuses"] == {"RUNNING": 1}
    assert found["crashed"]["statuses"] == {"INTERRUPTED": 1, "PENDING": 1}
    table = overtone("ls").out
    assert "0/2 done, 1 cut off" in table
    assert "loss=1" in table


def test_how_many(overtone, tell):
    for name in ("a", "b"):
        tell(name).close()
    assert [len(overtone("ls", "--json", "-n", n).data) for n in (0, 1, 3)] == [2, 1, 2]


def test_the_shape_for_scripts(overtone, search):
    [one] = overtone("ls", "--json").data
    assert one == {
        "name": "search",
        "path": str(search),
        "state": "finished",
        "is_resumable": False,
        "driver": None,
        "trainable": "train",
        "trials": 4,
        "planned": None,
        "statuses": {"TERMINATED": 3, "ERROR": 1},
        "results": 6,
        "metric": "loss",
        "mode": "min",
        "best": {"trial_id": "358bb_00000", "value": 0.2},
        "started": "2026-09-21T14:13:20Z",
        "duration_s": 4.0,
        "size_bytes": one["size_bytes"],
        "runs": 1,
        "error": None,
    }
    assert one["size_bytes"] > 1000


def test_one_that_is_damaged_does_not_hide_the_others(overtone, search, tell):
    path = tell("other").close() / "journal.jsonl"
    path.write_bytes(b"nonsense\n" + path.read_bytes())
    done = overtone("ls")
    assert done.code == 0
    assert "damaged" in done.out
    assert "finished" in done.out
    found = {one["name"]: one for one in overtone("ls", "--json").data}
    assert (found["other"]["state"], found["search"]["state"]) == ("damaged", "finished")
    assert set(found["other"]) == set(found["search"])
    assert "journal.jsonl" in found["other"]["error"]


@pytest.mark.parametrize(("begins", "error"), [
    (b"", "no complete header"), (b'{"n":1,"e":"header","format":1,', "no complete header"),
    (b"something else\n", "line 1 (byte 0): damaged"),
])  # fmt: skip
def test_one_whose_driver_died_before_its_first_line_cannot_be_resumed(overtone, home, begins, error):
    folder = home / "overtone_results" / "early"
    folder.mkdir(parents=True)
    (folder / "journal.jsonl").write_bytes(begins)
    [one] = overtone("ls", "--json").data
    assert (one["state"], one["is_resumable"]) == ("damaged", False)
    assert error in one["error"]


def test_another_folder_and_an_experiment_itself(overtone, tell, tmp_path):
    tell("one", tmp_path / "here").close()
    (tmp_path / "here" / "notes").mkdir()
    for folder in (tmp_path / "here", f"file://{tmp_path}/here"):
        assert [one["name"] for one in overtone("ls", folder, "--json").data] == ["one"]
    assert [one["name"] for one in overtone("ls", tmp_path / "here" / "one", "--json").data] == ["one"]


def test_the_newest_only(overtone, tell):
    for name in ("a", "b", "c"):
        tell(name).close()
    assert [one["name"] for one in overtone("ls", "-n", 2, "--json").data] == ["c", "b"]


def test_no_experiments(overtone, home, tmp_path):
    done = overtone("ls")
    assert (done.code, done.out) == (0, "")
    assert done.err == f"overtone: no experiments in {home}/overtone_results\n"
    assert overtone("ls", "--json").data == []
    missing = overtone("ls", tmp_path / "nothing")
    assert (missing.code, missing.out) == (1, "")
