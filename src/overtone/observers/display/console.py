"""Console output of a run: chooses the display by the kind of stream and the user's options."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any, Protocol, TextIO

from overtone.core.messages import Record
from overtone.core.protocols import Observer
from overtone.core.table import TrialTable
from overtone.core.types import Metrics
from overtone.errors import ArgumentError
from overtone.observers.display.display_context import ConsoleFacts
from overtone.observers.display.notebook import is_notebook
from overtone.observers.display.plain_display import PlainDisplay
from overtone.observers.display.progress import Progress
from overtone.observers.display.reporter_display import Reporting
from overtone.observers.display.reporters import JupyterNotebookReporter, ProgressReporter
from overtone.observers.display.safe_stream import Writer
from overtone.observers.display.silent import SilentConsole
from overtone.observers.display.terminal_display import LiveTable

__all__ = ["Console", "ConsoleFacts", "Display", "console_for"]


class Display(Protocol):
    """A way to show a run."""

    def open(self) -> None:
        """Show the first lines."""

    def refresh(self) -> None:
        """Show a batch of records that has been applied."""

    def show_output(self, trial_id: str, stream: str, text: str) -> None:
        """Show `text` that a trial printed."""

    def close(self) -> None:
        """Show the last lines."""


class Console(Observer):
    """Shows a run: a live table in a terminal, a cell in a notebook, lines elsewhere.

    Args:
        facts: What records do not say; it may still change until the first record comes.
        table: The state of the run, which has each record before this observer gets it.
        verbose: 1 shows the status; 2 (by default) also trials that end; 3 also each result.
        progress_reporter: Shows the status instead.
        stream: Where to; by default standard output.
        pace: Seconds of real time; it bounds how often and how much is shown.
    """

    def __init__(
        self,
        facts: ConsoleFacts,
        table: TrialTable,
        verbose: int | None = None,
        progress_reporter: ProgressReporter | None = None,
        stream: TextIO | None = None,
        pace: Callable[[], float] = time.monotonic,
    ) -> None:
        self.facts = facts
        self._table = table
        self._verbose = _level(verbose)
        self._reporter = _checked(progress_reporter)
        self._out = Writer(stream)
        self._pace = pace
        self._progress: Progress | None = None
        self._display: Display | None = None
        self._is_closed = False

    def open(self) -> None:
        """Show the first lines; the first record does it otherwise. Twice is safe."""
        if self._display is None:
            self._progress, self._display = self._choose()
            self._display.open()

    def on_record(self, record: Record) -> None:
        """Take note; nothing is drawn before `flush`."""
        if self._progress is None:
            self.open()
            assert self._progress is not None
        self._progress.apply(record)

    def on_past(self, record: Record) -> None:
        """Take note of what happened before; it is not told again."""
        self.open()
        assert self._progress is not None
        self._progress.apply(record)
        self._progress.forget_news()

    def on_past_report(
        self, n: int, time: float, trial_id: str, attempt: int, t: int, metrics: Metrics
    ) -> None:
        """Handle a past report as `on_past` does."""
        if self._progress is None:
            self.open()
            assert self._progress is not None
        self._progress.show(self._table.rows[trial_id], t, metrics)

    def memory(self) -> Progress:
        """Return the counts and the best trials."""
        self.open()
        assert self._progress is not None
        return self._progress

    def on_recalled(self) -> None:
        """Clear the recalled news, which the earlier driver has shown."""
        assert self._progress is not None
        self._progress.forget_news()

    def on_output(self, trial_id: str, stream: str, text: str) -> None:
        """Show `text` that a trial printed to its "stdout" or "stderr"; lines may come in pieces."""
        self.open()
        if self._display is not None:
            self._display.show_output(trial_id, stream, text)

    def moved_to(self, folder: str) -> None:
        """Name this folder from now on: the results lie there now."""
        self.facts.folder = folder

    def flush(self) -> None:
        """Show what is new, if it is time; call it about once a second even without news."""
        if self._display is not None and self._progress is not None and not self._is_closed:
            self._display.refresh()
            self._progress.clear_news()

    def close(self) -> None:
        """Show what is left and the summary. Twice is safe."""
        if self._display is None or self._progress is None or self._is_closed:
            return
        self.flush()
        self._is_closed = True
        self._display.close()

    def _choose(self) -> tuple[Progress, Display]:
        """Return the display for this terminal or notebook. Chosen late, when all facts are complete."""
        out, pace, verbose = self._out, self._pace, self._verbose
        reporter = self._reporter
        if reporter is None and self._given_stream_is_cell():
            reporter = JupyterNotebookReporter()
        if reporter is not None:
            progress = Progress(self.facts, self._table, slims=False)
            return progress, Reporting(progress, reporter, out, pace)
        slims = not self.facts.has_callbacks
        progress = Progress(self.facts, self._table, keeps_results=verbose >= 3, slims=slims)
        if self.facts.may_redraw and is_capable_terminal(out):
            return progress, LiveTable(progress, out, pace, tells_all=verbose >= 3)
        return progress, PlainDisplay(progress, out, pace, tells_trials=verbose >= 2)

    def _given_stream_is_cell(self) -> bool:
        return is_notebook() and not _is_terminal(self._out.stream)


def console_for(
    facts: ConsoleFacts, table: TrialTable, verbose: int | None = None,
    progress_reporter: ProgressReporter | None = None, stream: TextIO | None = None,
    pace: Callable[[], float] = time.monotonic,
) -> Console | SilentConsole:  # fmt: skip
    """Return the display of a run; arguments as for `Console`.

    Args:
        verbose: 0 shows only the output of trials.

    Raises:
        ValueError: `verbose` is not a valid level, or the reporter is not a reporter.
    """
    _checked(progress_reporter)
    if _level(verbose) == 0:
        return SilentConsole(stream)
    return Console(facts, table, verbose, progress_reporter, stream, pace)


def is_capable_terminal(out: Writer) -> bool:
    """Return whether lines can be redrawn: the stream is a Unicode terminal, and not a dumb one."""
    if not _is_terminal(out.stream) or not out.is_unicode:
        return False
    return os.name == "nt" or os.environ.get("TERM", "dumb").lower() not in ("", "dumb", "unknown")


def _is_terminal(stream: Any) -> bool:
    try:
        return bool(stream.isatty())
    except (AttributeError, ValueError):  # not a stream of the usual kind, or closed
        return False


def _level(verbose: Any) -> int:
    if verbose is None:
        return 2
    try:
        level = int(verbose)
    except (TypeError, ValueError):
        level = -1
    if level < 0:
        raise ArgumentError(
            f"verbose={verbose!r}: choose 0 (silent), 1 (status), 2 (and trials) or 3 (and results)"
        )
    return min(level, 3)


def _checked(reporter: Any) -> Any:
    if reporter is None:
        return None
    is_one = all(hasattr(reporter, name) for name in ("should_report", "report"))
    if isinstance(reporter, type) or not is_one:
        raise ArgumentError(
            f"progress_reporter={reporter!r} must be an object with should_report() and report(), "
            "such as CLIReporter()"
        )
    return reporter
