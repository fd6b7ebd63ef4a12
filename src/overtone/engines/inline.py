"""Trials as plain calls in this process, one after the other: `pdb` and `print` just work.

A trial runs inside `poll`. When the trial reports, the engine passes its events to the pump that
`run` attached. The pump handles the events and submits the commands before it returns; one of
the commands is the answer to the trial. A crash of the trial (`os._exit`, a signal, a segmentation
fault) ends the whole program. The engine waits for a trial that ignores its Halt.

A trial works in its own folder, and the pump in the driver's directory. A run in another thread
than the main one changes no directory, since all threads have the same one.
"""

from __future__ import annotations

import copy
import heapq
import os
import sys
import threading
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from overtone.core import messages as m
from overtone.core.job import Job
from overtone.core.protocols import Capabilities, Engine, Pump
from overtone.core.types import Config
from overtone.store.folder_mark import mark_of
from overtone.worker.message_codec import Message
from overtone.worker.protocol import NOTHING, Channel, Nothing, Order, RanksGone, event
from overtone.worker.stacks import own_stacks
from overtone.worker.working_directory import DriversDirectory

if TYPE_CHECKING:
    from overtone.engines.inline_rank import RankThread

NODE = "local"
PUMP_EVERY_S = 0.05
YOUNG_S = 0.005
"""Time in seconds before a running trial's results are first passed on; a short trial ends sooner."""

_PLAIN = frozenset({float, int, str, bool, type(None)})


class Inline(Engine):
    """Runs trials in this process.

    Args:
        cpus: Number of CPUs for placing trials; by default the CPUs of this machine. Trials run
            one after the other with any number.
        gpus: Number of GPUs.
        resources: Amounts of other resources, by name.
    """

    capabilities = Capabilities(calls_pump=True, max_concurrent=1)

    def __init__(
        self, cpus: float | None = None, gpus: float = 0, resources: Mapping[str, float] | None = None
    ) -> None:
        amounts = {"cpu": float(os.cpu_count() or 1 if cpus is None else cpus), "gpu": float(gpus)}
        amounts["memory"] = float(_memory_bytes())
        amounts.update(resources or {})
        self._amounts = {name: amount for name, amount in amounts.items() if amount}
        self._began = time.monotonic()
        self._job: Job | None = None
        self._pump: Pump | None = None
        self._starts: deque[m.Start] = deque()
        self._events: deque[m.Event] = deque()
        self._wakes: list[float] = []
        self._line: _Line | None = None
        self._failure: BaseException | None = None
        self._directory = DriversDirectory()
        self._flag = threading.Event()

    def attach(self, pump: Pump) -> None:
        self._pump = pump

    def open(self, job: Job) -> None:
        # the working directory belongs to all threads: a run in the background leaves it to the others
        is_alone = threading.current_thread() is threading.main_thread()
        self._job = job if is_alone else replace(job, chdir_to_trial_dir=False)
        if job.limits is not None:
            import warnings

            warnings.warn(
                f"trial_limits={job.limits.as_data()} has no effect with engine='inline', where trials are "
                "calls in this process: leave engine out to have each run in a process that can be ended",
                stacklevel=2,
            )
        self._began = time.monotonic() - job.elapsed_s
        self._events.append(m.CapacityChanged(self.now(), {NODE: self._amounts}))

    def now(self) -> float:
        return time.monotonic() - self._began

    def submit(self, commands: Sequence[m.Command]) -> None:
        for command in commands:
            if isinstance(command, m.Start):
                self._starts.append(command)
            elif isinstance(command, (m.Proceed, m.Halt)):
                self._hand_over(command)
            elif isinstance(command, m.Discard):
                self._discard(command)
            elif isinstance(command, m.Wake):
                heapq.heappush(self._wakes, command.time)

    def poll(self, timeout_s: float | None) -> Sequence[m.Event]:
        if not self._events and not self._is_due() and self._starts:
            self._run(self._starts.popleft())
        if not self._events and not self._is_due() and not self._flag.is_set():
            self._wait(timeout_s)
        self._flag.clear()
        return self._take()

    def close(self) -> None:
        self._starts.clear()
        self._wakes.clear()
        if self._line is not None:
            self._line.orders.append(None)

    def wake(self) -> None:
        self._flag.set()

    def stacks(self, trial_id: str) -> str:
        return own_stacks()

    def describe(self) -> str:
        return "inline engine: trials run in this process, one after another"

    # --- one trial -----------------------------------------------------------------------

    def _run(self, start: m.Start) -> None:
        from bdb import BdbQuit

        from overtone.worker.server.run_trial import run_trial

        assert self._job is not None
        if self._pump is None:
            raise RuntimeError("Inline needs attach(pump) before it can run a trial")
        start = replace(start, config=_own(start.config))
        self._line = _Line(self, start)
        try:
            with _output_to_files(self._job, start.trial_id), self._directory.left():
                run_trial(self._line, self._job, start, passing=(KeyboardInterrupt, BdbQuit))
        except (KeyboardInterrupt, BdbQuit) as stop:
            # Ctrl-C means the whole program; the trial has unwound, and `run` handles the rest
            self._events.append(m.Ended(self.now(), start.trial_id, start.attempt, "halted"))
            raise KeyboardInterrupt from stop
        finally:
            self._line.end_rank()
            self._line = None
        if self._failure is not None:
            failure, self._failure = self._failure, None
            raise failure

    def pump(self) -> None:
        """Pass all events to the pump, which puts the resulting orders into the line."""
        assert self._pump is not None
        try:
            with self._directory.visited():
                self._pump(self._take())
        except BaseException as failure:
            # not the trial's fault: the trial must not see or catch this exception
            self._failure = failure
            self.close()

    def note(self, message: Message) -> None:
        """Add the event of a trial's message, or do what it asks for."""
        if message[0] in ("make_ranks", "end_ranks"):
            assert self._line is not None
            self._line.on_ranks(message)
            return
        if message[0] == "no_room":
            print(f"overtone: trial {message[1]}: {message[3]}", file=sys.__stderr__, flush=True)
            return
        self._events.append(event(message, self.now(), NODE))

    def wait_for_news(self) -> None:
        """Wait until a Wake is due or `wake` is called."""
        if not self._is_due():
            self._wait(None)
        self._flag.clear()

    def _hand_over(self, order: m.Proceed | m.Halt) -> None:
        if isinstance(order, m.Halt):
            # this process cannot stay parked in report(): the trial redoes its work instead
            order = replace(order, park=False)
            for start in self._starts:
                if start.trial_id == order.trial_id and start.attempt == order.attempt:
                    self._starts.remove(start)
                    self._events.append(m.Ended(self.now(), order.trial_id, order.attempt, "halted"))
                    return
        if self._line is not None:
            self._line.orders.append(order)

    def _discard(self, command: m.Discard) -> None:
        assert self._job is not None
        if self._job.store is not None:
            self._job.store.delete(command.uri)
        self._events.append(m.Discarded(self.now(), command.uri))

    # --- time ----------------------------------------------------------------------------

    def _is_due(self) -> bool:
        return bool(self._wakes) and self._wakes[0] <= self.now()

    def _wait(self, timeout_s: float | None) -> None:
        until = [timeout_s] if timeout_s is not None else []
        if self._wakes:
            until.append(max(0.0, self._wakes[0] - self.now()))
        self._flag.wait(min(until) if until else None)

    def _take(self) -> list[m.Event]:
        while self._is_due():
            heapq.heappop(self._wakes)
            self._events.append(m.Tick(self.now()))
        events = list(self._events)
        self._events.clear()
        return events


