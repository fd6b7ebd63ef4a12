"""The trial's handle: what training code calls to report, to save and to be told what to do.

`report()` sends a result, and then waits for the engine's order unless the trial may run
ahead. What an order does:

    Proceed        report() returns; `params` may have new values; a save may be asked for
    Halt           report() raises TrialHalted, now and at each further call
    Halt(save)     a trial with a `saver` (the class API) saves and halts; one whose checkpoint
                   came with this report, or just before, halts; a cooperative one (it has
                   called should_checkpoint) is let go, and halts when record_checkpoint()
                   returns or at its next report; any other halts or, with `park`, waits on
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter
from typing import Any

from overtone.core import types
from overtone.core.job import Job
from overtone.core.messages import Halt, Proceed, Start
from overtone.core.resources import Resources
from overtone.errors import TrainableError
from overtone.worker.checkpoint import Checkpoint
from overtone.worker.counts import Counts
from overtone.worker.halted import TrialHalted
from overtone.worker.keeping import Keeper, Saver
from overtone.worker.normalise import merged, normalise
from overtone.worker.once import once
from overtone.worker.wire import Channel, Nothing, Order, encode

_STATE = object()
"""In the place of a checkpoint: what `saver` saves."""


class Session:
    """One trial's line to its engine; the paper's listings call it `tune`.

    Attributes:
        params: The trial's config; updated in place when the scheduler changes it.
        iteration: How many results were reported, those before a restore counted.
        saver: Saves the trial's state on demand; None for functions, which save when
            they are asked to or as they like.
        on_params: Called after `params` changed.
        is_halted: Whether the trial was told to end, or said so itself.
        is_done: Whether it said so itself, by reporting `done=True`.
        n_ignored: How often user code went on to report after that.
    """

    once = staticmethod(once)

    def __init__(
        self, channel: Channel, job: Job, start: Start, clock: Callable[[], float] = perf_counter
    ) -> None:
        self.params = start.config
        self.iteration = start.checkpoint.t if start.checkpoint else 0
        self.saver: Saver | None = None
        self.on_params: Callable[[], None] | None = None
        self.is_halted = self.is_done = False
        self.n_ignored = 0
        self._channel, self._job, self._start, self._clock = channel, job, start, clock
        self._pid = os.getpid()
        self._lock = threading.RLock()
        self._until_t = start.until_t
        self._keeper = Keeper(job, start.trial_id, start.checkpoint)
        restored = self._keeper.restored
        self._counts = Counts(restored.state if restored else {}, clock)
        self._warned: set[str] = set()
        self._is_fresh = False  # a checkpoint was kept since the last report, or with it
        self._wants_save = self._is_cooperative = self._is_let_go = False

    # --- reporting -----------------------------------------------------------------------

    def report(
        self, metrics: Any = None, /, *, checkpoint: Any = None, _metric: Any = None, **kwargs: Any
    ) -> None:
        """Report a result, and wait where the scheduler may have to decide.

        `report({"acc": 0.9})`, `report({"acc": 0.9}, checkpoint=Checkpoint...)`,
        `report(acc=0.9)` and `report(0.9)` (then the metric is called `_metric`).

        Args:
            metrics: Plain data by name, or one number.
            checkpoint: The state after this iteration; copied before this returns.

        Raises:
            TrialHalted: The trial should end, or reported `done=True`: let it pass.
            TrainableError: This is neither a mapping nor a number, or not the trial's process.
        """
        now = self._clock()
        values = merged(metrics, _metric, kwargs)
        if checkpoint is not None and not isinstance(checkpoint, (Checkpoint, str, os.PathLike)):
            values["checkpoint"], checkpoint = checkpoint, None  # a metric of that name
        with self._lock:
            self._report(values, checkpoint, now)

    def report_with_state(self, metrics: Mapping[str, Any]) -> None:
        """Report a result together with what `saver` saves; for the class API."""
        now = self._clock()
        with self._lock:
            self._report(dict(metrics), _STATE, now)

    def _report(self, values: dict[str, Any], checkpoint: Any, now: float) -> None:
        if self.is_halted:
            self.n_ignored += 1
            raise TrialHalted("this trial was told to end, and reported again")
        if os.getpid() != self._pid:
            raise TrainableError(
                f"report() was called in process {os.getpid()}, which the trial (process {self._pid}) "
                "started: hand the metrics back to the trial and report them there"
            )
        if self._is_let_go and checkpoint is None and not self._keeper.has_pending:
            raise self._ended("it was asked to save, and reported again instead")
        halt = self._look()
        t = self.iteration + 1
        self._counts.fill(values, t, now)
        try:
            raw = encode(values)
        except (TypeError, ValueError, RecursionError):
            raw = encode(normalise(values, self._warned))
        kept = self._keep_reported(checkpoint, t)
        self.iteration = t
        self._send("reported", t, raw, kept)
        if kept is not None:
            self._is_fresh, self._wants_save = True, False
            if self._is_let_go:
                raise self._ended("it has saved")
        if halt is not None or t >= self._until_t:
            self._obey(halt)
        elif self._wants_save:
            self._save()
        self._is_fresh = False
        if values["done"]:
            self.is_done = True
            raise self._ended("it reported that it is done")
        self._counts.go_on()

    def _keep_reported(self, checkpoint: Any, t: int) -> types.Checkpoint | None:
        if checkpoint is None:
            return self._keeper.keep_pending(t, self._counts)
        if checkpoint is _STATE and self.saver is not None:
            return self._keeper.keep_from(self.saver, t, self._counts)
        path = checkpoint.path if isinstance(checkpoint, Checkpoint) else checkpoint
        return self._keeper.keep(Path(path), t, self._counts)

    # --- orders --------------------------------------------------------------------------

    def _look(self) -> Halt | None:
        """Take the orders that came since the last report: none of them answers this one."""
        while True:
            order = self._receive(wait=False)
            if isinstance(order, Nothing):
                return None
            if isinstance(order, Halt):
                return order
            if isinstance(order, Proceed):
                self._take(order)

    def _obey(self, halt: Halt | None) -> None:
        """Return when report() may: after `halt`, or after the order that answers this report."""
        while True:
            order = halt or self._receive(wait=True)
            halt = None
            if isinstance(order, Proceed):
                self._take(order)
                self._save()
                return
            if isinstance(order, Halt) and self._is_let_go_by(order):
                return

    def _take(self, order: Proceed) -> None:
        self._until_t = order.until_t
        if order.save:
            self._wants_save = not self._is_fresh
        if order.config is not None:
            self.params.clear()
            self.params.update(order.config)
            if self.on_params is not None:
                self.on_params()

    def _is_let_go_by(self, order: Halt) -> bool:
        """Whether report() returns after a Halt, to save; it raises, or waits on (False)."""
        if self._is_fresh:
            raise self._ended("it was told to end")
        if self.saver is not None:
            if order.save or (self._job.checkpoint_at_end and not order.park):
                try:
                    self._wants_save = True
                    self._save()
                except Exception as error:
                    self._send("save_failed", f"{type(error).__name__}: {error}")
                    if order.park:
                        return False
        elif order.save and self._is_cooperative:
            self._wants_save = self._is_let_go = True
            return True
        elif order.save and order.park:
            self._send("save_failed", "the trainable reported no checkpoint with this result")
            return False
        raise self._ended("it was told to end")

    def _save(self) -> None:
        """Save now, where that was asked for and the trial has a `saver`."""
        if self._wants_save and self.saver is not None:
            self._wants_save = False
            self._send("saved", self._keeper.keep_from(self.saver, self.iteration, self._counts))
            self._is_fresh = True

    def _ended(self, reason: str) -> TrialHalted:
        """What to raise now that the trial is over."""
        self.is_halted = True
        return TrialHalted(reason)

    def _receive(self, wait: bool) -> Order | Nothing:
        """The next order for this trial."""
        while True:
            try:
                order = self._channel.receive(wait)
            except EOFError:
                raise self._ended("the driver is gone") from None
            if order is None:
                raise self._ended("the engine shuts down")
            if isinstance(order, Nothing):
                return order
            if order.trial_id == self._start.trial_id and order.attempt == self._start.attempt:
                return order

    def _send(self, kind: str, *rest: Any) -> None:
        try:
            self._channel.send((kind, self._start.trial_id, self._start.attempt, *rest))
        except EOFError:
            raise self._ended("the driver is gone") from None

    # --- checkpoints ---------------------------------------------------------------------

    def should_checkpoint(self) -> bool:
        """Whether to save now and call `record_checkpoint`; once true, until it was done."""
        self._is_cooperative = True
        freq, t = self._job.checkpoint_freq, self.iteration
        return self._wants_save or (freq > 0 and t > 0 and t % freq == 0 and self._keeper.t != t)

    def record_checkpoint(self, path: str | os.PathLike[str]) -> None:
        """Keep a copy of the file or directory `path` as the state after the last report.

        `checkpoint` is a path of the same kind when the trial, or a clone, goes on from it.

        Raises:
            TrialHalted: This was the save that the trial was let go for.
            TrainableError: There is nothing at `path`.
        """
        with self._lock:
            if self.is_halted:
                raise TrialHalted("this trial was told to end")
            self._send("saved", self._keeper.keep(Path(path), self.iteration, self._counts))
            self._is_fresh, self._wants_save = True, False
            if self._is_let_go:
                raise self._ended("it has saved")

    @contextmanager
    def checkpoint_dir(self, step: int | None = None) -> Iterator[str]:
        """A new directory to save into; the next `report()` carries what is in it.

        Args:
            step: Accepted as other tools do; the checkpoint is named after the report.
        """
        with self._keeper.collected() as folder:
            yield str(folder)

    @property
    def checkpoint(self) -> str | None:
        """The file or directory to go on from, its own or another trial's; None to begin anew."""
        restored = self._keeper.restored
        return restored.path if restored else None

    @property
    def saved_state(self) -> Any:
        """What to go on from as it was saved: the path, or the dict of the class API."""
        restored = self._keeper.restored
        return restored.like_saved if restored else None

    def get_checkpoint(self) -> Checkpoint | None:
        """What to go on from as a `Checkpoint`; None to begin anew."""
        restored = self._keeper.restored
        return Checkpoint(restored.directory) if restored else None

    def finish(self) -> None:
        """The trial ended by itself: keep what no report carried."""
        kept = None if self.is_halted else self._keeper.keep_pending(self.iteration, self._counts)
        if kept is not None:
            self._send("saved", kept)
        self._keeper.drop_pending()

    @property
    def n_reported(self) -> int:
        """How many results this attempt has reported."""
        return self._counts.n_here

    # --- facts ---------------------------------------------------------------------------

    @property
    def is_active(self) -> bool:
        """Whether the trial goes on."""
        return not self.is_halted

    def get_context(self) -> Session:
        """The session itself, which has all the `get_...` methods."""
        return self

    def get_trial_id(self) -> str:
        """Such as "358bb_00006"."""
        return self._start.trial_id

    def get_trial_name(self) -> str:
        """Such as "train_358bb_00006"."""
        return self._start.name or f"{self._job.name}_{self._start.trial_id}"

    def get_trial_dir(self) -> str:
        """The trial's folder, below the experiment's; it is there."""
        folder = self._job.folder / self._start.trial_id
        folder.mkdir(parents=True, exist_ok=True)
        return str(folder)

    def get_trial_resources(self) -> Resources:
        """What the trial was given."""
        return self._start.resources

    def get_experiment_name(self) -> str:
        """The name of the experiment's folder."""
        return self._job.folder.name

    def get_world_size(self) -> int:
        """How many ranks the trial has."""
        return 1

    def get_world_rank(self) -> int:
        """This process' rank in the trial."""
        return 0
