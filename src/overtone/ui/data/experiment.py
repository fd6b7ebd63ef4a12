"""One experiment as the dashboard shows it."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from overtone.control.holder import Holder, holder
from overtone.errors import ArgumentError, OvertoneError, StorageError
from overtone.reading.columns.trial_columns import TrialColumns
from overtone.reading.drawn_brackets import drawn_brackets
from overtone.reading.index_on_demand import IndexOnDemand
from overtone.reading.rung_standings import Standings, StandingsOnDemand
from overtone.reading.story_text import clock_of
from overtone.reading.trial_names import find_trial
from overtone.ui.data.followed_journal import FollowedJournal
from overtone.ui.data.journal_poller import JournalPoller
from overtone.ui.data.keyed_columns import keyed_columns
from overtone.ui.data.overview import Overview
from overtone.ui.data.plain_json import nullable, plain
from overtone.ui.data.shared_reading import SharedReading

_MOST_ROWS = 5000
_FEW_S = 1.0


class Experiment:
    """One experiment. Threads share it; its methods block.

    Each method but `overview` raises a `StorageError` if the journal cannot be read.

    Args:
        name: Its id.
        locate: Returns its journal, brought to this machine if it is elsewhere.
        interval_s: Seconds between two looks at the journal while somebody waits.
        is_demo: Whether `kill_driver` is allowed.

    Attributes:
        name: Its id.
        journal: The journal on this machine.
        problem: The reason why its storage elsewhere did not answer at the last look; "" if it did.
    """

    def __init__(
        self, name: str, locate: Callable[[], Path], interval_s: float = 0.1, is_demo: bool = False
    ) -> None:
        self.name = name
        self._locate = locate
        self.journal = locate()
        self.is_demo = is_demo
        self._followed = FollowedJournal(self.journal)
        self._poller = JournalPoller(self._read_on, interval_s)
        self._interval_s, self._fresh_until = interval_s, 0.0
        self._is_polled = interval_s > _FEW_S
        self.problem, self._driver = "", holder(self.journal, watches=False) if self._is_polled else None
        self._overview = Overview(self)
        self._index_lock = threading.Lock()
        self._index: tuple[str, IndexOnDemand] | None = None
        self._standings: tuple[tuple[object, ...], StandingsOnDemand] | None = None

    # --- all trials --------------------------------------------------------------------

    def overview(self) -> dict[str, Any]:
        """Return where the experiment stands: see `overtone.ui.data.overview`."""
        self._refresh()
        return self._overview.read()

    def reading(self) -> dict[str, int]:
        """Return how far a reading is that lasts: {"n_bytes", "of_bytes"}; it is not waited for."""
        try:
            of_bytes = self.journal.stat().st_size
        except OSError:
            of_bytes = 0
        return {"n_bytes": self._followed.n_bytes, "of_bytes": of_bytes}

    def columns(self) -> bytes:
        """Return all trials as a binary message."""
        self._refresh()
        return self._followed.whole()

    def update_since(self, n: int, journal: str = "") -> bytes | None:
        """Return the present values of the trials that changed after record `n` as a binary message.

        Args:
            journal: The "journal" of the page's columns; "" for the present one.

        Returns:
            None if the page needs all columns anew.
        """
        return self._followed.update_since(n, journal)

    def wait(self, n: int, timeout_s: float) -> int:
        """Return the number of the newest record, as soon as it is not `n`; `n` itself after the timeout."""
        key = self._followed.key
        self._poller.wait(lambda: self._followed.n != n or self._followed.key != key, timeout_s)
        return self._followed.n

    def rows(self, rows: Sequence[int]) -> dict[str, Any]:
        """Return the exact values of some trials: {"n", "rows", "ids", "columns": {key: values}}.

        Values of categories are given themselves; missing values are None.

        Raises:
            ArgumentError: They are too many.
        """
        columns = self.newest()
        wanted = [row for row in dict.fromkeys(rows) if 0 <= row < len(columns)]
        if len(wanted) > _MOST_ROWS:
            raise ArgumentError(f"rows: {len(wanted)} were named, and at most {_MOST_ROWS} are possible")
        places = np.array(wanted, np.int64)
        found = {}
        for one in keyed_columns(columns, places):
            levels = one.levels
            if levels is None:
                found[one.key] = nullable(one.values)
            else:
                found[one.key] = [plain(levels[code]) if code >= 0 else None for code in one.values.tolist()]
        ids = [columns.ids[row] for row in wanted]
        return {"n": columns.n_records, "rows": wanted, "ids": ids, "columns": found}

    def curves(self, trials: Sequence[str], metric: str | None = None, points: int = 500) -> dict[str, Any]:
        """Return learning curves in segments by process and config: see `overtone.ui.data.curves`.

        Raises:
            UnknownTrialError: One of them does not exist.
            ArgumentError: They are too many.
        """
        from overtone.ui.data.curves import curves

        columns = self.newest()
        rows = [self._row(columns.ids, one) for one in trials]
        return curves(self._followed, columns, rows, metric, points)

    def plot(self, name: str, /, **options: Any) -> bytes:
        """Return a figure as a binary message: see `overtone.ui.data.plots`.

        Raises:
            ArgumentError: There is no such plot or option.
            GoalError: There is no such metric or mode.
        """
        from overtone.ui.data.plots import plot_message

        return plot_message(name, [self.newest()], options)

    def decisions(
        self, before: int | None = None, limit: int = 100, trial: str | None = None
    ) -> dict[str, Any]:
        """Return decisions, newest first: see `overtone.ui.data.decisions`.

        Raises:
            UnknownTrialError: There is no such trial.
        """
        from overtone.ui.data.decisions import decisions

        self._refresh()
        return decisions(self, before, limit, None if trial is None else self.trial_id(trial))

    # --- one trial ---------------------------------------------------------------------

    def trial(self, trial: str) -> dict[str, Any]:
        """Return all about a trial: see `overtone.ui.data.trial_page`.

        Raises:
            UnknownTrialError: There is none.
        """
        from overtone.ui.data.trial_page import trial_page

        return trial_page(self, self.trial_id(trial))

    def log(
        self, trial: str, after: int | None = None, before: int | None = None, limit: int = 200
    ) -> dict[str, Any]:
        """Return lines of a trial's output: see `overtone.ui.data.output_pages`.

        Raises:
            UnknownTrialError: There is no such trial.
        """
        from overtone.ui.data.output_pages import output_page

        return output_page(self, self.trial_id(trial), after, before, limit)

    def stack(self, trial: str) -> dict[str, str]:
        """Return the stacks of a trial's processes: {"text"}. Takes some seconds if one hangs.

        Raises:
            UnknownTrialError: There is no such trial.
            ControlError: There is no answer; the message says why.
        """
        from overtone.control.client import question
        from overtone.observers.display.plain_text import printable_output

        text = question(self.journal.parent, "stack", self.trial_id(trial))
        return {"text": printable_output(text, colours=False)}

    # --- machines, and actions ---------------------------------------------------------

    def machines(self) -> dict[str, Any]:
        """Return the machines, and which of them is slow: see `overtone.ui.data.machines`."""
        from overtone.ui.data.machines import machines

        self._refresh()
        return machines(self)

    def act(self, verb: str, trial: str | None, args: Mapping[str, Any], request_id: str) -> dict[str, Any]:
        """Carry out an action: see `overtone.ui.data.actions`.

        Raises:
            ActionError: It was refused, or no driver took it.
            UnknownTrialError: There is no such trial.
        """
        from overtone.ui.data.actions import act

        trial_id = self.trial_id(trial) if trial else ""
        return act(self.journal, verb, trial_id, args, request_id, self.is_demo)

    # --- names -------------------------------------------------------------------------

    def trial_id(self, wanted: str) -> str:
        """Return the id of the trial that `wanted` means: see `find_trial`.

        Raises:
            UnknownTrialError: There is none.
        """
        return find_trial(wanted, self.newest().ids, self.name)

    @staticmethod
    def _row(ids: Sequence[str], wanted: str) -> int:
        return ids.index(find_trial(wanted, ids))

    # --- how it is read ----------------------------------------------------------------

    @property
    def followed(self) -> FollowedJournal:
        """The journal with its columns, as far as it was read."""
        return self._followed

    @contextmanager
    def index(self) -> Iterator[IndexOnDemand]:
        """An index of the journal as it is now, with the records of single trials, for this thread alone."""
        with self._index_lock:
            self._followed.refresh()
            if self._followed.n == 0:
                raise StorageError(self._followed.error)
            key = self._followed.key
            if self._index is None or self._index[0] != key:
                self._index = key, IndexOnDemand(self.journal, reading=SharedReading(self._followed))
            self._index[1].refresh()
            yield self._index[1]

    def standings(self, index: IndexOnDemand, metric: str | None, mode: str | None) -> Standings | None:
        """Return who stood where at each rung; None without rungs. To be called with `index` alone."""
        if metric is None or not index.rungs:
            return None
        key = self._followed.key, metric, mode
        if self._standings is None or self._standings[0] != key:
            clock = clock_of(index.header)
            self._standings = (
                key,
                StandingsOnDemand(self.journal, metric, mode or "max", clock, drawn_brackets(index.header)),
            )
        return self._standings[1].read(index.rungs)

    def exists(self) -> bool:
        """Return whether its journal is there."""
        return os.path.lexists(self.journal)

    @property
    def is_watched(self) -> bool:
        """Whether somebody waits for its records."""
        return self._poller.is_running

    def close(self) -> None:
        """End its thread, and forget what was read."""
        self._poller.close()
        self._followed.close()

    def driver(self) -> Holder | None:
        """Return the process that runs it; of an experiment elsewhere, as of the last look there."""
        return self._driver if self._is_polled else holder(self.journal, watches=False)

    @property
    def is_polled(self) -> bool:
        """Whether its storage does not announce changes, and is looked at every few seconds."""
        return self._is_polled

    def newest(self) -> TrialColumns:
        """Return all trials as they are now."""
        self._refresh()
        return self._followed.columns()

    def _refresh(self) -> None:
        """Read on, unless the journal is followed, or was fetched from elsewhere a moment ago."""
        now = time.monotonic()
        if not self._poller.is_running and now >= self._fresh_until:
            self._read_on()
            self._fresh_until = now + self._interval_s if self._is_polled else 0.0

    def _read_on(self) -> object:
        try:
            # Asked before the journal is brought: once no driver runs, that has all its records.
            driver = holder(self.journal, watches=False) if self._is_polled else None
            self._locate()
            self._driver, self.problem = driver, ""
        except OvertoneError as error:  # a network that is gone for now: what was read stays
            self.problem = str(error)
        self._followed.refresh()
        return self._followed.n, self._followed.key, self.problem
