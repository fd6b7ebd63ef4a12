"""Ctrl-C in commands that start and use clusters: one asks, or ends politely; a second one ends at once."""

from __future__ import annotations

import os
import select
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from shutil import get_terminal_size
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


def ask(name: str, *, is_erased: bool = False) -> Choice:
    """Ask a person what Ctrl-C means; a second one, or the end of the input, means stop.

    The run goes on meanwhile, on a cluster whose watchdog keeps its limits: the question waits.

    Args:
        name: The command that shows the run again.
        is_erased: Whether the question is erased after the answer, with the cursor where it was before:
            a table that is redrawn finds its place by it.
    """
    text = (
        f"overtone: [d]etach (the run goes on; {name} shows it), [s]top it and take down what was "
        "started, or [c]ontinue? "
    )
    lines = _Lines(None)
    n_rows, choice = 0, None
    while choice is None and not _is_in_background():
        sys.stderr.write(f"\n{text}")
        sys.stderr.flush()
        try:
            line = lines.read() or ""
        except KeyboardInterrupt:
            line = ""
        if not line:
            sys.stderr.write("\n")
        choice = _CHOICES.get(line.strip().lower()) if line else "stop"
        n_rows += 2 + (len(text) + len(line.strip()) - 1) // get_terminal_size().columns
    if is_erased and n_rows:
        sys.stderr.write(f"\r\x1b[{n_rows}A\x1b[J")
        sys.stderr.flush()
    return choice or "stop"


def ask_yes_or_no(question: str, *, default: bool = True, within_s: float | None = None) -> bool:
    """Ask a person a question, again if the answer is neither yes nor no; see `Ask`.

    In the background of a shell nobody can answer: that counts as no answer.
    """
    word = "yes" if default else "no"
    limit = "" if within_s is None else f"; {word} after {within_s:g} s without an answer"
    text = f"{question} [{'Y/n' if default else 'y/N'}{limit}] "
    lines = _Lines(within_s)
    try:
        sys.stderr.write("\n")
        while not _is_in_background():
            sys.stderr.write(f"overtone: {text}")
            sys.stderr.flush()
            try:
                line = lines.read()
            except KeyboardInterrupt:
                sys.stderr.write("\n")
                raise
            if line is None:
                sys.stderr.write(f"\novertone: no answer within {within_s:g} s: {word}\n")
                return default
            if not line:  # Ctrl-D
                sys.stderr.write("\n")
            answer = line.strip().lower()
            if not answer:
                return default
            if answer in _ANSWERS:
                return _ANSWERS[answer]
            sys.stderr.write("overtone: answer y or n\n")
    except OSError:  # the terminal was closed
        pass
    return default


def _is_in_background() -> bool:
    """Return whether this process may not read its terminal, which would stop it."""
    try:
        return os.tcgetpgrp(sys.stdin.fileno()) != os.getpgrp()
    except (AttributeError, OSError, ValueError):  # no terminal, or not on this system
        return False


class _Lines:
    """Lines that a person types, within a limit for all of them.

    `sys.stdin.readline` waits for Enter without a limit once a letter has come.

    Args:
        within_s: Seconds until there are no more; None for no limit.
    """

    def __init__(self, within_s: float | None) -> None:
        self._end = None if within_s is None else time.monotonic() + within_s
        self._typed = b""

    def read(self) -> str | None:
        """Return the next line; "" at the end of the input, None after the limit."""
        terminal = sys.stdin.fileno()
        while b"\n" not in self._typed:
            left = None if self._end is None else max(0.0, self._end - time.monotonic())
            if not select.select([terminal], [], [], left)[0]:
                return None
            found = os.read(terminal, 4096)
            self._typed += found
            if not found:
                break
        line, end, self._typed = self._typed.partition(b"\n")
        return (line + end).decode(errors="replace")


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
                if signal.getsignal(number) is not signal.SIG_IGN:  # by `nohup`, or in a script's background
                    self._before[number] = signal.signal(number, self._on_signal)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    @contextmanager
    def with_hangup(self) -> Iterator[None]:
        """Treat the end of the terminal during the block like Ctrl-C."""
        if _HANGUP is None or not self._before or signal.getsignal(_HANGUP) is signal.SIG_IGN:
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
