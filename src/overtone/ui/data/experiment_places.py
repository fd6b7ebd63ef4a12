"""Where the experiments of a folder, or at a URL, have their journals."""

from __future__ import annotations

from pathlib import Path

from overtone.reading.location import experiment_names, located
from overtone.store.files import is_url
from overtone.store.folder_mark import JOURNAL

LOCAL_S, REMOTE_S = 0.1, 3.0
"""Seconds between two looks at a journal on this machine, and elsewhere."""


class LocalPlace:
    """A folder with experiments, or the folder of one.

    Attributes:
        text: The folder as people know it.
        interval_s: Seconds between two looks at a journal.
    """

    def __init__(self, folder: Path) -> None:
        from overtone.ui.data.network_files import is_on_network

        self._folder = folder
        self.text = str(folder)
        self.interval_s = REMOTE_S if is_on_network(folder) else LOCAL_S

    def names(self) -> list[str]:
        """Return the names of all experiments."""
        is_one = (self._folder / JOURNAL).is_file()
        return [self._folder.name] if is_one else experiment_names(self._folder)

    def journal(self, name: str) -> Path:
        """Return the journal of an experiment, which `names` has."""
        is_one = (self._folder / JOURNAL).is_file()
        return self._folder / JOURNAL if is_one else self._folder / name / JOURNAL


class RemotePlace:
    """A URL with experiments, or the URL of one; their journals are brought to this machine."""

    def __init__(self, url: str) -> None:
        self.text = url.rstrip("/")
        self._name, self._is_one = self.text.rpartition("/")[2], False
        self.interval_s = REMOTE_S

    def names(self) -> list[str]:
        """Return the names of all experiments.

        Raises:
            StorageError: The URL cannot be read.
        """
        from overtone.journal.segments import segments
        from overtone.store.files import RemoteFiles

        files = RemoteFiles(self.text)
        self._is_one = bool(segments(files))
        return [self._name] if self._is_one else files.folders()

    def journal(self, name: str) -> Path:
        """Bring the newest records of an experiment to this machine, and return its journal.

        Raises:
            StorageError: There is no experiment, or the URL cannot be read.
        """
        return located(self.text if self._is_one and name == self._name else f"{self.text}/{name}")


Place = LocalPlace | RemotePlace


def place_at(folder: str | Path) -> Place:
    """Return the place of the experiments in a folder or at a URL."""
    if is_url(str(folder)):
        return RemotePlace(str(folder))
    return LocalPlace(Path(folder).expanduser().absolute())
