from __future__ import annotations

import signal
import sys
from types import SimpleNamespace
from typing import Any

import pytest

from overtone.worker import process_tree
from overtone.worker.server import orphan_guard

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="there are guards on Linux only")

DRIVER, SERVER = 10, 20


class World:
    """The kernel, as the guard sees it."""

    def __init__(self) -> None:
        self.now = 0.0
        self.parent = DRIVER
        self.dead: list[tuple[int, int]] = []
        self.children: set[int] = {SERVER}
        self.signals: list[tuple[float, int, int]] = []
        self.heard: list[tuple[float, int]] = []
        self.server_dies_of: tuple[int, ...] = (signal.SIGKILL,)

    def waitpid(self, pid: int, options: int) -> tuple[int, int]:
        if not self.children:
            raise ChildProcessError
        if not self.dead:
            return 0, 0
        self.children.discard(self.dead[0][0])
        return self.dead.pop(0)

    def kill(self, pid: int, signum: int) -> None:
        self.signals.append((self.now, pid, signum))
        if pid in self.children and (pid != SERVER or signum in self.server_dies_of):
            self.dead.append((pid, signum))

    def sigtimedwait(self, signals: Any, timeout_s: float) -> Any:
        if self.dead:
            return SimpleNamespace(si_signo=signal.SIGCHLD)
        if self.heard and self.heard[0][0] <= self.now + timeout_s:
            self.now, signum = self.heard.pop(0)
            if signum == signal.SIGHUP:
                self.parent = 1
            return SimpleNamespace(si_signo=signum)
        assert timeout_s < 60, "nothing will ever happen"
        self.now += timeout_s
        return None


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> World:
    made = World()
    monkeypatch.setattr(
        orphan_guard, "time", SimpleNamespace(monotonic=lambda: made.now, sleep=lambda s: None)
    )
    monkeypatch.setattr(orphan_guard.os, "waitpid", made.waitpid)
    monkeypatch.setattr(orphan_guard.os, "kill", made.kill)
    monkeypatch.setattr(orphan_guard.os, "getppid", lambda: made.parent)
    monkeypatch.setattr(orphan_guard.signal, "sigtimedwait", made.sigtimedwait)
    monkeypatch.setattr(process_tree, "children", lambda pid: set(made.children))
    return made


def test_what_a_dead_server_left_is_killed(world: World) -> None:
    world.children |= {30, 31}
    world.dead.append((SERVER, 9))
    assert orphan_guard._watch(DRIVER, SERVER) == 9
    assert {(pid, signum) for _, pid, signum in world.signals} == {(30, 9), (31, 9)}


def test_the_server_is_given_a_moment_when_the_driver_dies(world: World) -> None:
    world.heard.append((5.0, signal.SIGHUP))
    orphan_guard._watch(DRIVER, SERVER)
    assert world.signals == [
        (5.0, SERVER, signal.SIGHUP), (5.0, SERVER, signal.SIGCONT), (5.0 + orphan_guard.SERVER_GRACE_S, SERVER, signal.SIGKILL)
    ]  # fmt: skip


def test_a_server_that_ends_in_time_is_not_killed(world: World) -> None:
    world.heard.append((5.0, signal.SIGHUP))
    world.server_dies_of = (signal.SIGHUP,)
    assert orphan_guard._watch(DRIVER, SERVER) == signal.SIGHUP
    assert world.signals == [(5.0, SERVER, signal.SIGHUP), (5.0, SERVER, signal.SIGCONT)]


def test_the_driver_may_ask_for_the_end(world: World) -> None:
    world.heard += [(1.0, signal.SIGINT), (2.0, signal.SIGTERM)]
    orphan_guard._watch(DRIVER, SERVER)
    assert world.signals == [(2.0, SERVER, signal.SIGKILL)]


def test_a_hangup_while_the_driver_lives_means_nothing(world: World) -> None:
    world.heard += [(1.0, signal.SIGCHLD), (3.0, signal.SIGTERM)]
    orphan_guard._watch(DRIVER, SERVER)
    assert world.signals[0][0] == 3.0
