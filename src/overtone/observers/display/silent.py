"""The display of a silent run: only the output of trials."""

from __future__ import annotations

from typing import TextIO

from overtone.core.messages import Record
from overtone.core.protocols import Observer
from overtone.observers.display.safe_stream import Writer
from overtone.observers.display.trial_output import TrialOutput


class SilentConsole(Observer):
    """Shows nothing but what trials print, each line with the trial's name.

    Args:
        stream: Where to; by default standard output.
    """

    follows_results = False

    def __init__(self, stream: TextIO | None = None) -> None:
        self._out = Writer(stream)
        self._output = TrialOutput()

    def open(self) -> None:
        """Do nothing."""

    def on_record(self, record: Record) -> None:
        """Do nothing."""

    def on_output(self, trial_id: str, stream: str, text: str) -> None:
        """Take `text` that a trial printed to its "stdout" or "stderr"; lines may come in pieces."""
        self._out.write(self._output.feed(trial_id, stream, text))

    def moved_to(self, folder: str) -> None:
        """Do nothing: no folder is named."""

    def close(self) -> None:
        """Show the lines that were never ended. Twice is safe."""
        self._out.write(self._output.rest())
