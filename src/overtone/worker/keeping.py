"""Where one trial's checkpoints are made ready and handed to the store."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from overtone.core.job import Job
from overtone.core.protocols import Store
from overtone.core.types import Checkpoint
from overtone.errors import StorageError
from overtone.worker import saving
from overtone.worker.counts import Counts

Saver = Callable[[Path], Mapping[str, Any]]
"""Saves a trial's state into a directory; returns its kind, for `.overtone.json`."""


class Keeper:
    """Keeps what one trial saves.

    Attributes:
        t: The iteration of the last checkpoint that was kept; -1 before the first.
        restored: What the trial goes on from, or None.
    """

    def __init__(self, job: Job, trial_id: str, checkpoint: Checkpoint | None) -> None:
        self.t = -1
        self.restored = saving.fetch(_store(job), checkpoint) if checkpoint else None
        self._job = job
        self._trial_id = trial_id
        self._home = job.folder / trial_id
        self._pending: Path | None = None

    @property
    def has_pending(self) -> bool:
        """Whether something waits for the next report to carry it."""
        return self._pending is not None

    def keep(self, path: Path, t: int, counts: Counts) -> Checkpoint:
        """The reference of a copy of the file or directory `path`, the state after result `t`."""
        with saving.staging(self._home) as folder:
            kind = {"kind": "directory"}
            if path.is_file():
                kind = {"kind": "file", "name": saving.place(path, folder)}
            else:
                saving.copy_into(path, folder)
            return self._put(folder, counts.state(t), kind)

    def keep_from(self, saver: Saver, t: int, counts: Counts) -> Checkpoint:
        """The reference of what `saver` saves, the state after result `t`."""
        with saving.staging(self._home) as folder:
            kind = saver(folder)
            return self._put(folder, counts.state(t), kind)

    @contextmanager
    def collected(self) -> Iterator[Path]:
        """A new directory; what is in it after the block waits for the next report."""
        folder = saving.new_folder(self._home)
        try:
            yield folder
        except BaseException:
            import shutil

            shutil.rmtree(folder, ignore_errors=True)
            raise
        self.drop_pending()
        self._pending = folder

    def keep_pending(self, t: int, counts: Counts) -> Checkpoint | None:
        """Keep what waits; None where nothing does."""
        if self._pending is None:
            return None
        try:
            return self._put(self._pending, counts.state(t), {"kind": "directory"})
        finally:
            self.drop_pending()

    def drop_pending(self) -> None:
        """Forget what waits."""
        if self._pending is not None:
            import shutil

            shutil.rmtree(self._pending, ignore_errors=True)
            self._pending = None

    def _put(self, folder: Path, state: Mapping[str, Any], kind: Mapping[str, Any]) -> Checkpoint:
        kept = saving.keep(_store(self._job), folder, self._trial_id, {**state, **kind})
        self.t = kept.t
        return kept


def _store(job: Job) -> Store:
    if job.store is None:
        raise StorageError(f"experiment {job.folder.name} has no store for checkpoints")
    return job.store
