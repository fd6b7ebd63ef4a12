"""The records of a cluster on this machine: `~/.overtone/clusters/NAME/`, for its user alone.

`cluster.json` is replaced as a whole, `events.jsonl` only grows, and the system releases `lock` with its
holder. A command that dies between any two lines therefore leaves records that the next command reads.
"""

from __future__ import annotations

import json
import os
import platform
import re
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from overtone.cluster.tokens import read_token
from overtone.errors import OvertoneError, StorageError
from overtone.file_lock import try_lock, unlock
from overtone.quantity_text import age_text, moment
from overtone.regular_files import read_regular, replace_file
from overtone.store.room import lacks_room

if TYPE_CHECKING:
    from overtone.cluster.config import ClusterConfig

_TRIES, _TRY_AGAIN_S = 50, 0.02
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")


class BusyError(OvertoneError):
    """Another command is changing the cluster."""


def overtone_home() -> Path:
    """Return the folder of Overtone's own records: `OVERTONE_HOME`, or `~/.overtone`."""
    return Path(os.environ.get("OVERTONE_HOME") or "~/.overtone").expanduser().absolute()


@contextmanager
def told_of_full_disk(state: State) -> Iterator[None]:
    """Let a full disk of this machine be an error that says what to do.

    Raises:
        OvertoneError: The disk with the records of the cluster is full.
    """
    try:
        yield
    except StorageError:
        raise  # It says so itself.
    except OSError as error:
        if not lacks_room(error):
            raise
        raise OvertoneError(
            f"{error.filename or state.folder}: the disk of this machine is full. Make room, and run the "
            "command again; `overtone clusters` lists what is up"
        ) from error


class State:
    """This machine's records of one cluster.

    Args:
        name: The cluster's name.

    Attributes:
        folder: The folder of the records, with mode 0700.
    """

    def __init__(self, name: str) -> None:
        if not _NAME.fullmatch(name):
            raise OvertoneError(
                f"cluster name {name!r}: must have 1 to 63 letters, digits, '.', '_' or '-' and begin with a "
                "letter or a digit, such as digits-1"
            )
        self.name = name
        self.folder = overtone_home() / "clusters" / name

    @classmethod
    def open(cls, config: ClusterConfig) -> State:
        """Return the state of the config's cluster. The folder is made if it is missing."""
        state = cls(config.name)
        state._make_folder()
        return state

    @classmethod
    def known(cls) -> list[State]:
        """Return the states of all clusters that this machine knows, sorted by name."""
        folder = overtone_home() / "clusters"
        names = sorted(os.listdir(folder)) if folder.is_dir() else []
        return [cls(name) for name in names if _NAME.fullmatch(name) and (folder / name).is_dir()]

    # records

    def info(self) -> dict[str, Any]:
        """Return the contents of `cluster.json`; {} if the cluster was never started.

        Its fields: `provider` (str), `config` (the text of the config file), `source` (its path), `id` (of
        this life of the cluster), `began` and `ended` (seconds since 1970, or None), `phase` (see
        `set_phase`), `price_hour` (US dollars, or None), and those that the provider adds.
        """
        try:
            found = json.loads(read_regular(self.folder / "cluster.json"))
        except FileNotFoundError:
            return {}
        except ValueError as error:
            raise OvertoneError(
                f"{self.folder / 'cluster.json'} is damaged ({error}); delete it and run overtone down"
            ) from None
        return found if isinstance(found, dict) else {}

    def update(self, **fields: Any) -> dict[str, Any]:
        """Change fields of `cluster.json`, and return its contents. Call it while `hold` is held."""
        self._make_folder()
        info = {**self.info(), **fields}
        replace_file(self.folder / "cluster.json", json.dumps(info, indent=1).encode() + b"\n")
        return info

    def set_phase(self, phase: str) -> None:
        """Record what happens to the cluster: "starting", "up", "taking down" or "down"."""
        self.update(phase=phase)
        self.record({"event": "phase", "phase": phase})

    def record(self, event: Mapping[str, Any]) -> None:
        """Append an event to `events.jsonl`, with its time. It must not contain secrets."""
        self._make_folder()
        line = json.dumps({"time": round(time.time(), 3), **event}, default=str) + "\n"
        fd = os.open(self.folder / "events.jsonl", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(fd, line.encode())  # One write: lines of two commands do not mix.
        finally:
            os.close(fd)

    def events(self) -> list[dict[str, Any]]:
        """Return all events, oldest first. A line that a crash cut short is left out."""
        try:
            lines = read_regular(self.folder / "events.jsonl").splitlines()
        except FileNotFoundError:
            return []
        found = []
        for line in lines:
            with suppress(ValueError):
                found.append(json.loads(line))
        return found

    def token(self) -> str:
        """Return the cluster's token. It is made at the first call, in a file with mode 0600."""
        self._make_folder()
        return read_token(self.folder / "token")

    def remove_secrets(self) -> None:
        """Delete the token and the keys. Call it only after the cluster is verified to be down."""
        for name in ("token", "key", "key.pub"):
            (self.folder / name).unlink(missing_ok=True)

    # one changing command at a time

    @contextmanager
    def hold(self, command: str) -> Iterator[None]:
        """Hold the lock of the cluster during a block that changes it.

        Args:
            command: The command, for the message of another command: "overtone up".

        Raises:
            BusyError: Another process holds the lock; the message says which one and since when.
        """
        self._make_folder()
        fd = os.open(self.folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            if not self._lock(fd):
                raise BusyError(self._busy_text())
            holder = {"command": command, "pid": os.getpid(), "host": platform.node(), "since": time.time()}
            with suppress(OSError):  # On a full disk, a second command does not learn who holds the lock.
                os.ftruncate(fd, 0)
                os.pwrite(fd, json.dumps(holder).encode(), 0)
            try:
                yield
            finally:
                os.ftruncate(fd, 0)
                unlock(fd)
        finally:
            os.close(fd)

    def holder(self) -> dict[str, Any] | None:
        """Return the command that holds the lock: `command`, `pid`, `host`, `since`; None if it is free."""
        try:
            fd = os.open(self.folder / "lock", os.O_RDWR | os.O_CLOEXEC)
        except FileNotFoundError:
            return None
        try:
            if try_lock(fd, is_shared=True):
                return None
            with suppress(ValueError):
                found = json.loads(os.pread(fd, 4096, 0))
                return found if isinstance(found, dict) else {}
            return {}  # It took the lock just now.
        finally:
            os.close(fd)

    def _lock(self, fd: int) -> bool:
        """Lock; a command that only asks who holds the lock has it for an instant."""
        for _ in range(_TRIES):
            if try_lock(fd):
                return True
            if self.holder():
                return False
            time.sleep(_TRY_AGAIN_S)
        return False

    def _busy_text(self) -> str:
        holder = self.holder() or {}
        who = "another command"
        if holder:
            since = holder["since"]
            who = (
                f"{holder['command']} (process {holder['pid']} on {holder['host']}, since {moment(since)}, "
                f"{age_text(time.time() - since)} ago)"
            )
        return f"cluster {self.name} is being changed by {who}; wait for its end, or press Ctrl-C there"

    def _make_folder(self) -> None:
        if sys.platform == "win32":
            raise OvertoneError("clusters are started from Linux and macOS; on Windows, use WSL")
        for folder in (overtone_home(), overtone_home() / "clusters", self.folder):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
