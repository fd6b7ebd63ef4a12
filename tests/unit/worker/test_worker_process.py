"""The life of a worker."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from overtone.core.job import Job
from overtone.testing import faulty
from overtone.testing.fake_channel import FakeChannel, halt, proceed, start
from overtone.worker.server.worker_process import serve


@pytest.fixture(autouse=True)
def interrupts() -> Iterator[None]:
    before = signal.getsignal(signal.SIGINT)
    yield
    signal.signal(signal.SIGINT, before)


def job(trainable: Any = faulty.reports_nothing, reuse: bool = True) -> Job:
    return Job(trainable, "train", Path("exp"), reuse=reuse)


def ended(channel: FakeChannel) -> list[str]:
    return [one[1] for one in channel.sent if one[0] == "ended"]


def test_one_trial_after_the_other() -> None:
    channel = FakeChannel([start(trial_id="a"), start(trial_id="b"), None, start(trial_id="c")])
    serve(channel, job())
    assert ended(channel) == ["a", "b"]


def test_one_trial_without_reuse() -> None:
    channel = FakeChannel([start(trial_id="a"), start(trial_id="b")])
    serve(channel, job(reuse=False))
    assert ended(channel) == ["a"]


def test_orders_for_a_trial_that_has_ended_are_passed_over() -> None:
    channel = FakeChannel([start(trial_id="a"), halt(), proceed(), start(trial_id="b")])
    serve(channel, job())
    assert ended(channel) == ["a", "b"]


def test_an_unclean_trial_is_the_last() -> None:
    channel = FakeChannel([start(), halt(), start(trial_id="b")])
    serve(channel, job(faulty.reports_after_halt))
    assert ended(channel) == ["t"]


def test_ctrl_c_is_the_drivers() -> None:
    serve(FakeChannel(), job())
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN


def test_a_trial_that_leaves_a_thread_is_the_last_and_says_so() -> None:
    goes = threading.Event()

    def train(config: Any) -> float:
        threading.Thread(target=goes.wait, args=(10,), name="loader", daemon=True).start()
        return 1.0

    channel = FakeChannel([start(trial_id="a", until_t=9), start(trial_id="b", until_t=9)])
    serve(channel, job(train))
    goes.set()
    assert [one[0] for one in channel.sent] == ["started", "reported", "left_threads", "ended"]
    assert channel.sent[2] == ("left_threads", "a", 0, "loader")


def test_a_thread_that_is_about_to_end_is_waited_for() -> None:
    def train(config: Any) -> float:
        threading.Timer(0.01, lambda: None).start()
        return 1.0

    channel = FakeChannel([start(trial_id="a", until_t=9), start(trial_id="b", until_t=9), None])
    serve(channel, job(train))
    assert ended(channel) == ["a", "b"]
