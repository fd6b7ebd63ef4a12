from __future__ import annotations

from collections.abc import Iterator

import pytest

from overtone.engines.loop import Loop


@pytest.fixture
def loop() -> Iterator[Loop]:
    made = Loop()
    yield made
    if not made.is_closed:
        made.close()


def test_timers_are_called_in_order_of_their_time(loop: Loop) -> None:
    called: list[str] = []
    for name, at in (("late", -1.0), ("early", -3.0), ("early too", -3.0), ("never", 1e9)):
        loop.at(at, lambda name=name: called.append(name))  # type: ignore[misc]
    loop.wait(None)
    assert called == ["early", "early too", "late"]


def test_wake_ends_a_wait_without_a_limit(loop: Loop) -> None:
    for _ in range(100_000):  # more than its pipe takes
        loop.wake()
    loop.wait(None)
    assert loop.is_woken


def test_a_wait_that_was_closed_under_its_feet_returns(loop: Loop) -> None:
    loop.is_closed = True
    loop.close()
    loop.wait(None)
    loop.wake()


def test_errors_of_an_open_loop_are_not_swallowed(loop: Loop) -> None:
    def fail() -> None:
        raise ValueError("a bug")

    loop.at(0.0, fail)
    with pytest.raises(ValueError, match="a bug"):
        loop.wait(None)


def test_the_clock_starts_anew(loop: Loop) -> None:
    before = loop.now()
    loop.restart_clock(0.0)
    assert 0 <= loop.now() < before + 1
