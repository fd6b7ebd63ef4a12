"""An attempt of a head and its ranks is supervised as one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from overtone.core.messages import Ended, Event, Halt, Start
from overtone.core.resources import Placement, Resources
from overtone.engines.local import Local
from overtone.engines.local.grace_period import Patience
from overtone.engines.local.process import LocalAttempt, TrialProcess
from overtone.engines.local.room import Room
from overtone.testing.fake_channel import start
from overtone.worker.gang.plan import RankOrder
from overtone.worker.protocol import RanksGone
from overtone.worker.server.requests import KILL, TERMINATE

RETURNED = ("ended", "t", 0, "returned", "", "")
MAKE = ("make_ranks", "t", 0, 0, 2, "127.0.0.1:1", "secret")
END = ("end_ranks", "t", 0, 0)
HEAD, FIRST, SECOND = 1, 2, 3


class FakeCrew:
    """Has processes numbered from 1, and notes what is sent to them."""

    broken = None
    is_ready = True
    error = ""

    def __init__(self) -> None:
        self.processes: list[TrialProcess] = []
        self.sent: list[tuple[int, Any]] = []
        self.signals: list[tuple[int, bytes]] = []
        self.refused: list[TrialProcess] = []
        self.idle: list[TrialProcess] = []
        self.was_waiting = False
        self.room = Room(10)

    def take(self, shape: Any, most: int = 1) -> TrialProcess:
        sock: Any = None
        self.processes.append(TrialProcess(len(self.processes) + 1, sock, []))
        self.processes[-1].was_waiting = self.was_waiting
        return self.processes[-1]

    def take_ranks(self, attempt: LocalAttempt, shapes: Sequence[Any]) -> list[TrialProcess]:
        if self.error:
            raise OSError(self.error)
        return [self.take(shape) for shape in shapes]

    def send(self, process: TrialProcess, order: Any) -> None:
        self.sent.append((process.number, order))

    def signal(self, attempt: LocalAttempt, what: bytes) -> None:
        self.signal_each([one for one in attempt.processes if one is not attempt.kept], what)

    def signal_each(self, processes: Sequence[TrialProcess], what: bytes) -> None:
        self.signals += [(process.number, what) for process in processes]

    def refuse(self, process: TrialProcess) -> None:
        self.refused.append(process)

    def watch(self, attempt: LocalAttempt, is_on: bool = True, processes: Any = None) -> None: ...

    def drain(self, process: TrialProcess) -> None: ...

    def make_spares(self) -> None: ...

    def put_back(self, process: TrialProcess) -> None:
        self.idle.append(process)


class Engine(Local):
    """A local engine whose processes do what a test says."""

    def __init__(self, reuse: bool = False) -> None:
        super().__init__(cpus=2, gpus=0)
        self.crew: Any = FakeCrew()
        job: Any = SimpleNamespace(reuse=reuse, name="train")
        self._crew, self._job, self._is_open = self.crew, job, True
        self._begin_with(self.crew)
        self._patience = Patience(self._loop, 10.0, self.crew.signal)

    def begin(self) -> None:
        """Start an attempt with a bundle for the head, and one for each of two ranks."""
        demand = Resources.of([{}, {"cpu": 1}, {"cpu": 1}])
        self._starts.put(start(resources=demand, placement=Placement(("local",) * 3, ((),) * 3)))

    def say(self, number: int, *messages: Any) -> None:
        self._on_messages(self.crew.processes[number - 1], list(messages))

    def lose(self, number: int, text: str = "killed by signal 9 (SIGKILL)") -> None:
        self._on_exit(self.crew.processes[number - 1], text, True)

    def pass_time(self) -> None:
        """Let all timers run."""
        while self._loop._timers:
            self._loop._timers.pop(0)[2]()

    def notice(self, number: int) -> None:
        self._on_notice(self.crew.processes[number - 1])

    @property
    def events(self) -> list[Event]:
        return self._events

    @property
    def answers(self) -> list[RanksGone]:
        return [one for number, one in self.crew.sent if isinstance(one, RanksGone) and number == HEAD]


@pytest.fixture
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    made = Engine(reuse=getattr(request, "param", False))
    made.begin()
    made.say(HEAD, started(11), MAKE)
    made.events.clear()
    yield made
    made._is_open = False
    made.close()


def started(pid: int) -> tuple[Any, ...]:
    return ("started", "t", 0, pid, "host", None)


def test_each_rank_gets_its_order_in_a_process_of_its_own(engine: Engine) -> None:
    orders = [(number, one.place.rank) for number, one in engine.crew.sent if isinstance(one, RankOrder)]
    assert orders == [(FIRST, 0), (SECOND, 1)]
    engine.say(FIRST, started(12))
    assert engine.events == []


@pytest.mark.parametrize(("lost", "name"), [(HEAD, ""), (FIRST, "rank 0 "), (SECOND, "rank 1 ")])
def test_the_loss_of_one_ends_the_others_and_is_told_once(engine: Engine, lost: int, name: str) -> None:
    engine.lose(lost)
    others = [number for number in (HEAD, FIRST, SECOND) if number != lost]
    assert (engine.crew.signals, engine.events) == ([(number, KILL) for number in others], [])
    for number in others:
        engine.say(number, RETURNED)  # too late
        engine.lose(number)
    (end,) = engine.events
    assert isinstance(end, Ended)
    assert (end.cause, end.error) == ("lost", f"{name}killed by signal 9 (SIGKILL); out of memory?")
    assert engine._running == {}
    assert not engine.crew.room.kept


@pytest.mark.parametrize("raises", [False, True])
def test_ranks_that_end_since_their_head_is_dead_are_not_to_blame(engine: Engine, raises: bool) -> None:
    if raises:
        engine.say(FIRST, ("ended", "t", 0, "raised", "ConnectionRefusedError", "Traceback"))
    engine.lose(FIRST, "exited with code 75")
    engine.lose(HEAD)
    engine.lose(SECOND)
    assert [(event.cause, event.error[:6]) for event in engine.events] == [("lost", "killed")]  # type: ignore[union-attr]


def test_ranks_that_lose_a_head_which_lives_end_the_attempt(engine: Engine) -> None:
    engine.lose(FIRST, "exited with code 75")
    assert (engine.crew.signals, engine.events) == ([], [])
    engine.pass_time()
    assert engine.crew.signals == [(HEAD, KILL), (SECOND, KILL)]
    engine.lose(HEAD)
    engine.lose(SECOND)
    assert [event.error for event in engine.events] == ["rank 0 exited with code 75"]  # type: ignore[union-attr]


def test_a_head_may_hang_up_before_it_ends_its_ranks(engine: Engine) -> None:
    for number in (FIRST, SECOND):
        engine.lose(number, "exited with code 75")
    engine.say(HEAD, END)
    engine.pass_time()
    assert engine.answers == [RanksGone("t", 0, 0)]
    assert (engine.crew.signals, engine.events) == ([], [])


def test_ranks_that_have_returned_may_go(engine: Engine) -> None:
    for number in (FIRST, SECOND):
        engine.say(number, RETURNED)
        engine.lose(number, "exited with code 0")
    assert (engine.crew.signals, engine.answers) == ([], [])
    engine.say(HEAD, END)
    assert engine.answers == [RanksGone("t", 0, 0)]
    engine.say(HEAD, RETURNED)
    engine.lose(HEAD, "exited with code 0")
    assert [(type(event), event.cause) for event in engine.events] == [(Ended, "returned")]  # type: ignore[union-attr]


def test_a_failure_of_a_rank_is_the_attempts(engine: Engine) -> None:
    engine.say(SECOND, ("ended", "t", 0, "raised", "ValueError: no", "Traceback"))
    engine.lose(SECOND, "exited with code 0")
    engine.pass_time()
    assert engine.crew.signals == [(HEAD, KILL), (FIRST, KILL)]
    for number in (HEAD, FIRST):
        engine.lose(number)
    (end,) = engine.events
    assert isinstance(end, Ended)
    assert (end.cause, end.error, end.traceback) == ("raised", "rank 1: ValueError: no", "Traceback")


@pytest.mark.parametrize(
    "message",
    [("saved", "u", 0, None), MAKE, END, ("reported", "t", 0, 1, "{}", None), ("save_failed", "t", 0, "x")],
)
def test_a_rank_that_speaks_for_the_head_ends_the_attempt(engine: Engine, message: Any) -> None:
    engine.say(SECOND, message)
    assert engine.crew.refused == [engine.crew.processes[SECOND - 1]]
    for number in (SECOND, FIRST, HEAD):
        engine.lose(number)
    assert [event.cause for event in engine.events] == ["killed"]  # type: ignore[union-attr]


def test_orders_go_to_the_head_alone(engine: Engine) -> None:
    for process in engine.crew.processes:
        process.pid = 10 + process.number
    sent = len(engine.crew.sent)
    engine.submit([Halt("t", 0)])
    assert engine.crew.sent[sent:] == [(HEAD, Halt("t", 0))]


def test_a_sigterm_to_a_rank_is_the_heads(engine: Engine) -> None:
    engine.notice(SECOND)
    assert engine.crew.signals == [(HEAD, TERMINATE)]
    engine.notice(HEAD)
    assert [type(event).__name__ for event in engine.events] == ["Noticed"]


def test_the_head_is_told_when_the_ranks_that_it_ended_are_gone(engine: Engine) -> None:
    engine.say(HEAD, END)
    assert engine.crew.signals == [(FIRST, KILL), (SECOND, KILL)]
    engine.lose(FIRST)
    assert engine.answers == []
    engine.lose(SECOND)
    assert engine.answers == [RanksGone("t", 0, 0)]
    assert engine.events == []
    engine.say(HEAD, ("make_ranks", "t", 0, 1, 2, "127.0.0.1:1", "secret"))
    assert [one.plan.generation for _, one in engine.crew.sent if isinstance(one, RankOrder)] == [0, 0, 1, 1]


def test_a_head_that_asks_twice_at_once_is_refused(engine: Engine) -> None:
    engine.say(HEAD, MAKE)
    assert engine.crew.refused == [engine.crew.processes[HEAD - 1]]


@pytest.mark.parametrize(("n_ranks", "error"), [(4, "resources_per_trial"), (2, "no files")])
def test_a_head_is_told_why_there_are_no_ranks(n_ranks: int, error: str) -> None:
    engine = Engine()
    engine.begin()
    engine.crew.error = error
    engine.say(HEAD, started(11), ("make_ranks", "t", 0, 0, n_ranks, "127.0.0.1:1", "secret"))
    (answer,) = engine.answers
    assert error in answer.error
    engine.say(HEAD, END, RETURNED)
    engine.lose(HEAD, "exited with code 0")
    assert (len(engine.answers), len(engine.events)) == (2, 2)
    engine._is_open = False
    engine.close()


@pytest.mark.parametrize("engine", [True], indirect=True)
def test_a_head_that_is_used_again_waits_for_the_end_of_its_ranks(engine: Engine) -> None:
    engine.say(HEAD, RETURNED)
    assert engine.crew.signals == [(FIRST, KILL), (SECOND, KILL)]
    engine.lose(FIRST)
    assert (engine.crew.idle, engine.events) == ([], [])
    engine.lose(SECOND)
    assert engine.crew.idle == [engine.crew.processes[0]]
    assert [event.cause for event in engine.events] == ["returned"]  # type: ignore[union-attr]
    assert (HEAD, KILL) not in engine.crew.signals


def test_a_head_that_died_while_it_waited_is_replaced() -> None:
    engine = Engine()
    engine.crew.was_waiting = True
    engine.begin()
    engine.lose(HEAD)
    assert [number for number, one in engine.crew.sent if isinstance(one, Start)] == [1, 2]
    assert engine.events == []
    engine._is_open = False
    engine.close()
