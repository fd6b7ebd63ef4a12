"""Brings results every 30 s in a thread while a run goes on, and to the end once it has ended."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

from overtone.cluster.head import Head
from overtone.cluster.remote import RemoteError, UnreachableError
from overtone.cluster.results import BringingElsewhereError, Results
from overtone.cluster.run_record import RunRecord
from overtone.errors import OvertoneError

EVERY_S = 30.0
SHARE = 0.1
"""Largest share of the time that copying takes: experiments with many files come less often."""

_PATIENCE_S = 90.0
_PAUSE_S = 2.0
_LEAVE_S = 5.0
"""Seconds that a command that ends early waits for a copy that is under way."""


class Bringing:
    """Brings results during a block, in a thread of its own.

    Args:
        head: The head of the cluster.
        record: The run.
        results: Brings them.
        warn: Shows a line; each text is shown once.
        every_s: See `EVERY_S`.
    """

    def __init__(
        self,
        head: Head,
        record: RunRecord,
        results: Results,
        warn: Callable[[str], None],
        every_s: float = EVERY_S,
    ) -> None:
        self._head, self._record, self._results = head, record, results
        self._warn, self._every_s = warn, every_s
        self._told: set[str] = set()
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._go_on, name="overtone-results", daemon=True)
        self.last_at: float | None = None
        """When results came last, in seconds since 1970."""

    def __enter__(self) -> Bringing:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._is_over.set()
        self._thread.join(None if kind is None else _LEAVE_S)

    def once(self) -> dict[str, Any]:
        """Bring what is new, and return the facts of the run.

        Raises:
            OvertoneError: See `Results.bring`; RemoteError if the head does not know the run.
        """
        facts = self.facts()
        self._results.bring(facts)
        self.last_at = time.time()
        return facts

    def facts(self) -> dict[str, Any]:
        """Return the facts of the run.

        Raises:
            RemoteError: The head does not know the run.
        """
        for facts in self._head.runs():
            if facts["id"] == self._record.id:
                return facts
        raise RemoteError(f"{self._head.remote.name}: run {self._record.id} is not there")

    def to_end(self, patience_s: float = _PATIENCE_S) -> dict[str, Any]:
        """Bring all results of a run that has ended, and return its facts; try again after failures.

        Raises:
            OvertoneError: It failed for `patience_s` seconds, or cannot succeed, as with a full disk.
        """
        began = time.monotonic()
        while True:
            try:
                facts = self.once()
                for text in self._results.notes.values():
                    self._tell(text)
                return facts
            except (RemoteError, UnreachableError) as error:
                if (ended := self._record.end()) is not None:  # Another command was quicker.
                    return dict(ended)
                if isinstance(error, BringingElsewhereError):
                    began = time.monotonic()  # It may take long, and ends with that command.
                if time.monotonic() - began > patience_s:
                    raise
                self._tell(f"{error} (trying again)")
                time.sleep(_PAUSE_S)

    def _go_on(self) -> None:
        wait_s = self._every_s
        while not self._is_over.wait(wait_s):
            began = time.monotonic()
            try:
                self.once()
            except UnreachableError:
                pass  # The log's reader says so.
            except OvertoneError as error:
                self._tell(str(error))
            wait_s = max(self._every_s, (time.monotonic() - began) / SHARE)

    def _tell(self, text: str) -> None:
        if text not in self._told:
            self._told.add(text)
            self._warn(text)
