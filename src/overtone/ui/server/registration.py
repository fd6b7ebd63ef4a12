"""One server for a folder: a locked file of its user names the server that runs.

The file is in the user's runtime folder, not beside the results: a folder of results may be shared with
other machines and other users, and the file has the token. The lock ends with its server, so the file of a
killed server is taken over. Where no such file can be made, each server is on its own.
"""

from __future__ import annotations

import http.client
import json
import os
import platform
import stat
import time
from collections.abc import Callable
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from overtone.cache_folder import cache_folder
from overtone.file_lock import try_lock
from overtone.store.files import is_url

PATIENCE_S = 10.0
"""Seconds to wait for the address of a server that begins."""

_PAUSE_S = 0.05
_ANSWER_S = 2.0
_MOST_BYTES = 65_536


class KnownServer(NamedTuple):
    """A server that answers.

    Attributes:
        address: Such as "http://127.0.0.1:8470/".
        token: Its login.
        pid: Its process.
    """

    address: str
    token: str
    pid: int


class Registration:
    """The registration of this process as the server of a folder, until it is closed.

    Args:
        fd: The open, locked file.
    """

    def __init__(self, fd: int) -> None:
        self._fd = fd

    def note(self, server: KnownServer) -> None:
        """Let others find the server; if that cannot be written, none waits for it."""
        text = json.dumps(server._asdict()).encode()
        try:
            os.ftruncate(self._fd, 0)
            os.pwrite(self._fd, text, 0)
        except OSError:
            self.close()

    def close(self) -> None:
        """Forget the server, and release the lock."""
        fd, self._fd = self._fd, -1
        if fd < 0:
            return
        with suppress(OSError):
            os.ftruncate(fd, 0)
        os.close(fd)


def runtime_folder() -> Path:
    """Return the folder for what lasts as long as its processes.

    Raises:
        FileNotFoundError: The user has neither a runtime folder nor a home.
    """
    base = os.environ.get("XDG_RUNTIME_DIR", "")
    return Path(base, "overtone") if os.path.isabs(base) and os.path.isdir(base) else cache_folder() / "run"


def registered(
    place: str, patience_s: float = PATIENCE_S, answers: Callable[[KnownServer], bool] | None = None
) -> Registration | KnownServer | None:
    """Register this process as the server of `place`, or return the server that is registered.

    Args:
        place: A folder or a URL.
        patience_s: Seconds to wait for a server that begins.
        answers: Returns whether a server answers; by default, it is asked.

    Returns:
        None if neither is possible: the file cannot be made, or the server in it does not answer.
    """
    asks, give_up_at = answers or does_answer, time.monotonic() + patience_s
    try:
        file = _file_of(place)
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        while True:
            fd = os.open(file, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK, 0o600)
            is_kept = False
            try:
                if not _is_private(fd):
                    return None
                if try_lock(fd):
                    os.ftruncate(fd, 0)
                    is_kept = True
                    return Registration(fd)
                known = _read(fd)
            finally:
                if not is_kept:
                    os.close(fd)
            if known is not None and asks(known):
                return known
            if time.monotonic() > give_up_at:
                return None
            time.sleep(_PAUSE_S)
    except OSError:
        return None


def does_answer(server: KnownServer) -> bool:
    """Return whether a server accepts its token."""
    parts = urlsplit(server.address)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=_ANSWER_S)
    try:
        connection.request("GET", "/api/me", headers={"Authorization": f"Bearer {server.token}"})
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def _file_of(place: str) -> Path:
    """Return the file about a folder's server on this machine."""
    where = place.rstrip("/") if is_url(place) else os.path.realpath(place)
    key = sha256(os.fsencode(f"{platform.node()}\n{where}")).hexdigest()[:20]
    return runtime_folder() / f"ui-{key}.json"


def _is_private(fd: int) -> bool:
    found = os.fstat(fd)
    is_own = found.st_uid == os.geteuid() and not found.st_mode & 0o077
    return stat.S_ISREG(found.st_mode) and is_own


def _read(fd: int) -> KnownServer | None:
    try:
        facts = json.loads(os.pread(fd, _MOST_BYTES, 0))
        return KnownServer(str(facts["address"]), str(facts["token"]), int(facts["pid"]))
    except (ValueError, KeyError, TypeError):
        return None