class _Line(Channel):
    """The channel between the trial that runs and the engine around it."""

    def __init__(self, engine: Inline, start: m.Start) -> None:
        self.orders: deque[Order] = deque()
        self._engine = engine
        self._start = start
        self._pump_at = time.monotonic() + YOUNG_S
        self._rank: RankThread | None = None

    why_no_ranks = ""

    def on_ranks(self, message: Message) -> None:
        """Start the rank of a gang, in a thread of this process; it ends when its head has hung up."""
        from overtone.engines.inline_rank import RankThread
        from overtone.worker.gang.plan import GangPlan

        error = ""
        if message[0] == "make_ranks":
            self.end_rank()
            self._rank = RankThread(self._start, GangPlan(*message[3:]))
            error = self._rank.start()
        if message[0] == "end_ranks" or error:
            self.orders.append(RanksGone(self._start.trial_id, self._start.attempt, message[3], error))

    def end_rank(self) -> None:
        """Wait for the end of the rank, if there is one."""
        if self._rank is not None:
            self._rank.end()
            self._rank = None

    def put_back(self, orders: list[Order]) -> None:
        self.orders.extendleft(reversed(orders))

    def send(self, message: Message) -> None:
        self._engine.note(message)

    def receive(self, wait: bool) -> Order | Nothing:
        if wait:
            self._engine.pump()
            while not self.orders:
                self._engine.wait_for_news()
                self._engine.pump()
        elif not self.orders and time.monotonic() >= self._pump_at:
            # a trial that runs ahead needs no answer for long, but its results must be passed on
            self._pump_at = time.monotonic() + PUMP_EVERY_S
            self._engine.pump()
        return self.orders.popleft() if self.orders else NOTHING


def _own(config: Config) -> Config:
    """Return a copy of the config that the trial may modify."""
    if all(type(value) in _PLAIN for value in config.values()):
        return dict(config)
    try:
        return copy.deepcopy(config)
    except Exception:
        return dict(config)  # a value cannot be copied: share the values


def _memory_bytes() -> int:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return 0


@contextmanager
def _output_to_files(job: Job, trial_id: str) -> Iterator[None]:
    """Redirect the output of the block to the trial's files if `job.log_to_file` is set."""
    if job.log_to_file is None:
        yield
        return
    from contextlib import redirect_stderr, redirect_stdout

    folder = mark_of(job).make(trial_id)
    out, err = (folder / name for name in job.log_to_file)
    with (
        out.open("a", encoding="utf-8") as stdout,
        err.open("a", encoding="utf-8") as stderr,
        redirect_stdout(stdout),
        redirect_stderr(stderr),
    ):
        yield
