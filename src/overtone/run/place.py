"""Where one experiment's results go while it runs: a folder of this machine, mirrored to a URL or not."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, TypeVar

from overtone.errors import StorageError
from overtone.run.loop import warn
from overtone.store import LocalStore

if TYPE_CHECKING:
    from overtone.core.protocols import Store
    from overtone.journal.writer import JournalWriter
    from overtone.run.mirroring import Mirroring
    from overtone.store.lease import Lease
    from overtone.store.leftovers import LocalLeftovers, RemoteLeftovers

PATIENCE_S = 300.0
"""How long a store may be away before the run ends."""

AT_START_S = 60.0
"""How long it may be away before a run that is to begin does not."""

JOURNAL = "journal.jsonl"
T = TypeVar("T")


@dataclass(slots=True)
class Place:
    """Where one experiment's results go, from its beginning to its end; a context manager.

    Attributes:
        folder: On this machine: its journal and the trials' files.
        moved: A line about what was moved aside to make room for it, or "".
        url: Where they are mirrored, and where checkpoints go; None for this machine alone.
        patience_s: How long that place may be away.
    """

    folder: Path
    moved: str = ""
    url: str | None = None
    patience_s: float = PATIENCE_S
    _lease: Lease | None = None
    _mirroring: Mirroring | None = None

    @property
    def store(self) -> Store:
        """Where checkpoints go."""
        if self.url is None:
            return LocalStore(self.folder)
        from overtone.store.cache import FETCHED
        from overtone.store.remote import RemoteStore
        from overtone.store.retrying import Retrying

        # trials wait longer than the driver does: it is the driver that ends the run
        store = RemoteStore(self.url, cache=self.folder / FETCHED, fence=self.fence)
        return Retrying(store, 2 * self.patience_s + 30)

    def open_mirror(self, written: Callable[[], int], on_lost: Callable[[], None]) -> None:
        """Mirror from now on, if there is a URL; the journal is open.

        Args:
            written: How many bytes of the journal are there to stay.
            on_lost: Called, from another thread, when that is over: the run should end.

        Raises:
            StorageError: Another experiment is there.
        """
        if self.url is None or self._lease is None:
            return
        from overtone.journal.mirror import JournalMirror
        from overtone.run.mirroring import Mirroring, TrialUploads
        from overtone.store.files import RemoteFiles

        files, lease = RemoteFiles(self.url), self._lease
        journal = patiently(lambda: JournalMirror(self.folder / JOURNAL, written, files, lease))
        known = patiently(files.sizes) if journal.is_resumed else {}
        uploads = TrialUploads(self.folder, files, known, lease.check)
        self._mirroring = Mirroring(journal, uploads, self.patience_s, on_lost, warn)
        self._mirroring.start()

    @property
    def fence(self) -> int:
        """The number of the lease under which this driver writes to the URL; 0 without one."""
        return self._lease.number if self._lease is not None else 0

    def leftovers(self, settle_s: float = 0.0) -> list[LocalLeftovers | RemoteLeftovers]:
        """What finds leftovers of killed processes: the folder, and before it the URL if there is one.

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

    def __enter__(self) -> Place:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Mirror what is left, and let the next driver in.

        Raises:
            StorageError: The store stayed away, or another driver took over; all is in `folder`.
        """
        mirroring, self._mirroring = self._mirroring, None
        try:
            if mirroring is not None:
                mirroring.close(self.patience_s if error is None else min(self.patience_s, 10.0))
        except StorageError as lost:
            text = f'{lost}. Everything that was recorded is in {self.folder}; resume="AUTO" goes on with it'
            if error is None:
                raise StorageError(text) from lost
            warn(text)
        finally:
            if self._lease is not None:
                from overtone.store.cache import FETCHED, forget_origin

                self._lease.release()
                shutil.rmtree(self.folder / FETCHED, ignore_errors=True)
                if mirroring is None and not (self.folder / JOURNAL).exists():
                    forget_origin(self.folder)  # nothing was written: leave no trace


def patiently(action: Callable[[], T]) -> T:
    """What `action` returns, before a run begins: a store that is away is tried again for a minute."""
    from overtone.store.retrying import persist

    return persist(action, AT_START_S, say=warn)
