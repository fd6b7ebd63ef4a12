"""The controller in a world where everything goes wrong: it always ends, and a replay is equal.

`World` itself checks that nothing is started that does not fit, or twice, or from a
checkpoint that is gone, and that no checkpoint is discarded that a trial would go on from.
"""

import json
from collections import Counter
from dataclasses import replace
from random import Random

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from overtone.core import messages as m
from overtone.core.controller import Controller
from overtone.core.decision import CONTINUE, SAVE, Add, Pause, Restart, Stop
from overtone.core.fairness import RESERVED_SHARE
from overtone.core.goal import Goal
from overtone.core.limits import Limits
from overtone.core.protocols import TrialScheduler
from overtone.core.resources import Resources
from overtone.core.retention import Retention
from overtone.core.table import TrialTable
from overtone.core.trial import TRANSITIONS, Status, Template
from overtone.core.types import Why
from overtone.journal.formats import Upgrade
from overtone.run.resume.state_codec import frozen, thaw
from overtone.schedulers.asha import ASHAScheduler
from overtone.schedulers.fifo import FIFOScheduler
from overtone.testing.random_requests import random_request, releases
from overtone.testing.trial_life import Perils
from overtone.testing.world import World

MOST_SAMPLES = 20
WHY, RESTART = Why("chaos"), Why("restart")
NODES = {"a": {"cpu": 3, "gpu": 1}, "b": {"cpu": 2, "gpu": 2}}
SPARE = [NODES, {"a": NODES["a"]}, {"b": NODES["b"], "c": {"cpu": 1}}, {"a": {"cpu": 1}}, {}]
CALM = Perils()


