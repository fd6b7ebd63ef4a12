"""A state machine against the controller: hypothesis is the world, and as unkind as it may be.

It plays searcher, processes and machines, message by message: what comes late, twice, out of
order between trials, or never; nodes that come and go; saves that fail; drivers that die. After
each step the books must balance, and once the world answers everything it must come to an end.
"""

from __future__ import annotations

import math
import os
from collections import Counter
from dataclasses import dataclass, field, replace

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from overtone.core import messages as m
from overtone.core.controller import Controller
from overtone.core.decision import CONTINUE, SAVE, Add, Pause, Restart, Stop
from overtone.core.goal import Goal
from overtone.core.ledger import UNIT
from overtone.core.limits import Limits
from overtone.core.protocols import TrialScheduler
from overtone.core.resources import Resources
from overtone.core.retention import Retention
from overtone.core.trial import TRANSITIONS, Status, Template
from overtone.core.types import Checkpoint, Why
from overtone.schedulers.asha import ASHAScheduler
from overtone.schedulers.fifo import FIFOScheduler

FULL = {"a": {"cpu": 2, "gpu": 1}, "b": {"cpu": 2}}
NODES = [FULL, {"a": FULL["a"]}, {"b": FULL["b"]}, {"b": {"cpu": 1}, "c": {"cpu": 4, "gpu": 2}}, {}]
PLENTY = {**FULL, "c": {"cpu": 4, "gpu": 2}}
SCORES = [0.0, 0.5, 1.0, -1.0, math.nan, math.inf, None]
WHY = Why("whim")
LENGTH = 6
MOST_STEPS = 5_000


class Whims(TrialScheduler):
    """Rules by keyed draws, so that a replay rules the same; tires of it after some attempts."""

    def __init__(self) -> None:
        self.n_reviews = self.n_added = 0

    def on_start(self, view) -> None:
        self.view = view

    def on_result(self, trial, result):
        random = self.view.random("whim", f"{trial.id} {trial.attempt}", result.t)
        if trial.attempt > 4:
            return CONTINUE
        chance, sources = random.random(), self.sources()
        if chance < 0.1:
            return SAVE
        if chance < 0.4:
            return Pause(WHY)
        if chance < 0.45:
            return Stop(WHY)
        if chance < 0.65 and sources:
            return Restart({**trial.config, "again": trial.attempt}, random.choice(sources), WHY)
        return CONTINUE

    def review(self, trials):
        self.n_reviews += 1
        random = self.view.random("review", "", self.n_reviews)
        if random.random() < 0.15 and self.n_added < 2:
            self.n_added += 1
            yield "", Add({"cpu": 1}, random.choice([None, *self.sources()]), WHY)
        for trial in [*trials.running(), *trials.paused()]:
            if random.random() < 0.1 and trial.attempt < 4:
                may = [Stop(WHY), SAVE, Pause(WHY)]
                may += [Restart(trial.config, None, WHY)] if trial.checkpoint is not None else []
                yield trial.id, random.choice(may)

    def next_decision(self, trial):
        return float(trial.index % 3) * 2

    def sources(self):
        return [trial.id for trial in self.view.trials.values() if trial.checkpoint is not None]


@dataclass
class Process:
    """A trial's process, as far as the controller can know it."""

    start: m.Start
    t: int
    until_t: float
    is_up: bool = False
    waits: bool = False
    is_parked: bool = False
    wants_save: bool = False
    halt: m.Halt | None = None
    last_saved_t: int = field(default=-1)


