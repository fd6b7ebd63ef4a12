"""Which driver and which agents of a sweep are at work, by files that they renew.

No clocks of two machines are compared: a file whose contents did not change for `EXPIRE_S` of the
reader's own time is that of a process that is gone.
"""

from __future__ import annotations

import os
import time
from typing import Any

from overtone.program.shared_place import AGENTS, Files, read_json, write_json

BEAT_S = 2.0
"""Interval at which a process renews its file, in seconds."""

EXPIRE_S = 20.0
"""Time without a renewal after which a process counts as gone, in seconds."""

DRIVER = f"{AGENTS}/driver.json"


def agent_file(agent: str) -> str:
    """Return the file that an agent renews."""
    return f"{AGENTS}/{agent}/agent.json"


def ticks() -> float:
    """Return monotonic seconds that include the time of suspension, if the system supports that."""
    kind = getattr(time, "CLOCK_BOOTTIME", None)
    return time.clock_gettime(kind) if kind is not None else time.monotonic()


class Beat:
    """Renews a file.

    Args:
        facts: What others are to know.

    Attributes:
        written_at: When the file was last written, in `ticks`.
    """

    def __init__(self, files: Files, name: str, facts: dict[str, Any]) -> None:
        import platform

        self._files, self._name, self._count = files, name, 0
        self.facts = {**facts, "hostname": platform.node(), "pid": os.getpid(), "token": os.urandom(8).hex()}
        self.written_at = float("-inf")

    def renew(self, is_over: bool = False) -> None:
        """Write the file if it is time to; `is_over` says that this process ends."""
        if not is_over and ticks() - self.written_at < BEAT_S:
            return
        began = ticks()
        self._count += 1
        write_json(self._files, self._name, {**self.facts, "count": self._count, "is_over": is_over})
        self.written_at = began


class Watch:
    """Watches a file that another process renews.

    Attributes:
        facts: Its contents.
    """

    def __init__(self, files: Files, name: str) -> None:
        self._files, self._name = files, name
        self.facts: dict[str, Any] = {}
        self._changed_at = ticks()

    def look(self) -> bool:
        """Read the file; return whether its process is at work."""
        facts = read_json(self._files, self._name)
        if facts and facts != self.facts:
            self.facts, self._changed_at = facts, ticks()
        return bool(self.facts) and not self.facts.get("is_over") and ticks() - self._changed_at < EXPIRE_S
