"""Writes the output of trials to this process's stdout and stderr."""

from __future__ import annotations

from overtone.standard_streams import show


def write_output(trial_id: str, stream: str, text: str) -> None:
    """Write a trial's output to this process's stdout or stderr, if the stream is writable."""
    show(text, stream)