class Machine(RuleBasedStateMachine):
    """One experiment, message by message."""

    make = Whims

    @initialize(
        seed=st.integers(0, 2**16),
        total=st.integers(1, 6),
        lookahead=st.sampled_from([0, 0, 2]),
        concurrent=st.sampled_from([None, None, 1, 2]),
        failures=st.sampled_from([0, 1, 3, -1]),
        budget=st.sampled_from([None, None, None, 30.0]),
        parked=st.sampled_from([0, 1, 16]),
        keep=st.sampled_from([None, 1, 2]),
        fail_fast=st.sampled_from([False, False, False, True]),
        has_room=st.sampled_from([None, None, 250]),
    )
    def begin(self, seed, total, lookahead, concurrent, failures, budget, parked, keep, fail_fast, has_room):
        self.limits = Limits(total, lookahead, concurrent, failures, fail_fast, budget, parked)
        self.seed, self.keep, self.has_room = seed, keep, has_room
        self.controller = self.fresh()
        self.time, self.n_saved = 0.0, 0
        self.records: list[m.Record] = []
        self.said: list[m.Event] = []
        self.asked: list[int] = []
        self.processes: dict[tuple[str, int], Process] = {}
        self.started: Counter[str] = Counter()
        self.kept: dict[str, Checkpoint] = {}
        self.statuses: dict[str, Status] = {}
        self.attempts: dict[str, int] = {}
        self.nodes: dict = {}
        self.tell(m.CapacityChanged(0.0, FULL))

    def fresh(self) -> Controller:
        return Controller(
            self.make(),
            Goal("score", "max"),
            limits=self.limits,
            template=Template(resources=demand, priority=lambda config: config.get("cpu", 1) % 2),
            retention=Retention(self.keep, self.has_room),
            seed=self.seed,
            observes=True,
        )

    # --- telling, and being told -------------------------------------------------------

    def tell(self, event: m.Event, is_new: bool = True) -> None:
        """An event reaches the controller; what follows is carried out."""
        event = replace(event, time=self.time)
        if is_new:
            self.said.append(event)
        if isinstance(event, m.CapacityChanged):
            self.nodes = event.nodes
        before = None if is_new else self.state()
        choices, commands, is_stale = self.controller.handle(event)
        if is_stale:
            assert not choices
            assert not commands
            assert before is None or before == self.state(), "what is ignored changes nothing"
            return
        self.records.append(m.Record(len(self.records) + 2, event, choices))
        for choice in choices:
            self.follow(choice)
        for command in commands:
            self.carry_out(command)
        if isinstance(event, m.CapacityChanged):
            self.lose_nodes()

    def follow(self, choice: m.Choice) -> None:
        if isinstance(choice, m.Added):
            assert choice.trial_id not in self.statuses
            self.statuses[choice.trial_id], self.attempts[choice.trial_id] = Status.PENDING, 0
        elif isinstance(choice, m.Moved):
            after = Status(choice.status)
            assert after in TRANSITIONS[self.statuses[choice.trial_id]]
            self.statuses[choice.trial_id] = after
            assert choice.attempt in (self.attempts[choice.trial_id], self.attempts[choice.trial_id] + 1)
            self.attempts[choice.trial_id] = choice.attempt
            if choice.placement is not None:
                self.nothing_is_given_twice(choice.placement.nodes)

    def nothing_is_given_twice(self, nodes) -> None:
        """Whoever was placed found room: also where nodes had become smaller before."""
        for name in nodes:
            node = self.controller._ledger._nodes[name]
            assert min(node.free.values(), default=0) >= 0
            assert min(node.gpus, default=0) >= 0

    def carry_out(self, command: m.Command) -> None:
        match command:
            case m.Suggest(index):
                self.asked.append(index)
            case m.Start():
                self.start(command)
            case m.Proceed(trial_id, attempt, until_t, save):
                process = self.processes.get((trial_id, attempt))
                if process is not None and process.halt is None:
                    assert process.waits or process.t <= until_t or save, "nobody asked"
                    process.waits = process.is_parked = False
                    process.until_t, process.wants_save = until_t, process.wants_save or save
            case m.Halt(trial_id, attempt):
                process = self.processes.get((trial_id, attempt))
                if process is not None:
                    process.halt, process.is_parked = command, False
            case m.Discard(uri):
                assert uri in self.kept, "discarded twice"
                needs = [
                    one.id for one in self.controller.trials.values()
                    if one.checkpoint is not None and one.checkpoint.uri == uri
                ]  # fmt: skip
                assert not needs, f"{needs} would go on from {uri}"
                del self.kept[uri]

    def start(self, start: m.Start) -> None:
        running = [other for other in self.processes if other[0] == start.trial_id]
        assert not running, f"{start.trial_id} was started while {running} runs"
        assert start.attempt >= self.started[start.trial_id], "attempts grow"
        self.started[start.trial_id] = start.attempt + 1
        assert start.checkpoint is None or start.checkpoint.uri in self.kept
        assert all(one.uri in self.kept for one in start.fallbacks)
        t = start.checkpoint.t if start.checkpoint is not None else 0
        self.processes[start.trial_id, start.attempt] = Process(start, t, start.until_t)

    def lose_nodes(self) -> None:
        for name, process in list(self.processes.items()):
            if not set(process.start.placement.nodes) <= set(self.nodes):
                self.end(name, "lost")

    def end(self, name: tuple[str, int], cause: m.Cause) -> None:
        if name in self.processes:  # a node may have taken it meanwhile
            del self.processes[name]
            self.tell(
                m.Ended(0.0, *name, cause, "" if cause in ("returned", "halted") else f"it was {cause}")
            )

    def saved(self, name: tuple[str, int]) -> Checkpoint:
        self.n_saved += 1
        uri = f"/{name[0]}/{self.n_saved}"
        checkpoint = Checkpoint(name[0], self.processes[name].t, uri, 100, self.n_saved % 3 == 0)
        self.kept[uri] = checkpoint
        return checkpoint

    def pick(self, i: int, fits) -> tuple[str, int] | None:
        names = [name for name, process in self.processes.items() if fits(process)]
        return names[i % len(names)] if names else None

    # --- what can happen ---------------------------------------------------------------

    @precondition(lambda self: self.asked)
    @rule(
        cpu=st.sampled_from([1, 1, 0.5, 2, 4]), gpu=st.sampled_from([0, 0, 0, 0.5, 1]), has_one=st.booleans()
    )
    def answer(self, cpu, gpu, has_one):
        running = any(process.is_up for process in self.processes.values())
        config = {"cpu": cpu, "gpu": gpu} if has_one or not running else None
        self.tell(m.Suggested(0.0, self.asked.pop(0), config))

    @rule(i=st.integers(0, 7), damaged=st.sampled_from([0, 0, 0, 1, 9]))
    def boot(self, i, damaged):
        name = self.pick(i, lambda one: not one.is_up)
        if name is not None:
            process = self.processes[name]
            may = [process.start.checkpoint, *process.start.fallbacks, None]
            restored = may[min(damaged, len(may) - 1)] if process.start.checkpoint is not None else None
            process.is_up, process.t = True, restored.t if restored is not None else 0
            node = process.start.placement.nodes[0]
            self.tell(m.Started(0.0, *name, node, 1, "host", restored))

    @rule(i=st.integers(0, 7), score=st.sampled_from(SCORES), saves=st.booleans(), is_last=st.booleans())
    def report(self, i, score, saves, is_last):
        name = self.pick(i, lambda one: one.is_up and not one.waits)
        if name is not None:
            process = self.processes[name]
            process.t += 1
            process.waits = process.t >= process.until_t
            metrics = {"training_iteration": process.t, "done": is_last and process.t > LENGTH}
            metrics |= {} if score is None else {"score": score}
            saved = self.saved(name) if saves else None
            self.tell(m.Reported(0.0, *name, process.t, metrics, saved))

    @rule(i=st.integers(0, 7), fails=st.booleans())
    def save(self, i, fails):
        """What was asked for, or before a halt."""
        name = self.pick(
            i, lambda one: one.is_up and (one.wants_save or (one.halt is not None and one.halt.save))
        )
        if name is None:
            return
        process = self.processes[name]
        process.wants_save = False
        if not fails:
            self.tell(m.Saved(0.0, *name, self.saved(name)))
        else:
            self.fail_to_save(name)

    def fail_to_save(self, name) -> None:
        process = self.processes[name]
        halt, process.halt = process.halt, None
        process.waits = process.is_parked = halt is not None and halt.park
        if halt is not None and not halt.park:
            process.halt = replace(halt, save=False)
        self.tell(m.SaveFailed(0.0, *name, "no room"))

    @rule(i=st.integers(0, 7))
    def obey(self, i):
        name = self.pick(i, lambda one: one.halt is not None and one.is_up)
        if name is not None:
            process = self.processes[name]
            if process.halt.save and self.needs_one(name):
                self.tell(m.Saved(0.0, *name, self.saved(name)))
            self.end(name, "halted")

    def needs_one(self, name) -> bool:
        """Whether a trial that is halted now would have nothing to go on from: then it saves."""
        return name in self.processes and self.controller.trials[name[0]].checkpoint is None

    @rule(i=st.integers(0, 7), moves=st.booleans())
    def notice(self, i, moves):
        name = self.pick(i, lambda one: one.is_up or moves)
        if name is not None:
            self.tell(m.Noticed(0.0, *name, 30.0, moves))

    @rule(i=st.integers(0, 7), cause=st.sampled_from(["raised", "killed", "lost", "limit", "returned"]))
    def die(self, i, cause):
        name = self.pick(i, lambda one: one.is_up or cause in ("killed", "lost", "raised"))
        if name is not None:
            self.end(name, cause)

    @precondition(lambda self: self.said)
    @rule(back=st.integers(1, 60))
    def repeat(self, back):
        """A message comes again, however late."""
        event = self.said[-min(back, len(self.said))]
        kept = getattr(event, "checkpoint", None)
        if isinstance(event, (m.Started, m.Reported, m.Saved, m.Ended)) and (
            kept is None or not isinstance(event, m.Saved) or kept.uri in self.kept
        ):
            self.tell(event, is_new=False)

    @rule(nodes=st.sampled_from(NODES))
    def change_capacity(self, nodes):
        self.tell(m.CapacityChanged(0.0, nodes))

    @rule(i=st.integers(0, 7), what=st.sampled_from(["notice", "stop", "nobody"]))
    def meddle(self, i, what):
        trials = list(self.controller.trials.values())
        if what == "nobody":
            self.tell(m.Ended(0.0, "nobody", 0, "killed"), is_new=False)
        elif trials:
            trial = trials[i % len(trials)]
            notice = m.Noticed(0.0, trial.id, trial.attempt, 1.0)
            self.tell(notice if what == "notice" else m.Requested(0.0, "stop_trial", trial.id))

    @rule(n=st.integers(1, 15))
    def go_on(self, n):
        """All goes well for a while."""
        for _ in range(n):
            if not self.step():
                break

    @rule(i=st.integers(0, 7), then=st.sampled_from(["halt", "die", "wait"]))
    def cannot_save(self, i, then):
        """A trial that should pause stays in its report, and perhaps ends there."""
        name = self.pick(i, lambda one: one.is_up and one.halt is not None and one.halt.park)
        if name is not None:
            self.fail_to_save(name)
            if then == "die":
                self.end(name, "killed")
            elif then == "halt" and name in self.processes:
                self.tell(m.Requested(0.0, "stop_trial", name[0]))

    @rule(seconds=st.sampled_from([0.1, 1.0, 10.0]))
    def wait(self, seconds):
        self.time += seconds
        if self.limits.time_budget_s is not None and self.time >= self.limits.time_budget_s:
            self.tell(m.Tick(0.0))

    @rule(what=st.sampled_from([None] * 6 + [m.Interrupted(0.0), m.Requested(0.0, "stop")]))
    def close(self, what):
        if what is not None:
            self.tell(what)

    @rule(more=st.sampled_from([0, 0, 2]), errored=st.sampled_from(["", "", "resume", "restart"]))
    def lose_the_driver(self, more, errored):
        """Its processes end with it; another one replays the journal and goes on."""
        if self.limits.time_budget_s is not None and self.controller._endings.closing is not None:
            return  # the budget stays spent
        self.replay_is_equal()
        self.processes.clear()
        self.asked.clear()
        limits = self.controller.limits
        limits = replace(limits, total=(limits.total or 0) + more)
        self.tell(m.Resumed(0.0, limits, errored))
        self.tell(m.CapacityChanged(0.0, self.nodes))

    def state(self):
        """All that is known of trials, and who holds and keeps what."""
        controller = self.controller
        retention = controller._roster._retention
        return (
            repr(list(controller.trials.values())),
            repr(sorted(controller._ledger._placed.items())),
            repr(sorted(controller._ledger._nodes.items())),
            repr(controller._queue._waiting),
            repr(sorted(controller._roster.live.items())),
            repr((retention._kept, sorted(retention._pins.items()), retention._due)),
            (controller.is_done, controller._supply.outstanding, controller._supply._next),
        )

    # --- what must hold after each step ------------------------------------------------

    @invariant()
    def the_books_balance(self):
        if not hasattr(self, "controller"):
            return
        ledger, trials = self.controller._ledger, self.controller.trials
        used: dict[tuple[str, str], int] = {}
        for trial_id, parts in ledger._placed.items():
            for bundle, (node, demand, _) in zip(trials[trial_id].resources.bundles, parts, strict=True):
                assert demand == tuple((name, round(amount * UNIT)) for name, amount in bundle)
                for name, units in demand:
                    used[node, name] = used.get((node, name), 0) + units
        for name, node in ledger._nodes.items():
            for kind, free in node.free.items():
                has = ledger._capacity[name].get(kind, 0)
                assert free == has - used.get((name, kind), 0), f"{name} {kind}"
        placed = set(ledger._placed)
        assert {one.id for one in trials.values() if one.status in RUNS} <= placed
        assert placed <= {one.id for one in trials.values() if one.status.is_placed}
        assert placed <= set(self.controller._roster.live)
        assert len(placed) <= (self.limits.max_concurrent or 99)

    @invariant()
    def what_is_needed_is_kept_and_nothing_else(self):
        if not hasattr(self, "controller"):
            return
        roster, trials = self.controller._roster, self.controller.trials.values()
        retention = roster._retention
        needed = Counter(one.checkpoint.uri for one in trials if one.checkpoint is not None)
        ended = Counter(one.checkpoint.uri for one in trials if one.checkpoint and one.status.is_final)
        needed.update(live.restart_from.uri for live in roster.live.values() if live.restart_from)
        assert +retention._pins == needed, "each who would go on from it has it pinned, once"
        assert +retention._rests == ended
        entries = [*retention._due.values(), *(one for kept in retention._kept.values() for one in kept)]
        assert {one.checkpoint.uri for one in entries} == set(self.kept), (
            "what is there is known, and the reverse"
        )
        assert needed.keys() <= self.kept.keys()
        assert sum(one.checkpoint.size_bytes for one in entries) == retention._bytes

    @invariant()
    def who_waits_is_queued_and_who_runs_is_not(self):
        if not hasattr(self, "controller"):
            return
        queue, trials = self.controller._queue, self.controller.trials
        waiting = {one.id for one in trials.values() if one.status in WAITS}
        assert {one.id for one in (*queue.pending(), *queue.paused())} == waiting
        assert queue.n_pending == sum(one.status is Status.PENDING for one in trials.values())
        assert set(self.controller._roster.live) == {name for name, _ in self.processes}
        assert self.controller._roster.parked == {
            one.id for one in trials.values() if one.status is Status.PARKED
        }
        assert self.controller._supply.outstanding == len(self.asked)
        reserved = self.controller._ledger.reserved_for
        assert reserved is None or trials[reserved].status in WAITS

    # --- the end -----------------------------------------------------------------------

    def teardown(self):
        """It comes to an end; a new driver goes on with it, with more to do; and it ends again."""
        if not hasattr(self, "controller"):
            return
        if self.seed % 3 == 0:
            self.tell(m.Interrupted(0.0))
        self.drain()
        may_go_on = self.limits.time_budget_s is None
        if may_go_on:
            self.lose_the_driver(2, ["", "resume", "restart"][self.seed % 3])
            assert self.controller.is_running
            self.drain()
            assert self.controller.is_finished
        if self.controller.is_finished:
            assert all(one.status.is_final for one in self.controller.trials.values())
        self.replay_is_equal()

    def drain(self) -> None:
        """The world answers everything."""
        self.tell(m.CapacityChanged(0.0, PLENTY))
        for _ in range(MOST_STEPS):
            if not self.step():
                break
        else:
            raise AssertionError(f"no end: {self.statuses}")
        for check in (self.the_books_balance, self.what_is_needed_is_kept_and_nothing_else):
            check()
        trials = self.controller.trials.values()
        assert self.controller.is_done, f"stuck: {[(one.id, one.status.value) for one in trials]}"
        assert not self.processes
        assert len(self.controller._ledger) == 0

    def replay_is_equal(self) -> None:
        """A fresh controller comes to the same state, and chooses the same."""
        before, fresh = self.state(), self.fresh()
        for record in self.records:
            outcome, differs = fresh.replay(record)
            assert differs == []
            assert repr(outcome.choices) == repr(record.choices)
        self.controller = fresh
        assert self.state() == before, "a replay leads to the same state"

    def step(self) -> bool:
        """The world answers one thing; False where there is nothing to answer."""
        self.time += 0.01
        if self.asked:
            self.tell(m.Suggested(0.0, self.asked.pop(0), {"cpu": 1}))
            return True
        for name, process in self.processes.items():
            if not process.is_up:
                self.boot(list(self.processes).index(name), 0)
                return True
        for name, process in list(self.processes.items()):
            if process.halt is not None:
                if process.halt.save and self.needs_one(name):
                    self.tell(m.Saved(0.0, *name, self.saved(name)))
                self.end(name, "halted")
                return True
            if process.waits:
                continue
            if process.t >= LENGTH:
                if self.controller.trials[name[0]].best is None:
                    process.t, process.waits = process.t + 1, process.t + 1 >= process.until_t
                    metrics = {"training_iteration": process.t, "score": 1.0}
                    self.tell(m.Reported(0.0, *name, process.t, metrics))
                else:
                    self.end(name, "returned")
                return True
            process.t += 1
            process.waits = process.t >= process.until_t
            self.tell(m.Reported(0.0, *name, process.t, {"training_iteration": process.t, "score": 0.5}))
            return True
        return False


RUNS = (Status.STARTING, Status.RUNNING)
WAITS = (Status.PENDING, Status.PAUSED, Status.PARKED)


def demand(config):
    amounts = {name: config[name] for name in ("cpu", "gpu") if config.get(name)}
    return Resources.of(amounts or {"cpu": 1})


class AshaMachine(Machine):
    make = staticmethod(lambda: ASHAScheduler(max_t=4, reduction_factor=2))


class FifoMachine(Machine):
    make = FIFOScheduler


# who tries mutants, and CI, want to know that there is a mistake: a smaller story of it takes a minute
PHASES = (Phase.explicit, Phase.generate) if os.environ.get("CI") else tuple(Phase)
bounded = settings(
    deadline=None, max_examples=60, stateful_step_count=40, derandomize=True,
    phases=PHASES, database=None,
    suppress_health_check=list(HealthCheck),
)  # fmt: skip
TestWhims, TestAsha, TestFifo = Machine.TestCase, AshaMachine.TestCase, FifoMachine.TestCase
TestWhims.settings = bounded
TestAsha.settings = TestFifo.settings = settings(bounded, max_examples=25)
