"""Delays deletions of checkpoints until the records that led to them cannot be lost.

A checkpoint is deleted because the journal names a better one. Without that record a resume
would begin from the deleted one: so the record has to be as durable as the deletion, on the
disk for a folder of this machine, and at the URL for checkpoints that lie there.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from overtone.core.messages import Command

if TYPE_CHECKING:
    from overtone.journal.writer import JournalWriter
    from overtone.run.parts import Parts


class Deletions:
    """Orders to delete that wait for the journal.

    Args:
        written: Returns the number of written bytes of the journal.
        durable: Returns the number of these bytes that are safe at the place of the checkpoints.
        hasten: Makes the rest safe soon.
        is_urgent: Whether trials wait for the room that a deletion gives.
    """

    def __init__(
        self,
        written: Callable[[], int],
        durable: Callable[[], int],
        hasten: Callable[[], None],
        is_urgent: bool = False,
    ) -> None:
        self._written = written
        self._durable = durable
        self._hasten = hasten
        self._is_urgent = is_urgent
        self._held: deque[tuple[int, Command]] = deque()

    def __len__(self) -> int:
        return len(self._held)

    def hold(self, orders: Iterable[Command]) -> None:
        """Hold these orders; the records that led to them are written."""
        end = self._written()
        self._held += [(end, order) for order in orders]
        if self._is_urgent:
            self.hasten()

    def due(self) -> list[Command]:
        """Return the orders whose records are safe by now; they are held no longer."""
        if not self._held:
            return []
        safe, found = self._durable(), []
        while self._held and self._held[0][0] <= safe:
            found.append(self._held.popleft()[1])
        return found

    def hasten(self) -> None:
        """Have the records of all held orders made safe soon."""
        if self._held:
            self._hasten()


def deletions_for(parts: Parts, journal: JournalWriter) -> Deletions:
    """Return the `Deletions` of a run."""
    place, waits = parts.place, not parts.plan.engine.capabilities.isolates
    return Deletions(
        lambda: journal.written_bytes,
        lambda: place.durable_bytes(journal),
        lambda: place.make_durable(journal, waits),
        is_urgent=parts.plan.experiment.checkpoints.most_bytes is not None,
    )
