from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from typing import Any

import pytest

from overtone.worker import process_tree
from overtone.worker.limits.memory_guard import Guarded
from overtone.worker.message_codec import SERVER as WORDS
from overtone.worker.message_codec import message_reader
from overtone.worker.server import warm_server
from overtone.worker.server.requests import GUARD, KILL, NEW, REQUEST, TERMINATE, UNWATCH, WATCH
from overtone.worker.server.warm_server import END_WITHIN_S, STRAY_GRACE_S, TrialServer

SERVER = os.getpid()


class World:
    """The kernel, as a server sees it."""

    def __init__(self) -> None:
        self.now = 0.0
        self.children: set[int] = set()
        self.dead: dict[int, int] = {}
        self.signals: list[tuple[int, int]] = []
        self.requests: list[bytes] = []
        self.said: list[Any] = []
        self.reader = message_reader(WORDS)

    def waitpid(self, pid: int, options: int) -> tuple[int, int]:
        if not self.dead:
            return 0, 0
        ended = next(iter(self.dead))
        self.children.discard(ended)
        return ended, self.dead.pop(ended)

    def sendall(self, data: bytes) -> None:
        self.said += self.reader.feed(data)

    def recv_fds(self, sock: object, size: int, count: int) -> tuple[bytes, list[int], int, None]:
        return self.requests.pop(0), [], 0, None


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> World:
    made = World()
    monkeypatch.setattr(warm_server.os, "waitpid", made.waitpid)
    monkeypatch.setattr(warm_server.os, "killpg", lambda pid, signum: made.signals.append((-pid, signum)))
    monkeypatch.setattr(warm_server, "_signal", lambda pid, signum: made.signals.append((pid, signum)))
    monkeypatch.setattr(warm_server.time, "monotonic", lambda: made.now)
    monkeypatch.setattr(warm_server.socket, "recv_fds", made.recv_fds)
    monkeypatch.setattr(process_tree, "children", lambda pid: set(made.children))
    return made


@pytest.fixture
def served(world: World) -> Iterator[TrialServer]:
    """A server with the processes 1 and 2, whose pids are 101 and 102."""
    one = TrialServer(world, SERVER)  # type: ignore[arg-type]
    for number in (1, 2):
        one._numbers[100 + number] = number
        one._pids[number] = 100 + number
        world.children.add(100 + number)
    yield one
    one._board.close()
    os.close(one._wake_read)
    os.close(one._wake_write)


def test_an_exit_is_told(world: World, served: TrialServer) -> None:
    world.dead[102] = 9
    served._reap()
    served._reap()
    assert world.said == [("exited", 2, 9)]


def test_an_exit_is_told_once_what_was_left_behind_is_gone(world: World, served: TrialServer) -> None:
    world.dead[101] = 0
    world.children |= {500, 501}
    served._reap()
    assert world.signals == [(500, signal.SIGTERM), (501, signal.SIGTERM)]
    world.dead[500] = 15
    served._reap()
    assert world.said == []
    world.now = STRAY_GRACE_S + 0.01
    served._reap()
    assert world.signals[2:] == [(501, signal.SIGKILL)]
    world.dead[501] = 9
    served._reap()
    assert world.said == [("exited", 1, 0)]


def test_what_survives_sigkill_does_not_hold_up_its_trial(world: World, served: TrialServer) -> None:
    world.dead[101] = 0
    world.children.add(500)
    served._reap()
    world.now = STRAY_GRACE_S + END_WITHIN_S + 0.01
    served._reap()
    served._reap()
    assert world.said == [("exited", 1, 0)]
    world.dead[102] = 0
    served._reap()
    assert world.said[1:] == [("exited", 2, 0)]


def test_processes_of_the_users_modules_are_left_alone(world: World, served: TrialServer) -> None:
    world.children.add(300)
    served._family = {300}
    world.dead[101] = 0
    served._reap()
    assert world.signals == []
    assert world.said == [("exited", 1, 0)]


def test_signals_go_to_the_process_that_is_meant(world: World, served: TrialServer) -> None:
    for what, number in ((TERMINATE, 1), (KILL, 2), (KILL, 77)):
        world.requests.append(REQUEST.pack(what, number, 0, 0))
        served._on_request()
    assert world.signals == [(-101, signal.SIGTERM), (102, signal.SIGKILL)]


def test_a_trial_past_its_limit_is_killed_with_its_family(world: World, served: TrialServer) -> None:
    class Past:
        asked: list[tuple[Any, ...]] = []

        def begin(self, *what: int) -> None:
            self.asked.append(what)

        def end(self, number: int) -> None:
            self.asked.append((number,))

        def look(self) -> list[Any]:
            return [(1, 70, "used 3 GB of memory, limit 2 GB", {101, 500})]

    watch: Any = Past()
    served._watch = watch
    for what, index in ((WATCH, 70), (UNWATCH, 0)):
        world.requests.append(REQUEST.pack(what, 1, index, 0))
        served._on_request()
    assert watch.asked == [(1, 101, 70), (1,)]
    served._enforce(watch)
    assert world.said == [("limit", 1, 70, "used 3 GB of memory, limit 2 GB")]
    assert sorted(world.signals) == [(101, signal.SIGKILL), (500, signal.SIGKILL)]


