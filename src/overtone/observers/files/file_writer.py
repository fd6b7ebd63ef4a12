"""Has a process write the text files of trials, which follows the journal: the driver sends it nothing."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from overtone.core.messages import Record
from overtone.core.protocols import Observer
from overtone.errors import StorageError
from overtone.observers.helper_processes import ended, started
from overtone.store.folder_mark import FolderMark

if TYPE_CHECKING:
    from subprocess import Popen

START_AFTER_S = 0.5
"""The process takes some time of a core to begin: a short run does its work at its end."""

LOOK_EVERY_S = 1.0
"""Seconds between two checks that the process is alive."""

_MODULE = "overtone.observers.files.file_process"


class FileWriter(Observer):
    """Has params.json, result.json, progress.csv and error.txt written from the journal.

    For a journal that begins with this run, whose configs are data as they are.

    Args:
        folder: The experiment's; its journal and its lock are there.
        clock: Seconds from some moment on.
    """

    follows_results, is_projection = False, True

    def __init__(self, folder: str | os.PathLike[str], clock: Callable[[], float] = time.monotonic) -> None:
        self._mark = FolderMark.of(folder)
        self._clock = clock
        self._look_at = clock() + START_AFTER_S
        self._process: Popen[bytes] | None = None
        self._has_ended = False

    def on_record(self, record: Record) -> None:
        """The process reads it."""

    def flush(self) -> None:
        """Start the process, if it is time, and look whether it lives now and then.

        Raises:
            StorageError: It has failed.
        """
        if self._has_ended or (now := self._clock()) < self._look_at:
            return
        self._look_at = now + LOOK_EVERY_S
        if self._process is None:
            self._mark.check()
            self._process = started(_MODULE, self._mark.folder, self._mark.inode)
        elif self._process.poll() is not None:
            self.close()

    def close(self) -> None:
        """Return when all that is in the journal is in the files. Twice is safe.

        Raises:
            StorageError: It could not be written.
            FolderGoneError: The folder was moved or deleted.
        """
        if self._has_ended:
            return
        self._has_ended = True
        if self._process is None:
            from overtone.observers.files.file_process import write_files

            write_files(self._mark)
        elif problem := self._ended(self._process):
            self._mark.check()
            raise StorageError(f"files of trials below {self._mark.folder} cannot be written: {problem}")

    @staticmethod
    def _ended(process: Popen[bytes]) -> str:
        assert process.stdin is not None
        with suppress(OSError):
            process.stdin.write(b"\n")  # a child that the driver has forked may hold the other end, too
            process.stdin.flush()
        return ended(process)
