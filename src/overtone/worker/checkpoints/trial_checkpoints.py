"""Preparation of one trial's checkpoints and their transfer to the store."""

from __future__ import annotations

import errno
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from overtone import standard_streams
from overtone.core.job import Job
from overtone.core.messages import Start
from overtone.core.store import Store
from overtone.core.types import Checkpoint
from overtone.errors import DamagedError, StorageError
from overtone.store.folder_mark import mark_of
from overtone.store.room import is_full, lacks_room
from overtone.worker.checkpoints import saving
from overtone.worker.output import without_patience
from overtone.worker.session_counts import Counts

MOST_RESULTS = 256
MOST_RESULT_BYTES = 1 << 20
"""Limits of the newest results that a checkpoint contains, by count and by size."""

Saver = Callable[[Path], Mapping[str, Any]]
"""Saves a trial's state into a directory; returns its kind, for `.overtone.json`."""


class TrialCheckpoints:
    """Restores one trial's state from its checkpoint, and keeps the checkpoints that the trial saves.

    If the checkpoint is damaged or missing, it prints a line on stderr and uses the newest earlier
    checkpoint that is undamaged (`Start.fallbacks`).

    Attributes:
        t: The iteration of the last checkpoint that was kept; -1 before the first.
        results: The results reported since the last kept checkpoint, as JSON. The next checkpoint
            contains them: the checkpoint may be all that remains of a machine.
        restored: The restored checkpoint, or None.
        origin: The reference of the restored checkpoint, or None.

    Raises:
        StorageError: The store cannot be reached.
    """

    def __init__(self, job: Job, start: Start) -> None:
        self.t = -1
        self.restored: saving.Restored | None = None
        self.origin: Checkpoint | None = None
        self._job = job
        self._trial_id, self._attempt = start.trial_id, start.attempt
        self._again = 0
        self._mark = mark_of(job)
        self._config = saving.config_digest(start.config)
        self.results: deque[str] = deque(maxlen=MOST_RESULTS)
        self._home = job.folder / start.trial_id
        self._pending: Path | None = None
        self._kind: Mapping[str, Any] = {"kind": "directory"}  # of the waiting checkpoint
        if start.attempt:
            saving.sweep(self._home)
        if start.checkpoint is not None:
            self._restore((start.checkpoint, *start.fallbacks))

    @property
    def has_pending(self) -> bool:
        """Whether a checkpoint waits for the next report to carry it."""
        return self._pending is not None

    def keep(self, path: Path, t: int, counts: Counts, is_automatic: bool = False) -> Checkpoint:
        """Keep a copy of the file or directory `path` as the state after result `t`; return its reference."""
        with saving.staging(self._made_home()) as folder:
            kind = {"kind": "directory"}
            if path.is_file():
                kind = {"kind": "file", "name": saving.place(path, folder)}
            else:
                saving.copy_into(path, folder)
            return self._put(folder, counts.state(t), kind, is_automatic)

    def keep_from(self, saver: Saver, t: int, counts: Counts, is_automatic: bool = False) -> Checkpoint:
        """Let `saver` save the state after result `t`, and return the reference of the checkpoint."""
        with saving.staging(self._made_home()) as folder:
            kind = _saved(saver, folder)
            return self._put(folder, counts.state(t), kind, is_automatic)

    @contextmanager
    def collected(self) -> Iterator[Path]:
        """Yield a new directory. After the block its contents wait for the next report."""
        folder = saving.new_folder(self._made_home())
        try:
            yield folder
        except BaseException:
            import shutil

            shutil.rmtree(folder, ignore_errors=True)
            raise
        self.drop_pending()
        self._pending = folder

    def collect(self) -> str:
        """Return a new directory. Its contents wait for the next report from now on."""
        self.drop_pending()
        self._pending = saving.new_folder(self._made_home())
        return str(self._pending)

    def name_pending(self, path: Path) -> None:
        """Make the file or directory `path` the checkpoint that waits for the next report."""
        if self._pending is None or not path.is_relative_to(self._pending):
            self.collect()
            assert self._pending is not None
            if not path.is_file():
                saving.copy_into(path, self._pending)
            else:
                self._kind = {"kind": "file", "name": saving.place(path, self._pending)}
        elif path.is_file():
            self._kind = {"kind": "file", "name": str(path.relative_to(self._pending))}

    def keep_pending(self, t: int, counts: Counts) -> Checkpoint | None:
        """Keep the waiting checkpoint and return its reference; None if no checkpoint waits."""
        if self._pending is None:
            return None
        try:
            kept = self._put(self._pending, counts.state(t), self._kind, False)
        except BaseException as error:
            if not lacks_room(error):  # else it may be tried again
                self.drop_pending()
            raise
        self.drop_pending()
        return kept

    def drop_pending(self) -> None:
        """Discard the waiting checkpoint, if any."""
        if self._pending is not None:
            import shutil

            shutil.rmtree(self._pending, ignore_errors=True)
            self._pending, self._kind = None, {"kind": "directory"}

    def _made_home(self) -> Path:
        """Return the trial's folder, created if missing; the experiment's folder is not created again."""
        return self._mark.make(self._trial_id)

    def _restore(self, checkpoints: tuple[Checkpoint, ...]) -> None:
        def on_damage(error: DamagedError) -> None:
            self.say(f"it cannot go on from its checkpoint: {error}")

        found = saving.fetch_first(_store(self._job), checkpoints, on_damage)
        if found is None:
            self.say("it has no other checkpoint, and begins anew")
            return
        self.origin, self.restored = found
        if self.origin != checkpoints[0]:
            self.say(f"it goes on from the one before, {self.origin.uri}")

    def say(self, text: str) -> None:
        """Tell the user a line about this trial."""
        with without_patience():  # a file on a full disk
            standard_streams.say(f"trial {self._trial_id}: {text}")

    def _put(
        self, folder: Path, state: Mapping[str, Any], kind: Mapping[str, Any], is_automatic: bool
    ) -> Checkpoint:
        self._again = self._again + 1 if state["t"] == self.t else 0
        while saving.is_users(self._home / saving.name_of(state["t"], self._attempt, self._again)):
            self._again += 1
        state = {**state, "results": saving.newest(self.results, MOST_RESULT_BYTES)}
        kept = saving.keep(
            _store(self._job),
            folder,
            self._trial_id,
            {**state, **kind},
            self._attempt,
            self._again,
            is_automatic,
            self._config,
        )
        self.t = kept.t
        self.results.clear()
        return kept


def _saved(saver: Saver, folder: Path) -> Mapping[str, Any]:
    """Let `saver` save into `folder`; raise OSError (ENOSPC) if it fails on a full disk.

    Libraries raise other errors there, such as a RuntimeError of PyTorch.
    """
    try:
        return saver(folder)
    except Exception as error:
        if lacks_room(error) or not is_full(folder):
            raise
        raise OSError(errno.ENOSPC, "No space left on device", str(folder)) from error


def _store(job: Job) -> Store:
    if job.store is None:
        raise StorageError(f"experiment {job.folder.name} has no store for checkpoints")
    return job.store
