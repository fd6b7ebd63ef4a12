"""Requests to a cluster's head: runs, their logs, and the journals of experiments."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable, Mapping, Sequence
from shlex import join
from typing import Any

from overtone.cluster.head_python import python_command
from overtone.cluster.remote import Remote, RemoteError, UnreachableError, last_lines
from overtone.cluster.run_log import FOLLOWED, REPLY

_DRIVER = "-m overtone.cluster.driver"
_MOST_BEFORE = 1 << 16
"""Most bytes that come before a log: what a shell's profile prints."""


class Head:
    """The driver's program on a head.

    Args:
        remote: The head.
    """

    def __init__(self, remote: Remote) -> None:
        self.remote = remote

    def runs(self) -> list[dict[str, Any]]:
        """Return the facts of all runs there, the oldest first; see `RunFolder.facts`."""
        found: list[dict[str, Any]] = self._ask(["list"])
        return found

    def prepare(self, run_id: str, command: Mapping[str, Any]) -> dict[str, Any] | None:
        """Record a run; return the facts of a run of the same script that is not over, or None."""
        running: dict[str, Any] | None = self._ask(["prepare", run_id], command).get("running")
        return running

    def begin(self, run_id: str) -> None:
        """Start a prepared run; nothing happens if it runs."""
        self.remote.begin(_command(["run", run_id]))

    def stop(self, run_id: str, signum: int = signal.SIGINT) -> bool:
        """Send the script a signal; return whether it still ran."""
        return bool(self._ask(["stop", run_id, str(int(signum))])["stopped"])

    def resize(self, run_id: str, columns: int, rows: int) -> None:
        """Tell the script's terminal its size."""
        self._ask(["resize", run_id, str(columns), str(rows)])

    def experiments(self, folders: Sequence[str], sizes: Mapping[str, int]) -> list[dict[str, Any]]:
        """Describe experiments; see `listing.describe`."""
        found: list[dict[str, Any]] = self._ask(
            ["experiments"], {"folders": list(folders), "sizes": dict(sizes)}
        )
        return found

    def follow(self, run_id: str, offset: int, feed: Callable[[int, bytes], None]) -> None:
        """Pass the log on from `offset`, until the run has ended.

        Args:
            offset: The first byte; -n begins n bytes before the end.
            feed: Gets bytes with the offset of the first.

        Raises:
            UnreachableError: The connection is lost.
            RemoteError: There is no such run.
        """
        self._read(["follow", run_id, str(offset)], feed)

    def journal(self, path: str, offset: int, crc: int, feed: Callable[[int, bytes], None]) -> None:
        """Pass on the whole lines of a journal from `offset`, or from 0; see `listing.write_journal`.

        Raises:
            UnreachableError: The connection is lost.
            RemoteError: It cannot be read.
        """
        self._read(["journal", path, str(offset), str(crc)], feed)

    def _read(self, words: Sequence[str], feed: Callable[[int, bytes], None]) -> None:
        reading = _Reading(feed)
        status = self.remote.stream(_command(words), reading.take)
        if reading.error:
            raise RemoteError(f"{self.remote.name}: {reading.error}")
        if status and not reading.has_begun:
            said = last_lines(bytes(reading.before))
            raise RemoteError(
                f"{self.remote.name}: {words[0]} ended with {status}{':' if said else ''}{said}"
            )
        if status or not reading.has_begun:  # ended by a head that shuts down
            raise UnreachableError(f"{self.remote.name}: the connection ended (status {status}).")

    def _ask(self, words: Sequence[str], given: Any = None) -> Any:
        data = None if given is None else json.dumps(given).encode()
        done = self.remote.run(_command(words), input=data, timeout_s=120.0)
        answers = [line for line in done.output.splitlines() if line.startswith(REPLY)]
        if not answers:
            said = last_lines(done.output + done.errors)
            raise RemoteError(
                f"{self.remote.name}: Overtone does not answer there (status {done.status}); is it "
                f"installed in the Python of `ray`? setup: pip install overtone[ray]{said}"
            )
        answer = json.loads(answers[-1][len(REPLY) :])
        if isinstance(answer, dict) and "error" in answer:
            raise RemoteError(f"{self.remote.name}: {answer['error']}")
        return answer


class _Reading:
    """Finds the line before the bytes, and counts on from the offset that it says."""

    def __init__(self, feed: Callable[[int, bytes], None]) -> None:
        self._feed = feed
        self.before = bytearray()
        self.has_begun = False
        self._offset = 0

    @property
    def error(self) -> str:
        """The driver's error instead of a log; "" if it said nothing."""
        place = self.before.rfind(REPLY)
        try:
            return str(json.loads(self.before[place + len(REPLY) :])["error"]) if place >= 0 else ""
        except (ValueError, KeyError, TypeError):
            return ""

    def take(self, data: bytes) -> None:
        """Take the next bytes of the output."""
        if not self.has_begun:
            self.before += data
            place = self.before.find(FOLLOWED)
            end = self.before.find(b"\n", place)
            if place < 0 or end < 0:
                if len(self.before) > _MOST_BEFORE:
                    del self.before[: -_MOST_BEFORE // 2]
                return
            self.has_begun = True
            self._offset = int(self.before[place + len(FOLLOWED) : end])
            data = bytes(self.before[end + 1 :])
            self._feed(self._offset, b"")
        if data:
            offset, self._offset = self._offset, self._offset + len(data)
            self._feed(offset, data)


def _command(words: Sequence[str]) -> str:
    return python_command(f"{_DRIVER} {join(words)}")
