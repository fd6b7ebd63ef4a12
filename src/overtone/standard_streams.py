"""Writes to stdout and stderr, which may be missing, closed, on a full disk, or know few characters."""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import TextIO


def write(stream: TextIO | None, text: str) -> None:
    """Write `text` at once; characters that the stream cannot encode are escaped.

    Args:
        stream: None where this process has none, as `sys.stdout` of a service.

    Raises:
        OSError: The stream cannot be written to, such as for want of a reader, a terminal or room.
        ValueError: It is None, or closed.
    """
    if stream is None:
        raise ValueError("this process has no such stream")
    try:
        stream.write(text)
    except UnicodeEncodeError:
        encoding = stream.encoding or "ascii"
        stream.write(text.encode(encoding, "backslashreplace").decode(encoding))
    stream.flush()


def show(text: str, stream: str = "stdout") -> None:
    """Write `text` to "stdout" or "stderr", if that takes it: no run fails because it cannot be shown."""
    with suppress(OSError, ValueError):
        write(sys.stderr if stream == "stderr" else sys.stdout, text)


def say(text: str) -> None:
    """Write a line to stderr, as `show` does."""
    show(f"overtone: {text}\n", "stderr")
