"""Checkpoints that no record names: whose are taken in."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from overtone.core.messages import Ended, Reported, Saved, Start
from overtone.core.trial import Status
from overtone.core.types import Checkpoint
from overtone.run.storage.leftover_checkpoints import LateSaves, is_wanted
from overtone.store.leftovers import Leftover
from overtone.worker.checkpoints.saving import config_digest
from overtone.worker.protocol import encode

CONFIG = {"x": 0.5, "layers": (1, 2)}


def trial(status=Status.RUNNING, attempt=1, t=10):
    checkpoint = Checkpoint("a", t, "x", 1) if t else None
    return SimpleNamespace(status=status, attempt=attempt, checkpoint=checkpoint, config=CONFIG)


def leftover(fence=1, is_whole=True, is_damaged=False, **facts):
    state = {"t": 11, "attempt": 1, "trial": "a", "config": config_digest(CONFIG), **facts}
    return Leftover("a/checkpoint_000011", "uri", 1, is_whole, is_damaged, state, fence)


def test_a_newer_one_of_the_same_history_is_taken_in():
    assert is_wanted(leftover(), {"a": trial()}, 1)
    assert is_wanted(leftover(), {"a": trial(Status.PENDING, t=0)}, 0)
    assert is_wanted(
        leftover(attempt=3, fence=2), {"a": trial(Status.PAUSED)}, 1
    )  # of a driver that told nothing


@pytest.mark.parametrize(
    ("found", "known", "fence"),
    [
        (leftover(), trial(Status.TERMINATED), 1),
        (leftover(), trial(Status.ERROR), 1),
        (leftover(), trial(t=11), 1),  # it is not newer
        (leftover(), trial(attempt=2), 1),  # its attempt has ended, and the trial may have begun anew
        (leftover(fence=1), trial(), 2),  # of a driver that had lost its lease
        (leftover(config=config_digest({"x": 0.6})), trial(), 1),  # of a restart that is in no record
        (leftover(is_whole=False), trial(), 1),
        (leftover(is_damaged=True), trial(), 1),
        (leftover(t=None), trial(), 1),
        (leftover(t="11"), trial(), 1),
        (leftover(attempt=None), trial(), 1),
    ],
)
def test_any_other_is_not(found, known, fence):
    assert not is_wanted(found, {"a": known}, fence)


def test_the_newest_one_of_a_trial_that_is_created_again_is_taken_in():
    assert is_wanted(leftover(), {}, 1)
    assert not is_wanted(leftover(is_damaged=True), {}, 1)


def test_an_attempt_whose_start_is_in_no_record_is_told_after_the_next_start():
    late = LateSaves()
    for t in (12, 13, 11):
        late.add(None, leftover(t=t, results=[encode({"training_iteration": t, "loss": t / 10}), "{", "3"]))
    late.add(None, leftover(t=14))
    start = Start("a", 3, 0, CONFIG, None, None, Checkpoint("a", 11, "x"))
    assert len(late) == 1
    begun, events = late.begun(start, 5.0)
    assert begun.checkpoint == Checkpoint("a", 14, "uri", 1)
    assert [(type(one), one.attempt, one.checkpoint.t) for one in events] == [
        (Reported, 3, 12), (Reported, 3, 13), (Saved, 3, 14),
    ]  # fmt: skip
    assert [one.metrics["loss"] for one in events[:2]] == [1.2, 1.3]
    assert late.begun(start, 5.0) == (start, [])  # once


def test_a_trial_that_was_done_is_not_started_again():
    late = LateSaves()
    late.add(None, leftover(results=[encode({"training_iteration": 11, "done": True})]))
    begun, events = late.begun(Start("a", 3, 0, CONFIG, None, None), 5.0)
    assert begun is None
    assert [type(one) for one in events] == [Reported, Ended]


@pytest.mark.parametrize(
    "start",
    [
        Start("a", 0, 0, {"x": 0.6}, None, None),  # it is another trial
        Start("a", 0, 0, CONFIG, None, None, Checkpoint("a", 11, "x")),  # it has one that is as new
        Start("a", 0, 0, CONFIG, None, None, Checkpoint("b", 5, "x")),  # it begins from another trial
    ],
)
def test_any_other_attempt_starts_as_ordered(start):
    late = LateSaves()
    late.add(None, leftover())
    assert late.begun(start, 0.0) == (start, [])
    assert not late


def test_a_digest_is_the_same_before_and_after_a_journal():
    np = pytest.importorskip("numpy")

    def act():
        """A value that is not data."""

    before = {"x": np.float64(0.5), "n": np.int64(3), "layers": (1, 2), "act": act}
    after = {"layers": [1, 2], "n": 3, "x": 0.5, "act": act}
    assert config_digest(before) == config_digest(after)
    assert config_digest(before) != config_digest({**after, "n": 4})
    assert config_digest({1: 2, "a": 3}) == config_digest({("a", 1): 2}) == ""
    array = np.zeros(10_000_000)
    assert config_digest({"data": array}) == config_digest({"data": array[:2]}) != ""  # it is not read


def test_a_resume_lists_whole_checkpoints_that_do_not_say_whose_they_are(tmp_path, capsys):
    import json
    import shutil

    from overtone import tune

    def train(config):
        tune.report({"loss": 1.0}, checkpoint=tune.Checkpoint.from_dict({"a": 1}))

    def run(**options):
        return tune.run(
            train, metric="loss", mode="min", name="a name", verbose=1, storage_path=str(tmp_path), engine="inline",
            tensorboard=False, **options,
        )  # fmt: skip

    (trial,) = run().trials
    folder = tmp_path / "a name" / trial.trial_id
    old = folder / "checkpoint_000007"
    shutil.copytree(folder / "checkpoint_000001", old)
    state = json.loads((old / ".overtone.json").read_text())
    del state["trial"]
    (old / ".overtone.json").write_text(json.dumps(state))
    capsys.readouterr()
    run(resume=True)
    said = capsys.readouterr().err
    assert old.is_dir()
    assert "kept 1 checkpoint that the journal does not name" in said
    assert f"\n  {old} (" in said
    assert f"to remove what is listed: rm -r '{old}'" in said
    shutil.rmtree(old)
    run(resume=True)
    assert "kept" not in capsys.readouterr().err
