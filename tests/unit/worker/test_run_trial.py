"""How trials end, and what is told of it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from overtone.core.job import Job
from overtone.core.types import Checkpoint
from overtone.errors import StorageError
from overtone.testing import faulty
from overtone.testing.fake_channel import FakeChannel, halt, start
from overtone.testing.folder_store import FolderStore
from overtone.worker.protocol import Order
from overtone.worker.server.run_trial import run_trial
from overtone.worker.session.current import current, is_inside


def job(trainable: Any) -> Job:
    return Job(trainable, "train", Path("exp"), store=FolderStore(Path("store")))


def run(trainable: Any, *orders: Order, until_t: float = 99) -> tuple[bool, FakeChannel]:
    channel = FakeChannel(orders)
    return run_trial(channel, job(trainable), start(until_t=until_t)), channel


@pytest.mark.parametrize(
    ("trainable", "kinds", "cause", "error"),
    [
        (faulty.reports, ["started", "reported", "reported", "ended"], "returned", ""),
        (faulty.reports_nothing, ["started", "ended"], "returned", ""),
        (faulty.raises, ["started", "reported", "ended"], "raised",
         "ValueError: this trial was made to fail"),
        (faulty.raises_base_exception, ["started", "reported", "ended"], "raised",
         "BaseException: this trial was made to fail"),
        (faulty.exits_with_zero, ["started", "reported", "ended"], "returned", ""),
        (faulty.exits_with_three, ["started", "reported", "ended"], "raised", "SystemExit: 3"),
    ],
)  # fmt: skip
def test_ends(trainable: Any, kinds: list[str], cause: str, error: str) -> None:
    is_clean, channel = run(trainable)
    assert channel.kinds == kinds
    assert channel.sent[-1][3:5] == (cause, error)
    assert is_clean
    assert not is_inside()


def test_the_users_traceback_comes_first_and_complete() -> None:
    _, channel = run(faulty.raises)
    lines = channel.sent[-1][5].splitlines()
    assert lines[0] == "Traceback (most recent call last):"
    assert "faulty.py" in lines[1]
    assert lines[2].strip() == 'raise ValueError("this trial was made to fail")'
    assert lines[-1] == "ValueError: this trial was made to fail"


def test_the_cause_of_an_error_is_shown_as_well() -> None:
    def train(config: Any) -> None:
        try:
            raise KeyError("inner")
        except KeyError as error:
            raise RuntimeError("outer") from error

    text = run(train)[1].sent[-1][5]
    assert text.index("KeyError: 'inner'") < text.index("direct cause") < text.index("RuntimeError: outer")


def test_only_the_first_line_of_a_message_is_the_error() -> None:
    def train(config: Any) -> None:
        raise ValueError("one\ntwo")

    assert run(train)[1].sent[-1][4] == "ValueError: one"


def test_a_clean_halt() -> None:
    is_clean, channel = run(faulty.reports, halt(), until_t=0)
    assert channel.sent[-1][3:] == ("halted", "", "")
    assert is_clean


@pytest.mark.parametrize("swallow", ["and returns", "and raises", "and reports"])
def test_an_unclean_halt(swallow: str) -> None:
    def train(config: Any) -> None:
        try:
            current().report(a=1)
        except BaseException:
            if swallow == "and raises":
                raise ValueError from None
            if swallow == "and reports":
                current().report(a=1)

    is_clean, channel = run(train, halt(), until_t=0)
    assert channel.sent[-1][3:] == ("halted", "", "")
    assert not is_clean


def test_a_lost_driver_ends_the_trial() -> None:
    class Lost(FakeChannel):
        def send(self, message: Any) -> None:
            if self.sent:
                raise EOFError
            super().send(message)

    assert not run_trial(Lost(), job(faulty.runs_for_ever), start(until_t=99))


def test_a_user_who_runs_out_of_input_has_raised() -> None:
    def train(config: Any) -> None:
        raise EOFError("when reading a line")

    assert run(train)[1].sent[-1][3:5] == ("raised", "EOFError: when reading a line")


def test_ctrl_c_passes_where_it_should() -> None:
    def train(config: Any) -> None:
        raise KeyboardInterrupt

    channel = FakeChannel()
    with pytest.raises(KeyboardInterrupt):
        run_trial(channel, job(train), start(), passing=(KeyboardInterrupt,))
    assert channel.kinds == ["started"]
    assert not is_inside()


def test_a_trial_whose_checkpoint_is_gone_begins_anew(capsys: Any) -> None:
    channel = FakeChannel()
    run_trial(
        channel, job(faulty.returns_metrics), start(checkpoint=Checkpoint("t", 3, "nowhere"), until_t=9)
    )
    assert [(one[0], one[5]) for one in channel.sent[:1]] == [("started", None)]
    assert channel.sent[1][3] == 1
    assert "checkpoint nowhere of trial t is gone" in capsys.readouterr().err


def test_a_store_that_is_away_ends_the_trial_before_it_began() -> None:
    class Away(FolderStore):
        def get(self, uri: str) -> Path:
            raise StorageError("it does not answer")

    channel = FakeChannel()
    away = Job(faulty.reports, "train", Path("exp"), store=Away(Path("store")))
    run_trial(channel, away, start(checkpoint=Checkpoint("t", 3, "somewhere")))
    assert channel.kinds == ["ended"]
    assert channel.sent[0][3:5] == ("raised", "StorageError: it does not answer")


@pytest.mark.parametrize(
    ("trainable", "text"), [(Path, "class without a step method"), (7, "int"), ("train", "str")]
)
def test_what_is_no_trainable(trainable: Any, text: str) -> None:
    end = run(trainable)[1].sent[-1]
    assert end[3] == "raised"
    assert text in end[4]
    assert "class Train(tune.Trainable)" in end[5]
    assert "Traceback" not in end[5]


def test_what_was_printed_is_flushed_before_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    order: list[str] = []

    class Stream:
        def flush(self) -> None:
            order.append("flushed")

    class Noting(FakeChannel):
        def send(self, message: Any) -> None:
            order.append(message[0])

    monkeypatch.setattr(sys, "stdout", Stream())
    run_trial(Noting(), job(faulty.reports_nothing), start())
    assert order == ["started", "flushed", "ended"]


def test_closed_streams_do_no_harm(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    assert run(faulty.reports_nothing)[1].kinds == ["started", "ended"]


def test_a_traceback_of_many_megabytes_is_shortened() -> None:
    def train(config: Any) -> None:
        raise ValueError("first\n" + "x" * 5_000_000 + " the end")

    _, channel = run(train)
    error, traceback = channel.sent[-1][4:]
    assert error == "ValueError: first"
    assert traceback.startswith("Traceback")
    assert traceback.endswith(" the end\n")
    assert len(traceback) < 1_100_000
