"""Lines to a stream that may not know the alphabet, or may be gone."""

from __future__ import annotations

import sys
from typing import TextIO

from overtone import standard_streams
from overtone.store.room import lacks_room


class Writer:
    """Writer of text to a stream; it stops writing when the reader has closed the stream (`| head`).

    Args:
        stream: The stream; by default the standard output at the time of each write.
    """

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream
        self._is_broken = False

    @property
    def stream(self) -> TextIO | None:
        """The stream to write to; None if this process has no standard output."""
        return sys.stdout if self._stream is None else self._stream

    @property
    def is_unicode(self) -> bool:
        """Whether the stream takes every character."""
        return "utf" in (getattr(self.stream, "encoding", None) or "").lower()

    def write(self, text: str) -> None:
        """Write `text` at once; what the stream cannot encode is spelled out."""
        if self._is_broken or not text:
            return
        try:
            standard_streams.write(self.stream, text)
        except (OSError, ValueError) as error:  # the reader went away, or the stream is closed or missing
            self._is_broken = not lacks_room(error)

    def lines(self, lines: list[str]) -> None:
        """Write whole lines at once."""
        if lines:
            self.write("\n".join(lines) + "\n")
