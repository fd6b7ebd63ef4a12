"""Check, at a run's end, for trial files that others deleted or cut; such files are written again."""

from __future__ import annotations

from overtone.core.messages import Record
from overtone.core.protocols import Observer
from overtone.observers.files.trial_files import TrialFiles


class CutFiles(Observer):
    """Its `close` raises a StorageError if a file is shorter than it was after the last write.

    Args:
        files: What other observers write to, which are closed before.
    """

    follows_results, is_projection = False, True

    def __init__(self, files: TrialFiles) -> None:
        self._files = files

    def on_record(self, record: Record) -> None:
        """Other observers write what follows from it."""

    def close(self) -> None:
        self._files.check()
