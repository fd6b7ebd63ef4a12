"""Several runs on one machine agree on which trial ends when its memory runs short.

Each server writes a claim into a file of its own: how much its worst trial is to blame. It ends that trial
if no other server has a worse one, and none is about to end its own.
"""

from __future__ import annotations

import os
import struct
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from overtone.errors import StorageError
from overtone.worker.checkpoints import held_folders

FRESH_S = 0.3
"""A server that has not renewed its claim for this time does not keep the others waiting."""

_CLAIM = struct.Struct("<dQQd")


class Claim(NamedTuple):
    """What a server says.

    Attributes:
        at: When, on the machine's monotonic clock.
        excess: Bytes that its worst trial uses above what it has declared.
        used: Bytes that this trial uses.
        ends_until: Until when the server waits for the end of a trial that it has killed.
    """

    at: float
    excess: int
    used: int
    ends_until: float


class Neighbours:
    """The servers of all runs of this user on this machine.

    Args:
        yard: Where their claims lie.
        clock: Seconds, the same for all processes.
    """

    def __init__(self, yard: Path | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        yard = Path(tempfile.gettempdir(), f"overtone-memory-{os.getuid()}") if yard is None else yard
        self._own = yard / f"{os.getpid()}-{os.urandom(4).hex()}"
        self._clock = clock
        self._lock = self._file = -1
        with suppress(OSError, StorageError):  # without a place for claims each server decides for itself
            self._lock = held_folders.hold(self._own)
            self._file = os.open(self._own / "claim", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)

    @property
    def descriptors(self) -> list[int]:
        """The open files, which no fork needs."""
        return [one for one in (self._lock, self._file) if one >= 0]

    def claim(self, excess: int, used: int, ends_until: float) -> None:
        """Tell the others of the worst trial here."""
        with suppress(OSError):
            os.pwrite(self._file, _CLAIM.pack(self._clock(), excess, used, ends_until), 0)

    def has_worse(self, excess: int, used: int) -> bool:
        """Return whether another server has a worse trial, or waits for the end of one."""
        now = self._clock()
        mine = (excess, used, self._own.name)
        for name, other in self._others():
            is_fresh = now - other.at < FRESH_S
            if is_fresh and (other.ends_until > now or (other.excess, other.used, name) > mine):
                return True
        return False

    def close(self) -> None:
        """Take the claim back."""
        if self._lock >= 0:
            with suppress(OSError):
                os.close(self._file)
                held_folders.let_go(self._own, self._lock)
        self._lock = self._file = -1

    def _others(self) -> list[tuple[str, Claim]]:
        found = []
        with suppress(OSError):
            for name in os.listdir(self._own.parent):
                if name != self._own.name:
                    with suppress(OSError, struct.error):
                        claim = (self._own.parent / name / "claim").read_bytes()
                        found.append((name, Claim(*_CLAIM.unpack(claim))))
        return found
