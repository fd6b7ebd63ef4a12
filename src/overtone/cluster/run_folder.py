"""The folder of a submitted run on the head: its command, its process, its exit status and its files.

runs/ID/command.json   what runs: written once, before the run begins
runs/ID/lock           locked while the driver runs
runs/ID/pid            the script's process: {"pid", "started", "boot_id"}
runs/ID/log            what the script prints
runs/ID/experiments    the experiments that the script wrote, one JSON a line
runs/ID/exit           {"status", "at"}: the run has ended
"""

from __future__ import annotations

import json
import os
import re
import signal
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from overtone.errors import OvertoneError
from overtone.file_lock import open_locked
from overtone.regular_files import read_regular, replace_file

ID = re.compile(r"[0-9]{8}-[0-9]{6}-[0-9a-f]{4,8}")
"""The form of a run's id: when it was submitted, and random digits."""

TEMPORARY = "tmp"
"""The file in the cluster's folder with the path of the folder for temporary files, if there is one."""

_ROOM_BYTES = 128


def cluster_folder() -> Path:
    """Return the folder of the launcher's files on the head: `OVERTONE_CLUSTER_FOLDER`, or a fixed one."""
    return Path(os.environ.get("OVERTONE_CLUSTER_FOLDER") or "~/.overtone/cluster").expanduser().absolute()


def temporary_variables() -> dict[str, str]:
    """Return the variables by which programs on the head use the cluster's folder for temporary files."""
    try:
        folder = read_regular(cluster_folder() / TEMPORARY).decode()
    except (OSError, ValueError):
        return {}
    return {"RAY_TMPDIR": folder, "TMPDIR": folder} if os.path.isdir(folder) else {}


def new_id() -> str:
    """Return the id of a new run."""
    return f"{time.strftime('%Y%m%d-%H%M%S', time.gmtime())}-{os.urandom(3).hex()}"


def runs() -> list[RunFolder]:
    """Return all runs of this head, the oldest first."""
    folder = cluster_folder() / "runs"
    try:
        names = sorted(name for name in os.listdir(folder) if ID.fullmatch(name))
    except FileNotFoundError:
        return []
    return [RunFolder(name) for name in names if (folder / name / "command.json").is_file()]


