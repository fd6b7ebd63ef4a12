"""What a trial does that was sent a SIGTERM: it is as good as Halt(save=True), and ends as lost."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from overtone.core.job import Job
from overtone.core.messages import NEVER
from overtone.testing import faulty
from overtone.testing.fake_channel import FakeChannel, halt, start
from overtone.testing.folder_store import FolderStore
from overtone.worker.server.run_trial import run_trial
from overtone.worker.session.current import current


class NoticedAt(FakeChannel):
    """A line to a trial that is sent a SIGTERM just after it has reported `t`."""

    def __init__(self, t: int) -> None:
        super().__init__()
        self.t = t

    def send(self, message: Any) -> None:
        super().send(message)
        if message[0] == "reported" and message[3] == self.t:
            current().notice.give()


def run(trainable: Any, tmp_path: Path, t: int = 1, until_t: float = NEVER) -> tuple[FakeChannel, bool]:
    channel = NoticedAt(t)
    job = Job(trainable, "train", tmp_path, checkpoint_freq=0, store=FolderStore(tmp_path / "store"))
    is_clean = run_trial(channel, job, start({"n": 5}, until_t=until_t))
    return channel, is_clean


class TerminatedWhileSaving(faulty.Steps):
    def save_checkpoint(self, checkpoint_dir: str) -> dict[str, Any]:
        current().notice.give()
        return super().save_checkpoint(checkpoint_dir)


LOST = ("ended", "t", 0, "lost", "ended by SIGTERM, at a report", "")


@pytest.mark.parametrize(
    ("trainable", "kinds"),
    [
        (faulty.Steps, ["started", "reported", "reported", "saved", "ended"]),
        (faulty.saves_when_asked, ["started", "reported", "saved", "ended"]),
        (faulty.saves_each_time, ["started", "reported", "reported", "ended"]),
        (faulty.reports, ["started", "reported", "reported", "ended"]),
        (faulty.FailsToSave, ["started", "reported", "reported", "save_failed", "ended"]),
    ],
)
def test_a_trial_that_runs_ahead(trainable: Any, kinds: list[str], tmp_path: Path) -> None:
    channel, is_clean = run(trainable, tmp_path)
    assert channel.kinds == kinds
    assert channel.sent[-1] == LOST
    assert not is_clean


@pytest.mark.parametrize(
    ("trainable", "kinds"),
    [
        (faulty.Steps, ["started", "reported", "saved", "ended"]),
        # it has not said yet that it can save
        (faulty.saves_when_asked, ["started", "reported", "ended"]),
        (faulty.saves_each_time, ["started", "reported", "ended"]),
    ],
)
def test_a_trial_that_would_wait(trainable: Any, kinds: list[str], tmp_path: Path) -> None:
    channel, _ = run(trainable, tmp_path, until_t=0.0)
    assert channel.kinds == kinds
    assert channel.sent[-1] == LOST


def test_a_trial_that_is_done_is_not_lost(tmp_path: Path) -> None:
    channel, _ = run(faulty.Steps, tmp_path, t=5)
    assert channel.sent[-1][3] == "returned"


def test_a_sigterm_during_the_save_of_a_halt_makes_no_loss(tmp_path: Path) -> None:
    """The engine sends it to a trial that takes longer than its grace period."""
    channel = FakeChannel([halt(save=True, park=True)])
    job = Job(TerminatedWhileSaving, "train", tmp_path, checkpoint_freq=0, store=FolderStore(tmp_path / "store"))
    is_clean = run_trial(channel, job, start({"n": 5}, until_t=0.0))
    assert channel.kinds == ["started", "reported", "saved", "ended"]
    assert channel.sent[-1] == ("ended", "t", 0, "halted", "", "")
    assert not is_clean  # the engine is about to end the process
