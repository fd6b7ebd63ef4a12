"""Processes that run searches in parallel: new processes, so that no `__main__` guard is needed."""

from __future__ import annotations

import os
import pickle
import struct
import subprocess
import sys
from collections import deque
from collections.abc import Iterator, Sequence
from pathlib import Path
from queue import SimpleQueue
from threading import Lock, Thread
from typing import Any, BinaryIO

from overtone.research.search import Case, Row, Setup, failed
from overtone.worker.threads import VARIABLES

BOOT = (
    "import sys; sys.path.insert(0, sys.argv[1]); "
    "from overtone.worker.process_tree import wake_with_parent; wake_with_parent(); "
    "from overtone.research.worker_process import main; main(int(sys.argv[2]))"
)


class WorkerPool:
    """Carries out searches in processes; closing it ends them all.

    Args:
        setup: What is compared.
        cases: The searches.
        size: How many processes.
    """

    def __init__(self, setup: Setup, cases: Sequence[Case], size: int) -> None:
        from overtone.by_value import dumps

        self._setup = setup
        self._left = deque(enumerate(cases))
        self._n = len(cases)
        self._found: SimpleQueue[tuple[int, list[Row] | BaseException]] = SimpleQueue()
        self._lock = Lock()
        self._is_closed = False
        self._children: set[subprocess.Popen[bytes]] = set()
        # the paths first: unpickling the rest may import the user's modules
        self._first = [pickle.dumps((sys.path, os.getcwd())), dumps(setup)]
        self._threads = [Thread(target=self._work, daemon=True) for _ in range(max(1, min(size, len(cases))))]

    def results(self) -> Iterator[tuple[int, list[Row]]]:
        """Yield the place of each search among the cases, and its rows, as they come."""
        for thread in self._threads:
            thread.start()
        for _ in range(self._n):
            n, rows = self._found.get()
            if isinstance(rows, BaseException):
                raise rows
            yield n, rows

    def close(self) -> None:
        """End every process."""
        with self._lock:
            self._is_closed = True
            self._left.clear()
            for child in self._children:
                child.kill()
        for thread in self._threads:
            if thread.is_alive():
                thread.join()

    def _work(self) -> None:
        """Search until no case is left; an error is passed to the reader of results."""
        try:
            self._search()
        except BaseException as error:
            self._found.put((-1, error))

    def _search(self) -> None:
        """Keep one process busy, and start another one where it dies."""
        child = None
        while (case := self._next()) is not None:
            n, what = case
            try:
                child = child or self._started()
                send(child.stdin, pickle.dumps(what))
                rows = pickle.loads(receive(child.stdout))
            except (OSError, EOFError) as error:
                rows = failed(self._setup, what, f"its process died: {self._gone(child) or error}")
                child = None
            self._found.put((n, rows))
        if child is not None:
            child.stdin.close()  # type: ignore[union-attr]
            self._gone(child)

    def _next(self) -> tuple[int, Case] | None:
        with self._lock:
            return self._left.popleft() if self._left else None

    def _started(self) -> subprocess.Popen[bytes]:
        environment = {**dict.fromkeys(VARIABLES, "1"), **os.environ}
        with self._lock:
            if self._is_closed:
                raise EOFError("the comparison has ended")
            child = subprocess.Popen(
                [sys.executable, "-c", BOOT, str(Path(__file__).parents[2]), str(os.getpid())],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env=environment,
                start_new_session=True,  # Ctrl-C is for the process that compares
            )
            self._children.add(child)
        for message in self._first:
            send(child.stdin, message)
        return child

    def _gone(self, child: subprocess.Popen[bytes] | None) -> str:
        """Wait for a process that ends, and return how it ended, as text."""
        if child is None:
            return ""
        code = child.wait()
        for stream in (child.stdin, child.stdout):
            try:
                stream.close()  # type: ignore[union-attr]
            except OSError:
                pass  # what it was still to be told
        with self._lock:
            self._children.discard(child)
        return f"signal {-code}" if code < 0 else f"exit code {code}"


def send(stream: Any, message: bytes) -> None:
    """Write a message with its length before it."""
    stream.write(struct.pack("<Q", len(message)) + message)
    stream.flush()


def receive(stream: BinaryIO | Any) -> bytes:
    """Return the next message.

    Raises:
        EOFError: There are no more messages.
    """
    head = stream.read(8)
    if len(head) < 8:
        raise EOFError("the other end is gone")
    (size,) = struct.unpack("<Q", head)
    message: bytes = stream.read(size)
    if len(message) < size:
        raise EOFError("the other end is gone")
    return message