class RunFolder:
    """One run.

    Args:
        run_id: Its id.

    Raises:
        OvertoneError: It is not an id.
    """

    def __init__(self, run_id: str) -> None:
        if not ID.fullmatch(run_id):
            raise OvertoneError(f"{run_id!r} is not a run, such as 20261123-181500-c0ffee")
        self.id = run_id
        self.path = cluster_folder() / "runs" / run_id

    def create(self, command: dict[str, Any]) -> None:
        """Make the folder, with the command last: without it the run does not exist."""
        self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        (self.path / "experiments").touch()
        replace_file(self.path / "command.json", json.dumps(command).encode())

    def command(self) -> dict[str, Any]:
        """Return the recorded command.

        Raises:
            OvertoneError: There is no such run.
        """
        try:
            found: dict[str, Any] = json.loads(read_regular(self.path / "command.json"))
        except FileNotFoundError:
            raise OvertoneError(f"there is no run {self.id} on this cluster") from None
        return found

    # its process

    def take(self) -> int | None:
        """Lock the run for its driver; None if one runs already. The lock ends with the process."""
        return open_locked(self.path / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC)

    def note_process(self, pid: int) -> None:
        """Record the script's process."""
        facts = {"pid": pid, "started": started(pid), "boot_id": _boot_id()}
        replace_file(self.path / "pid", json.dumps(facts).encode())

    def process(self) -> int | None:
        """Return the pid of the script's process, or None if that process does not run any more."""
        facts = self._facts("pid")
        pid = facts.get("pid")
        if not isinstance(pid, int) or facts.get("boot_id") != _boot_id():
            return None
        return pid if facts.get("started") == started(pid) is not None else None

    def state(self) -> str:
        """Return "waiting" (to begin), "running", "ended", or "lost" (without an exit status)."""
        if (self.path / "exit").is_file():
            return "ended"
        if self._is_driven() or self.process() is not None:
            return "running"
        if (self.path / "exit").is_file():  # It ended in between.
            return "ended"
        if not (self.path / "pid").is_file():
            return "waiting"
        return "waiting" if self._begins_again() else "lost"

    def interrupt(self, signum: int = signal.SIGINT) -> bool:
        """Send a signal to the process group of the script; False if it does not run."""
        pid = self.process()
        if pid is None:
            return False
        with suppress(ProcessLookupError):
            os.killpg(pid, signum)
            return True
        return False

    # its end

    def reserve_exit(self) -> None:
        """Take the room of the exit status beforehand: it must be written on a full disk, too."""
        (self.path / "exit.new").write_bytes(b" " * _ROOM_BYTES)

    def note_exit(self, status: int) -> None:
        """Record the exit status: the run has ended."""
        text = json.dumps({"status": status, "at": round(time.time(), 3)}).encode()
        new = self.path / "exit.new"
        fd = os.open(new, os.O_WRONLY | os.O_CREAT, 0o600)
        try:
            os.pwrite(fd, text.ljust(_ROOM_BYTES), 0)
        finally:
            os.close(fd)
        os.replace(new, self.path / "exit")

    def exit_status(self) -> int | None:
        """Return the exit status; None if the run has not ended, or is lost."""
        status = self._facts("exit").get("status")
        return status if isinstance(status, int) else None

    # its experiments

    def experiments(self) -> list[dict[str, Any]]:
        """Return each experiment that the run wrote, the oldest first.

        Returns:
            For each one `folder` and `url`, and `was`: the folder in which it began if a later run with the
            same name has moved it aside, else None.
        """
        found: dict[str, dict[str, Any]] = {}
        with suppress(FileNotFoundError):
            for line in read_regular(self.path / "experiments").splitlines():
                with suppress(ValueError, KeyError, TypeError):
                    fact = json.loads(line)
                    began = str(fact["folder"])
                    folder = began if fact.get("url") else _present_folder(began, fact.get("inode"))
                    was = None if folder == began else began
                    found[folder] = {"folder": folder, "url": fact.get("url"), "was": was}
        return list(found.values())

    def facts(self) -> dict[str, Any]:
        """Return what others want to know of the run."""
        command = self.command()
        names = (
            "script",
            "arguments",
            "directory",
            "submitted",
            "takes_down",
            "ending",
            "life",
            "has_terminal",
            "key",
        )
        return {
            "id": self.id,
            "state": self.state(),
            "status": self.exit_status(),
            "experiments": self.experiments(),
            "home": str(Path.home()),
            **{name: command.get(name) for name in names},
        }

    def _begins_again(self) -> bool:
        """Return whether the cluster's own program runs the command again, as Slurm does after a requeue."""
        return bool(self.command().get("requeues")) and not (cluster_folder() / "ended.json").is_file()

    def _is_driven(self) -> bool:
        try:
            fd = open_locked(self.path / "lock", os.O_RDWR, is_shared=True)
        except OSError:
            return False
        if fd is None:
            return True
        os.close(fd)
        return False

    def _facts(self, name: str) -> dict[str, Any]:
        try:
            found = json.loads(read_regular(self.path / name))
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}


def _present_folder(folder: str, inode: int | None) -> str:
    """Return where a folder is now: beside its place, with a longer name, if it was moved aside."""
    path = Path(folder)
    with suppress(OSError):
        if inode is None or (path.exists() and path.stat().st_ino == inode):
            return folder
        for entry in sorted(os.scandir(path.parent), key=lambda entry: entry.name):
            if entry.name.startswith(f"{path.name}.") and entry.is_dir() and entry.stat().st_ino == inode:
                return entry.path
    return folder


def started(pid: int) -> int | None:
    """Return when a process began, in clock ticks since boot; None if it does not run."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            fields = (
                file.read().rpartition(b")")[2].split()
            )  # the command itself may hold blanks and brackets
    except OSError:
        return None
    return None if fields[0] in (b"Z", b"X") else int(fields[19])


def _boot_id() -> str:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return ""