def test_a_notice_is_told_of_processes_that_are_known(
    world: World, served: TrialServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(served._board, "read", lambda: [102, 999])
    served._read_board()
    assert world.said == [("noticed", 2)]


def test_a_process_that_cannot_be_made_is_told(
    world: World, served: TrialServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def spawn(file: int, descriptors: list[int], board: int) -> int:
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(warm_server, "spawn", spawn)
    served._file = -1
    world.requests.append(REQUEST.pack(NEW, 3, 0, 0))
    served._on_request()
    assert world.said == [("failed", 3, "[Errno 11] Resource temporarily unavailable")]


class FakeGuard:
    """Ends, names and blames whom a test says."""

    def __init__(self, share: float) -> None:
        self.share = share
        self.begun: list[tuple[int, ...]] = []
        self.ended: list[int] = []
        self.worst: Guarded | None = None
        self.largest: Guarded | None = None

    def begin(self, *what: int) -> None:
        self.begun.append(what)

    def end(self, number: int) -> None:
        self.ended.append(number)

    def look(self) -> Guarded | None:
        return self.worst

    def news(self) -> Guarded | None:
        return self.largest

    def blame(self, number: int) -> Guarded | None:
        return self.worst if self.worst is not None and self.worst.number == number else None

    def explain(self, one: Guarded) -> str:
        return f"out of memory: {one.number}"


@pytest.fixture
def guard(world: World, served: TrialServer, monkeypatch: pytest.MonkeyPatch) -> FakeGuard:
    """The server's, which knows of a trial in each process."""
    monkeypatch.setattr(warm_server, "MemoryGuard", FakeGuard)
    world.requests.append(REQUEST.pack(GUARD, 950_000, 0, 0))
    served._on_request()
    for number in (1, 2):
        world.requests.append(REQUEST.pack(WATCH, number, 10 + number, number << 40))
        served._on_request()
    made: Any = served._guard
    assert made.share == 0.95
    assert made.begun == [(1, 101, 11, 1 << 40), (2, 102, 12, 2 << 40)]
    return made


def test_a_trial_that_takes_too_much_memory_ends_with_all_its_processes(
    world: World, served: TrialServer, guard: FakeGuard
) -> None:
    served._save_memory(served._guard)  # type: ignore[arg-type]
    assert world.said == []
    guard.worst = Guarded(12, 0, {2: 102}, family={102, 500})
    served._save_memory(served._guard)  # type: ignore[arg-type]
    assert world.said == [("memory", 2, 12, "out of memory: 2")]
    assert sorted(world.signals) == [(102, signal.SIGKILL), (500, signal.SIGKILL)]


def test_who_uses_the_most_is_told(world: World, served: TrialServer, guard: FakeGuard) -> None:
    guard.largest = Guarded(11, 0, {1: 101})
    served._save_memory(served._guard)  # type: ignore[arg-type]
    assert world.said == [("largest", 1, 11, "out of memory: 1")]
    assert world.signals == []


def test_whom_the_kernel_kills_for_memory_has_failed(world: World, served: TrialServer, guard: FakeGuard) -> None:
    guard.worst = Guarded(12, 0, {2: 102})
    world.dead.update({101: signal.SIGKILL, 102: signal.SIGKILL})
    served._reap()
    assert world.said == [
        ("exited", 1, signal.SIGKILL),
        ("memory", 2, 12, "out of memory: 2"),
        ("exited", 2, signal.SIGKILL),
    ]
    assert guard.ended == [1, 2]


def test_who_crashes_while_memory_is_short_has_crashed(
    world: World, served: TrialServer, guard: FakeGuard
) -> None:
    guard.worst = Guarded(12, 0, {2: 102})
    world.dead[102] = signal.SIGSEGV
    served._reap()
    assert world.said == [("exited", 2, signal.SIGSEGV)]


def test_a_paused_trial_still_holds_its_memory(world: World, served: TrialServer, guard: FakeGuard) -> None:
    world.requests.append(REQUEST.pack(UNWATCH, 1, 11, 0))
    served._on_request()
    assert guard.ended == []


def test_a_sigterm_is_told_before_the_exit_that_followed_it(
    served: TrialServer, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The board is read again at an exit: both may come after the server was woken for something else."""
    written = [101]
    monkeypatch.setattr(served._board, "read", lambda: [written.pop()] if written else [])
    world.dead[101] = 143 << 8
    served._reap()
    assert world.said == [("noticed", 1), ("exited", 1, 143 << 8)]
