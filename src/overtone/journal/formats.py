"""The formats of journals: records of format 1 are completed with what format 2 records.

A header and a driver's note name the format of the records that follow. A driver writes the newest
format, also into a journal that an earlier version began. Readers get the newest format alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from overtone.core.messages import Choice, Ended, Event, Moved, Record, Resumed, Ruled
from overtone.core.trial import Status
from overtone.errors import StorageError

FORMAT = 2
"""The newest format that this version reads, and the format that it writes."""

_PENDING, _PAUSED = Status.PENDING.value, Status.PAUSED.value
_HAVE_PROCESSES = frozenset(one.value for one in Status if one.is_placed)
_FINAL = frozenset(one.value for one in Status if one.is_final)


class Upgrade:
    """Completes the records of one journal where their format is 1.

    Format 1 has the decision of a Restart, but not whether and when it took effect. A waiting
    trial was restarted at once. A running trial got its new config when its process had ended,
    unless it failed or was stopped before.
    """

    def __init__(self) -> None:
        self._is_needed = False
        self._format = 1
        self._n = 0
        self._newest: dict[str, Moved] = {}  # Of trials that have not ended, by trial id.
        self._due: dict[str, Ruled] = {}  # Restarts that have not taken effect, by trial id.

    def begin(self, facts: Mapping[str, Any]) -> None:
        """Take the format of a driver's records: the first that a driver named is 2.

        Args:
            facts: The header of the journal, or a driver's note.

        Raises:
            StorageError: This version does not know the format.
        """
        self._format = facts.get("format", 1)
        if self._format > FORMAT:
            raise StorageError(
                f"record {facts['n']} begins a part of format {self._format}; this version of Overtone reads "
                f"up to format {FORMAT}: pip install -U overtone"
            )
        if facts["n"] == 1:
            self._is_needed = self._format == 1
            self._n, self._newest, self._due = 0, {}, {}

    def apply(self, record: Record) -> Record:
        """Return the next record as format 2 has it; an earlier record is returned as it is."""
        if not self._is_needed or record.n <= self._n or not record.choices:
            return record
        self._n = record.n
        choices: list[Choice] = []
        for choice in record.choices:
            if isinstance(choice, Ruled) and choice.what == "restart" and self._format == 1:
                newest = self._newest.get(choice.trial_id, Moved(choice.trial_id, _PENDING, 0))
                if newest.status == _PENDING:
                    choices.append(choice)
                    choice = replace(
                        newest, why=choice.why, error="", resources=choice.resources, config=choice.config
                    )
                else:
                    self._due[choice.trial_id] = choice
            elif isinstance(choice, Moved):
                choice = self._completed(choice, record.event)
            choices.append(choice)
        return replace(record, choices=tuple(choices))

    def _completed(self, moved: Moved, event: Event) -> Moved:
        """Return the choice with the config of a Restart that takes effect with it."""
        before = self._newest.pop(moved.trial_id, None)
        if moved.status not in _FINAL:
            self._newest[moved.trial_id] = moved
        if moved.status in _HAVE_PROCESSES:
            return moved
        due = self._due.pop(moved.trial_id, None)
        if due is None or moved.status != _PENDING:
            return moved
        was_waiting = before is not None and before.status == _PAUSED
        return replace(moved, config=due.config) if was_waiting or _lets_restart(event) else moved


def _lets_restart(event: Event) -> bool:
    """Return whether a trial whose process ended with this event is restarted, and not tried again."""
    if isinstance(event, Ended):
        return event.cause in ("halted", "killed", "lost")
    return isinstance(event, Resumed)
