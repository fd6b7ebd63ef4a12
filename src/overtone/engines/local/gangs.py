"""The ranks of attempts: made when a head asks for them, all or none, and ended."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from overtone.core.messages import Start
from overtone.engines.local.exits import HEAD_GONE
from overtone.engines.local.process import Account, LocalAttempt, Shape, TrialProcess
from overtone.engines.local.process_pool import ProcessPool
from overtone.engines.loop import Loop
from overtone.errors import MessageError, ResourceError
from overtone.worker.gang.plan import GangPlan, RankOrder, rank_orders
from overtone.worker.message_codec import Message
from overtone.worker.protocol import RanksGone
from overtone.worker.server import requests

BLAME_AFTER_S = 1.0
"""Time from the end of a rank that has lost its head until the rank is blamed, in seconds."""


def most_processes_of(start: Start) -> int:
    """Return the most processes that an attempt may have: with several bundles, one more than bundles."""
    n_bundles = len(start.resources.bundles)
    return n_bundles if n_bundles == 1 else n_bundles + 1


def ranks_of(attempt: LocalAttempt) -> list[TrialProcess]:
    """Return the processes of an attempt that run ranks."""
    return [process for process in attempt.processes if process.order is not None]


@dataclass(slots=True)
class _Gang:
    """The newest ranks of an attempt.

    Attributes:
        generation: Their generation.
        waiting: The orders of ranks for which there are no processes yet.
        is_ending: Whether the head waits for the end of the ranks.
    """

    generation: int
    waiting: Sequence[RankOrder]
    is_ending: bool = False


class Gangs:
    """Makes and ends ranks, of one generation of each attempt at a time.

    Args:
        crew: Makes the processes.
        loop: The loop that runs the timers.
        shape: Returns the setup of the process for a Start.
        answer: Hands an answer to the head of an attempt.
        fail: Ends an attempt with this account.
    """

    def __init__(
        self,
        crew: ProcessPool,
        loop: Loop,
        shape: Callable[[Start], Shape],
        answer: Callable[[LocalAttempt, RanksGone], None],
        fail: Callable[[LocalAttempt, Account], None],
    ) -> None:
        self._crew, self._loop, self._shape, self._answer, self._fail = crew, loop, shape, answer, fail
        self._gangs: dict[LocalAttempt, _Gang] = {}
        self._blamed: dict[LocalAttempt, Account] = {}

    def on_message(self, attempt: LocalAttempt, message: Message) -> None:
        """Do what the head of an attempt asks for.

        Raises:
            MessageError: It asks for ranks while it has some.
        """
        if message[0] == "end_ranks":
            self.end(attempt, message[3])
            return
        plan = GangPlan(*message[3:])
        if attempt in self._gangs:
            raise MessageError("it asks for ranks while it has ranks")
        try:
            orders = rank_orders(attempt.start, plan)
        except ResourceError as error:
            self._say_gone(attempt, plan.generation, str(error))
        else:
            self.make(attempt, orders)

    def make(self, attempt: LocalAttempt, orders: Sequence[RankOrder]) -> None:
        """Make the processes of ranks, now or once processes that wait have ended."""
        self._gangs[attempt] = _Gang(orders[0].plan.generation, orders)
        self._make_now(attempt)

    def make_waiting(self) -> None:
        """Make the ranks for which a process had to end first."""
        for attempt, gang in list(self._gangs.items()):
            if gang.waiting and attempt.ended is None:
                self._make_now(attempt)

    def _make_now(self, attempt: LocalAttempt) -> None:
        gang = self._gangs[attempt]
        if attempt not in self._crew.room.kept:
            self._crew.room.keep(attempt, 1)  # so that it is forgotten, too
        shapes = [self._shape(order.start) for order in gang.waiting]
        try:
            if self._crew.broken is not None:
                raise OSError(self._crew.broken[0])
            processes = self._crew.take_ranks(attempt, shapes)
        except OSError as error:
            del self._gangs[attempt]
            self._say_gone(attempt, gang.generation, f"the ranks could not be started: {error}")
            return
        if not processes:
            return
        for process, shape, order in zip(processes, shapes, gang.waiting, strict=True):
            process.attempt, process.shape, process.order = attempt, shape, order
            process.was_waiting = False  # a rank is never replaced
            attempt.processes.append(process)
            self._crew.send(process, order)
        gang.waiting = ()
        self._crew.watch(attempt, processes=processes)

    def end(self, attempt: LocalAttempt, generation: int) -> None:
        """Kill the ranks of an attempt, and tell its head when they are gone."""
        self._blamed.pop(attempt, None)
        ranks = ranks_of(attempt)
        for process in ranks:
            process.has_returned = True
        self._crew.signal_each(ranks, requests.KILL)
        if ranks:
            self._gangs[attempt].generation, self._gangs[attempt].is_ending = generation, True
        else:
            self._gangs.pop(attempt, None)
            self._say_gone(attempt, generation)

    def end_by(self, process: TrialProcess, attempt: LocalAttempt, text: str, account: Account) -> None:
        """End an attempt of which a process is gone, at once or by `blame_later`."""
        if text == HEAD_GONE and process.order is not None:
            self.blame_later(attempt, account)
        else:
            attempt.end(account)

    def blame_later(self, attempt: LocalAttempt, account: Account) -> None:
        """End an attempt of which a rank has lost its head, unless the head's own end or wish explains it.

        A head that dies, or hangs up before it has its ranks killed, loses them a moment before the engine
        hears of it.
        """
        self._blamed.setdefault(attempt, account)
        self._loop.at(self._loop.now() + BLAME_AFTER_S, lambda: self._blame(attempt))

    def _blame(self, attempt: LocalAttempt) -> None:
        account = self._blamed.pop(attempt, None)
        if account is not None and attempt.ended is None:
            self._fail(attempt, account)

    def on_exit(self, attempt: LocalAttempt) -> None:
        """Tell the head if the last of its ranks is gone, and it waits for that."""
        if attempt in self._gangs and not ranks_of(attempt):
            gang = self._gangs.pop(attempt)
            if gang.is_ending:
                self._say_gone(attempt, gang.generation)

    def forget(self, attempt: LocalAttempt) -> None:
        """Forget an attempt that has ended."""
        self._blamed.pop(attempt, None)
        self._gangs.pop(attempt, None)
        self._crew.room.release(attempt)

    def _say_gone(self, attempt: LocalAttempt, generation: int, error: str = "") -> None:
        start = attempt.start
        if attempt.ended is None:
            self._answer(attempt, RanksGone(start.trial_id, start.attempt, generation, error))
