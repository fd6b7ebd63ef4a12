"""Trials as computed learning curves on a virtual clock: an event heap, and no waiting.

The trainable is `curve(config, t) -> metrics`, or `-> (metrics, seconds)` where an iteration
takes its own time; a number counts as one metric, and None (or StopIteration) ends the trial.
A curve has no state but its `t`, so that saving always works and costs nothing: checkpoints
are called "simulated:<trial>/<t>".

`poll` returns the next events in the order of their virtual time. Reports of trials that run
ahead come together with what follows them: no decision can fall on them.
"""

from __future__ import annotations

import heapq
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from overtone.core import messages as m
from overtone.core.job import Job
from overtone.core.protocols import Engine
from overtone.core.types import Checkpoint, Config
from overtone.errors import TrainableError
from overtone.worker.normalise import normalise

NODE = "simulated"
BATCH = 256

Curve = Callable[[Config, int], Any]
"""Metrics of a config after `t` iterations; see above."""


@dataclass(slots=True)
class _Run:
    """A trial that runs: what its process would know."""

    start: m.Start
    config: Config
    t: int
    until_t: float
    time_before_s: float
    time_total_s: float
    n_here: int = 0
    waits: bool = False
    wants_save: bool = False
    halt: m.Halt | None = None
    metrics: dict[str, Any] = field(default_factory=dict)


