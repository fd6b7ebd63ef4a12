"""The session of a trial that has ended."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from overtone.core.job import Job
from overtone.errors import TrainableError, TrialHalted
from overtone.testing.fake_channel import FakeChannel, halt, proceed, start
from overtone.testing.folder_store import FolderStore
from overtone.worker.server.run_trial import run_trial
from overtone.worker.session.current import activated, current, is_inside
from overtone.worker.session.ended_session import EndedSession, ended_after
from overtone.worker.session.session import Session


def session(tmp_path: Path, channel: FakeChannel | None = None) -> Session:
    job = Job(None, "train", tmp_path, store=FolderStore(tmp_path / "store"))
    return Session(channel or FakeChannel(), job, start(until_t=99))


@pytest.fixture
def ended(tmp_path: Path) -> tuple[Session, FakeChannel]:
    channel = FakeChannel()
    one = session(tmp_path, channel)
    with ended_after(one, None):
        one.report(a=1)
    return one, channel


@pytest.mark.parametrize(
    ("use", "answer"),
    [
        (lambda one: one.report(a=2), None),
        (lambda one: one.report_with_state({"a": 2}), None),
        (lambda one: one.should_checkpoint(), False),
        (lambda one: one.record_checkpoint(__file__), None),
        (lambda one: one.save_checkpoint(__file__), None),
        (lambda one: one.get_checkpoint(), None),
        (lambda one: one.checkpoint, None),
        (lambda one: one.saved_state, None),
    ],
)
def test_nothing_is_heard_after_the_end_and_one_warning_says_so(
    ended: tuple[Session, FakeChannel], use: Callable[[Session], Any], answer: Any,
    capfd: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    one, channel = ended
    assert [use(one), use(one)] == [answer, answer]
    assert channel.kinds == ["reported"]
    (line,) = capfd.readouterr().err.splitlines()
    assert line.startswith("overtone: trial t: thread 'MainThread' used ")
    assert "after the trial had ended" in line


def test_a_new_directory_to_save_into_is_refused(ended: tuple[Session, FakeChannel]) -> None:
    with pytest.raises(TrialHalted):
        ended[0].make_checkpoint_dir()
    with pytest.raises(TrialHalted), ended[0].checkpoint_dir():
        pass


def test_facts_remain(ended: tuple[Session, FakeChannel]) -> None:
    assert (ended[0].get_trial_id(), ended[0].get_trial_name()) == ("t", "train_t")


def test_methods_that_were_taken_before_the_end_are_not_heard_either(tmp_path: Path) -> None:
    channel = FakeChannel()
    one = session(tmp_path, channel)
    report, record = one.report, one.record_checkpoint
    with ended_after(one, None):
        pass
    report(a=1)
    record(__file__)
    assert channel.kinds == []
    assert type(one) is EndedSession


def test_a_report_that_waits_for_its_order_is_answered_before_the_end(tmp_path: Path) -> None:
    """Else it would take the orders of the next trial."""
    waits, goes = threading.Event(), threading.Event()
    seen: list[str] = []
    channel = FakeChannel([proceed(), proceed()])

    def wait() -> None:
        waits.set()
        assert goes.wait(60)

    channel.on_wait = wait
    one = Session(channel, Job(None, "train", tmp_path), start())

    def reports() -> None:
        one.report(a=1)
        seen.append("answered")
        one.report(a=2)
        seen.append("ignored")

    thread = threading.Thread(target=reports)
    with ended_after(one, None):
        thread.start()
        assert waits.wait(60)
        threading.Timer(0.01, goes.set).start()
    assert len(channel.orders) == 1
    assert channel.kinds == ["reported"]
    thread.join(60)
    assert seen == ["answered", "ignored"]
    assert channel.kinds == ["reported"]


def test_a_late_thread_has_its_own_trial_while_the_next_one_runs(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    goes, done = threading.Event(), threading.Event()
    seen: list[Any] = []

    def late() -> None:
        assert goes.wait(60)
        seen.extend([current().get_trial_id(), is_inside()])
        current().report(a=13)
        done.set()

    def first(config: Any) -> None:
        threading.Thread(target=late, daemon=True).start()
        current().report(a=1)

    def second(config: Any) -> None:
        goes.set()
        assert done.wait(60)
        current().report(a=2)

    channel = FakeChannel()
    for name, train in (("first", first), ("second", second)):
        run_trial(channel, Job(train, "train", tmp_path), start(until_t=99, trial_id=name))
    assert seen == ["first", False]
    assert [one[:2] for one in channel.sent if one[0] == "reported"] == [
        ("reported", "first"), ("reported", "second"),
    ]  # fmt: skip
    assert "trial first: thread 'Thread-" in capfd.readouterr().err


@pytest.mark.parametrize("end", ["raises", "is halted"])
def test_it_ends_however_the_trial_does(tmp_path: Path, end: str) -> None:
    sessions: list[Session] = []

    def train(config: Any) -> None:
        sessions.append(current())
        if end == "raises":
            raise ValueError
        current().report(a=1)

    run_trial(FakeChannel([halt()]), Job(train, "train", tmp_path), start())
    assert type(sessions[0]) is EndedSession


def test_another_session_is_not_touched(ended: tuple[Session, FakeChannel], tmp_path: Path) -> None:
    channel = FakeChannel()
    with activated(session(tmp_path, channel)):
        current().report(a=1)
    assert channel.kinds == ["reported"]


def test_a_thread_that_begins_after_the_end_is_not_heard_either(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from overtone.worker.session import current as module
    from overtone.worker.session.leftover_threads import StartedThreads

    monkeypatch.setattr(module, "_bound", {})
    is_over, channel, errors = threading.Event(), FakeChannel(), []

    def late() -> None:
        try:
            current().report(a=2)
        except BaseException as error:
            errors.append(error)

    def left() -> None:
        assert is_over.wait(60)
        for _ in range(2):
            born = threading.Thread(target=late, name="born late")
            born.start()
            born.join(60)

    threads = StartedThreads()
    one = session(tmp_path, channel)
    with activated(one), ended_after(one, threads):
        one.report(a=1)
        thread = threading.Thread(target=left)
        thread.start()
    is_over.set()
    thread.join(60)
    assert errors == []
    assert channel.kinds == ["reported"]
    (line,) = capfd.readouterr().err.splitlines()
    assert "thread 'born late' used report() after the trial had ended" in line
    with pytest.raises(TrainableError, match="no trial runs here"):
        current()
