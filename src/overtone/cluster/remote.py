"""Runs commands and copies files on another machine, such as the head of a cluster."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from shlex import quote
from typing import NamedTuple, Protocol

from overtone.errors import OvertoneError

LONGEST_LINE = 500
"""Most characters of a line of output that a message shows."""


class UnreachableError(OvertoneError):
    """A host does not answer, or refuses the login."""

    has_lines = True  # the command line prints its line breaks


class RemoteError(OvertoneError):
    """A command failed on a host, or files could not be copied."""

    has_lines = True


class Finished(NamedTuple):
    """The end of a command: its exit status (124 if it ran past its time), and what it printed."""

    status: int
    output: bytes
    errors: bytes

    @property
    def text(self) -> str:
        """The output as text, without surrounding white space."""
        return self.output.decode(errors="replace").strip()


class Remote(Protocol):
    """A machine, most often the head of a cluster, on which commands run.

    A path on it that begins with "~/" is below the user's home. All methods raise `UnreachableError` if the
    machine does not answer within bounded time.
    """

    name: str
    """Its name for people, such as "ubuntu@10.0.0.1"."""

    def run(self, command: str, *, input: bytes | None = None, timeout_s: float = 60.0) -> Finished:
        """Run a command to its end, or end it after `timeout_s` seconds (status 124)."""
        ...

    def stream(self, command: str, on_output: Callable[[bytes], None], stdin: int | None = None) -> int:
        """Run a command, pass its output and its errors on as they come, and return its status.

        Args:
            command: The command.
            on_output: Receives the output.
            stdin: The open file that the command reads; None for none. In pods, a command reads nothing.
        """
        ...

    def begin(self, command: str) -> None:
        """Start a command that outlives this call and the connection; it has no output.

        It must be repeatable: a provider may run it again, as after a node was replaced.
        """
        ...

    def put(self, source: Path, target: str, exclude: Sequence[str] = ()) -> None:
        """Copy a file, or the contents of a folder, there. It can be repeated: equal files are skipped."""
        ...

    def get(self, source: str, target: Path, exclude: Sequence[str] = ()) -> None:
        """Copy a file, or the contents of a folder, from there."""
        ...

    def forward(self, port: int) -> AbstractContextManager[int]:
        """Return a port of this machine's loopback that leads to that machine's own during the block."""
        ...

    def shell(self, command: str | None = None) -> int:
        """Run a command, or the login shell, on this terminal, and return its status."""
        ...


def home_path(path: str) -> str:
    """Quote a path for a shell; "~/" at its beginning stays the user's home."""
    return f'"$HOME"/{quote(path[2:])}' if path.startswith("~/") else quote(path)


def login_command(command: str) -> str:
    """Return the shell command that runs `command` in a login shell which reads rc files, too.

    What these print is dropped, and so is the shell's own "logout". Status 255, by which ssh tells that it is
    lost, becomes 254.
    """
    inner = f"(\n{command}\n) 1>&3 2>&4 3>&- 4>&-"
    return f"exec 3>&1 4>&2; bash -lic {quote(inner)} >/dev/null 2>&1; s=$?; [ $s = 255 ] && s=254; exit $s"


def last_lines(output: bytes, n_lines: int = 20) -> str:
    """Return the last lines of an output, each after a line break and two spaces; "" if it is empty.

    Of a line with more than `LONGEST_LINE` characters, the end is returned.
    """
    lines = output.decode(errors="replace").replace("\r", "\n").split("\n")
    return "".join(f"\n  {_short(line)}" for line in [line for line in lines if line.strip()][-n_lines:])


def _short(line: str) -> str:
    return line if len(line) <= LONGEST_LINE else f"... {line[-LONGEST_LINE:]}"
