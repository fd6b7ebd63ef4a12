"""The simulated engine: an event heap without waiting.

`poll` returns the next events in the order of their virtual time. Reports of trials that run
ahead are returned together with the events after them, since they need no decision.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import inf

from overtone.core import messages as m
from overtone.core.account import Account
from overtone.core.job import Job
from overtone.core.ledger import check_feasible
from overtone.core.protocols import Capabilities, Engine
from overtone.engines.simulated.attempt import Attempt
from overtone.engines.simulated.fleet import Fleet, named
from overtone.engines.simulated.trials import NODE, Trials
from overtone.engines.simulated.world import Machines, World
from overtone.errors import ArgumentError, OvertoneError

BATCH = 256
MOST_EMPTY_POLLS = 1000


class Simulated(Engine):
    """Runs curves, and ordinary trainables, in virtual time.

    If a trial reports more than 1,000,000 results, the run ends with an error. This does not apply
    if `stop`, a scheduler's `max_t` or a time limit may end the trial.

    Args:
        workers: Number of CPUs of the only machine, and so of one-CPU trials at once; by default 4.
            Leave it out with `world.machines`.
        seconds: Duration of an iteration if the curve returns none.
        resources: Other resources of the only machine, by name.
        world: Simulated machines, failures and delays; by default one machine and no failures.

    Attributes:
        world: The simulated world.

    Raises:
        ValueError: An argument is invalid, or both `world.machines` and `workers` or `resources` are given.
    """

    capabilities = Capabilities(repeats=True)

    def __init__(
        self,
        workers: int | None = None,
        seconds: float = 1.0,
        resources: Mapping[str, float] | None = None,
        world: World | None = None,
    ) -> None:
        if workers is not None and (not isinstance(workers, int) or isinstance(workers, bool) or workers < 1):
            raise ArgumentError(f"workers={workers!r}: a whole number, at least one, is needed")
        if not hasattr(seconds, "__float__") or not 0 <= seconds < inf:
            raise ArgumentError(f"seconds={seconds!r}: an iteration takes 0 or more, and finite")
        if world is not None and not isinstance(world, World):
            raise ArgumentError(f"world={world!r:.100}: give World(...), such as World(Machines(count=4))")
        world = world or World()
        if world.machines and (workers is not None or resources):
            raise ArgumentError(
                f"workers={workers} and world.machines both say what there is: leave one of them out"
            )
        one = Machines(cpus=workers or 4, resources={} if resources is None else resources)
        self._kinds = named(tuple(world.machines)) or {NODE: one}
        is_elastic = any(kind.comes_and_goes for kind in self._kinds.values())
        self.capabilities = replace(self.capabilities, is_elastic=is_elastic)
        self.world = world
        self._trials = Trials(seconds, world, Fleet(self._kinds, 0))
        self._n_empty = 0

    def open(self, job: Job) -> None:
        """Prepare to run `job.trainable`.

        Raises:
            TrainableError: The trainable is neither a curve nor an ordinary trainable.
        """
        trials = self._trials
        trials.open(job)
        trials.fleet = Fleet(self._kinds, job.seed)
        for name, kind in self._kinds.items():
            if kind.joins_s > 0:
                trials.push(kind.joins_s, None, partial(self._join, name))
            else:
                self._settle_in(name)
        trials.push(trials.now, None, self._capacity())

    def now(self) -> float:
        return self._trials.now

    @property
    def cost(self) -> float:
        """The cost of all machines until now."""
        return self._trials.fleet.cost(self.now())

    @property
    def account(self) -> Account:
        trials = self._trials
        return Account(
            time_s=trials.now,
            cost=self.cost,
            machine_s=trials.fleet.machine_s(trials.now),
            trial_s=trials.trial_s,
            trained_s=trials.trained_s,
            lost_s=trials.lost_s,
            n_starts=trials.n_starts,
            n_failures=trials.n_failures,
            n_preempted=trials.fleet.n_preempted,
        )

    def submit(self, commands: Sequence[m.Command]) -> None:
        trials = self._trials
        for command in commands:
            kind = type(command)
            if kind is m.Proceed:
                trials.proceed(command)  # type: ignore[arg-type]
            elif kind is m.Start:
                trials.start(command)  # type: ignore[arg-type]
            elif kind is m.Halt:
                trials.halt(command)  # type: ignore[arg-type]
            elif kind is m.Discard:
                trials.discard(command.uri)  # type: ignore[union-attr]
            elif kind is m.Wake:
                at = max(trials.now, command.time)  # type: ignore[union-attr]
                trials.push(at, None, m.Tick(at))
            elif kind is m.Want:
                # machines come and go: perhaps none of them is ever large enough
                check_feasible(command.shape, trials.fleet.all())  # type: ignore[union-attr]

    def poll(self, timeout_s: float | None) -> Sequence[m.Event]:
        """Return the next events and set the clock to their time; with `timeout_s=0` only events due now.

        Raises:
            OvertoneError: Poll after poll returned nothing, and no event can ever follow.
        """
        events: list[m.Event] = []
        trials = self._trials
        heap, pop = trials.heap, heapq.heappop
        while heap and len(events) < BATCH:
            if timeout_s == 0 and heap[0][0] > trials.now:
                break
            at, _, attempt, what = pop(heap)
            if attempt is not None and attempt.is_gone:
                continue
            trials.now = at
            if what is None:
                if attempt is not None and trials.go_on(attempt, events):
                    break
            elif callable(what):
                if what(events):
                    break
            else:
                events.append(what)
                break
        if not events and timeout_s != 0 and not heap:
            self._look_for_life()
        else:
            self._n_empty = 0
        return events

    def close(self) -> None:
        self._trials.close()

    def describe(self) -> str:
        if not self.world.machines:
            return f"simulated engine: {self._kinds[NODE].cpus:g} workers on a virtual clock"
        shown = ", ".join(f"{one.count} {one.name} with {one.cpus:g} CPUs" for one in self.world.machines)
        return f"simulated engine: {shown}, on a virtual clock"

    # --- machines --------------------------------------------------------------------------

    def _settle_in(self, name: str) -> None:
        """Add a machine, and schedule its notice and its end."""
        node = self._trials.fleet.join(name, self._trials.now)
        if node.goes_at is None:
            return
        notice_at = node.goes_at - node.kind.notice_s
        if node.kind.notice_s > 0:
            self._trials.push(max(self._trials.now, notice_at), None, partial(self._notice, name))
        self._trials.push(node.goes_at, None, partial(self._go, name))

    def _join(self, name: str, events: list[m.Event]) -> bool:
        self._settle_in(name)
        events.append(self._capacity())
        return True

    def _notice(self, name: str, events: list[m.Event]) -> bool:
        """Give notice that a machine will leave: no new trials start there, and its trials are informed."""
        node = self._trials.fleet.nodes[name]
        node.is_going = True
        events.append(self._capacity())
        now = self.now()
        grace_s = (node.goes_at or now) - now
        events += [m.Noticed(now, one.trial_id, one.number, grace_s) for one in self._attempts_on(name)]
        return True

    def _go(self, name: str, events: list[m.Event]) -> bool:
        node = self._trials.fleet.go(name, self._trials.now)
        if node.returns_at is not None:
            self._trials.push(node.returns_at, None, partial(self._join, name))
        if not node.is_going:
            events.append(self._capacity())
        for one in self._attempts_on(name):
            self._trials.kill(one, "lost", f"machine {name} was taken away", events)
        return True

    def _attempts_on(self, name: str) -> list[Attempt]:
        return [one for one in self._trials.attempts.values() if name in one.nodes]

    def _capacity(self) -> m.CapacityChanged:
        return m.CapacityChanged(self._trials.now, self._trials.fleet.capacity())

    def _look_for_life(self) -> None:
        self._n_empty += 1
        if self._n_empty > MOST_EMPTY_POLLS:
            raise OvertoneError(
                f"nothing can happen any more at {self._trials.now:g} s: every trial waits, and no "
                f"machine is to come. There are {self._trials.fleet.capacity() or 'no machines'}"
            )
