"""An attempt of two processes is supervised as one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from overtone.core.messages import Ended, Event, Halt, Start
from overtone.engines.local import Local
from overtone.engines.local.grace_period import Patience
from overtone.engines.local.process import LocalAttempt, Shape, TrialProcess, starts_of
from overtone.engines.local.process_pool import Crew
from overtone.testing.fake_channel import start
from overtone.worker.server.requests import KILL

RETURNED = ("ended", "t", 0, "returned", "", "")


class FakeCrew:
    """Has processes numbered from 1, and notes what is sent to them."""

    broken = None
    is_ready = True

    def __init__(self) -> None:
        self.processes: list[TrialProcess] = []
        self.sent: list[tuple[int, Any]] = []
        self.signals: list[tuple[int, bytes]] = []
        self.was_waiting = False

    def take(self, shape: Any, count: int) -> list[TrialProcess]:
        sock: Any = None
        taken = [TrialProcess(len(self.processes) + n, sock, []) for n in range(1, count + 1)]
        for process in taken:
            process.was_waiting = self.was_waiting
        self.processes += taken
        return taken

    def send(self, process: TrialProcess, order: Any) -> None:
        self.sent.append((process.number, order))

    def signal(self, attempt: LocalAttempt, what: bytes) -> None:
        self.signals += [(process.number, what) for process in attempt.processes]

    def watch(self, attempt: LocalAttempt, is_on: bool = True) -> None: ...

    def put_back(self, processes: Iterable[TrialProcess]) -> None: ...


class Engine(Local):
    """A local engine whose processes do what a test says."""

    def __init__(self) -> None:
        super().__init__(cpus=2, gpus=0)
        self.crew: Any = FakeCrew()
        job: Any = SimpleNamespace(reuse=True, name="train")
        self._crew, self._job, self._is_open = self.crew, job, True
        self._patience = Patience(self._loop, 10.0, self.crew.signal)

    def say(self, number: int, *messages: Any) -> None:
        self._on_messages(self.crew.processes[number - 1], list(messages))

    def lose(self, number: int, text: str = "killed by signal 9 (SIGKILL)") -> None:
        self._on_exit(self.crew.processes[number - 1], text, True)

    @property
    def events(self) -> list[Event]:
        return self._events


@pytest.fixture
def engine() -> Iterator[Engine]:
    made = Engine()
    made._queue.append(start(ranks=(0, 1), world_size=2))
    made._start_what_fits()
    yield made
    made._is_open = False
    made.close()


def started(pid: int) -> tuple[Any, ...]:
    return ("started", "t", 0, pid, "host", None)


def test_each_process_gets_its_rank(engine: Engine) -> None:
    assert [(number, one.ranks, one.world_size) for number, one in engine.crew.sent] == [
        (1, (0,), 2),
        (2, (1,), 2),
    ]
    one = start()
    assert starts_of(one) == [one]


@pytest.mark.parametrize("first", [1, 2])
def test_the_loss_of_one_ends_the_other_and_is_told_once(engine: Engine, first: int) -> None:
    engine.say(1, started(11))
    engine.say(2, started(12))
    engine.events.clear()
    engine.lose(first)
    other = 3 - first
    assert (engine.crew.signals, engine.events) == ([(other, KILL)], [])
    engine.say(other, RETURNED)  # too late
    engine.lose(other)
    (end,) = engine.events
    assert isinstance(end, Ended)
    assert (end.cause, end.error) == ("lost", "killed by signal 9 (SIGKILL); out of memory?")
    assert engine._running == {}


def test_a_rank_that_has_returned_may_go(engine: Engine) -> None:
    engine.say(1, started(11))
    engine.say(2, started(12), RETURNED)
    engine.lose(2, "exited with code 0")
    assert engine.crew.signals == []
    engine.say(1, RETURNED)
    engine.lose(1, "exited with code 0")
    assert [type(event).__name__ for event in engine.events] == ["Started", "Ended"]


def test_a_failure_of_a_rank_is_the_attempts(engine: Engine) -> None:
    engine.say(2, ("ended", "t", 0, "raised", "ValueError: no", "Traceback"))
    engine.lose(2, "exited with code 1")
    assert engine.crew.signals == [(1, KILL)]
    engine.lose(1)
    (end,) = engine.events
    assert (end.cause, end.error, end.traceback) == ("raised", "ValueError: no", "Traceback")  # type: ignore[union-attr]


def test_nonsense_of_a_rank_is_the_attempts(engine: Engine) -> None:
    refused: list[TrialProcess] = []
    engine.crew.refuse = refused.append
    engine.say(2, ("saved", "u", 0, None))
    assert refused == [engine.crew.processes[1]]
    engine.lose(2)
    engine.lose(1)
    assert [event.cause for event in engine.events] == ["killed"]  # type: ignore[union-attr]


def test_orders_go_to_all(engine: Engine) -> None:
    for process in engine.crew.processes:
        process.pid = 10 + process.number
    halt = Halt("t", 0)
    engine.submit([halt])
    assert engine.crew.sent[2:] == [(1, halt), (2, halt)]


def test_processes_that_died_while_they_waited_are_replaced_when_both_are_gone() -> None:
    engine = Engine()
    engine.crew.was_waiting = True
    engine._queue.append(start(ranks=(0, 1), world_size=2))
    engine._start_what_fits()
    engine.lose(2)
    assert (engine.crew.signals, len(engine.crew.processes)) == ([(1, KILL)], 2)
    engine.lose(1)
    assert len(engine.crew.processes) == 4
    assert [one.ranks for _, one in engine.crew.sent if isinstance(one, Start)] == [(0,), (1,)] * 2
    assert engine.events == []
    engine._is_open = False
    engine.close()


class Pool(Crew):
    """A pool with room for three processes; `fails` makes the next one fail."""

    def __init__(self) -> None:
        self._waiting, self._processes, self._room, self.fails = [], {}, 3, False

    def _make(self) -> TrialProcess:
        if self.fails:
            raise OSError("no more files")
        sock: Any = None
        made = self._processes[len(self._processes)] = TrialProcess(len(self._processes), sock, [])
        return made


def test_an_attempt_gets_all_its_processes_or_none() -> None:
    pool = Pool()
    shape: Shape = ((), 1)
    pool.fails = True
    with pytest.raises(OSError, match="no more files"):
        pool.take(shape, 2)
    pool.fails = False
    assert [one.was_waiting for one in pool.take(shape, 2)] == [False, False]
    assert pool.take(shape, 2) == []
    (left,) = pool._waiting
    assert left.was_waiting
    assert pool.take(shape, 1) == [left]
