"""Leftovers of killed processes in a store: parts of puts and deletes, and whole checkpoints.

Only names that Overtone creates are considered, in folders named after a trial's id. A checkpoint
whose contents do not say that the trial saved it belongs to the user.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from overtone.regular_files import read_regular
from overtone.store.budgeted import size_of
from overtone.store.files import RemoteFiles, joined
from overtone.store.lease import check_fence, parsed
from overtone.store.local import MANIFEST, METADATA_FILE, STATE_FILE, remove
from overtone.store.remote import in_order_of_removal

TRIAL = re.compile(r"[0-9a-f]{5}_\d{5,}")
_WHOLE = re.compile(r"checkpoint_\d{6,}(?:_a\d+)?(?:_\d+)?(?:_f(\d+))?")
_UNFINISHED = re.compile(r"\.(?:(?:put|deleted)-checkpoint_\w+-(\d+)-[0-9a-f]{8}|saving_(\d+)_[0-9a-f]{12})")


@dataclass(frozen=True, slots=True)
class Leftover:
    """A folder with a checkpoint, or with a part of a checkpoint.

    Attributes:
        key: Its key, such as "a9c1c_00001/checkpoint_000010".
        uri: Its location.
        is_whole: Whether it is a whole checkpoint.
        is_damaged: Whether it is whole and files are missing or have another size.
        state: The state file of its session; empty if that cannot be read.
        fence: The number of the lease under which it was put; 1 for the first.
        names: Its files, below the experiment's URL; empty on this machine.
    """

    key: str
    uri: str
    size_bytes: int
    is_whole: bool = False
    is_damaged: bool = False
    state: Mapping[str, Any] = field(default_factory=dict)
    fence: int = 1
    names: tuple[str, ...] = ()

    @property
    def trial_id(self) -> str:
        """The trial whose folder contains it."""
        return self.key.partition("/")[0]

    @property
    def is_ours(self) -> bool:
        """Whether a session of that trial saved it there, under that name."""
        if self.key.partition("/")[2].startswith("."):
            return True
        t = self.state.get("t")
        is_named_so = type(t) is int and f"/checkpoint_{t:06d}" in self.key
        return is_named_so and self.state.get("trial") == self.trial_id


class LocalLeftovers:
    """The leftovers below a folder of this machine.

    Args:
        root: The experiment's folder.
        settle_s: An unfinished folder is kept while it changed within this time. Needed if processes
            of other machines may write there; on this machine the process is checked.
    """

    def __init__(self, root: Path, settle_s: float = 0.0) -> None:
        self._root = root
        self._settle_s = settle_s

    def find(self, named: frozenset[str] | None, trials: Iterable[str] | None = None) -> list[Leftover]:
        """Return the leftovers that no process is writing.

        Args:
            named: The keys of known checkpoints; None to search for unfinished ones alone.
            trials: The ids of the trials to look at; all by default.
        """
        if trials is None:
            trials = [entry.name for entry in _entries(self._root) if TRIAL.fullmatch(entry.name)]
        return [found for trial_id in trials for found in self._of(trial_id, named)]

    def remove(self, leftover: Leftover) -> None:
        """Delete a leftover, as far as possible."""
        remove(Path(leftover.uri))

    def _of(self, trial_id: str, named: frozenset[str] | None) -> Iterator[Leftover]:
        home = self._root / trial_id
        if os.path.islink(home):
            return
        for entry in _entries(home):
            if not entry.is_dir(follow_symlinks=False):
                continue
            key, unfinished = f"{trial_id}/{entry.name}", _UNFINISHED.fullmatch(entry.name)
            if unfinished is not None and self._is_abandoned(entry.path, int(unfinished[1] or unfinished[2])):
                yield Leftover(key, entry.path, size_of(Path(entry.path)))
            if named is None or key in named or not _WHOLE.fullmatch(entry.name):
                continue
            manifest = _read(Path(entry.path, MANIFEST))
            if manifest:
                state, sizes = parsed(_read(Path(entry.path, STATE_FILE))), partial(_size, entry.path)
                is_damaged = not _is_complete(manifest, sizes)
                yield Leftover(key, entry.path, size_of(Path(entry.path)), True, is_damaged, state)

    def _is_abandoned(self, path: str, pid: int) -> bool:
        changed = _newest_change(path)
        if _may_be_of(pid, changed):
            return False
        return self._settle_s <= 0 or time.time() - changed > self._settle_s


class RemoteLeftovers:
    """The leftovers below a URL. Without a complete manifest a checkpoint is unfinished or damaged.

    Args:
        files: The experiment's files.
        fence: The number of this process's lease.
    """

    def __init__(self, files: RemoteFiles, fence: int) -> None:
        self._files = files
        self._fence = fence

    def find(self, named: frozenset[str] | None, trials: Iterable[str] | None = None) -> list[Leftover]:
        """Return the leftovers as `LocalLeftovers.find` does; call it only without puts of this driver."""
        wanted = None if trials is None else set(trials)
        folders: dict[str, dict[str, int]] = {}
        for name, size in self._files.sizes().items():
            trial_id, _, rest = name.partition("/")
            folder, _, file = rest.partition("/")
            is_wanted = TRIAL.fullmatch(trial_id) if wanted is None else trial_id in wanted
            if file and is_wanted and _WHOLE.fullmatch(folder):
                folders.setdefault(f"{trial_id}/{folder}", {})[file] = size
        found = [self._seen(key, sizes, named) for key, sizes in folders.items()]
        return [one for one in found if one is not None]

    def remove(self, leftover: Leftover) -> None:
        """Delete a leftover.

        Raises:
            StorageError: The leftover cannot be deleted, or the lease is lost.
        """
        check_fence(self._files, self._fence)
        self._files.remove(in_order_of_removal(leftover.names))

    def _seen(self, key: str, sizes: Mapping[str, int], named: frozenset[str] | None) -> Leftover | None:
        if named is not None and key in named:
            return None
        is_whole = MANIFEST in sizes
        if is_whole and named is None:
            return None
        manifest = self._files.read(f"{key}/{MANIFEST}") if is_whole else None
        state = parsed(self._files.read(f"{key}/{STATE_FILE}")) if STATE_FILE in sizes else {}
        fence = _WHOLE.fullmatch(key.rpartition("/")[2])
        return Leftover(
            key,
            joined(self._files.url, key),
            sum(sizes.values()),
            is_whole,
            is_whole and not _is_complete(manifest, sizes.get),
            state,
            int((fence and fence[1]) or 1),
            tuple(f"{key}/{name}" for name in sizes),
        )


def _is_complete(manifest: bytes | None, size: Callable[[str], int | None]) -> bool:
    """Return whether all files of a manifest exist with their sizes, apart from notes that may change."""
    files = parsed(manifest).get("files")
    try:
        return isinstance(files, dict) and all(
            name == METADATA_FILE or size(name) == facts[0] for name, facts in files.items()
        )
    except (TypeError, IndexError, KeyError):
        return False


def _size(folder: str, name: str) -> int | None:
    try:
        return os.stat(os.path.join(folder, name)).st_size
    except OSError:
        return None


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:  # it does not exist, or is not readable
        return []


def _read(path: Path) -> bytes:
    try:
        return read_regular(path)
    except OSError:
        return b""


def _may_be_of(pid: int, changed: float) -> bool:
    """Return whether the process of this number may have changed a folder at that time.

    A process that started later only has the same number, which is likely in containers.
    """
    import psutil

    try:
        return bool(psutil.Process(pid).create_time() <= changed)
    except psutil.NoSuchProcess:
        return False
    except (psutil.Error, ValueError):
        return True


def _newest_change(path: str) -> float:
    newest = 0.0
    for where, _, names in os.walk(path):
        for one in (where, *(os.path.join(where, name) for name in names)):
            try:
                newest = max(newest, os.lstat(one).st_mtime)
            except OSError:
                continue
    return newest
