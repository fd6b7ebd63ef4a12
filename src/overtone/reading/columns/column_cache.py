"""Columns of journals in the user's cache folder, by experiment; a file that does not fit is ignored.

An experiment is known by the header of its journal. A file is used if the journal still has what it
had where the file looks: at the beginning, before the end of what was read, and in between.
"""

from __future__ import annotations

import os
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from overtone.cache_folder import cache_folder
from overtone.core.sizes import LONGEST_LINE
from overtone.reading.columns.array_file import UNFINISHED, read_arrays, write_arrays
from overtone.reading.columns.fold_state import fold_from_arrays, fold_to_arrays
from overtone.reading.columns.journal_fold import JournalFold
from overtone.regular_files import open_regular

FEWEST = 5_000
"""Fewer new records than these are read within 0.1 s: no file is written for them."""

MOST_FILES, MOST_BYTES = 200, 2 << 30
"""The oldest files beyond these are deleted."""

_START_BYTES, _WINDOW_BYTES, _WINDOWS = 512, 64, 32
_SUFFIX = ".columns"


class ColumnCache:
    """The file of one journal.

    Args:
        journal: The journal.

    Attributes:
        path: The file; None if the journal has no header, or the user no cache folder.
    """

    def __init__(self, journal: Path) -> None:
        self._journal = journal
        self._n_saved = 0
        self.path = _path(journal)

    def load(self) -> JournalFold | None:
        """Return the fold in the file; None if it does not fit the journal, is damaged or missing."""
        if self.path is None:
            return None
        try:
            facts, arrays = read_arrays(self.path)
            if facts["journal"] != fingerprint(self._journal, facts["offset"]):
                return None
            fold = fold_from_arrays(self._journal, facts, arrays)
        except Exception:  # its contents may be anything, and so may the exception
            return None
        self._n_saved = fold.n
        return fold

    def save(self, fold: JournalFold) -> None:
        """Write a fold if it has enough that is new; errors are ignored, as readers can do without."""
        new = fold.n - self._n_saved
        # a write takes as long as reading about a tenth of a record for each trial
        if self.path is None or not fold.is_continuable or new < max(FEWEST, fold.arrays.n // 10):
            return
        self._n_saved = fold.n
        with suppress(OSError, ValueError, TypeError):
            facts, arrays = fold_to_arrays(fold)
            facts["journal"] = fingerprint(self._journal, fold.offset)
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_arrays(self.path, facts, arrays)
            _prune(self.path)


def _path(journal: Path) -> Path | None:
    try:
        with open_regular(journal) as file:
            line = file.readline(LONGEST_LINE)
        folder = cache_folder()
    except OSError:
        return None
    if not line.endswith(b"\n"):
        return None
    return folder / "columns" / f"{sha256(line).hexdigest()[:32]}{_SUFFIX}"


def fingerprint(journal: Path, offset: int) -> str:
    """Return a digest of parts of a journal's first `offset` bytes.

    Raises:
        OSError: The journal cannot be read.
    """
    digest = sha256()
    with open_regular(journal, buffer_bytes=0) as file:
        digest.update(file.read(min(_START_BYTES, offset)))
        for i in range(_WINDOWS + 1):
            file.seek(max(0, offset * i // _WINDOWS - _WINDOW_BYTES))
            digest.update(file.read(min(_WINDOW_BYTES, offset)))
    return digest.hexdigest()


def _prune(kept: Path) -> None:
    """Delete the oldest files, and those that a killed writer left."""
    found = []
    with os.scandir(kept.parent) as entries:
        for entry in entries:
            status = entry.stat(follow_symlinks=False)
            if entry.name.endswith((_SUFFIX, UNFINISHED)):
                found.append((status.st_mtime, status.st_size, entry.path))
    newest = max(found)[0] if found else 0.0
    total = 0
    for number, (modified, size, path) in enumerate(sorted(found, reverse=True)):
        total += size
        is_left = path.endswith(UNFINISHED) and modified < newest - _LONGEST_WRITE_S
        if path != os.fspath(kept) and (is_left or number >= MOST_FILES or total > MOST_BYTES):
            with suppress(OSError):
                os.unlink(path)


_LONGEST_WRITE_S = 600.0
