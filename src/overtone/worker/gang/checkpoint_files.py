"""Checkpoints of ranks: which process can read which folder, their way over a connection, and their union.

A path means the same in two processes if one kernel runs them and they see the same file under it; then it is
read where it is. Otherwise its files travel, as messages:

    ("file", name, mode)    begins a file; its name is relative, with "/"
    ("data", bytes)         continues it
    ("files_end",)
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, Any

from overtone import standard_streams
from overtone.errors import GangError, TrainableError
from overtone.regular_files import open_regular
from overtone.worker.checkpoints.saving import kept_ones
from overtone.worker.gang.network import this_host
from overtone.worker.gang.reports import Report
from overtone.worker.gang.wire import CHUNK_BYTES

Message = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class PlaceOnHost:
    """A file or folder as one process sees it.

    Attributes:
        path: Its absolute path.
        host: The host (see `network.this_host`).
        device: The device that has it, by the number of the kernel.
        inode: Its number on the device.
        is_file: Whether it is a file.
    """

    path: str
    host: str
    device: int
    inode: int
    is_file: bool

    @classmethod
    def of(cls, path: Path) -> PlaceOnHost:
        """Return the place of a file or folder.

        Raises:
            TrainableError: There is none.
        """
        try:
            status = os.stat(path)
        except OSError as error:
            raise TrainableError(
                f"a checkpoint must be a file or directory that exists, not {str(path)!r} ({error.strerror})"
            ) from None
        return cls(os.path.abspath(path), this_host(), status.st_dev, status.st_ino, path.is_file())

    def is_here(self) -> bool:
        """Return whether this process sees the same file or folder under the path."""
        if self.host != this_host():
            return False
        with suppress(OSError):
            status = os.stat(self.path)
            return (status.st_dev, status.st_ino) == (self.device, self.inode)
        return False


def file_messages(path: Path) -> Iterator[Message]:
    """Yield the messages that carry the file `path`, or all files of the folder `path`.

    Raises:
        OSError: A file cannot be read.
    """
    for name, file in _files_of(path):
        yield ("file", name, file.stat().st_mode & 0o777)
        with open_regular(file) as source:
            while data := source.read(CHUNK_BYTES):
                yield ("data", data)
    yield ("files_end",)


class IncomingFiles:
    """Writes the files that arrive into a folder.

    Args:
        folder: An empty folder.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._file: IO[bytes] | None = None

    def take(self, message: Message) -> bool:
        """Write what a message carries; return whether it was the last one.

        Raises:
            GangError: The name of a file leads out of the folder.
            OSError: It cannot be written.
        """
        if message[0] == "data":
            assert self._file is not None
            self._file.write(message[1])
            return False
        self.close()
        if message[0] == "files_end":
            return True
        name, mode = PurePosixPath(message[1]), message[2]
        if name.is_absolute() or ".." in name.parts:
            raise GangError(f"a rank sent a file with the name {str(name)!r}")
        target = self._folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        self._file = target.open("xb")
        os.chmod(self._file.fileno(), mode | 0o600)
        return False

    def close(self) -> None:
        """Close the file that is being written."""
        if self._file is not None:
            self._file.close()
            self._file = None


def merge(reports: Sequence[Report], target: Path) -> None:
    """Copy the files that ranks have brought into the folder `target`; a second call begins again.

    Where several ranks have a file of one name with different contents, the lowest rank's is kept, which one
    line tells.

    Raises:
        OSError: A file cannot be read or written.
    """
    kept: dict[str, tuple[int, Path]] = {}
    for report in reports:
        for name, file in _files_of(report.checkpoint) if report.checkpoint else ():
            if name in kept:
                _tell_difference(name, kept[name], (report.rank, file))
                continue
            kept[name] = report.rank, file
            copy = target / name
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(file, copy)


_is_difference_told = False


def _tell_difference(name: str, kept: tuple[int, Path], left_out: tuple[int, Path]) -> None:
    """Tell, once in a process, that two ranks have brought files of one name with different contents."""
    global _is_difference_told
    if _is_difference_told:
        return
    from filecmp import cmp

    if not cmp(kept[1], left_out[1], shallow=False):
        _is_difference_told = True
        standard_streams.say(
            f"ranks {kept[0]} and {left_out[0]} have saved different files {name!r}: rank {kept[0]}'s is in "
            "the checkpoint. Give files names of their own where ranks save different data, such as "
            f"{PurePosixPath(name).stem}_rank{left_out[0]}{PurePosixPath(name).suffix}"
        )


def _files_of(path: Path) -> Iterator[tuple[str, Path]]:
    """Yield (relative name, path) of the files in a folder, sorted; or of the file itself.

    Kept checkpoints below the folder, which may be the trial's own, are left out.
    """
    if path.is_file():
        yield path.name, path
        return
    for folder, folders, names in os.walk(path, followlinks=True):
        folders[:] = sorted(set(folders).difference(kept_ones(folder, folders)))
        for name in sorted(names):
            file = Path(folder, name)
            if file.is_file():  # a dangling link has no contents
                yield file.relative_to(path).as_posix(), file
