"""A tracker's progress through the journal: a file in the experiment's folder, locked by the sender."""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from overtone.file_lock import open_locked
from overtone.regular_files import read_regular, replace_file
from overtone.store.folder_mark import FolderMark

FOLDER = "trackers"


@dataclass(slots=True)
class Mark:
    """A tracker's progress through the journal.

    Attributes:
        kind: The tracker's name.
        settings: The arguments that say where its runs are.
        key: The key of the experiment.
        n: All records up to this one are with the tracker, except those of trials in `unfinished`.
        crc: The checksum of record `n`: a power cut may replace the end of a journal.
        n_results: The results that are with the tracker.
        unfinished: Trials whose runs have not ended. Where runs are sent whole, they are not with the tracker
            yet, and the values are their numbers of results.
        run_ids: The tracker's ids of these runs, if the tracker needs them.
    """

    kind: str
    settings: Mapping[str, Any]
    key: str = ""
    n: int = 0
    crc: int = 0
    n_results: int = 0
    unfinished: dict[str, int] = field(default_factory=dict)
    run_ids: dict[str, str] = field(default_factory=dict)

    @property
    def n_sent(self) -> int:
        """The number of results that no restart sends again."""
        return self.n_results - sum(self.unfinished.values())


class MarkFile:
    """The file of a mark. One process at a time holds it.

    Args:
        folder: The mark of the experiment's folder.
        name: See `place_name`.
    """

    def __init__(self, folder: FolderMark, name: str) -> None:
        self._folder = folder
        self.path = Path(folder.folder, FOLDER, f"{name}.json")
        self._lock: int | None = None

    def acquire(self) -> bool:
        """Return whether this process holds the mark now; create its folder.

        Raises:
            OSError: The lock cannot be created.
        """
        self._folder.make(FOLDER)
        self._lock = open_locked(self.path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT)
        return self._lock is not None

    def release(self) -> None:
        """Let another process hold the mark."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def read(self) -> Mark | None:
        """Return the mark; None if there is none, or it is damaged."""
        return read_mark(self.path)

    def write(self, mark: Mark) -> None:
        """Replace the mark.

        Raises:
            FolderGoneError: The experiment's folder was moved or deleted.
            OSError: It cannot be written.
        """
        self._folder.check()
        replace_file(self.path, json.dumps(asdict(mark)).encode())


def read_mark(path: Path) -> Mark | None:
    """Return the mark in a file; None if there is none, or it is damaged."""
    try:
        data = json.loads(read_regular(path, follow_links=False))
        mark = Mark(**data)
        counts = [mark.n, mark.crc, mark.n_results, *mark.unfinished.values()]
        texts = [mark.kind, mark.key, *mark.unfinished, *mark.run_ids.values()]
        is_whole = all(type(one) is int for one in counts) and all(type(one) is str for one in texts)
        return mark if is_whole and isinstance(mark.settings, dict) else None
    except (OSError, ValueError, TypeError, AttributeError):
        return None


def marks(folder: str | os.PathLike[str], kinds: Collection[str]) -> Iterator[Mark]:
    """Yield the marks of an experiment's trackers of these kinds."""
    for path in sorted(Path(folder, FOLDER).glob("*.json")):
        mark = read_mark(path)
        if mark is not None and mark.kind in kinds:
            yield mark
