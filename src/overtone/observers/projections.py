"""The files that observers write in each trial's folder: written in a run, rebuilt, repaired on resume.

All of them are projections of the journal: their contents follow from it.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable
from pathlib import Path

from overtone.core.protocols import Observer
from overtone.core.table import TrialTable
from overtone.errors import StorageError
from overtone.journal.codec import Codec
from overtone.journal.lines import header
from overtone.observers.files.file_process import FileWriter
from overtone.observers.files.own_files import EVENTS
from overtone.observers.files.text_files import TextFiles
from overtone.observers.files.trial_files import TrialFiles
from overtone.observers.helper_processes import wait_for_helpers
from overtone.observers.repair.file_audit import FILES, check_name, deviating, remove, strangers
from overtone.observers.repair.file_repair import Mending
from overtone.observers.repair.journal_filter import selected
from overtone.observers.tensorboard.scalars import TensorBoard, is_available
from overtone.reading.journal_index import JournalIndex
from overtone.store.folder_mark import JOURNAL


def file_observers(
    folder: str | os.PathLike[str],
    tensorboard: bool | None = None,
    *,
    table: TrialTable,
    is_prompt: bool = False,
    is_apart: bool = False,
    again: Iterable[str] = (),
    without: Collection[str] = (),
) -> list[Observer]:
    """Return observers that write params.json, result.json, progress.csv, error.txt and event files.

    They append to existing files below `folder`. For a resume, use `reconcile` instead.

    Args:
        tensorboard: Whether event files are written; None if tensorboardX is installed.
        table: Has each record before these observers get it.
        is_prompt: Whether a trial's folder and text files exist once the observers have its start or end.
        is_apart: Whether a process writes the text files, for a new journal whose configs are data.
        again: Trials whose event files are written anew.
        without: Names of files that callbacks write instead, as in `Callback.written_files`.

    Raises:
        MissingPackageError: `tensorboard` is True, and tensorboardX is not installed.
    """
    files = TrialFiles(folder, is_prompt=is_prompt)
    found: list[Observer] = [FileWriter(folder) if is_apart else TextFiles(files, table, without=without)]
    if EVENTS not in without and (tensorboard or (tensorboard is None and is_available())):
        found.append(TensorBoard(folder, table.n, again))
    return found


def reconcile(
    folder: str | os.PathLike[str],
    tensorboard: bool | None = None,
    codec: Codec | None = None,
    *,
    table: TrialTable | None = None,
    is_prompt: bool = False,
    trusts_old: bool = True,
    without: Collection[str] = (),
) -> list[Observer]:
    """Repair the files below `folder` by the journal, and return the observers of `file_observers`.

    A killed driver leaves files that lack their end. A power cut may leave them shorter or longer
    than the journal. For trials that had ended long before, only missing files are detected. Files of
    the other trials are compared with the journal by length, and replaced atomically if they differ.
    Event files that differ are removed, and the observer's process writes them again.

    Call this function once the journal has its writer, so that no other process writes.

    Args:
        folder: The experiment's folder, which contains the journal.
        tensorboard: See `file_observers`.
        codec: Needed if configs hold values that are not data.
        table: The state at the end of the journal, which has each later record before these observers
            get it. None: it is read from the journal, for observers that get no more records.
        is_prompt: See `file_observers`.
        trusts_old: Whether only missing files are detected for trials that had ended long before.
        without: See `file_observers`; such files stay as they are.

    Raises:
        StorageError: The journal cannot be read, files cannot be written, or a trial's name
            would place its folder outside of `folder`.
    """
    folder = os.fspath(folder)
    journal = os.path.join(folder, JOURNAL)
    if table is None:
        index = JournalIndex(Path(journal), codec)
        index.refresh()
        table = index.table
    with_events = EVENTS not in without and (is_available() if tensorboard is None else tensorboard)
    wait_for_helpers(folder)
    try:
        for trial in strangers(folder, table):
            remove(folder, trial)
        has_real_clock = trusts_old and _parts(journal).get("engine") not in (None, "Simulated")
        due = deviating(
            folder, table, with_events=with_events, has_real_clock=has_real_clock, without=without
        )
        for trial in due.events:
            remove(folder, trial, (EVENTS,))
        if due.trials:
            with Mending(folder, due) as mending:
                for record in selected(journal, due.trials, codec):
                    mending.on_record(record)
    except StorageError:  # which is an OSError too, and says more
        raise
    except OSError as error:
        raise StorageError(f"{error.filename or folder} cannot be mended: {error.strerror}") from error
    except KeyError as error:
        raise _unknown(journal, error) from error
    return file_observers(
        folder, with_events, table=table, is_prompt=is_prompt, again=due.events, without=without
    )


def rebuild(
    folder: str | os.PathLike[str],
    tensorboard: bool | None = False,
    codec: Codec | None = None,
) -> TrialTable:
    """Write the files of every trial again, with exactly the contents of the journal.

    Args:
        folder: The experiment's folder, which contains the journal.
        tensorboard: See `file_observers`.
        codec: Needed if configs hold values that are not data.

    Returns:
        The state of the experiment.

    Raises:
        StorageError: The journal cannot be read, the files cannot be written, or a trial's name
            would place its folder outside of `folder`.
    """
    journal = Path(folder, JOURNAL)
    header(journal)
    table = TrialTable("live")
    observers = file_observers(folder, tensorboard, table=table)
    _remove_files(Path(folder), len(observers) > 1)
    known = 0
    try:
        for record in selected(journal, None, codec):
            table.apply(record)
            if len(table.rows) != known:
                known = len(table.rows)
                check_name(os.fspath(folder), next(reversed(table.rows)))
            for observer in observers:
                observer.on_record(record)
                observer.flush()
    except KeyError as error:
        raise _unknown(os.fspath(journal), error) from error
    finally:
        for observer in observers:
            observer.close()
    return table


def _unknown(journal: str, error: KeyError) -> StorageError:
    return StorageError(f"{journal} is about {error}, of which nothing was said before")


def _parts(journal: str) -> dict[str, object]:
    parts = header(journal).get("parts")
    return parts if isinstance(parts, dict) else {}


def _remove_files(folder: Path, events: bool) -> None:
    names = FILES if events else tuple(name for name in FILES if name != EVENTS)
    try:
        with os.scandir(folder) as entries:
            trials = [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
        for trial in trials:
            remove(os.fspath(folder), trial, names)
    except OSError as error:
        raise StorageError(f"{folder} cannot be cleared: {error.strerror} ({error.filename})") from error


__all__ = ["JOURNAL", "file_observers", "rebuild", "reconcile"]
