"""Ctrl-C in commands that start and use clusters: one asks, or ends politely; a second one ends at once."""

from __future__ import annotations

import os
import signal
import sys
import threading
from contextlib import suppress
from typing import Any, Literal

Choice = Literal["detach", "stop", "continue"]

_CHOICES: dict[str, Choice] = {"d": "detach", "s": "stop", "c": "continue"}


def can_ask() -> bool:
    """Return whether a person can be asked."""
    try:
        return sys.stdin.isatty() and sys.stderr.isatty()
    except (AttributeError, ValueError):  # closed, or none
        return False


def ask(name: str) -> Choice:
    """Ask a person what Ctrl-C means; a second one, or the end of the input, means stop.

    Args:
        name: The command that shows the run again.
    """
    text = (
        f"\novertone: [d]etach (the run goes on; {name} shows it), [s]top it and take down what was "
        "started, or [c]ontinue? "
    )
    while True:
        sys.stderr.write(text)
        sys.stderr.flush()
        try:
            line = sys.stdin.readline()
        except KeyboardInterrupt:
            sys.stderr.write("\n")
            return "stop"
        if not line:
            return "stop"
        choice = _CHOICES.get(line.strip().lower()[:1])
        if choice is not None:
            return choice


def ask_yes_or_no(question: str) -> bool:
    """Ask a person a question; no answer, or the end of the input, means yes."""
    try:
        sys.stderr.write(f"\novertone: {question} [Y/n] ")
        sys.stderr.flush()
        return sys.stdin.readline().strip().lower() not in ("n", "no")
    except OSError:  # the terminal was closed
        return True


class Interrupts:
    """Ctrl-C and SIGTERM during a block: KeyboardInterrupt, or first a line while something is finished."""

    def __init__(self) -> None:
        self._text: str | None = None
        self._n_shielded = 0
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Interrupts:
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                self._before[number] = signal.signal(number, self._on_signal)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def shield(self, text: str) -> None:
        """From now on, let the first Ctrl-C only show `text`; the second one raises KeyboardInterrupt."""
        self._text, self._n_shielded = text, 0

    def _on_signal(self, *_: object) -> None:
        if self._text is None or self._n_shielded:
            raise KeyboardInterrupt
        self._n_shielded += 1
        with suppress(OSError):  # not through `sys.stderr`, in the middle of whose write the signal may come
            os.write(2, f"\novertone: {self._text}\n".encode())
