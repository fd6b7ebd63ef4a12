"""Ports for libraries that are told a number: reserved from their choice until their rank has ended.

A port that the kernel chose (port 0) may be another process' between its release here and its use in the
library. A port that is reserved here lies below the kernel's range of ports, so that no connection of any
process gets it, and two ranks never choose the same one: each holds a name in the kernel's abstract namespace
of sockets, which is as wide as the ports are (a network namespace), and ends with the process.
"""

from __future__ import annotations

import random
import socket
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

from overtone.errors import GangError

if TYPE_CHECKING:
    from overtone.worker.gang.rank_session import RankSession

LOWEST = 10_000
"""Ports below are often those of services."""

_ATTEMPTS = 1000


@dataclass(frozen=True, slots=True)
class ReservedPort:
    """A TCP port that no other rank of Overtone on this host gets while this object lives."""

    number: int
    _holder: socket.socket

    def release(self) -> None:
        """Let others choose the port."""
        self._holder.close()


def reserve_port() -> ReservedPort:
    """Return a TCP port of this host that nobody listens on.

    Raises:
        GangError: No port is free.
    """
    below = _first_of_the_kernel()
    candidates = range(LOWEST, below) if below - LOWEST >= _ATTEMPTS else range(LOWEST, 65_536)
    for number in random.SystemRandom().sample(candidates, _ATTEMPTS):
        holder = socket.socket(socket.AF_UNIX)
        try:
            holder.bind(f"\0overtone-port-{number}")
            if _is_free(number):
                return ReservedPort(number, holder)
        except OSError:  # another rank has it
            pass
        holder.close()
    raise GangError(f"no free TCP port among {_ATTEMPTS} of {candidates[0]} to {candidates[-1]}")


_own: ReservedPort | None = None
"""The port of this rank."""


def reserve_address() -> str:
    """Return "host:port", at which other ranks will reach this one; a head has each rank call it.

    The port is reserved until the rank ends or reserves another.
    """
    from overtone.worker.session.current import current

    global _own
    if _own is not None:
        _own.release()
    _own = reserve_port()
    return f"{cast('RankSession', current()).address}:{_own.number}"


def _is_free(number: int) -> bool:
    """Return whether a library could listen on the port now, without options of its own."""
    with socket.socket() as probe:
        try:
            probe.bind(("", number))
        except OSError:
            return False
    return True


def _first_of_the_kernel() -> int:
    try:
        return int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text("ascii").split()[0])
    except (OSError, ValueError, IndexError):  # not Linux
        return 65_536
