"""Messages with a trial's output from its node to the driver, limited to a readable amount."""

from __future__ import annotations

import time

from overtone.worker.message_codec import Message

LINES_AT_ONCE, LINES_A_SECOND = 2_000, 200
"""Limits of a trial's output on the driver's console: lines in a burst, and lines per second."""


class Prints:
    """The output of one process of a trial.

    Args:
        trial_id: Id of the trial.
        name: Name of the trial for people.
        pid: Process id.
        is_cut: Whether to drop lines beyond the limits.
    """

    def __init__(self, trial_id: str, name: str, pid: int, is_cut: bool = True) -> None:
        self._about = trial_id, name, pid
        self._is_cut = is_cut
        self._room, self._since, self._dropped = float(LINES_AT_ONCE), time.monotonic(), 0

    def messages(self, stream: str, lines: list[str]) -> list[Message]:
        """Return the messages to send for these lines."""
        if not self._is_cut:
            return [("output", *self._about, stream, lines)]
        now = time.monotonic()
        self._room = min(LINES_AT_ONCE, self._room + (now - self._since) * LINES_A_SECOND)
        self._since = now
        told: list[Message] = []
        if self._dropped:
            if self._room < LINES_A_SECOND:
                self._dropped += len(lines)
                return []
            told = self.rest()  # followed by a block of lines, so that notices stay rare
        shown = lines[: int(self._room)]
        self._room -= len(shown)
        self._dropped += len(lines) - len(shown)
        return [*told, ("output", *self._about, stream, shown)] if shown else told

    def rest(self) -> list[Message]:
        """Return a message with the number of lines dropped since the last such message, if any."""
        if not self._dropped:
            return []
        lines = [f"[{self._dropped} lines are not shown: it prints too much]"]
        self._dropped = 0
        return [("output", *self._about, "stdout", lines)]
