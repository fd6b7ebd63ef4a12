"""Agreement between several runs on one machine on which trial ends if memory runs short.

Each server writes a claim into its own file: how far its worst trial exceeds its declared memory. A
server ends its worst trial if no other server has a worse trial, and none is just ending a trial.
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
"""A server whose claim is older than this time does not block the other servers."""

_CLAIM = struct.Struct("<dQQd")


class MemoryClaim(NamedTuple):
    """A server's claim.

    Attributes:
        at: Time of the claim, on the machine's monotonic clock.
        excess: Bytes that the server's worst trial uses above its declared memory.
        used: Bytes that this trial uses.
        ends_until: Time until which the server waits for the end of a trial that it has killed.
    """

    at: float
    excess: int
    used: int
    ends_until: float


class Neighbours:
    """The servers of all runs of this user on this machine.

    Args:
        yard: Folder of the claims.
        clock: Returns seconds, the same for all processes.
    """

    def __init__(self, yard: Path | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        yard = Path(tempfile.gettempdir(), f"overtone-memory-{os.getuid()}") if yard is None else yard
        self._own = yard / f"{os.getpid()}-{os.urandom(4).hex()}"
        self._clock = clock
        self._lock = self._file = -1
        with suppress(OSError, StorageError):  # without a folder for claims each server decides alone
            self._lock = held_folders.hold(self._own)
            self._file = os.open(self._own / "claim", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)

    @property
    def descriptors(self) -> list[int]:
        """The open descriptors, which forks should close."""
        return [one for one in (self._lock, self._file) if one >= 0]

    def claim(self, excess: int, used: int, ends_until: float) -> None:
        """Publish the claim of this server's worst trial."""
        with suppress(OSError):
            os.pwrite(self._file, _CLAIM.pack(self._clock(), excess, used, ends_until), 0)

    def has_worse(self, excess: int, used: int) -> bool:
        """Return whether another server has a worse trial, or waits for the end of a killed trial."""
        now = self._clock()
        mine = (excess, used, self._own.name)
        for name, other in self._others():
            is_fresh = now - other.at < FRESH_S
            if is_fresh and (other.ends_until > now or (other.excess, other.used, name) > mine):
                return True
        return False

    def close(self) -> None:
        """Withdraw the claim."""
        if self._lock >= 0:
            with suppress(OSError):
                os.close(self._file)
                held_folders.let_go(self._own, self._lock)
        self._lock = self._file = -1

    def _others(self) -> list[tuple[str, MemoryClaim]]:
        found = []
        with suppress(OSError):
            for name in os.listdir(self._own.parent):
                if name != self._own.name:
                    with suppress(OSError, struct.error):
                        claim = (self._own.parent / name / "claim").read_bytes()
                        found.append((name, MemoryClaim(*_CLAIM.unpack(claim))))
        return found
