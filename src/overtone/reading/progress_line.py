"""A line on a terminal that shows how far long work has come."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING

from overtone.standard_streams import show

if TYPE_CHECKING:
    from typing_extensions import Self


class ProgressLine:
    """A line on stderr, if that is a terminal and the work takes long; a context manager, which clears it.

    Args:
        wait_s: Seconds before the line is shown.
        every_s: Seconds from one text to the next.
    """

    def __init__(self, wait_s: float, every_s: float) -> None:
        self._is_shown = sys.stderr is not None and sys.stderr.isatty()
        self._due = time.monotonic() + wait_s
        self._every_s = every_s
        self._width = 0

    def __enter__(self) -> Self:
        return self

    @property
    def is_due(self) -> bool:
        """Whether a text would be shown now."""
        return self._is_shown and time.monotonic() >= self._due

    def show(self, text: str) -> None:
        """Show a text in place of the last one."""
        self._due = time.monotonic() + self._every_s
        text = text.encode("ascii", "replace").decode()
        self._width = max(self._width, len(text))
        show(f"\r{text.ljust(self._width)}", "stderr")

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._width:
            show(f"\r{' ' * self._width}\r", "stderr")
