"""Snapshots of a run's state, next to its journal: a resume replays only later records.

A snapshot is used only if it matches the journal, the code and the algorithms. Otherwise, the journal
is replayed from its beginning, which leads to the same state.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from zlib import crc32

from overtone.core.protocols import Observer, Searcher, overrides
from overtone.journal.companion_file import CompanionFile
from overtone.journal.garbage import not_collecting
from overtone.journal.text import dumps
from overtone.run.header.journal_setup import header_parts
from overtone.run.resume.state_codec import NotData, NotTheSame, frozen, thaw
from overtone.standard_streams import say
from overtone.store.folder_mark import JOURNAL

if TYPE_CHECKING:
    from overtone.core.controller import Controller
    from overtone.journal.writer import JournalWriter
    from overtone.run.parts import Parts
    from overtone.run.pending_commands import Outstanding

NAME = "snapshot.json"
FORMAT = 1
_FIRST_S = 5.0
_AGAIN_S = 60.0
_SHARE = 0.1
"""Largest share of a run's time that snapshots take."""

_FEWEST = 20_000
"""Least number of records for a snapshot: fewer are replayed in half a second."""

_GROWTH = 8
"""A snapshot is renewed when the journal has grown by 1/_GROWTH of its records."""


_FREE = (
    "engine", "limits", "main", "options", "parameters", "searcher", "source", "trainable", "warm_start",
)  # fmt: skip
"""Facts in a journal's header that may differ between drivers."""


class JournalMark(NamedTuple):
    """A place in a journal: the number of a record, its end in bytes, and its time."""

    n: int
    offset: int
    time: float


def _can_remember(searcher: Searcher, hearers: Sequence[Observer]) -> bool:
    """Return whether a snapshot can hold the state of the searcher and all observers."""
    learns = overrides(searcher, Searcher.on_suggested, Searcher.on_result, Searcher.on_trial_end)
    remembers = all(overrides(one, Observer.memory) for one in hearers)
    return searcher.replay == "keyed" and not learns and remembers


class Snapshots:
    """Takes snapshots from time to time, and restores them.

    Args:
        folder: The experiment's.
        journal: The journal of the snapshots.
        controller, outstanding, observers: The objects with state; all observers have a `memory`.
        made_of: Identifies the algorithms and their arguments; "" if no snapshot is possible.
        modules: Modules of the user's own algorithms.
        clock: Returns seconds from any origin.
        on_taken: Called after each snapshot.
    """

    def __init__(
        self,
        folder: Path,
        journal: JournalWriter,
        controller: Controller,
        outstanding: Outstanding,
        observers: Sequence[Observer],
        made_of: str,
        modules: Collection[str] = (),
        clock: Callable[[], float] = time.monotonic,
        on_taken: Callable[[], None] = lambda: None,
    ) -> None:
        self._file = CompanionFile(folder / JOURNAL, NAME)
        self._journal = journal
        self._parts = controller, outstanding, observers
        self._made_of = made_of
        self._facts = {"format": FORMAT, "made_of": made_of}
        self._modules = modules
        self._clock = clock
        self._on_taken = on_taken
        self._due_n: float = _FEWEST if made_of else math.inf
        self._due_at = clock() + _FIRST_S

    def look(self) -> None:
        """Take a snapshot if it is due; called between batches of events, when all is in the journal."""
        if self._journal.next_n > self._due_n and self._clock() > self._due_at:
            self.take()

    def take(self) -> None:
        """Take a snapshot now."""
        with not_collecting():
            self._take()

    def _take(self) -> None:
        began, journal = self._clock(), self._journal
        if not journal.is_at_path:  # The folder was moved; another may be in its place.
            return
        n, offset = journal.next_n - 1, journal.written_bytes
        try:
            state = frozen(self._known())
            code = _code(one[0] for one in state["classes"])
            facts = {"n": n, "time": journal.last_time, "code": code}
            self._file.write(offset, {**self._facts, **facts}, state)
            self._on_taken()
        except OSError:  # The journal has all data.
            self._due_at = self._clock() + _AGAIN_S
            return
        except Exception as error:  # A state that is not data, or a part that raises.
            self._due_n = math.inf
            if not isinstance(error, NotData):
                say(f"no snapshots are taken ({type(error).__name__}: {error}); a resume replays everything")
            return
        spent = self._clock() - began
        self._due_at = began + spent / _SHARE
        self._due_n = n + max(_FEWEST, n // _GROWTH)

    def recall(self) -> JournalMark | None:
        """Restore the snapshot and return its place in the journal; None if nothing was restored."""
        if not self._made_of:
            return None
        with not_collecting():
            return self._recall()

    def _recall(self) -> JournalMark | None:
        try:
            head, state = self._file.read(self._facts)
            mark = JournalMark(int(head["n"]), head["offset"], float(head["time"]))
            if head["code"] != _code(one[0] for one in state["classes"]):
                return None
            thaw(state, self._known(), self._modules)
        except (OSError, ValueError, KeyError, TypeError, NotTheSame, RecursionError):
            return None
        for observer in self._parts[2]:
            observer.on_recalled()
        self._due_n = mark.n + max(_FEWEST, mark.n // _GROWTH)
        return mark

    def _known(self) -> dict[str, Any]:
        controller, outstanding, observers = self._parts
        memories = {f"{i} {type(one).__name__}": one.memory() for i, one in enumerate(observers)}
        return {"controller": controller, "outstanding": outstanding, **memories}


def snapshots_of(
    parts: Parts,
    journal: JournalWriter,
    observers: Sequence[Observer],
    outstanding: Outstanding,
    on_taken: Callable[[], None],
) -> Snapshots:
    """Return the snapshots of a run; they do nothing if its state cannot be taken.

    Args:
        observers: Observers that receive past records are in the snapshot.
        on_taken: Called after each snapshot.
    """
    hearers = [one for one in observers if overrides(one, Observer.on_past)]
    made_of, modules = "", set()
    if not parts.plan.engine.capabilities.repeats and _can_remember(parts.plan.searcher, hearers):
        facts = dict(header_parts(parts))
        for name in _FREE:
            del facts[name]
        facts["observers"] = [type(one).__name__ for one in hearers]
        made_of = f"{crc32(dumps(facts).encode()):08x}"
        modules = {type(one).__module__ for one in (parts.plan.scheduler, *parts.plan.stoppers)}
    return Snapshots(
        parts.folder, journal, parts.controller, outstanding, hearers, made_of, modules, on_taken=on_taken
    )


def _code(modules: Iterable[str]) -> int:
    """Return a checksum of the code: Python's version and the modules of the state's classes."""
    crc = crc32(sys.version.encode())
    for module in sorted(set(modules)):
        file = getattr(sys.modules.get(module), "__file__", None)
        crc = crc32(Path(file).read_bytes() if file else module.encode(), crc)
    return crc
