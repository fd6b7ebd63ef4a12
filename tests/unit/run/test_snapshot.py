from __future__ import annotations

import json
from pathlib import Path

import pytest

from overtone import tune
from overtone.core.protocols import Observer
from overtone.engines.inline import Inline
from overtone.errors import StorageError
from overtone.run.resume.snapshot import NAME, JournalMark, Snapshots
from overtone.tune.schedulers import ASHAScheduler


def train(config):
    for t in range(1, 5):
        tune.report(loss=config["x"] / t)


def run(folder: Path, max_t: int = 4, **more) -> tune.ExperimentAnalysis:
    return tune.run(
        train, config={"x": tune.uniform(0, 1)}, metric="loss", mode="min", engine=Inline(cpus=1),
        scheduler=ASHAScheduler(max_t=max_t, grace_period=1, reduction_factor=2), name=folder.name,
        storage_path=folder.parent, seed=3, verbose=0, tensorboard=False, **more,
    )  # fmt: skip


@pytest.fixture
def recalled(monkeypatch) -> list[JournalMark | None]:
    """What each resume began with."""
    found: list[JournalMark | None] = []
    recall = Snapshots.recall

    def noted(self: Snapshots) -> JournalMark | None:
        found.append(recall(self))
        return found[-1]

    monkeypatch.setattr(Snapshots, "recall", noted)
    return found


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    """A finished experiment, with a snapshot after its last batch of events."""
    with monkeypatch.context() as patched:
        patched.setattr(Snapshots, "look", Snapshots.take)
        run(tmp_path / "one", num_samples=4)
    return tmp_path / "one"


def test_it_is_used_and_what_follows_is_the_same(folder, recalled) -> None:
    before = [trial.config for trial in tune.ExperimentAnalysis(folder).trials]
    analysis = run(folder, num_samples=6, resume=True)
    assert recalled[0] is not None
    assert recalled[0].n > 20
    assert len(analysis.trials) == 6
    assert [trial.config for trial in analysis.trials][:4] == before
    assert all(trial.status == "TERMINATED" for trial in analysis.trials)


def test_none_is_taken_of_a_short_run(tmp_path, recalled) -> None:
    run(tmp_path / "short", num_samples=2)
    assert not (tmp_path / "short" / NAME).exists()


def change_head(text: bytes) -> bytes:
    head, rest = text.split(b"\n", 1)
    facts = json.loads(head)
    facts["n"] += 1
    facts["crc"] ^= 1
    return json.dumps(facts).encode() + b"\n" + rest


@pytest.mark.parametrize(
    "harm",
    [
        lambda text: text[: len(text) // 2], lambda _: b"", lambda text: text.replace(b"RUNNING", b"PENDING"),
        lambda text: b"\x80\x04." + text, lambda _: b"[]\n[]\n", change_head,
    ],
)  # fmt: skip
def test_a_damaged_one_is_passed_over(folder, recalled, harm) -> None:
    path = folder / NAME
    text = path.read_bytes()
    path.write_bytes(harm(text))
    if path.read_bytes() == text:
        path.write_bytes(text[:-9] + b"?" + text[-8:])
    assert len(run(folder, num_samples=6, resume=True).trials) == 6
    assert recalled == [None]


def test_damage_in_the_journal_is_reported_with_its_line_all_the_same(folder, recalled) -> None:
    journal = folder / "journal.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    lines[5] = lines[5].replace(b'"time":', b'"tame":')
    journal.write_bytes(b"".join(lines))
    with pytest.raises(StorageError, match="line 6"):
        run(folder, num_samples=6, resume=True)
    assert recalled == [None]


def test_another_scheduler_hears_of_everything_again(folder, recalled) -> None:
    run(folder, max_t=3, num_samples=6, resume=True)
    assert recalled == [None]


class Listener(Observer):
    def __init__(self) -> None:
        self.past: list[int] = []

    def on_record(self, record) -> None:
        pass

    def on_past(self, record) -> None:
        self.past.append(record.n)


def test_an_observer_that_wants_to_hear_of_the_past_hears_of_all_of_it(folder, recalled) -> None:
    listener = Listener()
    run(folder, num_samples=6, resume=True, callbacks=[listener])
    assert recalled == [None]
    assert listener.past[:2] == [2, 3]


def test_a_full_disk_leaves_nothing_half_done_and_ends_nothing(tmp_path, monkeypatch) -> None:
    def full(self, data):
        self.touch()
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Snapshots, "look", Snapshots.take)
    monkeypatch.setattr(Path, "write_bytes", full)
    analysis = run(tmp_path / "full", num_samples=2)
    assert [trial.status for trial in analysis.trials] == ["TERMINATED"] * 2
    assert not list((tmp_path / "full").glob("snapshot*"))
