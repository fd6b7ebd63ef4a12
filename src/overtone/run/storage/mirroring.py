"""Mirrors an experiment's files to its URL in a thread, without blocking the loop."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from overtone.errors import StorageError
from overtone.regular_files import open_regular, read_regular
from overtone.standard_streams import say
from overtone.store.backoff import pauses

if TYPE_CHECKING:
    from overtone.journal.mirror import JournalMirror
    from overtone.store.files import RemoteFiles
    from overtone.store.folder_mark import FolderMark

JOURNAL_EVERY_S = 2.0
"""Soon after the start; up to `SELDOM` times as long once there are thousands of pieces."""

SELDOM = 5.0

FIRST_PAUSE_S = 0.1
"""The first pauses are as short as that and double: what has just begun should be known there."""

HASTE_S = 10.0
"""Seconds that a caller waits for the journal to be mirrored."""

FILES_EVERY_S = 15.0
SMALLEST_PAUSE = 20
"""Pause between two rounds over the trials' files, in multiples of the last round's duration."""

_BATCH_BYTES = 32 << 20
_LONGEST_PAUSE_S = 10.0


class Mirroring:
    """A thread that mirrors the journal every few seconds, and the trials' files now and then.

    Args:
        journal: Copies the journal.
        files: Copies the trials' files.
        patience_s: Seconds that the store may be unreachable.
        on_lost: Called, from the thread, when nothing more can be mirrored.
        warn: Prints a line for the user.

    Attributes:
        error: The error that ended the mirroring, or None.
    """

    def __init__(
        self,
        journal: JournalMirror,
        files: TrialUploads,
        patience_s: float,
        on_lost: Callable[[], None],
        warn: Callable[[str], None],
    ) -> None:
        self.error: StorageError | None = None
        self._journal = journal
        self._files = files
        self._patience_s = patience_s
        self._on_lost = on_lost
        self._warn = warn
        self._is_closing = threading.Event()
        self._wakes = threading.Event()
        self._has_pushed = threading.Event()
        self._thread = threading.Thread(target=self._work, name="overtone-mirror", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    @property
    def mirrored_bytes(self) -> int:
        """The number of mirrored bytes of the journal."""
        return self._journal.mirrored_bytes

    def hasten(self, waits: bool = False) -> None:
        """Mirror the journal now.

        Args:
            waits: Return once it is mirrored, or after `HASTE_S`.
        """
        self._has_pushed.clear()
        self._wakes.set()
        if waits and self.error is None:
            self._has_pushed.wait(HASTE_S)

    def close(self, patience_s: float) -> None:
        """Mirror the rest; takes up to `patience_s` if the store is unreachable.

        Raises:
            StorageError: It cannot be mirrored.
        """
        from overtone.store.retrying import persist

        self._is_closing.set()
        self._wakes.set()
        self._thread.join()
        if self.error is None:
            try:
                persist(self._all, patience_s, say=self._warn)
            except StorageError as error:
                self.error = error
        if self.error is not None:
            raise self.error

    def _work(self) -> None:
        from overtone.store.failures import is_passing
        from overtone.store.retrying import jittered

        away_since: float | None = None
        regular = pauses(FIRST_PAUSE_S, SELDOM * JOURNAL_EVERY_S)
        pause_s = min(next(regular), JOURNAL_EVERY_S)
        files_at = time.monotonic() + FILES_EVERY_S
        while True:
            self._wakes.wait(pause_s)
            self._wakes.clear()
            if self._is_closing.is_set():
                return
            try:
                self._journal.push()
                self._has_pushed.set()
                began = time.monotonic()
                if began >= files_at:
                    self._files.push()
                    now = time.monotonic()
                    files_at = now + max(FILES_EVERY_S, SMALLEST_PAUSE * (now - began))
            except Exception as error:
                now = time.monotonic()
                if away_since is None:
                    away_since, waiting = now, jittered()
                    if is_passing(error):
                        self._warn(f"{error} (trying again for {self._patience_s:.0f} s; the search goes on)")
                if not is_passing(error) or now - away_since >= self._patience_s:
                    self._give_up(error, now - away_since)
                    return
                pause_s = min(next(waiting), _LONGEST_PAUSE_S)
            else:
                if away_since is not None:
                    self._warn("the store answers again")
                # the longer it runs, the less the last seconds matter beside the number of pieces
                away_since = None
                longest_s = JOURNAL_EVERY_S * min(SELDOM, 1 + self._journal.number / 1000)
                pause_s = min(next(regular), longest_s)

    def _all(self) -> None:
        self._journal.push()
        self._files.push()

    def _give_up(self, error: Exception, after_s: float) -> None:
        again = f" (tried again for {after_s:.0f} s)" if after_s else ""
        self.error = (
            error if isinstance(error, StorageError) and not again else StorageError(f"{error}{again}")
        )
        self._on_lost()


class TrialUploads:
    """Copies the files in the trials' folders, when they have changed; checkpoints are none of them.

    Args:
        folder: The experiment's.
        remote: The mirror.
        known: The sizes of the files that are there from an earlier driver, by name.
        check: Raises if this driver may no longer write there; called before each write.
        mark: Of the folder: nothing is copied from another one at its path.
    """

    def __init__(
        self,
        folder: Path,
        remote: RemoteFiles,
        known: dict[str, int],
        check: Callable[[], None],
        mark: FolderMark | None = None,
    ) -> None:
        self._folder = folder
        self._remote = remote
        self._known = known
        self._mark = mark
        self._check = check
        self._seen: dict[str, tuple[int, int]] = {}
        self._skipped: set[str] = set()

    def push(self) -> int:
        """Copy what has changed since the last time; returns how many files that were.

        Raises:
            StorageError: Some files could not be copied; a later call copies the rest.
        """
        count = n_bytes = 0
        batch: dict[str, tuple[int, int]] = {}
        for name, facts in self._changed():
            batch[name] = facts
            n_bytes += facts[0]
            if n_bytes >= _BATCH_BYTES or len(batch) >= 256:
                count += self._copy(batch)
                batch, n_bytes = {}, 0
        return count + self._copy(batch)

    def _changed(self) -> list[tuple[str, tuple[int, int]]]:
        found: list[tuple[str, tuple[int, int]]] = []
        if self._mark is not None and not self._mark.is_there:
            return found
        with os.scandir(self._folder) as trials:
            shown = [one for one in trials if not one.name.startswith(".")]
        for trial in shown:
            if not trial.is_dir(follow_symlinks=False):
                continue
            try:
                with os.scandir(trial.path) as entries:
                    files = list(entries)
            except OSError:
                continue  # the trial has deleted its folder, or closed it
            for entry in files:
                if entry.name.startswith(".") or not entry.is_file(follow_symlinks=False):
                    continue
                try:
                    stat = entry.stat()
                except OSError:
                    continue  # it was replaced by another of that name, or is gone
                name, facts = f"{trial.name}/{entry.name}", (stat.st_size, stat.st_mtime_ns)
                if self._known.pop(name, -1) == facts[0]:
                    self._seen[name] = facts
                elif self._seen.get(name) != facts:
                    found.append((name, facts))
        return found

    def _copy(self, batch: dict[str, tuple[int, int]]) -> int:
        data: dict[str, bytes] = {}
        copied = dict(batch)
        for name, (size, _) in batch.items():
            path = self._folder / name
            try:
                if size > _BATCH_BYTES:
                    open_regular(path).close()
                else:
                    data[name] = read_regular(path)  # first read, then sent: it may grow
            except OSError as error:  # a trial works there: its file may be gone, or not be for others
                self._skip(name, error)
                del copied[name]
                continue
            if size > _BATCH_BYTES and not self._upload(name, path):
                del copied[name]
        if data:
            self._check()
            self._remote.write_all(data)
        self._seen.update(copied)
        return len(copied)

    def _upload(self, name: str, path: Path) -> bool:
        """Copy a large file; return False if it is gone."""
        self._check()
        try:
            self._remote.upload({name: path})
        except StorageError:
            if os.path.lexists(path):
                raise
            return False
        return True

    def _skip(self, name: str, error: OSError) -> None:
        """Tell once of a file that is there and cannot be read; it is tried again."""
        if name not in self._skipped and not isinstance(error, FileNotFoundError):
            self._skipped.add(name)
            say(f"{name} is not copied to {self._remote.url}: {error.strerror or error}")
