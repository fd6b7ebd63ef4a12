"""One attempt of a trial, as the driver knows it; its processes are `TrialProcess`es."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from overtone.core.messages import Cause, Start
from overtone.engines.message_check import ResultCheck

if TYPE_CHECKING:
    from collections.abc import Sequence

    from overtone.engines.local.process import TrialProcess


Account = tuple[Cause, str, str, bool]
"""The cause, the error, its traceback, and whether another try is hopeless."""

NEVER_RAN: Account = ("halted", "", "", False)
"""The account of an attempt that is over because a process died while it waited for a Start."""


class LocalAttempt:
    """One attempt of a trial, in one process for each of its ranks.

    The first process is the head: it alone reports for the attempt. Orders and signals go to all
    processes. The attempt is over when its head ends, or when another process fails or dies; the
    other processes are then killed. It has ended when all its processes are gone.

    Attributes:
        start: The Start of the attempt.
        head: The process that reports for the attempt.
        processes: The processes that are not gone yet.
        has_spoken: Whether a process has sent a message about the attempt.
        ended: How the attempt ended; None until it is over.
        grace_s: The newest grace period, in seconds.
        is_halted: Whether the attempt was told to halt.
        is_parked: Whether the attempt failed to save, and waits for an order.
        is_noticed: Whether another program sent a SIGTERM to a process, so that the trial may save first.
        excess: (cause, description of the excess) if a process was killed for exceeding a limit.
        results: The check of the results.
    """

    __slots__ = (
        "ended", "excess", "grace_s", "has_spoken", "head", "is_halted", "is_noticed", "is_parked",
        "processes", "results", "start",
    )  # fmt: skip

    def __init__(self, start: Start, processes: Sequence[TrialProcess]) -> None:
        self.start = start
        self.head = processes[0]
        self.processes = list(processes)
        self.has_spoken = self.is_halted = self.is_parked = self.is_noticed = False
        self.ended: Account | None = None
        self.grace_s = 0.0
        self.excess: tuple[Cause, str] | None = None
        self.results = ResultCheck()

    @property
    def is_terminated(self) -> bool:
        """Whether the engine sent a SIGTERM because the trial did not halt."""
        return any(process.is_terminated for process in self.processes)


def starts_of(start: Start) -> list[Start]:
    """Return the Start for each process of an attempt, by rank."""
    if len(start.ranks) == 1:
        return [start]
    return [replace(start, ranks=(rank,)) for rank in start.ranks]
