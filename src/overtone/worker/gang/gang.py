"""The head of a gang: it makes the ranks, calls functions in them, and ends them."""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from overtone.errors import ArgumentError, GangError, ResourceError, TrainableError
from overtone.worker.gang.call import LOOK_EVERY_S, Call, Message, OnReport, OnTell
from overtone.worker.gang.checkpoint_files import PlaceOnHost
from overtone.worker.gang.host import RankHost
from overtone.worker.gang.hub import Hub
from overtone.worker.gang.network import address_for
from overtone.worker.gang.plan import GangPlan
from overtone.worker.gang.trial_facts import facts_of_current_trial
from overtone.worker.protocol import pickled
from overtone.worker.session.current import current, is_inside
from overtone.worker.tracebacks import in_one_line

START_S = 300.0
"""Longest time for all ranks to start and connect, in seconds."""

GOODBYE_S = 5.0
"""Time for ranks to end by themselves at a shutdown, in seconds."""

SIGN_OF_LIFE_S = 5.0


class Gang:
    """The ranks of one distributed training, driven by one thread of their head.

        with Gang(host, num_workers=2) as gang:
            losses = gang.call(train_epoch, loader)

    Args:
        host: Makes and ends the processes.
        num_workers: The number of ranks.
        timeout_s: Longest silence of a rank, and longest time that a rank may let the others wait at a
            barrier or at the end of a call, in seconds.
        environment: Variables that are set in each rank when it starts.

    Attributes:
        generation: 0, then 1 after the first restart, and so on.
        num_workers: The number of ranks.
        checkpoint: The file or directory that `get_checkpoint()` gives in ranks, as the head sees it; the
            trial's own by default.

    Raises:
        ResourceError: `num_workers` is below 1.
        ArgumentError: `timeout_s` is not above 0.
    """

    def __init__(
        self,
        host: RankHost,
        num_workers: int,
        *,
        timeout_s: float = 1800.0,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        if num_workers < 1:
            raise ResourceError(f"num_workers={num_workers}: at least one is needed")
        if not timeout_s > 0:
            raise ArgumentError(f"timeout_s={timeout_s}: must be more than 0 seconds, such as 1800")
        self._host, self.num_workers, self._timeout_s = host, num_workers, timeout_s
        self._environment = dict(environment or {})
        self.generation = 0
        self.checkpoint: str | Path | None = current().checkpoint if is_inside() else None
        self._hub: Hub | None = None
        self._processes: dict[int, Message] = {}
        self._params = b""
        self._why_broken = ""
        self._is_calling = False
        self._pid = os.getpid()

    def __enter__(self) -> Gang:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.shutdown()

    @property
    def address(self) -> str:
        """The address at which ranks reach the head.

        Raises:
            GangError: The gang does not run.
        """
        return self._running().address.rpartition(":")[0]

    # --- life -------------------------------------------------------------------------

    def start(self) -> None:
        """Start all ranks, and return when they have connected.

        Raises:
            GangError: A rank could not be made, or has not connected in time.
            ResourceError: The trial has too few bundles.
        """
        if self._hub is not None:
            raise GangError("the gang runs already: call restart() or shutdown()")
        token = secrets.token_hex(32)
        hub = self._hub = Hub(address_for(self._host.hosts()), token, self.generation, self.num_workers)
        self._why_broken = ""
        self._processes = {}
        try:
            self._host.start(GangPlan(self.generation, self.num_workers, hub.address, token))
            self._await_ranks(hub)
        except BaseException:
            self.shutdown(force=True)
            raise
        hub.stop_listening()

    def _await_ranks(self, hub: Hub) -> None:
        facts = facts_of_current_trial()
        self._params = pickled(dict(facts.params))
        every_s = min(SIGN_OF_LIFE_S, self._timeout_s / 4)
        welcome = ("welcome", self._environment, pickled(facts), every_s)
        give_up_at = time.monotonic() + START_S
        while len(self._processes) < self.num_workers:
            for rank, (kind, *rest) in hub.poll(LOOK_EVERY_S):
                if kind == "connected":
                    hub.send(rank, welcome)
                elif kind == "ready":
                    self._processes[rank] = tuple(rest)
            missing = [rank for rank in range(self.num_workers) if rank not in self._processes]
            names = f"{_ranks(missing)} of {self.num_workers}"
            if missing and (failure := self._host.failure()):
                raise GangError(f"{names} did not start: {failure}", missing[0])
            if hub.lost:
                rank, why = next(iter(hub.lost.items()))
                raise GangError(f"rank {rank} of {self.num_workers} ended as it started ({why})", rank)
            if missing and time.monotonic() > give_up_at:
                raise GangError(f"{names} did not connect within {START_S:g} s", missing[0])

    def restart(self, num_workers: int | None = None) -> None:
        """End all ranks, and start new ones as the next generation.

        Args:
            num_workers: The new number of ranks; None for as many as before.

        Raises:
            GangError: A rank could not be made, or has not connected in time.
            ResourceError: The trial has too few bundles.
        """
        self.shutdown(force=True)
        self.generation += 1
        self.num_workers = self.num_workers if num_workers is None else num_workers
        self.start()

    def shutdown(self, force: bool = False) -> None:
        """End all ranks; return when they are gone. Calling it twice is safe.

        Args:
            force: Whether to kill them at once; otherwise each may run its exit handlers.
        """
        hub = self._hub
        if hub is None or os.getpid() != self._pid:
            return
        self._hub = None
        try:
            if not force and not self._why_broken:
                hub.send_to_all(("shutdown",))
                give_up_at = time.monotonic() + GOODBYE_S
                while len(hub.lost) < self.num_workers and time.monotonic() < give_up_at:
                    hub.poll(LOOK_EVERY_S)
        finally:
            try:
                self._host.end()  # first: a rank that loses its head before it is told to end has failed
            finally:
                hub.close()

    def _running(self) -> Hub:
        if self._hub is None:
            raise GangError("the gang does not run: call start()")
        if os.getpid() != self._pid:
            raise GangError("this process is a fork of the gang's head: only the head can call ranks")
        if self._why_broken:
            raise GangError(f"call restart() or shutdown(): the gang has ended with {self._why_broken}")
        if self._is_calling:
            raise GangError("on_report and on_tell cannot call ranks: the ranks wait for their return")
        return self._hub

    # --- work -------------------------------------------------------------------------

    def call(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> list[Any]:
        """Call a function in the main thread of each rank, and return the results by rank.

        Raises:
            GangError: A rank raised, died or hung; its text has the rank's traceback, and `__cause__` is
                the exception that it raised. If some ranks did not end, all are killed.
            TrainableError: The function or an argument cannot be pickled.
        """
        return self._call(range(self.num_workers), fn, args, kwargs)

    def call_rank(self, rank: int, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        """Call a function in one rank, and return its result; raises as `call` does.

        Raises:
            GangError: There is no such rank, or a rank failed.
        """
        if not 0 <= rank < self.num_workers:
            raise GangError(f"rank={rank}: must be from 0 to {self.num_workers - 1}")
        return self._call([rank], fn, args, kwargs)[0]

    def run(
        self,
        fn: Callable[..., Any],
        /,
        *args: Any,
        on_report: OnReport,
        on_tell: OnTell | None = None,
        **kwargs: Any,
    ) -> list[Any]:
        """Call a function in each rank as `call` does, and decide on what the ranks report.

        Args:
            on_report: Called with one Report a rank, in the order of ranks, when every rank has called
                `report()` or `record_checkpoint()`. The ranks go on when it returns, with its Verdict if it
                returns one. If it raises, TrialHalted above all, every rank's report raises TrialHalted,
                and `run` raises the same when the ranks have ended.
            on_tell: Called with a rank and a value that it gave to `tell()`.

        Raises:
            GangError: As with `call`; or a rank returned while another reported.
        """
        return self._call(range(self.num_workers), fn, args, kwargs, on_report, on_tell)

    def _call(
        self,
        ranks: Sequence[int],
        fn: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: Mapping[str, Any],
        on_report: OnReport | None = None,
        on_tell: OnTell | None = None,
    ) -> list[Any]:
        hub = self._running()
        place = None if self.checkpoint is None else PlaceOnHost.of(Path(self.checkpoint))
        try:
            function = pickled((fn, args, dict(kwargs)))
        except Exception as error:  # any, since it calls methods of the user's classes
            raise TrainableError(
                f"what ranks should run cannot be sent to them: {in_one_line(error)}. Make the object inside "
                "the function that runs in the ranks, so that each rank has its own"
            ) from error
        iteration = current().iteration if is_inside() else 0
        call = Call(hub, self._host, ranks, self._processes, self._timeout_s, place, on_report, on_tell)
        self._is_calling = True
        try:
            message = ("call", function, on_report is not None, self._changed_params(), iteration, place)
            hub.send_to_all(message, list(ranks))
            return call.wait()
        except BaseException as error:
            if call.open or hub.lost:  # some ranks cannot be called again
                self._why_broken = in_one_line(error)
                self._host.end()
            raise
        finally:
            self._is_calling = False

    def _changed_params(self) -> bytes | None:
        """Return the trial's config for ranks, pickled, if it has changed since they got it."""
        params = pickled(dict(current().params)) if is_inside() else self._params
        if params == self._params:
            return None
        self._params = params
        return params

    def update_environment(self, variables: Mapping[str, str]) -> None:
        """Set environment variables in each rank, now and after a restart."""
        self._environment.update(variables)
        if self._hub is not None:
            self._running().send_to_all(("environment", dict(variables)))


def _ranks(ranks: Sequence[int]) -> str:
    return f"{'rank' if len(ranks) == 1 else 'ranks'} {', '.join(map(str, ranks))}"
