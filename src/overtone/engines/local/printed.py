"""The output of trial processes, on its way to the display and into the trials' folders."""

from __future__ import annotations

from collections.abc import Callable

from overtone.core.job import Job
from overtone.engines.kept_output import kept_output
from overtone.engines.local.process import TrialProcess

ShowLines = Callable[[str, str, int, str, list[str]], None]
"""Called with (trial_id, trial's name, pid, "stdout" or "stderr", lines)."""


class Printed:
    """Passes on the lines of each process with its trial.

    Args:
        job: The Job, which says whether output is kept.
        show: Shows the lines.
    """

    def __init__(self, job: Job, show: ShowLines) -> None:
        self._job, self._show = job, show
        self._kept = kept_output(job)

    def take(self, process: TrialProcess, stream: str, lines: list[str]) -> None:
        """Take the lines that a process printed."""
        start = process.attempt.start if process.attempt is not None else process.last
        if start is None:
            return  # printed before its first trial
        name = start.name or f"{self._job.name}_{start.trial_id}"
        kept = lines
        if process.order is not None:
            rank = f"rank={process.order.place.rank}"
            name += f" {rank}"
            kept = [f"({rank}) {line}" for line in lines]
        if self._kept is not None:
            self._kept.put(start.trial_id, stream, kept)
        self._show(start.trial_id, name, process.shown_pid, stream, lines)

    def close(self) -> None:
        """Write the output that waits."""
        if self._kept is not None:
            self._kept.close()
