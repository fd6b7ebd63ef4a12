"""Lines for people on stderr, with the name of the program."""

from __future__ import annotations

import sys


def warn(text: str) -> None:
    """Say a line on stderr."""
    sys.stderr.write(f"overtone: {text}\n")
    sys.stderr.flush()
