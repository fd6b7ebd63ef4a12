"""The process that writes the text files of trials: it follows the journal of a run."""

from __future__ import annotations

import os
import time
from collections.abc import Callable

from overtone.core.table import TrialTable
from overtone.journal.codec import Codec
from overtone.journal.reader import follow_lines
from overtone.observers.files.text_files import TextFiles
from overtone.observers.files.trial_files import TrialFiles
from overtone.observers.helper_processes import Follower, follow
from overtone.reading.journal_reader import Reports, runs
from overtone.space.nesting import with_tuples
from overtone.store.folder_mark import JOURNAL, FolderMark

FOLLOW_EVERY_S = 0.25

START_AFTER_S = 0.5
"""The process takes some time of a core to begin: the driver of a short run does its work at its end."""


class FileWriter(Follower):
    """Has params.json, result.json, progress.csv and error.txt written from the journal.

    For a journal that begins with this run, whose configs are data as they are.

    Args:
        folder: See `Follower`.
        clock: See `Follower`.
    """

    def __init__(self, folder: str | os.PathLike[str], clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(folder, __name__, "files of trials", START_AFTER_S, clock=clock)

    def end_early(self) -> None:
        write_files(self._mark)


def main(folder: str, parent: int, inode: int) -> None:
    """Write files below `folder` as `follow` does."""
    follow(folder, parent, inode, write_files)


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

    decode = Codec(None, with_tuples).decode
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
