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
from overtone.core.job import Job
from overtone.core.ledger import check_feasible
from overtone.core.protocols import Engine
from overtone.engines.simulated import trials
from overtone.engines.simulated.account import Account
from overtone.engines.simulated.attempt import Attempt
from overtone.engines.simulated.fleet import Fleet, named
from overtone.engines.simulated.relative_store import RelativeStore
from overtone.engines.simulated.source import curve_of
from overtone.engines.simulated.trials import NODE, Trials
from overtone.engines.simulated.world import Machines, World
from overtone.errors import OvertoneError

BATCH = 256
MOST_EMPTY_POLLS = 1000


class Simulated(Trials, Engine):
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
        is_elastic: Whether machines come and go.

    Raises:
        ValueError: An argument is invalid, or both `world.machines` and `workers` or `resources` are given.
    """

    repeats = True

    def __init__(
        self,
        workers: int | None = None,
        seconds: float = 1.0,
        resources: Mapping[str, float] | None = None,
        world: World | None = None,
    ) -> None:
        if workers is not None and (not isinstance(workers, int) or isinstance(workers, bool) or workers < 1):
            raise ValueError(f"workers={workers!r}: a whole number, at least one, is needed")
        if not hasattr(seconds, "__float__") or not 0 <= seconds < inf:
            raise ValueError(f"seconds={seconds!r}: an iteration takes 0 or more, and finite")
        if world is not None and not isinstance(world, World):
            raise ValueError(f"world={world!r:.100}: give World(...), such as World(Machines(count=4))")
        world = world or World()
        if world.machines and (workers is not None or resources):
            raise ValueError(
                f"workers={workers} and world.machines both say what there is: leave one of them out"
            )
        one = Machines(cpus=workers or 4, resources={} if resources is None else resources)
        self._kinds = named(tuple(world.machines)) or {NODE: one}
        self.is_elastic = any(kind.comes_and_goes for kind in self._kinds.values())
        Trials.__init__(self, seconds, world, Fleet(self._kinds, 0))
        self._n_empty = 0

    def open(self, job: Job) -> None:
        """Prepare to run `job.trainable`.

        Raises:
            TrainableError: The trainable is neither a curve nor an ordinary trainable.
        """
        self._curve_of = curve_of(job)
        if job.store is not None:
            job = replace(job, store=RelativeStore(job.store, job.folder))
        self._job = job
        self._saves = bool(job.checkpoint_freq or (job.checkpoint_freq is None and self.world.takes_trials))
        self._now = float(job.elapsed_s)
        if job.limits is not None and job.limits.time_s is not None:
            self._limit_s = job.limits.time_s
        self._most_results = inf if job.is_bounded else trials.MOST_RESULTS
        self._fleet = Fleet(self._kinds, job.seed)
        for name, kind in self._kinds.items():
            if kind.joins_s > 0:
                self._push(kind.joins_s, None, partial(self._join, name))
            else:
                self._settle_in(name)
        self._push(self._now, None, self._capacity())

    @property
    def cost(self) -> float:
        """The cost of all machines until now."""
        return self._fleet.cost(self._now)

    @property
    def account(self) -> Account:
        """The resource use and cost until now."""
        running = self._attempts.values()
        return Account(
            time_s=self._now,
            cost=self.cost,
            machine_s=self._fleet.machine_s(self._now),
            trial_s=self._trial_s + sum(self._now - one.began for one in running),
            trained_s=self._trained_s + sum(one.trained_s(self._now) - one.before_s for one in running),
            lost_s=self._lost_s,
            n_starts=self._n_starts,
            n_failures=self._n_failures,
            n_preempted=self._fleet.n_preempted,
        )

    def submit(self, commands: Sequence[m.Command]) -> None:
        for command in commands:
            kind = type(command)
            if kind is m.Proceed:
                self._proceed(command)  # type: ignore[arg-type]
            elif kind is m.Start:
                self._start(command)  # type: ignore[arg-type]
            elif kind is m.Halt:
                self._halt(command)  # type: ignore[arg-type]
            elif kind is m.Discard:
                self._discard(command.uri)  # type: ignore[union-attr]
            elif kind is m.Wake:
                at = max(self._now, command.time)  # type: ignore[union-attr]
                self._push(at, None, m.Tick(at))
            elif kind is m.Want:
                # machines come and go: perhaps none of them is ever large enough
                check_feasible(command.shape, self._fleet.all())  # type: ignore[union-attr]

    def poll(self, timeout_s: float | None) -> Sequence[m.Event]:
        """Return the next events and set the clock to their time; with `timeout_s=0` only events due now.

        Raises:
            OvertoneError: Poll after poll returned nothing, and no event can ever follow.
        """
        events: list[m.Event] = []
        heap, pop = self._heap, heapq.heappop
        while heap and len(events) < BATCH:
            if timeout_s == 0 and heap[0][0] > self._now:
                break
            at, _, attempt, what = pop(heap)
            if attempt is not None and attempt.is_gone:
                continue
            self._now = at
            if what is None:
                if attempt is not None and self._go_on(attempt, events):
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
        self._heap.clear()
        for attempt in list(self._attempts.values()):
            self._forget(attempt)
            if attempt.live is not None:
                attempt.live.vanish()

    def describe(self) -> str:
        if not self.world.machines:
            return f"simulated engine: {self._kinds[NODE].cpus:g} workers on a virtual clock"
        shown = ", ".join(f"{one.count} {one.name} with {one.cpus:g} CPUs" for one in self.world.machines)
        return f"simulated engine: {shown}, on a virtual clock"

    # --- machines --------------------------------------------------------------------------

    def _settle_in(self, name: str) -> None:
        """Add a machine, and schedule its notice and its end."""
        node = self._fleet.join(name, self._now)
        if node.goes_at is None:
            return
        notice_at = node.goes_at - node.kind.notice_s
        if node.kind.notice_s > 0:
            self._push(max(self._now, notice_at), None, partial(self._notice, name))
        self._push(node.goes_at, None, partial(self._go, name))

    def _join(self, name: str, events: list[m.Event]) -> bool:
        self._settle_in(name)
        events.append(self._capacity())
        return True

    def _notice(self, name: str, events: list[m.Event]) -> bool:
        """Give notice that a machine will leave: no new trials start there, and its trials are informed."""
        node = self._fleet.nodes[name]
        node.is_going = True
        events.append(self._capacity())
        grace_s = (node.goes_at or self._now) - self._now
        events += [m.Noticed(self._now, one.trial_id, one.number, grace_s) for one in self._attempts_on(name)]
        return True

    def _go(self, name: str, events: list[m.Event]) -> bool:
        node = self._fleet.go(name, self._now)
        if node.returns_at is not None:
            self._push(node.returns_at, None, partial(self._join, name))
        if not node.is_going:
            events.append(self._capacity())
        for one in self._attempts_on(name):
            self._kill(one, "lost", f"machine {name} was taken away", events)
        return True

    def _attempts_on(self, name: str) -> list[Attempt]:
        return [one for one in self._attempts.values() if name in one.nodes]

    def _capacity(self) -> m.CapacityChanged:
        return m.CapacityChanged(self._now, self._fleet.capacity())

    def _look_for_life(self) -> None:
        self._n_empty += 1
        if self._n_empty > MOST_EMPTY_POLLS:
            raise OvertoneError(
                f"nothing can happen any more at {self._now:g} s: every trial waits, and no "
                f"machine is to come. There are {self._fleet.capacity() or 'no machines'}"
            )
