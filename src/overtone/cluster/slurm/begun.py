"""Commands that a job runs for its user: a file each, which may come before the job starts.

A command's file is NAME.sh; NAME.exit is made once it has ended. A command that SIGTERM ended has not: Slurm
sends that to all processes of a job that it takes the nodes from, and the job's next start begins it again.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

_TERMINATED = (-signal.SIGTERM, 128 + signal.SIGTERM)
_KEEPERS = (b"overtone.cluster.driver",)
"""Programs that pass SIGTERM on to the user's script themselves, and wait for it."""


class BegunCommands:
    """The commands of a job.

    Args:
        folder: Where their files lie.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self._is_over: set[str] = set()
        folder.mkdir(mode=0o700, exist_ok=True)

    def begin(self, variables: Mapping[str, str]) -> None:
        """Begin the commands that have come, and note which have ended."""
        names = set(os.listdir(self._folder))
        for name in sorted(one.removesuffix(".sh") for one in names if one.endswith(".sh")):
            if name not in self._processes and name not in self._is_over and f"{name}.exit" not in names:
                _kill(name)  # What an earlier start of the job has left on this node.
                self._processes[name] = subprocess.Popen(
                    ["bash", str(self._folder / f"{name}.sh")],
                    env={**variables, "OVERTONE_BEGUN": name}, stdin=subprocess.DEVNULL,
                    start_new_session=True,
                )  # fmt: skip
        for name, process in list(self._processes.items()):
            if process.poll() is not None and not _keepers(marked(name)):
                del self._processes[name]
                self._is_over.add(name)
                if process.returncode not in _TERMINATED:
                    (self._folder / f"{name}.exit").write_text(f"{process.returncode}\n")

    def running(self) -> bool:
        """Return whether a command runs."""
        return bool(self._processes)

    def have_ended(self) -> bool:
        """Return whether there were commands, and all have ended."""
        return bool(self._is_over) and not self._processes

    def end(self, within_s: float, is_told: bool) -> None:
        """Let the runs save and end, then end what is left of them.

        Args:
            within_s: How long they may take.
            is_told: Whether Slurm has sent them SIGTERM already: a second one would end a run at once.
        """
        for name, process in self._processes.items():
            for pid in [] if is_told else _keepers(marked(name)) or [process.pid]:
                _signal(pid, signal.SIGTERM)
        end = time.monotonic() + within_s
        while any(map(marked, self._processes)) and time.monotonic() < end:
            time.sleep(0.1)
        for name in self._processes:
            _kill(name)


def marked(name: str) -> dict[int, bytes]:
    """Return the processes of a command, by the variable that they inherit, and their command lines."""
    found = {}
    mark = f"OVERTONE_BEGUN={name}".encode()
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/environ", "rb") as file:
                if mark in file.read().split(b"\0"):
                    found[int(pid)] = Path(f"/proc/{pid}/cmdline").read_bytes()
        except OSError:
            continue  # Another user's, or it ended meanwhile.
    return found


def _keepers(found: Mapping[int, bytes]) -> list[int]:
    return [pid for pid, words in found.items() if any(one in words for one in _KEEPERS)]


def _kill(name: str) -> None:
    for pid in marked(name):
        _signal(pid, signal.SIGKILL)


def _signal(pid: int, number: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, number)
