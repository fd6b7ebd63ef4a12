"""Progress of a command that changes a cluster: a line for each phase, and one at the end."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TextIO

PHASES = ("check", "start head", "start workers", "set up", "upload", "run", "bring back", "take down")
"""The phases of commands, in their order."""


ERASE_LINE = "\r\x1b[K"
"""Lets the next text replace a terminal's current line."""


class LeftPhase(Exception):
    """Ends a phase whose work goes on without this command, such as a run that a person detaches from."""


class Progress:
    """Prints phases with the time that they take and the cost so far.

    A terminal shows one line a phase, which is rewritten as notes come. Elsewhere, each begin, note and
    end is a line of its own.

    Args:
        cost: Returns the cost so far in US dollars, or None if prices are unknown.
        stream: Where to print (standard error).
        is_quiet: Whether only `warn` and `end` print.
    """

    def __init__(
        self,
        cost: Callable[[], float | None] = lambda: None,
        stream: TextIO | None = None,
        is_quiet: bool = False,
    ) -> None:
        self.cost = cost
        self.current = ""
        """The innermost phase; "" between phases."""
        self.open_line = ""
        """The line that a terminal shows until the next one replaces it; "" if there is none."""
        self._stream = stream if stream is not None else sys.stderr
        self._is_terminal = self._stream.isatty()
        self._is_quiet = is_quiet
        self._phases: list[tuple[str, float]] = []
        self._began = time.monotonic()

    @contextmanager
    def phase(self, name: str, detail: str = "") -> Iterator[None]:
        """Show a phase during the block: its begin, and how long it took."""
        self._phases.append((name, time.monotonic()))
        self.current = name
        self._show(f"{name}{': ' + detail if detail else ''} ...", is_open=True)
        outcome = "failed"
        try:
            yield
            outcome = "done"
        except KeyboardInterrupt:
            outcome = "interrupted"
            raise
        except LeftPhase:
            outcome = "detached"
            raise
        finally:
            _, began = self._phases.pop()
            self.current = self._phases[-1][0] if self._phases else ""
            self._show(f"{name}: {outcome} in {_duration(time.monotonic() - began)}{self._cost_text()}")

    def note(self, text: str) -> None:
        """Show what the current phase is at."""
        name, began = self._phases[-1] if self._phases else ("", self._began)
        elapsed = _duration(time.monotonic() - began)
        self._show(f"{name + ': ' if name else ''}{text} ({elapsed}{self._cost_text()})", is_open=bool(name))

    def warn(self, text: str) -> None:
        """Print a line that stays, also in quiet mode."""
        self._print(text, is_open=False)

    def end(self, text: str) -> None:
        """Print the last line: what it cost, what is left, where the results are."""
        took = _duration(time.monotonic() - self._began)
        self._print(f"{text} ({took}{self._cost_text()})", is_open=False)

    def _show(self, text: str, is_open: bool = False) -> None:
        if not self._is_quiet:
            self._print(text, is_open)

    def _print(self, text: str, is_open: bool) -> None:
        """Print a line; the next one overwrites it if it is open and this is a terminal.

        A terminal that was closed does not end the work: it may be that the cluster is being taken down.
        """
        start = ERASE_LINE if self.open_line else ""
        line = f"overtone: {_clean(text)}"
        self.open_line = line if is_open and self._is_terminal else ""
        with suppress(OSError):
            self._stream.write(f"{start}{line}{'' if self.open_line else chr(10)}")
            self._stream.flush()

    def _cost_text(self) -> str:
        cost = self.cost()
        return "" if cost is None else f", ${cost:.2f} so far"


def _clean(text: str) -> str:
    """Remove what could move a terminal's cursor: hosts send these texts."""
    return "".join(letter if letter.isprintable() else " " for letter in text)


def _duration(seconds: float) -> str:
    whole = int(seconds)
    if whole < 60:
        return f"{seconds:.1f} s"
    if whole < 3600:
        return f"{whole // 60}:{whole % 60:02d} min"
    return f"{whole // 3600}:{whole // 60 % 60:02d} h"
