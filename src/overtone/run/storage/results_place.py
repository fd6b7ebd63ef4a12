"""The place of an experiment's results while it runs: a local folder, perhaps mirrored to a URL."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, TypeVar

from overtone.errors import StorageError
from overtone.standard_streams import say
from overtone.store.folder_mark import JOURNAL, LOCK, FolderMark
from overtone.store.local import LocalStore

if TYPE_CHECKING:
    from overtone.core.store import Store
    from overtone.journal.lock import WriterLock
    from overtone.journal.writer import JournalWriter
    from overtone.run.storage.mirroring import Mirroring
    from overtone.store.lease import Lease
    from overtone.store.leftovers import LocalLeftovers, RemoteLeftovers

PATIENCE_S = 300.0
"""Seconds that a store may be unreachable before the run ends."""

AT_START_S = 60.0
"""Seconds that a store may be unreachable before the start of a run fails."""

T = TypeVar("T")


@dataclass(slots=True)
class ResultsPlace:
    """The place of an experiment's results from its beginning to its end; a context manager.

    Made by `acquire`, which takes the lease and the lock.

    Attributes:
        folder: On this machine: its journal and the trials' files.
        moved: A line about the experiment that was moved aside to make room, or "".
        url: URL of the mirror and of the checkpoints; None for this machine alone.
        patience_s: Seconds that the URL may be unreachable.
        lease: Held at the URL; None for this machine alone.
        lock: Held in the folder: only its holder writes, moves or deletes there.
        goes_on: Whether an experiment is resumed.
        made: The folders created for it, outermost first.
        is_nothing: Whether the experiment came to an end before it had a trial: it leaves no trace.
    """

    folder: Path
    moved: str = ""
    url: str | None = None
    patience_s: float = PATIENCE_S
    lease: Lease | None = None
    lock: WriterLock | None = None
    goes_on: bool = False
    made: list[Path] = field(default_factory=list)
    is_nothing: bool = False
    _mirroring: Mirroring | None = None

    @property
    def mark(self) -> FolderMark:
        """The mark that identifies the folder among folders at its path, while the lock is held."""
        return FolderMark(str(self.folder), self.lock.inode if self.lock is not None else 0)

    def store(self, mark: FolderMark | None = None) -> Store:
        """Return the store of checkpoints.

        Args:
            mark: Of the folder, if nothing may be put into another one at its path, nor make it again.
        """
        if self.url is None:
            return LocalStore(self.folder, mark=mark)
        from overtone.store.cache import FETCHED
        from overtone.store.remote import RemoteStore
        from overtone.store.retrying import Retrying

        if mark is not None and not mark.inode:  # trials on other nodes make folders for what they fetch
            mark = None
        # trials wait longer than the driver does: it is the driver that ends the run
        store = RemoteStore(self.url, cache=self.folder / FETCHED, fence=self.fence, mark=mark)
        return Retrying(store, 2 * self.patience_s + 30)

    def open_mirror(self, written: Callable[[], int], on_lost: Callable[[], None]) -> None:
        """Mirror from now on, if there is a URL; the journal is open.

        Args:
            written: Returns the number of final bytes of the journal.
            on_lost: Called, from another thread, when that is over: the run should end.

        Raises:
            StorageError: Another experiment is there.
        """
        if self.url is None or self.lease is None:
            return
        from overtone.journal.mirror import JournalMirror
        from overtone.run.storage.mirroring import Mirroring, TrialUploads
        from overtone.store.files import RemoteFiles

        files, lease = RemoteFiles(self.url), self.lease
        journal = patiently(lambda: JournalMirror(self.folder / JOURNAL, written, files, lease))
        known = patiently(files.sizes) if journal.is_resumed else {}
        uploads = TrialUploads(self.folder, files, known, lease.check, self.mark)
        self._mirroring = Mirroring(journal, uploads, self.patience_s, on_lost, say)
        self._mirroring.start()

    @property
    def fence(self) -> int:
        """The number of the lease under which this driver writes to the URL; 0 without one."""
        return self.lease.number if self.lease is not None else 0

    def leftovers(self, settle_s: float = 0.0) -> list[LocalLeftovers | RemoteLeftovers]:
        """Return the finders of leftovers of killed processes: for the URL, if any, then the folder.

        Args:
            settle_s: See `LocalLeftovers`.
        """
        from overtone.store.leftovers import LocalLeftovers, RemoteLeftovers

        local = LocalLeftovers(self.folder, settle_s)
        if self.url is None:
            return [local]
        from overtone.store.files import RemoteFiles

        return [RemoteLeftovers(RemoteFiles(self.url), self.fence), local]

    def durable_bytes(self, journal: JournalWriter) -> int:
        """Return how much of the journal is safe where the checkpoints lie."""
        if self.url is None:
            return journal.durable_bytes
        return self._mirroring.mirrored_bytes if self._mirroring is not None else 0

    def make_durable(self, journal: JournalWriter, waits: bool) -> None:
        """Make the journal safe there soon.

        Args:
            waits: Return once it is, or could not be made so for a while.
        """
        if self.url is None:
            journal.sync()
        elif self._mirroring is not None:
            self._mirroring.hasten(waits)

    def __enter__(self) -> ResultsPlace:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Mirror the rest, and release the place for the next driver.

        Raises:
            StorageError: The store stayed away, or another driver took over; all is in `folder`.
        """
        mirroring, self._mirroring = self._mirroring, None
        try:
            if mirroring is not None:
                mirroring.close(self.patience_s if error is None else min(self.patience_s, 10.0))
        except StorageError as lost:
            text = f"{lost}. {self._where_left(lost)}"
            if error is None:
                raise StorageError(text) from lost
            say(text)
        finally:
            self.give_back()

    def give_back(self) -> None:
        """Release the place for the next driver. Safe to call twice.

        A folder without an experiment is removed if this driver created it and still holds the lock.
        """
        if self.lock is not None:
            if self.lock.is_at_path:  # else another driver may have made a folder there
                with suppress(OSError):
                    self._clear()
            self.lock.release()
        if self.lease is not None:
            lease, self.lease = self.lease, None
            lease.release()

    def _clear(self) -> None:
        if self.url is not None:
            from overtone.store.cache import FETCHED, forget_origin

            shutil.rmtree(self.folder / FETCHED, ignore_errors=True)
            if not self.goes_on and (self.is_nothing or not (self.folder / JOURNAL).exists()):
                forget_origin(self.folder)
        if self.is_nothing:
            (self.folder / JOURNAL).unlink(missing_ok=True)
        if self.folder in self.made and set(os.listdir(self.folder)) <= {LOCK}:
            (self.folder / LOCK).unlink(missing_ok=True)
            for one in reversed(self.made):
                one.rmdir()

    def _where_left(self, lost: StorageError) -> str:
        """Return a message about the location of data that could not be mirrored."""
        from overtone.store.lease import LeaseLostError

        if isinstance(lost, LeaseLostError):
            return (
                f"That folder is {self.folder}: the next command on this machine that opens {self.url} moves "
                "it aside, and says where"
            )
        return f'Everything that was recorded is in {self.folder}; resume="AUTO" goes on with it'


def patiently(action: Callable[[], T]) -> T:
    """Return the result of `action` before a run begins; an unreachable store is retried for a minute."""
    from overtone.store.retrying import persist

    return persist(action, AT_START_S, say=say)
