"""Output of trials: written to files, or to pipes that the engine reads line by line."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any

from overtone.store.room import try_for_room

MAX_LINE_BYTES = 1 << 16
"""Longest line in bytes. Longer lines are shown in pieces, so that an endless line cannot fill memory."""


def redirect(stdout: int, stderr: int) -> None:
    """Make the two descriptors this process's stdout and stderr, also for its child processes.

    The given descriptors are closed; only 1 and 2 remain. Buffered output goes to the new targets.
    """
    for descriptor, target in ((stdout, 1), (stderr, 2)):
        if descriptor != target:
            os.dup2(descriptor, target)
            os.close(descriptor)


def flush_output() -> None:
    """Flush the output of user code before others are told that the code has ended."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (AttributeError, OSError, ValueError):
            pass  # the user closed or replaced it


def redirect_to_files(folder: str, names: tuple[str, str]) -> None:
    """Append stdout and stderr to the files `names` below `folder`, which is created if missing."""
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()  # the output of an earlier trial belongs to its own files

    def opened(name: str) -> int:
        with suppress(FileExistsError):
            os.mkdir(folder)  # not the experiment's folder, if that was moved or deleted
        return os.open(os.path.join(folder, name), flags, 0o666)

    stdout, stderr = (try_for_room(partial(opened, name)) for name in names)
    redirect(stdout, stderr)


class _PatientFile(io.FileIO):
    """Standard output or error. On a full disk a write waits for room, as other writes do."""

    is_patient = True

    def write(self, data: Any) -> int:
        write = super().write
        return try_for_room(lambda: write(data)) if _PatientFile.is_patient else write(data)


@contextmanager
def without_patience() -> Iterator[None]:
    """Let writes to stdout and stderr fail at once on a full disk, during the block."""
    was, _PatientFile.is_patient = _PatientFile.is_patient, False
    try:
        yield
    finally:
        _PatientFile.is_patient = was


def show_lines_at_once() -> None:
    """Make this process write each printed line at once, in UTF-8, also into a pipe or a file.

    Call this before the user's modules are imported: they may store the streams.
    """
    for name, descriptor in (("stdout", 1), ("stderr", 2)):
        stream = getattr(sys, name)
        if stream is not None:
            file = _PatientFile(descriptor, "w", closefd=False)
            file.name = f"<{name}>"
            text = io.TextIOWrapper(
                io.BufferedWriter(file), encoding="utf-8", errors="backslashreplace", line_buffering=True,
                write_through=stream.write_through,
            )  # fmt: skip
            setattr(sys, name, text)
            setattr(sys, f"__{name}__", text)


class OutputLines:
    """Cuts a stream of bytes into whole lines.

    Text that a carriage return would overwrite on a terminal is dropped: only the last state of a
    progress bar remains.
    """

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, data: bytes) -> list[str]:
        """Return the lines that `data` completes, without line ends."""
        head, newline, self._rest = (self._rest + data).rpartition(b"\n")
        lines = [_shown(line) for line in head.split(b"\n")] if newline else []
        self._rest = self._rest.rstrip(b"\r").rpartition(b"\r")[2] + _trailing_return(self._rest)
        if len(self._rest) > MAX_LINE_BYTES:
            lines += self.end()
        return lines

    def end(self) -> list[str]:
        """Return the incomplete last line, if any."""
        rest, self._rest = self._rest, b""
        return [_shown(rest)] if rest else []


def _trailing_return(data: bytes) -> bytes:
    return b"\r" if data.endswith(b"\r") else b""


def _shown(line: bytes) -> str:
    return line.rstrip(b"\r").rpartition(b"\r")[2].decode("utf-8", "replace")