class Chaos(TrialScheduler):
    """Pauses, stops, restarts, saves and adds at random, by keyed draws."""

    def __init__(self):
        self.n_added = self.n_asked = 0

    def on_start(self, view):
        self.view = view

    def sources(self):
        return [trial.id for trial in self.view.trials.values() if trial.checkpoint is not None]

    def on_result(self, trial, result):
        random = self.view.random("result", f"{trial.id} {trial.attempt}", result.t)
        chance, sources = random.random(), self.sources()
        if chance < 0.1:
            return SAVE
        if chance < 0.25:
            return Pause(WHY)
        if chance < 0.3:
            return Stop(WHY)
        if chance < 0.4 and sources and trial.attempt < 5:
            config = {**trial.config, "cpu": 99} if random.random() < 0.1 else dict(trial.config)
            return Restart(config, random.choice(sources), RESTART)
        return CONTINUE if chance < 0.7 else "CONTINUE"

    def choose_trial_to_run(self, trials):
        runnable = list(trials.runnable())
        return runnable[len(runnable) // 2] if runnable else None

    def review(self, trials):
        self.n_asked += 1
        random = self.view.random("review", "", self.n_asked)
        if random.random() < 0.2 and self.n_added < 4:
            self.n_added += 1
            source = random.choice([None, *self.sources()])
            yield "", Add({"length": random.randint(1, 5)}, source, WHY)
        for trial in list(trials.live()):
            decisions = [Stop(WHY), SAVE, CONTINUE, Pause(WHY)]
            if trial.checkpoint is not None and trial.attempt < 5:
                decisions.append(Restart({**trial.config, "turn": self.n_asked}, None, RESTART))
            if random.random() < 0.15:
                yield trial.id, random.choice(decisions)

    def next_decision(self, trial):
        return float(trial.index % 3)


def demand(config):
    one = {name: config[name] for name in ("cpu", "gpu") if name in config} or {"cpu": 1}
    return Resources.of([one, one], "SPREAD") if config.get("pair") else Resources.of(one)


def drawn(random, n):
    """The configs of n trials."""
    return [
        {
            "length": random.randint(1, 8),
            "pace_s": random.choice([0.1, 1, 1, 10]),
            "cpu": random.choice([0.5, 1, 1, 2]),
            "gpu": random.choice([0, 0, 0, 0.3, 0.5, 1]),
            "pair": random.random() < 0.1,
            "saves": random.choice(["reports", "asked", "never"]),
            "saved_bytes": random.randint(1, 9),
            "score": random.choice([random.random(), 1.0, float("nan")]),
        }
        for _ in range(n)
    ]


class Life(RuleBasedStateMachine):
    """One experiment: things happen, and in between the world changes."""

    make = FIFOScheduler

    @initialize(seed=st.integers(0, 2**32), data=st.data())
    def begin(self, seed, data):
        random = self.random = Random(seed)

        def chance(*chances):
            return data.draw(st.sampled_from(chances))

        self.options = {
            "limits": Limits(
                total=data.draw(st.integers(1, 10)),
                lookahead=chance(0, 0, 3),
                max_concurrent=chance(None, None, 1, 3),
                max_failures=chance(0, 2, -1),
                fail_fast=chance(False, False, False, True),
                time_budget_s=chance(None, None, 40.0),
                max_parked=chance(0, 2, 16),
            ),
            "keep": chance(None, 1, 2),
            "most_bytes": chance(None, None, 30),
            "seed": seed,
        }
        self.has_nones = chance(False, True)
        self.controller = self.fresh()
        self.configs = configs = drawn(random, MOST_SAMPLES)
        self.totals = [self.options["limits"].total]
        self.caps = [self.options["limits"].max_concurrent]
        self.answers = []

        def suggest(index):
            is_running = next(self.controller.view.running(), None) is not None
            if self.has_nones and is_running and random.random() < 0.3:
                return None
            self.answers.append(index)
            return configs[index]

        perils = Perils(
            *(chance(0.0, 0.06) for _ in range(4)),
            save_failed=chance(0.0, 0.3), repeated=chance(0.0, 0.3), latency_s=chance(0.0, 0.5, 3.0),
            damaged=chance(0.0, 0.0, 0.3),
        )  # fmt: skip
        self.world = World(self.controller, random, suggest, NODES, perils)

    def fresh(self):
        scheduler = self.make()
        return Controller(
            scheduler,
            Goal("score", "max", is_needed=scheduler.needs_metric),
            limits=self.options["limits"],
            template=Template(resources=demand, priority=lambda config: config.get("length", 0) % 2),
            retention=Retention(self.options["keep"], self.options["most_bytes"]),
            seed=self.options["seed"],
            observes=True,
            observes_pauses=True,
        )

    @rule(n=st.integers(1, 30))
    def go_on(self, n):
        for _ in range(n):
            if self.controller.is_done or not self.world.step():
                break

    @rule(nodes=st.sampled_from(SPARE))
    def change(self, nodes):
        self.world.at(self.world.now, m.CapacityChanged(0.0, nodes))

    @rule(index=st.integers(0, 9), what=st.sampled_from([m.Noticed, m.Requested]))
    def meddle(self, index, what):
        trials = list(self.controller.trials.values())
        if index < len(trials):
            trial = trials[index]
            notice = m.Noticed(0.0, trial.id, trial.attempt, 1.0)
            event = notice if what is m.Noticed else m.Requested(0.0, "stop_trial", trial.id)
            self.world.at(self.world.now, event)

    @rule(seed=st.integers(0, 2**32), n=st.integers(1, 4), steps=st.integers(0, 9))
    def ask(self, seed, n, steps):
        """Requests come at any moment, also the same one again."""
        random = Random(seed)
        for _ in range(n):
            event = random_request(
                random,
                self.controller,
                random.choice(self.configs),
                None,
                MOST_SAMPLES,
                [None, None, 5.0, 500.0],
            )
            self.ask_for(event)
            if random.random() < 0.2:
                self.ask_for(event)
            self.go_on(random.randint(0, steps))

    def ask_for(self, event):
        event = replace(event, time=self.world.now)
        objection, before = self.controller.objection(event), len(self.world.records)
        is_known = event.request in self.controller.answered
        was_done = self.controller.is_done
        self.world._deliver(event)
        is_taken = len(self.world.records) > before
        assert is_taken == (objection is None and not is_known)
        assert objection is None or "  " not in objection
        if is_taken and event.limits is not None:
            self.totals.append(self.controller.limits.total)
            self.caps.append(self.controller.limits.max_concurrent)
        assert is_taken or self.controller.is_done == was_done

    @rule()
    def take_a_snapshot(self):
        """A controller in the state of this moment goes on in the place of this one."""
        after = self.fresh()
        state = json.loads(json.dumps(frozen({"controller": self.controller})))
        thaw(state, {"controller": after}, {__name__})
        assert after.held == self.controller.held
        self.controller = self.world._controller = after

    @rule(ending=st.sampled_from([None, None, None, m.Interrupted(0.0), m.Requested(0.0, "stop")]))
    def end(self, ending):
        if ending is not None:
            self.world.at(self.world.now, ending)

    @invariant()
    def who_runs_is_on_the_books(self):
        if not hasattr(self, "world"):
            return
        trials = self.controller.trials
        placed = set(self.controller._ledger._placed)
        running = {trial.id for trial in trials.values() if trial.status in (Status.STARTING, Status.RUNNING)}
        assert running <= placed <= {trial.id for trial in trials.values() if trial.status.is_placed}
        assert len(placed) <= max(cap or 99 for cap in self.caps)
        held = self.controller.held
        assert not any(trials[trial].status.is_final for trial in held)
        assert not held & running, "a held trial runs"
        waiting = {trial.id for trial in trials.values() if trial.status in WAITING and trial.id not in held}
        assert {trial.id for trial in self.waiting()} == waiting
        assert self.controller._queue.n_pending == sum(
            trials[trial].status is Status.PENDING for trial in waiting
        )

    def waiting(self):
        queue = self.controller._queue
        return (*queue.pending(), *queue.paused())

    def teardown(self):
        if not hasattr(self, "world"):
            return
        self.world.perils = CALM  # so that trials that are tried again for ever come to an end
        self.world.at(self.world.now, m.CapacityChanged(0.0, NODES))
        for event in releases(self.controller):
            self.world.at(self.world.now, event)
        records = self.world.run()
        every_change_is_allowed(records)
        no_message_is_logged_twice(records)
        results_are_shown_once(records, self.controller.trials)
        failures_are_counted(records, self.controller, self.options["limits"].max_failures)
        readers_know_the_configs(records, self.controller.trials)
        readers_know_the_requests(records, self.controller)
        records_of_format_1_are_completed(records)
        # A lower number of samples takes suggestions back, which a higher one draws again.
        is_steady = self.totals == sorted(self.totals)
        drawn_once = set(self.answers)
        assert not is_steady or len(drawn_once) == len(self.answers), "a suggestion was drawn twice"
        if self.controller._endings.closing is None:
            assert all(trial.status.is_final for trial in self.controller.trials.values())
            assert not is_steady or drawn_once == set(range(len(drawn_once)))
            assert self.totals[-1] <= len(drawn_once) <= max(self.totals)
        needed = {trial.checkpoint.uri for trial in self.controller.trials.values() if trial.checkpoint}
        needed |= {
            saved.uri
            for trial in self.controller.trials
            for saved in self.controller._roster._retention.of(trial)
        }
        assert self.world.kept == needed, "a checkpoint stays that nobody needs"
        replay_is_equal(self.fresh(), records, self.controller, in_parts=len(records) % 2 == 1)


WAITING = (Status.PENDING, Status.PAUSED, Status.PARKED)


def every_change_is_allowed(records):
    status = {}
    for record in records:
        for choice in record.choices:
            if isinstance(choice, m.Added):
                assert choice.trial_id not in status
                status[choice.trial_id] = Status.PENDING
            elif isinstance(choice, m.Moved):
                before, after = status[choice.trial_id], Status(choice.status)
                is_restart = choice.config is not None and after is Status.PENDING
                assert after in TRANSITIONS[before] or (is_restart and before is after)
                status[choice.trial_id] = after


def no_message_is_logged_twice(records):
    """And what a trial says of one attempt only goes forward."""
    newest = {}
    for record in records:
        event = record.event
        match event:
            case m.Started() | m.Ended():
                t, is_next = 0, 1
            case m.Reported():
                t, is_next = event.t, 1
            case m.Saved():
                t, is_next = event.checkpoint.t, 0  # the same may be saved again
            case _:
                continue
        about = (type(event), event.trial_id, event.attempt)
        assert t >= newest.get(about, -1) + is_next
        newest[about] = t


def results_are_shown_once(records, trials):
    """A t is redone if it was reported before, since the trial's last restart; nobody rules on those that halt."""
    ruled_t, restarts, halting, scores = {}, set(), set(), {trial: [] for trial in trials}
    for record in records:
        event, redone = record.event, False
        for choice in record.choices:
            if isinstance(choice, m.Moved):
                (halting.add if choice.status == "HALTING" else halting.discard)(choice.trial_id)
                if choice.status == "PENDING" and choice.why == RESTART:
                    restarts.add(choice.trial_id)
                if choice.status == "STARTING" and choice.checkpoint is not None:
                    ruled_t.setdefault(choice.trial_id, choice.checkpoint.t)  # a clone's first start
                if choice.status == "STARTING" and choice.trial_id in restarts:
                    restarts.remove(choice.trial_id)
                    ruled_t[choice.trial_id] = choice.checkpoint.t
            elif isinstance(choice, m.Ruled):
                redone = redone or choice.what == "redone"
                assert choice.what in ("redone", "stop") or choice.trial_id not in halting
        if isinstance(event, m.Reported):
            assert redone == (event.t <= ruled_t.get(event.trial_id, 0))
            if not redone:
                ruled_t[event.trial_id] = event.t
                score = event.metrics["score"]
                scores[event.trial_id].append(score if score == score else -float("inf"))
    for trial in trials.values():
        assert trial.n_results == len(scores[trial.id])
        assert (trial.best and trial.best.score) == max(scores[trial.id], default=None)


def failures_are_counted(records, controller, allowed):
    """A failed trial is tried again as often as it may be."""
    failures, is_closing = Counter(), False
    for record in records:
        event = record.event
        is_closing = is_closing or isinstance(event, m.Tick)
        is_closing = is_closing or (
            isinstance(event, m.Requested) and event.what in ("stop", "stop_trial", "set_limits")
        )
        for choice in record.choices:
            if not isinstance(choice, m.Moved) or choice.why is None:
                continue
            rule = choice.why.rule  # one that is lost too often in a row has failed, with an error
            if rule in ("raised", "killed") or (rule == "lost" and choice.error):
                failures[choice.trial_id] += 1
                may = allowed < 0 or failures[choice.trial_id] <= allowed
                assert choice.status == ("PENDING" if may else "ERROR") or is_closing
    for trial in controller.trials.values():
        assert trial.failures == failures[trial.id]


def readers_know_the_configs(records, trials):
    """From what is recorded alone."""
    table = TrialTable()
    for record in records:
        table.apply(record)
    for trial in trials.values():
        row = table.rows[trial.id]
        # by repr: a NaN equals no other
        assert repr((row.config, row.resources)) == repr((trial.config, trial.resources))


def readers_know_the_requests(records, controller):
    """From the choices alone: who is held, priorities and limits."""
    table, held = TrialTable(), set()
    for record in records:
        table.apply(record)
    for trial in controller.trials.values():
        assert table.rows[trial.id].priority == trial.priority
        held |= {trial.id} if table.rows[trial.id].is_held else set()
    assert held == set(table.held) == controller.held
    assert table.limits in (None, controller.limits)


def records_of_format_1_are_completed(records):
    """Without what format 2 records, they are read as if they had it."""
    status, upgrade = {}, Upgrade()
    upgrade.begin({"n": 1, "format": 1})
    for record in records:
        choices = []
        for choice in record.choices:
            if isinstance(choice, m.Moved):
                before = status.get(choice.trial_id, "PENDING")
                status[choice.trial_id] = choice.status
                if before == choice.status:
                    continue
                choice = replace(choice, config=None)
            choices.append(choice)
        assert repr(upgrade.apply(replace(record, choices=tuple(choices)))) == repr(record)


def replay_is_equal(fresh, records, controller, in_parts):
    """Events again, or as a resume does it: with reports that led to nothing in a shorter way."""
    for record in records:
        event = record.event
        if in_parts and type(event) is m.Reported and not record.choices and event.checkpoint is None:
            differs = fresh.retake(event.trial_id, event.attempt, event.t, event.metrics)
            assert differs in (None, [])
            if differs is not None:
                continue
        outcome = fresh.replay(record)[0] if in_parts else fresh.handle(event)
        assert repr(outcome.choices) == repr(record.choices)  # by repr: a NaN equals no other
        assert not outcome.is_stale
    assert fresh.is_done
    assert repr(list(fresh.trials.values())) == repr(list(controller.trials.values()))


class AshaLife(Life):
    make = staticmethod(lambda: ASHAScheduler(max_t=6, reduction_factor=2, brackets=2))


class ChaosLife(Life):
    make = Chaos


few = settings(deadline=None, max_examples=40, stateful_step_count=12)
TestFifo, TestAsha, TestChaos = Life.TestCase, AshaLife.TestCase, ChaosLife.TestCase
TestFifo.settings = TestAsha.settings = TestChaos.settings = few


# --- turns -----------------------------------------------------------------------------

shapes = st.sampled_from([{"cpu": 1}, {"cpu": 1}, {"cpu": 2}, {"cpu": 4}, {"gpu": 0.5}, {"cpu": 2, "gpu": 1}])
lengths = st.floats(0, 3).map(lambda power: 10**power)


@settings(deadline=None, max_examples=25)
@given(
    first=st.lists(st.tuples(shapes, lengths), min_size=1, max_size=8),
    seed=st.integers(0, 2**32),
    lookahead=st.sampled_from([0, 2, 16]),
)
@example(first=[({"cpu": 2, "gpu": 1}, 1000.0), ({"gpu": 0.5}, 1.0), ({"cpu": 4}, 1.0)], seed=0, lookahead=16)
def test_every_feasible_trial_starts_in_the_end(first, seed, lookahead):
    """Small trials never stop coming, and trials differ in length by 1 to 1,000."""
    random = Random(seed)

    def suggest(index):
        shape, pace_s = first[index] if index < len(first) else ({"cpu": 1}, 10 ** random.uniform(0, 3))
        return {**shape, "length": 1, "pace_s": pace_s, "score": 1.0}

    controller = Controller(
        FIFOScheduler(),
        Goal("score", "max"),
        limits=Limits(lookahead=lookahead),
        template=Template(resources=demand),
    )
    world = World(controller, random, suggest, {"node": {"cpu": 4, "gpu": 1}})
    # each waits until it was passed for long enough (the median length), then for those that run, and
    # before that for the end of the time without reservations, which is so much longer than the last one
    bound = (len(first) + 1) * (1 + 1 / RESERVED_SHARE) * 1_000.0
    due = range(len(first))
    while world.now <= bound and not has_started(controller, world, due):
        assert world.step()
        assert controller.view.first_runnable() is None, "what fits does not wait"
        assert controller._queue.n_pending <= lookahead + 5, "too many wait"
    assert has_started(controller, world, due), f"{[one.status for one in controller.trials.values()]}"


def has_started(controller, world, indices):
    ids = list(controller.trials)
    return all(index < len(ids) and (ids[index], 0) in world.started for index in indices)


@pytest.mark.parametrize("seed", range(3))
def test_one_cpu_trials_of_any_length_keep_the_machine_full(seed):
    random = Random(seed)
    configs = [{"length": 1, "pace_s": 10 ** random.uniform(0, 3), "score": 1.0} for _ in range(100)]
    controller = Controller(FIFOScheduler(), Goal("score", "max"), limits=Limits(total=100, lookahead=4))
    world = World(controller, random, lambda index: configs[index])
    while len(world.started) < 100:
        world.step()
        if controller.trials and len(controller.trials) < 100:
            assert controller.view.free["cpu"] <= 4 - min(4, len(controller.trials))
    world.run()
    lengths_s = [2 * config["pace_s"] for config in configs]  # one result, and a while to its end
    assert world.now < sum(lengths_s) / 4 + 2_000


class Picky(FIFOScheduler):
    """Chooses any of the trials that fit, at random, and notes what it chose and what was withheld."""

    def on_start(self, view):
        self.view, self.n, self.withheld = view, 0, 0

    def choose_trial_to_run(self, trials):
        waiting = [one for one in trials.trials.values() if one.status in (Status.PENDING, Status.PAUSED)]
        fitting = list(trials.runnable())
        self.withheld += bool(fitting) and len(fitting) < len(waiting)
        self.n += 1
        return self.view.random("choose", "", self.n).choice(fitting) if fitting else None


@pytest.mark.parametrize("seed", range(10))
def test_trials_of_one_shape_start_in_the_order_that_the_scheduler_chose(seed):
    """Nothing is kept back from a scheduler that chooses among equals, however long the first one waits."""
    random, scheduler = Random(seed), Picky()
    configs = [{"length": 3, "pace_s": 10 ** random.uniform(0, 3), "score": 1.0} for _ in range(100)]
    template = Template(priority=lambda config: -config["pace_s"])
    limits = Limits(total=100, lookahead=16)
    controller = Controller(scheduler, Goal("score", "max"), limits=limits, template=template)
    world = World(controller, random, lambda index: configs[index])
    while world.step():
        assert controller._ledger.reserved_for is None
    assert controller.is_done
    assert scheduler.n >= 100
    assert not scheduler.withheld
