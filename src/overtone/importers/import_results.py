"""Imports an experiment of another tuner: it appears in the results folder whole, or not at all."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from tempfile import mkdtemp

from overtone.errors import OvertoneError, StorageError
from overtone.file_lock import open_locked
from overtone.importers.foreign import ForeignExperiment
from overtone.importers.recorder import Counts, record_experiment
from overtone.importers.sources import Choices, opened
from overtone.journal.lines import has_records, header
from overtone.reading.imported import origin_of
from overtone.store.folder_mark import JOURNAL

_LONGEST_NAME = 120
"""The most bytes of a name that an import chooses; file systems take 255."""

_SCRATCH = ".import-"


@dataclass(frozen=True, slots=True)
class Imported:
    """An import that is done.

    Attributes:
        folder: The experiment's folder.
        lost: What could not be carried over, in a few words each.
    """

    folder: Path
    tuner: str
    counts: Counts
    lost: tuple[str, ...]


def import_results(
    source: str,
    results: Path,
    name: str | None = None,
    choices: Choices | None = None,
    progress: Callable[[Counts, int], None] | None = None,
    on_line: Callable[[int], None] = lambda _: None,
) -> Imported:
    """Make an experiment of another tuner's results.

    Args:
        source: A file, a folder or the URL of a database.
        results: The folder of the new experiment's folder; it is made if it is missing.
        name: The experiment's name; by default that of the study, or of the file or folder.
        choices: Choices for sources that do not speak for themselves.
        progress: Called with the counts so far, and the number of trials (0 if unknown).
        on_line: Called with the number of each line of a log that is read before its first trial is known.

    Raises:
        OvertoneError: The source is unknown, or an experiment of that name exists.
        StorageError: The source cannot be read, or the folder cannot be written. Nothing is left behind.
    """
    if name is not None:
        _check_name(name)
        _check_absent(results / name)
    try:
        results.mkdir(parents=True, exist_ok=True)
        _remove_left(results)
        scratch, lock = _new_scratch(results)
    except OSError as error:
        raise StorageError(
            f"{results} cannot be written: {error.strerror or error}. Choose another folder with --dir"
        ) from error
    try:
        with opened(source, scratch, choices or Choices(), on_line) as experiment:
            return _imported(experiment, results, name or folder_name(experiment.name), scratch, progress)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
        os.close(lock)


def _new_scratch(results: Path) -> tuple[Path, int]:
    """Return a new locked folder, and its lock."""
    while True:
        scratch = Path(mkdtemp(prefix=_SCRATCH, dir=results))
        with suppress(FileNotFoundError):  # Another import may remove it before it is locked.
            lock = open_locked(scratch)
            if lock is not None:
                if scratch.exists():
                    return scratch, lock
                os.close(lock)


def _remove_left(results: Path) -> None:
    """Remove what killed imports left behind: their folders are not locked any more."""
    for left in results.glob(f"{_SCRATCH}*"):
        with suppress(OSError):  # It is another user's, or another import removes it.
            lock = open_locked(left)
            if lock is not None:
                shutil.rmtree(left, ignore_errors=True)
                os.close(lock)


def _imported(
    experiment: ForeignExperiment,
    results: Path,
    name: str,
    scratch: Path,
    progress: Callable[[Counts, int], None] | None,
) -> Imported:
    target, made = results / name, scratch / "made" / name
    _check_absent(target)
    made.mkdir(parents=True)
    tell = None if progress is None else lambda counts: progress(counts, experiment.n_trials)
    counts = record_experiment(experiment, made, target.absolute(), tell)
    try:
        os.rename(made, target)
    except OSError as error:
        _check_absent(target)
        raise StorageError(f"{target} cannot be written: {error.strerror or error}") from error
    lost = list(experiment.lost)
    if counts.n_left_out:
        what = f"{counts.n_left_out:,} result{'s' * (counts.n_left_out > 1)}"
        lost.append(f"{what} at an iteration that the trial had reached before")
    return Imported(target, experiment.tuner, counts, tuple(lost))


def folder_name(text: str) -> str:
    """Return a text as the name of a folder."""
    name = re.sub(r"[^\w.=+ -]", "_", text).strip(". ")
    shortened = name.encode()[:_LONGEST_NAME].decode(errors="ignore")
    return shortened.rstrip(". ") or "imported"


def _check_name(name: str) -> None:
    if name in ("", ".", "..") or re.search(r"[/\\\0]", name):
        raise OvertoneError(f"--name {name!r} must be the name of one folder, without slashes")


def _check_absent(target: Path) -> None:
    """Refuse to replace anything.

    Raises:
        OvertoneError: There is something; the message says what.
    """
    if not os.path.lexists(target):
        return
    if not (target.is_dir() and os.listdir(target)) and target.is_dir():
        return
    what = "something else"
    journal = target / JOURNAL
    if journal.is_file() and has_records(journal):
        origin = origin_of(header(journal))
        what = f"the import of {origin}" if origin else "an experiment"
    raise OvertoneError(
        f"{target} exists already: it is {what}. To import under another name: --name "
        f"{quote(f'{target.name}-2')}"
    )
