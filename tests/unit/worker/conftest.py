"""What tests of processes need."""

from __future__ import annotations

import os
import signal
import traceback
from collections.abc import Callable, Iterator

import pytest

Act = Callable[[], object]


class Processes:
    """Forks of this process, each of which has done something and then goes on until it is killed."""

    def __init__(self) -> None:
        self._living: set[int] = set()

    def start(self, act: Act) -> int:
        """Fork a process, and return its pid once it has called `act`."""
        read, write = os.pipe()
        pid = os.fork()
        if pid == 0:
            try:
                act()
                os.write(write, b"!")
                signal.pause()
            except BaseException:
                traceback.print_exc()  # into what pytest shows of a failed test
            finally:
                os._exit(1)
        self._living.add(pid)
        os.close(write)
        try:
            assert os.read(read, 1) == b"!", "it raised"
        finally:
            os.close(read)
        return pid

    def kill(self, pid: int) -> None:
        """Kill one by SIGKILL, and wait for its end."""
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        self._living.discard(pid)

    def end(self) -> None:
        for pid in tuple(self._living):
            self.kill(pid)


@pytest.fixture
def processes() -> Iterator[Processes]:
    """Starts and kills forks of this process; none is left."""
    made = Processes()
    yield made
    made.end()
