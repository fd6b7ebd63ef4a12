"""Failures of ranks, and which of several is the cause of the others."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from overtone.errors import GangError

_BROKEN_COLLECTIVE = (
    "connection closed by peer", "connection reset by peer", "broken pipe", "distbackenderror",
    "distnetworkerror", "nccl error", "remote process exited", "socket timeout",
)  # fmt: skip
"""Parts of the texts with which collectives report that another rank is gone."""


@dataclass(frozen=True, slots=True)
class Failure:
    """The failure of a rank.

    Attributes:
        rank: The rank; None if it is not known.
        text: What happened, after "rank 1 of 2".
        details: What helps to find the reason: a traceback, or stacks.
        traceback: The traceback of the user's code, if it raised.
        exception: The exception that it raised, pickled; b"" if it did not raise, or cannot be pickled.
        is_death: Whether its process has ended.
    """

    rank: int | None
    text: str
    details: str = ""
    traceback: str = ""
    exception: bytes = b""
    is_death: bool = False

    @property
    def is_broken_collective(self) -> bool:
        """Whether it looks like a collective that broke because another rank failed."""
        return bool(self.traceback) and any(part in self.text.lower() for part in _BROKEN_COLLECTIVE)


def gang_error(failures: Sequence[Failure], num_workers: int) -> GangError:
    """Return the error of a gang whose ranks failed, in this order: it names the first cause."""
    cause = min(failures, key=_distance_from_cause)
    who = f"rank {cause.rank} of {num_workers} " if cause.rank is not None else ""
    message = who + cause.text
    others = sorted({one.rank for one in failures if one.rank is not None} - {cause.rank})
    if others and not cause.is_death:  # when one dies, its host ends the others
        names = ", ".join(map(str, others))
        message += f" (then {'rank' if len(others) == 1 else 'ranks'} {names} failed, too)"
    if cause.details:
        message += f"\n{cause.details.rstrip()}"
    error = GangError(message, cause.rank, cause.traceback)
    if cause.exception:
        with suppress(Exception):  # any, since it calls methods of the user's class
            error.__cause__ = pickle.loads(cause.exception)
    return error


def _distance_from_cause(failure: Failure) -> tuple[bool, ...]:
    """Return a key that is lowest for the likely cause of the other failures.

    A rank that raises lives on, so a death is not its consequence; but when a rank dies, collectives of the
    others raise. A rank that left others at a barrier may have done so because one raised.
    """
    has_raised = bool(failure.traceback)
    return not failure.is_death, failure.is_broken_collective, not has_raised, failure.rank is None
