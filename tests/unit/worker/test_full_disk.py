"""A save on a full disk: a Halt or a SIGTERM ends the wait, and the result is kept."""

from __future__ import annotations

import errno
import math
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from overtone.core.job import Job
from overtone.core.messages import Halt
from overtone.errors import TrialHalted
from overtone.store import room
from overtone.testing.fake_channel import FakeChannel, halt, start
from overtone.testing.folder_store import FolderStore
from overtone.worker.gang import trial_reports
from overtone.worker.gang.reports import Report
from overtone.worker.session.session import Session

Make = Callable[..., tuple[Session, FakeChannel]]


class Full(FolderStore):
    """Has no room for the first `failures` puts; calls `on_failure` at each."""

    failures = 3
    on_failure: Callable[[], None] = staticmethod(lambda: None)

    def put(self, *arguments: Any, **options: Any) -> str:
        if self.failures > 0:
            self.failures -= 1
            self.on_failure()
            raise OSError(errno.EDQUOT, "Disk quota exceeded")
        return super().put(*arguments, **options)


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Full:
    monkeypatch.setattr(room, "_FIRST_PAUSE_S", 0.001)
    return Full(tmp_path / "store")


def session_of(store: Full, tmp_path: Path) -> tuple[Session, FakeChannel]:
    channel = FakeChannel(())
    job = Job(None, "train", tmp_path / "exp", store=store)
    return Session(channel, job, start(until_t=math.inf), lambda: 0.0), channel


def state(tmp_path: Path) -> Path:
    folder = tmp_path / "state"
    folder.mkdir(parents=True)
    (folder / "x").write_text("x")
    return folder


def test_it_waits_and_says_so_once(store: Full, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    session, channel = session_of(store, tmp_path)
    session.report({"loss": 1}, checkpoint=state(tmp_path))
    assert [message[0] for message in channel.sent] == ["reported"]
    assert channel.sent[0][-1] is not None
    assert capsys.readouterr().err.count("no room to save") == 1


def test_the_driver_says_so_where_prints_go_to_files(
    store: Full, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    channel = FakeChannel(())
    job = Job(None, "train", tmp_path / "exp", store=store, log_to_file=("stdout", "stderr"))
    session = Session(channel, job, start(until_t=math.inf), lambda: 0.0)
    session.report({"loss": 1}, checkpoint=state(tmp_path))
    assert [message[0] for message in channel.sent] == ["no_room", "reported"]
    assert "no room to save" in channel.sent[0][3]
    assert "no room" not in capsys.readouterr().err


def test_what_waits_for_the_next_report_is_kept_meanwhile(store: Full, tmp_path: Path) -> None:
    session, channel = session_of(store, tmp_path)
    with session.checkpoint_dir(1) as folder:
        Path(folder, "x").write_text("x")
    session.report({"loss": 1})
    assert (tmp_path / "exp" / "t").exists()
    assert channel.sent[0][-1] is not None


@pytest.mark.parametrize("how", ["halt", "notice"])
def test_an_order_to_end_ends_the_wait_and_the_result_is_kept(
    store: Full, tmp_path: Path, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.failures = 10**9
    session, channel = session_of(store, tmp_path)
    orders: list[Halt] = []
    if how == "halt":
        store.on_failure = lambda: orders.append(halt())
        monkeypatch.setattr(session._shortage, "_look", lambda: orders.pop() if orders else None)
    else:
        store.on_failure = session.notice.give
    with pytest.raises(TrialHalted):
        session.report({"loss": 1}, checkpoint=state(tmp_path))
    assert channel.sent[0][0] == "reported"
    assert channel.sent[0][-1] is None
    assert session.iteration == 1


@pytest.mark.parametrize("is_halted", [False, True])
def test_files_of_ranks_wait_for_room_as_well(
    store: Full, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
    is_halted: bool,
) -> None:  # fmt: skip
    store.failures = 0
    session, channel = session_of(store, tmp_path)
    orders: list[Halt] = []
    monkeypatch.setattr(session._shortage, "_look", lambda: orders.pop() if orders else None)
    failures = [OSError(errno.ENOSPC, "No space left on device")] * 2

    def merge(reports: Any, folder: Path) -> None:
        if failures:
            orders[:] = [halt()] if is_halted else []
            raise failures.pop()
        (folder / "x").write_text("x")

    monkeypatch.setattr(trial_reports, "merge", merge)
    reports = [Report(rank, {"loss": 1}, state(tmp_path / str(rank))) for rank in range(2)]
    with pytest.raises(TrialHalted) if is_halted else nullcontext():
        trial_reports.TrialReports(session)(reports)
    assert [message[0] for message in channel.sent] == ["reported"]
    assert (channel.sent[0][-1] is None) == is_halted
    assert capsys.readouterr().err.count("no room to save") == 1


def test_patience_ends_with_the_error(store: Full, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "PATIENCE_S", 0.0)
    session, _ = session_of(store, tmp_path)
    with pytest.raises(OSError, match="quota"):
        session.report({"loss": 1}, checkpoint=state(tmp_path))
