"""Detects that the head of the cluster cannot be reached, before Ray ends the driver for that reason.

Ray's calls wait without a message. After RAY_gcs_rpc_server_reconnect_timeout_s (60 by default)
Ray writes one line to its log and ends the process.
"""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Callable
from pathlib import Path

CHECK_EVERY_S = 1.0
REFUSES_S = 3.0
"""Seconds without an answer after which a head that refuses connections counts as unreachable."""

SILENT_S = 20.0
"""Seconds after which a head that accepts connections counts as unreachable: it may be busy."""

_LIMIT = "RAY_gcs_rpc_server_reconnect_timeout_s"


class Head:
    """A thread that checks whether the head answers.

    Args:
        address: "host:port" of the head.
        answered_at: Returns the time of the head's last answer, on the monotonic clock.
        say: Called from the thread with a line for people.
        folder: Folder of the experiment, for the advice to resume.
    """

    def __init__(
        self, address: str, answered_at: Callable[[], float], say: Callable[[str], None], folder: Path
    ) -> None:
        self._address, self._answered_at, self._say, self._folder = address, answered_at, say, folder
        self._is_away = False
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="overtone-head", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self) -> None:
        """Stop the thread."""
        self._stop.set()

    def _run(self) -> None:
        while not self._stop.wait(CHECK_EVERY_S):
            self.check()

    def check(self) -> None:
        """Report once that the head cannot be reached, and once that it answers again."""
        silent_s = time.monotonic() - self._answered_at()
        if silent_s <= REFUSES_S:
            if self._is_away:
                self._say(f"head {self._address} answers again")
            self._is_away = False
        elif not self._is_away and (silent_s > SILENT_S or not accepts(self._address)):
            self._is_away = True
            since = time.strftime("%H:%M:%S", time.localtime(time.time() - silent_s))
            self._say(
                f"head {self._address} unreachable since {since}; Ray ends this process after about "
                f"{limit_s():g} s without it ({_LIMIT}); nothing is lost: start the cluster again, then "
                f"`overtone resume {self._folder}`"
            )


def accepts(address: str, within_s: float = 2.0) -> bool:
    """Return whether "host:port" accepts connections; True for an address of another form."""
    host, _, port = address.rpartition(":")
    if not (host and port.isdecimal()):
        return True
    try:
        socket.create_connection((host.strip("[]"), int(port)), within_s).close()
    except OSError:
        return False
    return True


def limit_s() -> float:
    """Return the number of seconds without the head after which Ray ends a driver."""
    try:
        return float(os.environ.get(_LIMIT, 60))
    except ValueError:
        return 60.0
