from __future__ import annotations

import os
import signal
from collections.abc import Iterator

import pytest

from overtone.worker import sigterm
from overtone.worker.sigterm import Board, Notice


@pytest.fixture
def board(monkeypatch: pytest.MonkeyPatch) -> Iterator[Board]:
    """This process as if it were a trial's."""
    before = signal.signal(signal.SIGTERM, signal.SIG_DFL)
    made = Board()
    monkeypatch.setattr(sigterm, "_board", made.writer)
    monkeypatch.setattr(sigterm, "_armed", None)
    monkeypatch.setattr(sigterm, "_is_fork_seen_to", True)
    yield made
    sigterm._disarm()
    signal.signal(signal.SIGTERM, before)
    made.close()


def test_a_sigterm_is_noted_and_written_on_the_board(board: Board) -> None:
    one = Notice()
    one.arm()
    one.arm()
    assert board.read() == []
    signal.raise_signal(signal.SIGTERM)
    assert one.is_given
    assert board.read() == [os.getpid()]
    one.disarm()
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    assert signal.set_wakeup_fd(-1) == -1


def test_other_signals_are_no_notice(board: Board) -> None:
    one = Notice()
    one.arm()
    before = signal.signal(signal.SIGUSR1, lambda signum, frame: None)
    try:
        signal.raise_signal(signal.SIGUSR1)
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert (one.is_given, board.read()) == (False, [])


def test_a_handler_of_the_users_own_stays_and_the_board_is_written_all_the_same(board: Board) -> None:
    came: list[int] = []
    own = lambda signum, frame: came.append(signum)  # noqa: E731
    signal.signal(signal.SIGTERM, own)
    one = Notice()
    one.arm()
    signal.raise_signal(signal.SIGTERM)
    assert (came, one.is_given, board.read()) == ([signal.SIGTERM], False, [os.getpid()])
    one.disarm()
    assert signal.getsignal(signal.SIGTERM) is own


def test_one_that_comes_while_the_trial_waits_ends_the_wait(board: Board) -> None:
    one = Notice()
    one.arm()

    def wait() -> str:
        signal.raise_signal(signal.SIGTERM)
        return "an order"

    assert one.unless_given(wait, lambda: "to end") == "to end"
    assert one.unless_given(wait, lambda: "to end") == "to end"  # without a wait
    signal.raise_signal(signal.SIGTERM)  # raises nothing outside of a wait


def test_without_a_sigterm_the_wait_goes_on(board: Board) -> None:
    assert Notice().unless_given(lambda: "an order", lambda: "to end") == "an order"


def test_a_process_that_is_no_trials_is_left_alone() -> None:
    before = signal.getsignal(signal.SIGTERM)
    one = Notice()
    one.arm()
    assert signal.getsignal(signal.SIGTERM) is before
    one.disarm()


def test_a_fork_is_held_until_it_is_disarmed(board: Board) -> None:
    Notice().arm()
    sigterm._hold()
    assert signal.SIGTERM in signal.pthread_sigmask(signal.SIG_BLOCK, [])
    sigterm._release_child()
    assert signal.SIGTERM not in signal.pthread_sigmask(signal.SIG_BLOCK, [])
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
