"""The limit on processes that run at once, with room kept for the ranks that attempts may ask for."""

from __future__ import annotations

from overtone.engines.local.process import LocalAttempt, most_processes


class Room:
    """Counts the processes with work, and those that attempts may still ask for.

    An attempt whose head may ask for ranks starts only if there is room for them, too, and keeps it:
    so no two heads wait for each other.

    Args:
        most: Maximum number of processes at once; None for as many as the limit of open files allows.

    Attributes:
        most: The maximum.
        kept: The most processes of each attempt that may have ranks.
    """

    def __init__(self, most: int | None) -> None:
        self.most = most_processes() if most is None else most
        self.kept: dict[LocalAttempt, int] = {}

    def keep(self, attempt: LocalAttempt, count: int) -> None:
        """Keep room for `count` processes of an attempt in all, until `release`."""
        self.kept[attempt] = min(count, self.most)

    def release(self, attempt: LocalAttempt) -> None:
        """Keep no more room for an attempt."""
        self.kept.pop(attempt, None)

    def fits(self, busy: int, count: int, owner: LocalAttempt | None = None) -> bool:
        """Return whether `count` more fit beside processes with work and those that others may ask for.

        Args:
            busy: Number of processes with work.
            count: Number of processes; more than `most` count as `most`.
            owner: The attempt whose processes they will be, if it has begun.
        """
        others = sum(
            max(0, most - len(attempt.processes))
            for attempt, most in self.kept.items()
            if attempt is not owner
        )
        return busy + others + min(count, self.most) <= self.most
