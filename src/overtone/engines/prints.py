"""What trials print, written where this process prints."""

from __future__ import annotations

from overtone.standard_streams import show


def write_output(trial_id: str, stream: str, text: str) -> None:
    """Write what a trial printed to this process's stdout or stderr, if it can be written to."""
    show(text, stream)
