"""Display for streams that cannot be redrawn (a pipe, CI, a file): one line for each trial that ends."""

from __future__ import annotations

import sys
from collections.abc import Callable

from overtone.observers.display.progress import Progress
from overtone.observers.display.recent_events import News
from overtone.observers.display.safe_stream import Writer
from overtone.observers.display.sentences import beginning, standing, summary
from overtone.observers.display.trial_output import TrialOutput

QUIET_S = 30.0


class PlainDisplay:
    """Prints the beginning, each trial's end, now and then how far the run is, and the summary.

    Args:
        progress: The run.
        out: Where to.
        pace: Seconds of real time; it bounds how much is printed.
        tells_trials: Whether each trial's end gets a line.
        err: Where what trials write to their standard error goes; by default standard error.
    """

    def __init__(
        self,
        progress: Progress,
        out: Writer,
        pace: Callable[[], float],
        tells_trials: bool = True,
        err: Writer | None = None,
    ) -> None:
        self._progress = progress
        self._out = out
        self._err = err
        self._pace = pace
        self._news = News(progress, pace()) if tells_trials else None
        self._output = TrialOutput()
        self._quiet_since = pace()
        self._previous = (self._quiet_since, 0)

    def open(self) -> None:
        """Print the first lines of the run."""
        self._out.lines(beginning(self._progress))
        self._quiet_since = self._pace()

    def refresh(self) -> None:
        """Tell what is new."""
        now = self._pace()
        lines = [f"note: {note}" for note in self._progress.notes]
        if self._news is not None:
            lines += self._news.lines(now)
        if self._news is not None and self._progress.endings:
            self._quiet_since = now
        elif now - self._quiet_since >= QUIET_S:
            self._quiet_since = now
            lines.append(standing(self._progress, self._progress.facts.clock(), self._rate(now)))
        self._out.lines(lines)

    def show_output(self, trial_id: str, stream: str, text: str) -> None:
        """Show a trial's output, with the trial's name."""
        named = self._output.feed(trial_id, stream, text)
        if stream == "stderr":
            if self._err is None:
                self._err = Writer(sys.stderr)
            self._err.write(named)
        else:
            self._out.write(named)

    def close(self) -> None:
        """Print the last lines of the run."""
        self._out.write(self._output.rest())
        left_out = self._news.left_out(self._progress.n_endings) if self._news is not None else []
        self._out.lines([*left_out, *summary(self._progress, self._progress.facts.clock())])

    def _rate(self, now: float) -> float | None:
        """Results a second since the last time this was asked."""
        then, before = self._previous
        self._previous = now, self._progress.n_results
        return (self._progress.n_results - before) / (now - then) if now > then else None
