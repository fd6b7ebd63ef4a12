"""Ctrl-C in commands that start and use clusters: one asks, or ends politely; a second one ends at once."""

from __future__ import annotations

import os
import select
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, Literal, Protocol

from overtone.cluster.progress import ERASE_LINE, Progress

Choice = Literal["detach", "stop", "continue"]

_CHOICES: dict[str, Choice] = {
    "d": "detach", "detach": "detach", "s": "stop", "stop": "stop", "c": "continue", "continue": "continue",
}  # fmt: skip
_ANSWERS = {"y": True, "yes": True, "n": False, "no": False}

ANSWER_S = 60.0
"""Seconds that a person has to answer while something costs that no watchdog ends."""

_HANGUP = getattr(signal, "SIGHUP", None)


class Ask(Protocol):
    """Asks a person a question."""

    def __call__(self, question: str, *, default: bool = True, within_s: float | None = None) -> bool:
        """Return the answer.

        Args:
            question: Without the choices, such as "take it down?".
            default: The answer that Enter, the end of the input and a closed terminal give.
            within_s: Seconds after which no answer means `default`; None waits.
        """


def can_ask() -> bool:
    """Return whether a person can be asked."""
    try:
        return sys.stdin.isatty() and sys.stderr.isatty()
    except (AttributeError, ValueError):  # closed, or none
        return False


def ask(name: str) -> Choice:
    """Ask a person what Ctrl-C means; a second one, or the end of the input, means stop.

    The run goes on meanwhile, on a cluster whose watchdog keeps its limits: the question waits.

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
        choice = _CHOICES.get(line.strip().lower())
        if choice is not None:
            return choice


def ask_yes_or_no(question: str, *, default: bool = True, within_s: float | None = None) -> bool:
    """Ask a person a question, again if the answer is neither yes nor no; see `Ask`."""
    word = "yes" if default else "no"
    limit = "" if within_s is None else f"; {word} after {within_s:g} s without an answer"
    text = f"{question} [{'Y/n' if default else 'y/N'}{limit}] "
    try:
        sys.stderr.write("\n")
        while True:
            sys.stderr.write(f"overtone: {text}")
            sys.stderr.flush()
            if within_s is not None and not _answers_within(within_s):
                sys.stderr.write(f"\novertone: no answer within {within_s:g} s: {word}\n")
                return default
            line = sys.stdin.readline()
            answer = line.strip().lower()
            if not answer:
                return default
            if answer in _ANSWERS:
                return _ANSWERS[answer]
            sys.stderr.write("overtone: answer y or n\n")
    except OSError:  # the terminal was closed
        return default


def _answers_within(seconds: float) -> bool:
    """Return whether a line comes, or the end of the input, before so many seconds are over.

    A terminal hands over whole lines: letters without Enter are no answer.
    """
    return bool(select.select([sys.stdin], [], [], seconds)[0])


class Interrupts:
    """Ctrl-C and SIGTERM during a block: KeyboardInterrupt, or first a line while something is finished.

    Args:
        progress: Has the status line that stays below that line.
    """

    def __init__(self, progress: Progress | None = None) -> None:
        self._progress = progress
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

    @contextmanager
    def with_hangup(self) -> Iterator[None]:
        """Treat the end of the terminal during the block like Ctrl-C."""
        if _HANGUP is None or not self._before:
            yield
            return
        before = signal.signal(_HANGUP, self._on_signal)
        try:
            yield
        finally:
            signal.signal(_HANGUP, before)

    def shield(self, text: str) -> None:
        """From now on, let the first Ctrl-C only show `text`; the second one raises KeyboardInterrupt."""
        self._text, self._n_shielded = text, 0

    def lower_shield(self) -> None:
        """From now on, let each Ctrl-C raise KeyboardInterrupt."""
        self._text = None

    def _on_signal(self, number: int, _: object) -> None:
        if self._text is None:
            raise KeyboardInterrupt
        if number == _HANGUP:  # Nobody is there any more: what goes on is finished.
            return
        if self._n_shielded:
            raise KeyboardInterrupt
        self._n_shielded += 1
        status = "" if self._progress is None else self._progress.open_line
        start = ERASE_LINE if status else "\n"
        with suppress(OSError):  # not through `sys.stderr`, in the middle of whose write the signal may come
            os.write(2, f"{start}overtone: {self._text}\n{status}".encode())
