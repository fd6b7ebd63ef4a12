"""Progress of a comparison: a bar in a terminal, or else a line from time to time."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from types import TracebackType
from typing import Any

LINE_EVERY_S = 30.0


class Progress:
    """Says on stderr how many searches are done.

    Args:
        total: How many there are.
        is_shown: False to say nothing.
        stream: Where to; a terminal gets a bar.
        clock: Seconds.
    """

    def __init__(
        self,
        total: int,
        is_shown: bool = True,
        stream: Any = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._total, self._clock = total, clock
        self._stream = stream or sys.stderr
        self._is_shown = is_shown
        self._n = self._n_failed = 0
        self._bar: Callable[[], None] | None = None
        self._open = ExitStack()
        self._began = self._said = clock()

    def __enter__(self) -> Progress:
        if self._is_shown and getattr(self._stream, "isatty", bool)():
            self._bar = self._draw()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        self._open.close()
        if self._is_shown and self._bar is None:
            self._say()

    def done(self, is_failed: bool) -> None:
        """Count one more search as done."""
        self._n += 1
        self._n_failed += is_failed
        if self._bar is not None:
            self._bar()
        elif self._is_shown and self._clock() - self._said >= LINE_EVERY_S:
            self._say()

    def _say(self) -> None:
        now = self._clock()
        took_s = now - self._began
        self._said = now
        failed = f", {self._n_failed} failed" if self._n_failed else ""
        left = (
            f", about {took_s / self._n * (self._total - self._n):.0f} s to go"
            if 0 < self._n < self._total
            else ""
        )
        self._stream.write(f"overtone: {self._n} of {self._total} searches{failed} in {took_s:.0f} s{left}\n")
        self._stream.flush()

    def _draw(self) -> Callable[[], None]:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            TextColumn,
            TimeElapsedColumn,
            TimeRemainingColumn,
        )
        from rich.progress import Progress as Bars

        bars = self._open.enter_context(
            Bars(
                TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(),
                TimeRemainingColumn(), console=Console(file=self._stream),
            )
        )  # fmt: skip
        task = bars.add_task("searches", total=self._total)

        def drawn() -> None:
            failed = f" ({self._n_failed} failed)" if self._n_failed else ""
            bars.update(task, completed=self._n, description=f"searches{failed}")

        return drawn
