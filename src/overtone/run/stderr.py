"""Lines for people on stderr, with the name of the program."""

from __future__ import annotations

from overtone.standard_streams import say


def warn(text: str) -> None:
    """Print a line on stderr."""
    say(text)
