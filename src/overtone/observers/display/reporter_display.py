"""Drives a ProgressReporter, the user's or our own."""

from __future__ import annotations

import time
from collections.abc import Callable

from overtone.observers.display.plain_text import clean
from overtone.observers.display.progress import Progress
from overtone.observers.display.reporters import ProgressReporter
from overtone.observers.display.safe_stream import Writer
from overtone.observers.display.sentences import beginning
from overtone.observers.display.status_block import resources_line
from overtone.observers.display.trial_output import TrialOutput
from overtone.observers.trial_view import Experiment, SeenTrial

_COST = 30  # a report that took 1 s is followed by 30 s without one


class Reporting:
    """Asks a reporter after each batch of news whether it wants to report, and lets it.

    Args:
        progress: The run; its table must keep what tables show.
        reporter: Decides when, and how.
        out: Where what trials print goes.
        pace: Seconds of real time.
    """

    def __init__(
        self, progress: Progress, reporter: ProgressReporter, out: Writer, pace: Callable[[], float]
    ) -> None:
        self._progress = progress
        self._reporter = reporter
        self._out = out
        self._pace = pace
        self._output = TrialOutput()
        facts = progress.facts
        self._experiment = Experiment(facts.trainable, facts.folder, facts.parameters)
        self._trials: list[SeenTrial] = []
        self._told: tuple[int | None, str | None] | None = None
        self._next = float("-inf")
        self._start = time.time()

    def open(self) -> None:
        """Print the first lines of the run."""
        self._out.lines(beginning(self._progress))
        self._tell()

    def refresh(self) -> None:
        """Report, if it is time."""
        self._out.lines([f"note: {note}" for note in self._progress.notes])
        start = self._pace()
        if start < self._next:
            return
        trials = self._all_trials()
        if self._reporter.should_report(trials, done=False):
            self._report(trials, done=False)
        self._next = start + (self._pace() - start) * _COST

    def show_output(self, trial_id: str, stream: str, text: str) -> None:
        """Show a trial's output, with the trial's name."""
        self._out.write(self._output.feed(trial_id, stream, text))

    def close(self) -> None:
        """Print the last report."""
        self._out.write(self._output.rest())
        trials = self._all_trials()
        if self._reporter.should_report(trials, done=True):
            self._report(trials, done=True)

    def _report(self, trials: list[SeenTrial], done: bool) -> None:
        self._tell()
        table = self._progress.table
        facts = self._progress.facts
        waits = facts.waits()
        lines = [
            facts.describe(),
            resources_line(table.used, table.capacity),
            *([clean(waits)] if waits else []),
        ]
        self._reporter.report(trials, done, *lines)

    def _tell(self) -> None:
        """Tell the reporter what is only known once the run is on its way: the goal, the number of trials."""
        facts = self._progress.facts
        told = self._progress.total, self._progress.metric
        if told != self._told:
            self._told = told
            self._reporter.setup(
                start_time=self._start,
                total_samples=told[0],
                metric=told[1],
                mode=facts.mode if told[1] else None,
                folder=facts.folder,
                allows=facts.limits.allows,
            )

    def _all_trials(self) -> list[SeenTrial]:
        """Return one view for each trial; views of new trials are appended."""
        rows = self._progress.table.rows
        if len(self._trials) < len(rows):
            new = list(rows.values())[len(self._trials) :]
            self._trials += [SeenTrial(row, self._experiment) for row in new]
        return self._trials