class Simulated(Engine):
    """Runs curves in virtual time.

    Args:
        workers: How many CPUs the one node has: so many one-CPU trials run at once.
        seconds: What an iteration takes where the curve does not say.
        resources: Further resources of the node, by name.
    """

    repeats = True

    def __init__(
        self, workers: int = 4, seconds: float = 1.0, resources: Mapping[str, float] | None = None
    ) -> None:
        if workers < 1:
            raise ValueError(f"workers={workers}: at least one is needed")
        if not 0 <= seconds < float("inf"):
            raise ValueError(f"seconds={seconds}: an iteration takes 0 or more, and finite")
        self._amounts = {"cpu": float(workers), **(resources or {})}
        self._seconds = seconds
        self._now = 0.0
        self._order = 0
        self._heap: list[tuple[float, int, _Run | None, m.Event | None]] = []
        self._runs: dict[tuple[str, int], _Run] = {}
        self._time_at: dict[str, float] = {}  # a checkpoint's time_total_s, by uri
        self._limit_s = float("inf")
        self._ran_s: dict[str, float] = {}  # by trial, over its attempts
        self._curve: Curve = _no_curve
        self._warned: set[str] = set()

    def open(self, job: Job) -> None:
        """Prepare to run the curve `job.trainable`.

        Raises:
            TrainableError: It is no function of (config, t).
        """
        self._curve = _curve(job)
        self._now = job.elapsed_s
        if job.limits is not None and job.limits.time_s is not None:
            self._limit_s = job.limits.time_s
        self._push(self._now, None, m.CapacityChanged(self._now, {NODE: self._amounts}))

    def now(self) -> float:
        return self._now

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
                uri: str = command.uri  # type: ignore[union-attr]
                self._time_at.pop(uri, None)
                self._push(self._now, None, m.Discarded(self._now, uri))
            elif kind is m.Wake:
                at = max(self._now, command.time)  # type: ignore[union-attr]
                self._push(at, None, m.Tick(at))

    def poll(self, timeout_s: float | None) -> Sequence[m.Event]:
        """The next events; the clock jumps to them. With `timeout_s=0` only those that are due now."""
        events: list[m.Event] = []
        heap = self._heap
        while heap and len(events) < BATCH:
            if timeout_s == 0 and heap[0][0] > self._now:
                break
            at, _, run, event = heapq.heappop(heap)
            self._now = at
            if event is not None:
                events.append(event)
                break
            if run is not None and self._report(run, events):
                break
        return events

    def close(self) -> None:
        self._heap.clear()
        self._runs.clear()

    def describe(self) -> str:
        return f"simulated: {self._amounts['cpu']:g} workers on a virtual clock"

    # --- what happens --------------------------------------------------------------------

    def _report(self, run: _Run, events: list[m.Event]) -> bool:
        """An iteration ends; whether somebody may have to decide now."""
        name = (run.start.trial_id, run.start.attempt)
        if name not in self._runs:
            return False
        run.t += 1
        run.n_here += 1
        events.append(m.Reported(self._now, *name, run.t, run.metrics))
        if run.halt is not None:
            self._end_halted(run, run.halt)
            return True
        if run.wants_save:
            run.wants_save = False
            self._save(run)
        if run.t < run.until_t:
            return not self._iterate(run)
        run.waits = True
        return True

    def _iterate(self, run: _Run) -> bool:
        """Begin the next iteration; whether there is one."""
        trial_id, attempt = run.start.trial_id, run.start.attempt
        try:
            point = self._curve(run.config, run.t + 1)
        except StopIteration:
            point = None
        except (Exception, SystemExit) as error:
            import traceback

            at = error.__traceback__.tb_next if error.__traceback__ else None  # past this frame
            shown = "".join(traceback.format_exception(type(error), error, at))
            line = f"{type(error).__name__}: {error}"
            self._end(run, m.Ended(self._now, trial_id, attempt, "raised", line, shown))
            return False
        if point is None:
            self._end(run, m.Ended(self._now, trial_id, attempt, "returned"))
            return False
        metrics, seconds = point if isinstance(point, tuple) else (point, self._seconds)
        seconds = float(seconds)
        before_s = self._ran_s.get(trial_id, 0.0)
        if before_s + seconds > self._limit_s:
            self._end_at_limit(run, before_s)
            return False
        if self._limit_s != float("inf"):
            self._ran_s[trial_id] = before_s + seconds
        run.time_total_s += seconds
        run.metrics = self._filled(metrics, run, seconds)
        self._push(self._now + seconds, run, None)
        return True

    def _filled(self, metrics: Any, run: _Run, seconds: float) -> dict[str, Any]:
        """The metrics with the fields that a session adds."""
        values = dict(metrics) if isinstance(metrics, Mapping) else {"_metric": metrics}
        if not all(type(value) in _PLAIN for value in values.values()):
            values = normalise(values, self._warned)
        second = int(self._now + seconds)
        values["training_iteration"] = run.t + 1
        values["time_this_iter_s"] = seconds
        values["time_total_s"] = run.time_total_s
        values["timesteps_total"] = values.get("timesteps_total")
        values["timestamp"] = second
        values["date"] = _date(second)
        values["iterations_since_restore"] = run.n_here + 1
        values["time_since_restore"] = run.time_total_s - run.time_before_s
        values["done"] = values.get("done") is True
        return values

    # --- what is asked for ---------------------------------------------------------------

    def _start(self, start: m.Start) -> None:
        saved = start.checkpoint
        before_s = self._time_at.get(saved.uri, 0.0) if saved else 0.0
        run = _Run(start, dict(start.config), saved.t if saved else 0, start.until_t, before_s, before_s)
        self._runs[start.trial_id, start.attempt] = run
        self._push(self._now, None, m.Started(
            self._now, start.trial_id, start.attempt, start.placement.nodes[0], 0, NODE, saved
        ))  # fmt: skip
        self._iterate(run)

    def _proceed(self, order: m.Proceed) -> None:
        run = self._runs.get((order.trial_id, order.attempt))
        if run is None:
            return
        run.until_t = order.until_t
        if order.config is not None:
            run.config = dict(order.config)
        if not run.waits:
            run.wants_save = run.wants_save or order.save
            return
        run.waits = False
        if order.save:
            self._save(run)
        self._iterate(run)

    def _halt(self, order: m.Halt) -> None:
        run = self._runs.get((order.trial_id, order.attempt))
        if run is None:
            return
        if run.waits:
            self._end_halted(run, order)
        else:
            run.halt = order  # it hears of it at its next report

    def _end_halted(self, run: _Run, order: m.Halt) -> None:
        if order.save:
            self._save(run)
        self._end(run, m.Ended(self._now, order.trial_id, order.attempt, "halted"))

    def _save(self, run: _Run) -> None:
        trial_id = run.start.trial_id
        uri = f"simulated:{trial_id}/{run.t}"
        self._time_at[uri] = run.time_total_s
        saved = Checkpoint(trial_id, run.t, uri)
        self._push(self._now, None, m.Saved(self._now, trial_id, run.start.attempt, saved))

    def _end_at_limit(self, run: _Run, before_s: float) -> None:
        at = self._now + max(0.0, self._limit_s - before_s)
        error = f'ran for {self._limit_s:g} s, limit {self._limit_s:g} s: raise "time_s" in trial_limits'
        self._runs.pop((run.start.trial_id, run.start.attempt), None)
        self._push(at, None, m.Ended(at, run.start.trial_id, run.start.attempt, "limit", error))

    def _end(self, run: _Run, event: m.Ended) -> None:
        self._runs.pop((event.trial_id, event.attempt), None)
        self._push(self._now, None, event)

    def _push(self, at: float, run: _Run | None, event: m.Event | None) -> None:
        self._order += 1
        heapq.heappush(self._heap, (at, self._order, run, event))


_PLAIN = frozenset({int, float, str, bool, type(None)})

_dates: dict[int, str] = {}


def _date(second: int) -> str:
    """The date of a virtual second, counted from 1970 in UTC: the same on every machine."""
    if second not in _dates:
        _dates.clear()
        _dates[second] = time.strftime("%Y-%m-%d_%H-%M-%S", time.gmtime(second))
    return _dates[second]


def _no_curve(config: Config, t: int) -> Any:
    raise RuntimeError("Simulated needs open(job) before it can run a trial")


def _curve(job: Job) -> Curve:
    """The curve of a job, with its parameters bound."""
    import functools
    import inspect

    from overtone.worker.bound import as_bound, resolve

    bound = as_bound(job.trainable)
    parameters = resolve({**bound.parameters, **job.parameters})
    curve = functools.partial(bound.trainable, **parameters) if parameters else bound.trainable
    try:
        if isinstance(bound.trainable, type):
            raise TypeError("a class")
        inspect.signature(curve).bind({}, 1)
    except (TypeError, ValueError) as error:
        raise TrainableError(
            f"the simulated engine computes curves: it needs def curve(config, t), not {curve!r:.200}"
        ) from error
    return curve
