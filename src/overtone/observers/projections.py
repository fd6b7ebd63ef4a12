"""The files that observers write in each trial's folder, and how to write them anew from the journal."""

from __future__ import annotations

import os
from pathlib import Path

from overtone.core.protocols import Observer
from overtone.core.table import TrialTable
from overtone.errors import StorageError
from overtone.journal.codec import Codec
from overtone.journal.header import header
from overtone.journal.reader import read
from overtone.observers.csv_rows import PROGRESS_CSV, CsvRows
from overtone.observers.error_file import ERROR_TXT, ErrorFile
from overtone.observers.json_lines import RESULT_JSON, JsonLines
from overtone.observers.params import PARAMS_JSON, Params
from overtone.observers.tensorboard import TensorBoard, is_available
from overtone.observers.trial_files import TrialFiles

JOURNAL = "journal.jsonl"

_FILES = (RESULT_JSON, PROGRESS_CSV, PARAMS_JSON, ERROR_TXT)


def file_observers(
    folder: str | os.PathLike[str],
    tensorboard: bool | None = None,
    *,
    table: TrialTable | None = None,
    began: float | None = None,
) -> list[Observer]:
    """What writes params.json, result.json, progress.csv, error.txt and event files below `folder`.

    Args:
        tensorboard: Whether event files are written; None for where tensorboardX is installed.
        table: Shared by them all, and with whom it is given to.
        began: See `TensorBoard`.

    Raises:
        MissingPackageError: `tensorboard` is True, and tensorboardX is not installed.
    """
    table = table if table is not None else TrialTable("live")
    found: list[Observer] = [
        Params(folder, table),
        JsonLines(TrialFiles(folder, RESULT_JSON), table),
        CsvRows(TrialFiles(folder, PROGRESS_CSV), table),
        ErrorFile(folder),
    ]
    if tensorboard or (tensorboard is None and is_available()):
        found.append(TensorBoard(folder, table, began))
    return found


def rebuild(
    folder: str | os.PathLike[str],
    tensorboard: bool | None = False,
    codec: Codec | None = None,
) -> TrialTable:
    """Write the files of every trial anew, so that they hold what the journal does, and no more.

    Args:
        folder: The experiment's; its journal is in it.
        tensorboard: See `file_observers`.
        codec: Needed where configs hold what is not data.

    Returns:
        The state of the experiment.

    Raises:
        StorageError: The journal cannot be read, or the files cannot be written.
    """
    journal = Path(folder, JOURNAL)
    began = header(journal)["wall"]
    table = TrialTable("live")
    observers = file_observers(folder, tensorboard, table=table, began=began)
    _remove_files(Path(folder), any(isinstance(one, TensorBoard) for one in observers))
    try:
        for record in read(journal, codec=codec):
            for observer in observers:
                observer.on_record(record)
                observer.flush()
    finally:
        for observer in observers:
            observer.close()
    return table


def _remove_files(folder: Path, events: bool) -> None:
    try:
        for trial in os.scandir(folder):
            if trial.is_dir():
                for entry in os.scandir(trial):
                    if entry.name in _FILES or (events and entry.name.startswith("events.out.tfevents.")):
                        os.unlink(entry)
    except OSError as error:
        raise StorageError(f"{folder} cannot be cleared: {error.strerror} ({error.filename})") from error
