"""The text files in trials' folders: a thread writes them in batches, so that no disk holds the loop up.

A batch is also several times cheaper than its files one by one, between other work.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable

from overtone.errors import StorageError
from overtone.observers.batch_thread import Aside
from overtone.observers.file_output import has_made_folder, swap_file, unwritable, write_file
from overtone.observers.files.own_files import is_own_file
from overtone.regular_files import read_regular
from overtone.store.folder_mark import FolderMark

EVERY_S = 0.5
"""Maximum seconds that text waits."""

MOST_WAITING = 1_000
"""Additions to files that may wait: what a batch of results adds to a file is one."""

MOST_CHARACTERS = 1 << 23
"""Number of waiting characters at which everything is written: additions may be large."""

Change = Callable[[str], str]
"""A function from the current contents of a file to its new contents."""


class Whole(str):
    """The whole new contents of a file, regardless of its current contents."""

    __slots__ = ()


Pieces = list["str | Change"]
"""Texts to append to a file and changes of the file, in order."""

Addition = tuple[tuple[str, str], Pieces]
"""The trial and the name of a file, and its pieces."""


class TrialFiles:
    """The files `<folder>/<trial_id>/<name>` of all trials.

    Folders and files are made when they are first written to. A file that the trial itself has written
    under one of these names is left as it is. What cannot be written is raised as a
    StorageError by the next `flush`, `settle`, `read` or `close`: once, as many observers may share the
    files. From then on nothing is written.

    Args:
        folder: The experiment's.
        suffix: What is added to each name.
        is_prompt: Whether `settle` returns when all is in the files.
    """

    def __init__(self, folder: str | os.PathLike[str], suffix: str = "", is_prompt: bool = False) -> None:
        self._folder = os.fspath(folder)
        self._suffix = suffix
        self._is_prompt = is_prompt
        self._pieces: dict[tuple[str, str], Pieces] = defaultdict(list)
        self._n_characters = 0
        self._has_failed = False
        self._lengths: dict[tuple[str, str], int] = {}
        self._refused: set[tuple[str, str]] = set()
        self._mark = FolderMark.of(folder)
        self._aside = Aside(self._write_all, "overtone-files", MOST_WAITING, EVERY_S, EVERY_S)

    def add(self, trial_id: str, name: str, text: str) -> None:
        """Append `text`, soon."""
        self._pieces[trial_id, name].append(text)
        self._n_characters += len(text)

    def change(self, trial_id: str, name: str, change: Change) -> None:
        """Let the file hold what `change`, called in another thread, makes of it; whole or not at all."""
        self._pieces[trial_id, name].append(change)

    def put(self, trial_id: str, name: str, text: str) -> None:
        """Let the file hold `text` and nothing else."""
        self._pieces[trial_id, name].append(Whole(text))

    def read(self, trial_id: str, name: str) -> str:
        """Return the file's contents, including waiting text; an empty text if there is no file."""
        self.close()
        return _held(self._path(trial_id, name))

    def flush(self) -> None:
        """Hand over what was added; it is written within `EVERY_S`."""
        if not self._pieces:
            return
        if not self._has_failed:
            self._tell_once(lambda: self._aside.put(list(self._pieces.items())))
        self._pieces = defaultdict(list)
        if self._n_characters >= MOST_CHARACTERS:
            self.close()

    def settle(self) -> None:
        """Handle the begin or end of a trial: write all now if that was requested."""
        if self._is_prompt:
            self.close()

    def close(self) -> None:
        """Return when all is written; it may go on from there."""
        self._n_characters = 0
        self.flush()
        if not self._has_failed:
            self._tell_once(self._aside.wait)

    def check(self) -> None:
        """Return if no file is shorter than it was after the last write.

        Raises:
            StorageError: A file was deleted or cut by somebody else.
        """
        self.close()
        for file, length in self._lengths.items():
            path = self._path(*file)
            is_cut = file in self._refused or _length(path) < length
            if is_cut and not self._has_failed and is_own_file(path, file[1], file[0]):
                raise StorageError(f"{path} was deleted or cut during the run")

    def _write_all(self, additions: list[Addition]) -> None:
        """Write all additions, each file once.

        Raises:
            StorageError: A file cannot be written; the other files are written.
        """
        self._mark.check()
        by_file: dict[tuple[str, str], Pieces] = {}
        for file, pieces in additions:
            if file in by_file:
                by_file[file] += pieces
            else:
                by_file[file] = pieces
        failed: StorageError | None = None
        for file, pieces in by_file.items():
            try:
                self._write(file, pieces)
            except StorageError as error:
                failed = failed or error
        if failed is not None:
            raise failed

    def _write(self, file: tuple[str, str], pieces: Pieces) -> None:
        """Write to a file, unless it is another one than after the last write."""
        if file in self._refused:
            return
        path, known = self._path(*file), self._lengths.get(file, 0)

        def accepts(length: int) -> bool:
            return length == known or (length > known and is_own_file(path, file[1], file[0]))

        length = _write(path, pieces, accepts)
        if length < 0:
            self._refused.add(file)
            self._lengths.setdefault(file, 0)
        else:
            self._lengths[file] = length

    def _tell_once(self, call: Callable[[], None]) -> None:
        try:
            call()
        except Exception:
            self._has_failed, self._pieces = True, defaultdict(list)
            raise

    def _path(self, trial_id: str, name: str) -> str:
        return f"{self._folder}{os.sep}{trial_id}{os.sep}{name}{self._suffix}"


def _write(path: str, pieces: Pieces, accepts: Callable[[int], bool]) -> int:
    """Write to a file; return its length in bytes, or -1 if it is not to be written."""
    texts: list[str] = []
    is_whole = False
    for piece in pieces:
        if type(piece) is str:
            texts.append(piece)
        elif isinstance(piece, str):
            texts, is_whole = [piece], True
        else:
            if not is_whole and not accepts(_length(path)):
                return -1
            end = "".join(texts)
            texts = [piece(end if is_whole else _held(path) + end)]
            is_whole = True
    text = "".join(texts)
    if is_whole and not has_made_folder(path) and os.path.lexists(path):
        return swap_file(path, text) if accepts(_length(path)) else -1
    return write_file(path, text, append=True, accepts=accepts)


def _length(path: str) -> int:
    try:
        return os.lstat(path).st_size
    except OSError:
        return 0


def _held(path: str) -> str:
    try:
        return read_regular(path).decode("utf-8", "backslashreplace")
    except (FileNotFoundError, StorageError):  # what is not a regular file is replaced
        return ""
    except OSError as error:
        raise unwritable(path, error) from error
