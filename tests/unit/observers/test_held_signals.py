"""Ctrl-C while a frame is drawn."""

from __future__ import annotations

import signal

import pytest

from overtone.observers.display.held_signals import held_signals


def test_signals_are_delivered_after_the_block() -> None:
    seen: list[str] = []
    before = signal.signal(signal.SIGINT, lambda *_: seen.append("signal"))
    try:
        with held_signals():
            signal.raise_signal(signal.SIGINT)
            signal.raise_signal(signal.SIGINT)
            seen.append("written")
        assert seen == ["written", "signal", "signal"]
    finally:
        signal.signal(signal.SIGINT, before)


def test_a_handler_may_raise() -> None:
    with pytest.raises(KeyboardInterrupt), held_signals():
        signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
