"""What a trial prints on a node, as messages to the driver: no more than somebody can read."""

from __future__ import annotations

import time

from overtone.worker.message_codec import Message

LINES_AT_ONCE, LINES_A_SECOND = 2_000, 200
"""What a trial may print to the driver's console."""


class Prints:
    """The prints of one trial.

    Args:
        trial_id: Of the trial.
        name: What people call it.
        pid: Of its process.
        is_cut: Whether it is cut short where it prints too much.
    """

    def __init__(self, trial_id: str, name: str, pid: int, is_cut: bool = True) -> None:
        self.pid = pid
        self._about = trial_id, name, pid
        self._is_cut = is_cut
        self._room, self._since, self._dropped = float(LINES_AT_ONCE), time.monotonic(), 0

    def messages(self, stream: str, lines: list[str]) -> list[Message]:
        """What to tell of these lines."""
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
            told = self.rest()  # a block of lines after it, not every few lines a word on those between
        shown = lines[: int(self._room)]
        self._room -= len(shown)
        self._dropped += len(lines) - len(shown)
        return [*told, ("output", *self._about, stream, shown)] if shown else told

    def rest(self) -> list[Message]:
        """How much was left out since this was last said."""
        if not self._dropped:
            return []
        lines = [f"[{self._dropped} lines are not shown: it prints too much]"]
        self._dropped = 0
        return [("output", *self._about, "stdout", lines)]
