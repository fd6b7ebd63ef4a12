"""The trials of a simulated world from start to end, and the heap of scheduled events.

The only state of a curve is its `t`, so a curve can always be saved. The URIs of its checkpoints
are "simulated:<trial>/<t>".
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from math import inf

from overtone.core import messages as m
from overtone.core.job import Job
from overtone.core.randomness import keyed
from overtone.core.types import Checkpoint, Config
from overtone.engines.simulated.attempt import Attempt
from overtone.engines.simulated.fields import Fields
from overtone.engines.simulated.fleet import Fleet
from overtone.engines.simulated.live import LiveTrial
from overtone.engines.simulated.relative_store import RelativeStore
from overtone.engines.simulated.source import Curve, curve_of, wrong_point
from overtone.engines.simulated.world import World
from overtone.errors import OvertoneError
from overtone.worker.checkpoints.saving_rule import SavingRule
from overtone.worker.protocol import event as event_of

NODE = "simulated"

MOST_RESULTS = 1_000_000
"""Maximum number of results of a trial that nothing else can end; one more result ends the run."""

Happening = Callable[[list[m.Event]], bool]
"""Function that appends its events to a list; returns True if a decision may be needed now."""


class Trials:
    """The trials of a simulated world, and its clock and schedule.

    Args:
        seconds: Duration of an iteration if the curve returns none.
        world: Simulated failures and delays.
        fleet: The machines.

    Attributes:
        now: The virtual time, in seconds.
        heap: Scheduled events and actions, the next one first.
        attempts: The trials that have a process, by id and attempt.
        fleet: The machines.
        lost_s: Training time that was lost with processes.
        n_starts: Number of times that a trial got a process.
        n_failures: Number of simulated failures of trial processes.
    """

    def __init__(self, seconds: float, world: World, fleet: Fleet) -> None:
        self.fleet = fleet
        self.now = 0.0
        self.heap: list[tuple[float, int, Attempt | None, m.Event | Happening | None]] = []
        self.attempts: dict[tuple[str, int], Attempt] = {}
        self.lost_s = 0.0
        self.n_starts = self.n_failures = 0
        self._world = world
        self._seconds = seconds
        self._order = 0
        self._time_at: dict[str, float] = {}  # a checkpoint's time_total_s, by uri
        self._limit_s = inf
        self._most_results: float = inf
        self._ran_s: dict[str, float] = {}  # by trial, over its attempts
        self._curve_of: Callable[[Config], Curve] | None = None
        self._result = Fields().result
        self._job: Job | None = None
        self._saves = False  # whether curves save automatically
        self._trial_s = self._trained_s = 0.0

    def open(self, job: Job) -> None:
        """Prepare to run `job.trainable`.

        Raises:
            TrainableError: The trainable is neither a curve nor an ordinary trainable.
        """
        self._curve_of = curve_of(job)
        if job.store is not None:
            job = replace(job, store=RelativeStore(job.store, job.folder))
        self._job = job
        self._saves = bool(job.checkpoint_freq or (job.checkpoint_freq is None and self._world.takes_trials))
        self.now = float(job.elapsed_s)
        if job.limits is not None and job.limits.time_s is not None:
            self._limit_s = job.limits.time_s
        self._most_results = inf if job.is_bounded else MOST_RESULTS

    def close(self) -> None:
        """End all trials and drop all scheduled events."""
        self.heap.clear()
        for attempt in list(self.attempts.values()):
            self._forget(attempt)
            if attempt.live is not None:
                attempt.live.vanish()

    def clock(self) -> float:
        """Return the virtual time, in seconds."""
        return self.now

    @property
    def trial_s(self) -> float:
        """The total time in which trials had a process."""
        return self._trial_s + sum(self.now - one.began for one in self.attempts.values())

    @property
    def trained_s(self) -> float:
        """The total time that trials trained."""
        running = self.attempts.values()
        return self._trained_s + sum(one.trained_s(self.now) - one.before_s for one in running)

    def push(self, at: float, attempt: Attempt | None, what: m.Event | Happening | None) -> None:
        """Schedule something for an attempt (ignored if the attempt is gone by then) or for the world."""
        self._order += 1
        heapq.heappush(self.heap, (at, self._order, attempt, what))

    # --- iterations ------------------------------------------------------------------------

    def go_on(self, attempt: Attempt, events: list[m.Event]) -> bool:
        """Process the next event of an attempt; return whether a decision may be needed now."""
        if not attempt.is_up:
            return self._begin(attempt, events)
        if attempt.live is not None:
            return self._run_live(attempt, events)
        saved = None
        if attempt.rule is not None and (attempt.is_saving or attempt.rule.is_due(attempt.t + 1)):
            if not attempt.is_saving and self._world.save_s:
                attempt.is_saving = True
                attempt.rule.begin()
                self.push(self.now + self._world.save_s, attempt, None)
                return False
            attempt.is_saving = False
            with attempt.rule.saving():
                saved = self._saved(attempt, attempt.t + 1, attempt.rule.is_automatic)
        t = attempt.t = attempt.t + 1
        attempt.iterating_since = None
        events.append(
            m.Reported(self.now, attempt.trial_id, attempt.number, t, attempt.metrics, saved, attempt.raw)
        )
        if attempt.halt is not None:
            self._end_halted(attempt, attempt.halt, 0.0)
            return True
        pause_s = 0.0
        if attempt.wants_save:
            attempt.wants_save = False
            if saved is None:
                pause_s = self._save(attempt, 0.0)
        if t < attempt.until_t:
            return not self._iterate(attempt, pause_s)
        attempt.waits = True
        return True

    def _iterate(self, attempt: Attempt, pause_s: float = 0.0) -> bool:
        """Begin the next iteration after a pause; return whether there is one."""
        t, point = attempt.t + 1, None
        try:
            point = attempt.curve(t)  # type: ignore[misc]
            metrics, seconds = point if type(point) is tuple else (point, self._seconds)
            seconds = float(seconds) * attempt.slowness
            if not 0.0 <= seconds < inf:
                raise ValueError(f"iteration {t} takes {seconds} s")  # `wrong_point` has the curve's value
        except StopIteration:
            metrics = None
        except (Exception, SystemExit) as error:
            import traceback

            at = error.__traceback__.tb_next if error.__traceback__ else None  # past this frame
            error = wrong_point(point, t) or error
            shown = "".join(traceback.format_exception(type(error), error, at))
            self._end(attempt, "raised", f"{type(error).__name__}: {error}", shown, pause_s)
            return False
        if metrics is None:
            self._end(attempt, "returned", after_s=pause_s)
            return False
        if t > self._most_results:
            raise self._endless(attempt)
        if self._limit_s is not inf:
            before_s = self._ran_s.get(attempt.trial_id, 0.0)
            if before_s + seconds > self._limit_s:
                self._end_at_limit(attempt, before_s)
                return False
            self._ran_s[attempt.trial_id] = before_s + seconds
        total_s = attempt.total_s = attempt.total_s + seconds
        begins = self.now + pause_s
        at_s = begins + seconds
        attempt.iterating_since, attempt.step_s = begins, seconds
        attempt.metrics, attempt.raw = self._result(
            metrics, t, at_s, seconds, total_s, t - attempt.first_t, total_s - attempt.before_s
        )
        self._order += 1
        heapq.heappush(self.heap, (at_s, self._order, attempt, None))
        return True

    def _endless(self, attempt: Attempt) -> OvertoneError:
        return OvertoneError(
            f"trial {attempt.trial_id} has reported {self._most_results:,} results in a simulation, and "
            'nothing ends it: give stop={"training_iteration": 100}, a scheduler with max_t, time_budget_s, '
            "or a curve that returns None after its last iteration"
        )

    def _run_live(self, attempt: Attempt, events: list[m.Event]) -> bool:
        """Run an ordinary trainable until it waits or ends; return whether there were events."""
        live = attempt.live
        assert live is not None
        attempt.waits = False
        live.go_on()
        n = len(events)
        for message in live.messages:
            one = event_of(message, self.now, attempt.nodes[0])
            if isinstance(one, m.Started):
                one = replace(one, pid=0, hostname=attempt.nodes[0])
            elif isinstance(one, m.Reported):
                attempt.t = one.t
                attempt.total_s = float(one.metrics.get("time_total_s", 0.0))
                attempt.iterating_since = None
                if attempt.t > self._most_results:
                    raise self._endless(attempt)
            elif isinstance(one, m.Ended):
                self._forget(attempt)
            saved = getattr(one, "checkpoint", None)
            if saved is not None:
                self._time_at[saved.uri] = attempt.saved_s = attempt.total_s
            events.append(one)
        live.messages.clear()
        if live.due is not None:
            if attempt.iterating_since is None:
                attempt.iterating_since = self.now
            self.push(live.due, attempt, None)
        elif not live.has_ended:
            attempt.waits = True
        return len(events) > n

    # --- commands --------------------------------------------------------------------------

    def start(self, start: m.Start) -> None:
        """Begin an attempt; the engine must be open."""
        saved, world, job = start.checkpoint, self._world, self._job
        if job is None:
            raise RuntimeError("Simulated needs open(job) before it can run a trial")
        before_s = self._time_at.get(saved.uri, 0.0) if saved is not None else 0.0
        attempt = Attempt(start, self.now, before_s)
        self.n_starts += 1
        self.attempts[start.trial_id, start.attempt] = attempt
        attempt.slowness /= self.fleet.speed(attempt.nodes)
        if world.straggler_sd:
            drawn = keyed(job.seed, "straggler", start.trial_id, start.attempt)
            attempt.slowness *= 1 + abs(drawn.gauss(0.0, world.straggler_sd))
        delay_s = world.decision_s + world.start_s + (world.restore_s if saved is not None else 0.0)
        if self._curve_of is None:
            start = replace(start, config=dict(start.config))
            attempt.live = LiveTrial(job, start, self.clock, attempt.slowness, world.save_s)
        else:
            attempt.curve = self._curve_of(attempt.config)
            if self._saves:
                attempt.rule = SavingRule(job.checkpoint_freq, None, self.clock, before_s)
        self.push(self.now + delay_s, attempt, None)
        if world.failures_per_hour:
            drawn = keyed(job.seed, "failure", start.trial_id, start.attempt)
            fails_s = drawn.expovariate(world.failures_per_hour / 3600)
            self.push(self.now + fails_s, attempt, partial(self._fail, attempt))
        if attempt.live is not None and self._limit_s is not inf:
            left_s = max(0.0, self._limit_s - self._ran_s.get(start.trial_id, 0.0))
            self.push(self.now + left_s, attempt, partial(self._limit, attempt))

    def _begin(self, attempt: Attempt, events: list[m.Event]) -> bool:
        """Begin the attempt, now that its process has started."""
        attempt.is_up = True
        if attempt.live is not None:
            return self._run_live(attempt, events)
        events.append(m.Started(
            self.now, attempt.trial_id, attempt.number, attempt.nodes[0], 0, attempt.nodes[0],
            attempt.restored,
        ))  # fmt: skip
        return not self._iterate(attempt)

    def proceed(self, order: m.Proceed) -> None:
        """Continue an attempt that waits."""
        attempt = self.attempts.get((order.trial_id, order.attempt))
        if attempt is None:
            return
        if attempt.live is not None:
            self._tell(attempt, order)
            return
        attempt.until_t = order.until_t
        if order.config is not None:
            attempt.config = dict(order.config)
            assert self._curve_of is not None
            attempt.curve = self._curve_of(attempt.config)
        if not attempt.waits:
            attempt.wants_save = attempt.wants_save or order.save
            return
        attempt.waits = False
        delay_s = self._world.decision_s
        if order.save:
            delay_s = self._save(attempt, delay_s)
        self._iterate(attempt, delay_s)

    def halt(self, order: m.Halt) -> None:
        """End an attempt, at its next report if it does not wait."""
        attempt = self.attempts.get((order.trial_id, order.attempt))
        if attempt is None:
            return
        if attempt.live is not None:
            self._tell(attempt, order)
        elif attempt.waits:
            self._end_halted(attempt, order, self._world.decision_s)
        else:
            attempt.halt = order  # takes effect at the next report

    def _tell(self, attempt: Attempt, order: m.Proceed | m.Halt) -> None:
        """Queue an order for an ordinary trainable, and run the trainable if it waits."""
        assert attempt.live is not None
        attempt.live.orders.append(order)
        if attempt.waits:
            attempt.waits = False
            self.push(self.now + self._world.decision_s, attempt, None)

    def discard(self, uri: str) -> None:
        """Delete a checkpoint."""
        self._time_at.pop(uri, None)
        if self._job is not None and self._job.store is not None and not uri.startswith("simulated:"):
            self._job.store.delete(uri)
        self.push(self.now, None, m.Discarded(self.now, uri))

    # --- saving and ending -----------------------------------------------------------------

    def _saved(self, attempt: Attempt, t: int, is_automatic: bool = False) -> Checkpoint:
        """Return the checkpoint of a curve after result `t`."""
        uri = f"simulated:{attempt.trial_id}/{t}"
        self._time_at[uri] = attempt.saved_s = attempt.total_s
        return Checkpoint(attempt.trial_id, t, uri, is_automatic=is_automatic)

    def _save(self, attempt: Attempt, after_s: float) -> float:
        """Save a curve; return when the save is done, in seconds from now."""
        after_s += self._world.save_s
        at = self.now + after_s
        saved = m.Saved(at, attempt.trial_id, attempt.number, self._saved(attempt, attempt.t))
        self.push(at, attempt if after_s else None, saved)
        return after_s

    def _end_halted(self, attempt: Attempt, order: m.Halt, after_s: float) -> None:
        if order.save:
            after_s = self._save(attempt, after_s)
        self._end(attempt, "halted", after_s=after_s)

    def _end(
        self, attempt: Attempt, cause: m.Cause, error: str = "", traceback: str = "", after_s: float = 0.0
    ) -> None:
        """End an attempt `after_s` seconds from now."""
        event = m.Ended(self.now + after_s, attempt.trial_id, attempt.number, cause, error, traceback)
        if after_s:
            attempt.waits = False
            self.push(event.time, attempt, partial(self._end_late, attempt, event))
        else:
            self._forget(attempt)
            self.push(self.now, None, event)

    def _end_late(self, attempt: Attempt, event: m.Ended, events: list[m.Event]) -> bool:
        self._forget(attempt)
        events.append(event)
        return True

    def _end_at_limit(self, attempt: Attempt, before_s: float) -> None:
        self._end(attempt, "limit", self._over_limit(), after_s=max(0.0, self._limit_s - before_s))

    def _limit(self, attempt: Attempt, events: list[m.Event]) -> bool:
        return self.kill(attempt, "limit", self._over_limit(), events)

    def _over_limit(self) -> str:
        return f'ran for {self._limit_s:g} s, limit {self._limit_s:g} s: raise "time_s" in trial_limits'

    def _fail(self, attempt: Attempt, events: list[m.Event]) -> bool:
        self.n_failures += 1
        return self.kill(attempt, "killed", "its process failed, as simulated ones do now and then", events)

    def kill(self, attempt: Attempt, cause: m.Cause, error: str, events: list[m.Event]) -> bool:
        """End an attempt whose process is gone, and count its unsaved training as lost."""
        self.lost_s += attempt.unsaved_s(self.now)
        self._forget(attempt)
        if attempt.live is not None:
            attempt.live.vanish()
        events.append(m.Ended(self.now, attempt.trial_id, attempt.number, cause, error))
        return True

    def _forget(self, attempt: Attempt) -> None:
        if not attempt.is_gone:
            attempt.is_gone = True
            self._trial_s += self.now - attempt.began
            self._trained_s += attempt.trained_s(self.now) - attempt.before_s
            if attempt.live is not None and self._limit_s is not inf:
                ran_s = self._ran_s.get(attempt.trial_id, 0.0)
                self._ran_s[attempt.trial_id] = ran_s + self.now - attempt.began
        self.attempts.pop((attempt.trial_id, attempt.number), None)
