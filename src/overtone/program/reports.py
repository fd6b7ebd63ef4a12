"""Answers `overtone.report` calls in a program and in its own children, over a Unix socket."""

from __future__ import annotations

import json
import os
import shutil
import socket
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from selectors import EVENT_READ, BaseSelector
from typing import Any

from overtone.core.sizes import LONGEST_RESULT
from overtone.errors import TrialHalted

Report = Callable[[Mapping[str, Any], "str | None"], bool]
"""Reports metrics and the path of a checkpoint, if any; returns whether the trial is over already."""


class Reports:
    """Takes requests on a socket: a line of JSON each, answered by a line of JSON.

    Only this user can connect.

    Args:
        selector: Selects the socket; the data of its keys are callables without arguments.
        report: Handles a request.

    Attributes:
        path: The path of the socket.
        count: Number of requests.
    """

    def __init__(self, selector: BaseSelector, report: Report) -> None:
        self._selector, self._report, self.count = selector, report, 0
        self._folder = tempfile.mkdtemp(prefix="overtone_")
        self.path = os.path.join(self._folder, "report")
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._listener.bind(self.path)
        self._listener.listen(16)
        self._open: set[socket.socket] = {self._listener}
        selector.register(self._listener, EVENT_READ, self._accept)

    def close(self) -> None:
        """Close all connections; later calls fail in the program."""
        for one in list(self._open):
            self._drop(one)
        shutil.rmtree(self._folder, ignore_errors=True)

    def _accept(self) -> None:
        line, _ = self._listener.accept()
        line.settimeout(10.0)
        self._open.add(line)
        rest = bytearray()
        self._selector.register(line, EVENT_READ, lambda: self._read(line, rest))

    def _read(self, line: socket.socket, rest: bytearray) -> None:
        try:
            data = line.recv(1 << 16)
        except OSError:
            data = b""
        rest += data
        if not data or len(rest) > 2 * LONGEST_RESULT:
            self._drop(line)
            return
        while (end := rest.find(b"\n")) >= 0:
            request, rest[: end + 1] = bytes(rest[:end]), b""
            self._answer(line, request)

    def _answer(self, line: socket.socket, request: bytes) -> None:
        answer: dict[str, Any] = {}
        try:
            asked = json.loads(request)
            metrics, checkpoint = asked["metrics"], asked.get("checkpoint")
        except (ValueError, KeyError, TypeError, AttributeError):
            self._drop(line)
            return
        self.count += 1
        try:
            answer["halt"] = self._report(metrics, checkpoint)
        except TrialHalted:
            answer["halt"] = True
            raise
        except Exception as error:
            answer["error"] = f"{type(error).__name__}: {error}"
            raise
        finally:
            with suppress(OSError):
                line.sendall(json.dumps(answer).encode() + b"\n")

    def _drop(self, line: socket.socket) -> None:
        with suppress(KeyError, ValueError):
            self._selector.unregister(line)
        line.close()
        self._open.discard(line)
