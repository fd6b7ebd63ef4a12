"""The body of the process that writes the text files of trials: it follows the journal of a run.

It ends when something comes on its standard input, or that ends, and all is written; or as soon as its
parent is gone: a resume compares the files with the journal anyway.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from typing import Any

from overtone.core.table import TrialTable
from overtone.errors import SpaceError
from overtone.journal.codec import Codec
from overtone.journal.reader import follow_lines
from overtone.observers.files.text_files import TextFiles
from overtone.observers.files.trial_files import TrialFiles
from overtone.observers.helper_processes import end_well, fail_with, hurry_with
from overtone.reading.journal_reader import Reports, runs
from overtone.space import decode_config
from overtone.store.folder_mark import FolderMark

JOURNAL = "journal.jsonl"

FOLLOW_EVERY_S = 0.25


def main(folder: str, parent: int, inode: int) -> None:
    """Write files below `folder` until standard input ends.

    Args:
        folder: The experiment's.
        parent: The pid of its driver.
        inode: The number of its lock file: in another folder nothing is written.
    """
    os.nice(5)  # trials come first
    hurry_with(parent)
    from select import select

    is_over = False

    def stop() -> bool:
        if os.getppid() != parent:
            os._exit(1)  # a child that it has forked may hold the other end of the pipe
        return is_over

    def sleep(seconds: float) -> None:
        nonlocal is_over
        is_over = bool(select([sys.stdin], [], [], seconds)[0])

    try:
        write_files(FolderMark(folder, inode), stop, sleep)
        end_well()
    except Exception as error:
        fail_with(error)


def write_files(
    mark: FolderMark,
    stop: Callable[[], bool] = lambda: True,
    sleep: Callable[[float], None] = time.sleep,
) -> None:
    """Write what follows from the journal from its beginning on, as it grows, until `stop()` is true.

    Raises:
        StorageError: The journal cannot be read, files cannot be written, or the folder is gone.
    """
    table = TrialTable("live")
    files = TextFiles(TrialFiles(mark.folder), table)
    mark.check()  # after the files have theirs: it is the same

    def rest(seconds: float) -> None:
        files.flush()
        sleep(seconds)
        mark.check()

    def on_results(trial_id: str, raws: list[str]) -> None:
        # the first result of a trial begins its files
        for some in [raws] if table.rows[trial_id].n_results else [raws[:1], raws[1:]]:
            if some:
                files.on_results(table.count(trial_id, len(some)), some)

    decode = Codec(None, _config).decode
    for bodies in follow_lines(os.path.join(mark.folder, JOURNAL), stop, FOLLOW_EVERY_S, rest):
        for part in runs(bodies):
            if isinstance(part, Reports):
                for trial_id, raws in part.texts().items():
                    on_results(trial_id, raws)
            elif (record := decode(part, lazy=True, raw=True)) is not None:
                table.apply(record)
                files.on_record(record)
        files.flush()
    files.close()


def _config(data: Any) -> Any:
    """Return the original config, except for values that are not data."""
    try:
        return decode_config({}, data)
    except SpaceError:
        return data
