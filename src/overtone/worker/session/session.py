"""The trial's handle: training code calls it to report, to save and to get its orders.

`report()` sends a result, and then waits for the engine's order unless the trial may run
ahead. Effects of the orders:

    Proceed        report() returns; `params` may have new values; may request a save
    Halt           report() raises TrialHalted, now and at each further call
    Halt(save)     a trial with a `saver` (the class API) saves and halts; a trial whose
                   checkpoint came with this report, or just before, halts; a cooperative trial
                   (it has called should_checkpoint) runs until record_checkpoint() returns or
                   until its next report, and halts; any other halts or, with `park`, waits

Without requests, `SavingRule` decides when a trial saves. An automatic save may fail: the trial
continues, and prints one warning.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from time import perf_counter
from typing import Any

from overtone.core import types
from overtone.core.job import Job
from overtone.core.messages import Halt, Proceed, Start
from overtone.core.sizes import shorten
from overtone.errors import NoRoomError, TrainableError, TrialHalted
from overtone.store.room import HURRIED_S, lacks_room
from overtone.worker.checkpoints.checkpoint import Checkpoint
from overtone.worker.checkpoints.full_disk import Shortage
from overtone.worker.checkpoints.save_attempts import SaveAttempts
from overtone.worker.checkpoints.saving_rule import SavingRule
from overtone.worker.checkpoints.trial_checkpoints import Saver, TrialCheckpoints
from overtone.worker.protocol import Channel, Nothing
from overtone.worker.session.metrics import encoded, merged
from overtone.worker.session.once_per_machine import once
from overtone.worker.session.trial_connection import TrialConnection
from overtone.worker.session_counts import Counts
from overtone.worker.sigterm import Notice

_STATE, _AUTOMATIC = object(), object()
"""Placeholders for a checkpoint from `saver`: a requested save, and an automatic save."""


class Session(TrialConnection):
    """The connection of one trial to its engine; the paper's listings call it `tune`.

    Attributes:
        params: The trial's config; updated in place when the scheduler changes it.
        iteration: Number of reported results, including those before a restore.
        saver: Saves the trial's state on demand; None for functions, which save themselves.
        on_params: Called after `params` changed.
        is_done: Whether the trial reported `done=True`.
        is_final: Whether the trial was told to end for good, and not to pause or to restart.
        notice: State of a SIGTERM to this process, which acts like Halt(save=True).
        n_ignored: Number of reports after the trial was halted.
        rule: Decides when to save.
        origin: The restored checkpoint; None if the trial starts from the beginning.
    """

    once = staticmethod(once)

    def __init__(
        self, channel: Channel, job: Job, start: Start, clock: Callable[[], float] = perf_counter,
        is_virtual: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(job, start, channel)
        self.params = start.config
        self.saver: Saver | None = None
        self.on_params: Callable[[], None] | None = None
        self.is_done = self.is_final = False
        self.n_ignored = 0
        self._clock = clock
        self._pid = os.getpid()
        self._until_t = start.until_t
        self._keeper = TrialCheckpoints(job, start)
        self.origin = self._keeper.origin
        self.iteration = self.origin.t if self.origin else 0
        restored = self._keeper.restored
        self._counts = Counts(restored.state if restored else {}, clock, is_virtual)
        self.rule = SavingRule(
            job.checkpoint_freq, job.checkpoint_at_end, clock, before_s=self._counts.time_before_s
        )
        self._shortage = Shortage(self._look, self._say_for_all)
        self._attempts = SaveAttempts(self.rule, self._shortage, self._keeper.say)
        self._warned: set[str] = set()
        self._is_fresh = False  # a checkpoint was kept since the last report, or with it
        self._wants_save = self._is_cooperative = self._is_let_go = False
        self.notice = Notice()
        if self.origin is not None:
            self.notice.arm()

    def count_from(self, t: int, time_total_s: float) -> None:
        """Continue the counts of an earlier attempt, whose state the trial's code has by itself."""
        self.iteration, self._counts.time_before_s = t, time_total_s

    # --- reporting -----------------------------------------------------------------------

    def report(
        self, metrics: Any = None, /, *, checkpoint: Any = None, _metric: Any = None, **kwargs: Any
    ) -> None:
        """Report a result, and wait if the scheduler may have to decide.

        `report({"acc": 0.9})`, `report({"acc": 0.9}, checkpoint=Checkpoint...)`,
        `report(acc=0.9)` and `report(0.9)` (then the metric is called `_metric`).

        Args:
            metrics: Plain data by name, or one number.
            checkpoint: The state after this iteration; copied before this returns.

        Raises:
            TrialHalted: The trial should end, or reported `done=True`: let it pass.
            TrainableError: `metrics` is neither a mapping nor a number, or this process is not the
                trial's; or the metrics take more than `LONGEST_RESULT` bytes (32 MB) as JSON.
        """
        now = self._clock()
        values = merged(metrics, _metric, kwargs)
        if checkpoint is not None and not isinstance(checkpoint, (Checkpoint, str, os.PathLike)):
            values["checkpoint"], checkpoint = checkpoint, None  # a metric of that name
        elif isinstance(checkpoint, str) and metrics is None:
            values["checkpoint"] = checkpoint  # scripts of Ray Tune 0.x read it there
        with self._lock:
            self._report(values, checkpoint, now)

    def report_with_state(self, metrics: Mapping[str, Any], is_automatic: bool = False) -> None:
        """Report a result with a checkpoint from `saver`; for the class API.

        Args:
            is_automatic: Whether the save was not requested, so that it may fail.
        """
        now = self._clock()
        with self._lock:
            self._report(dict(metrics), _AUTOMATIC if is_automatic else _STATE, now)

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
        halt = self._shortage.take_halt() or self._look()
        t = self.iteration + 1
        self._counts.fill(values, t, now)
        raw = encoded(values, self._warned)
        self._keeper.results.append(raw)
        kept = self._keep_reported(checkpoint, t)
        halt = halt or self._shortage.take_halt()
        self.iteration = t
        self._send("reported", t, raw, kept)
        if kept is not None:
            self.notice.arm()
            self._is_fresh, self._wants_save = True, False
        if self._is_let_go:
            raise self._ended("it was let go for this save")
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
        keeper, counts, saver = self._keeper, self._counts, self.saver
        if checkpoint is None:
            return self._kept(lambda: keeper.keep_pending(t, counts)) if keeper.has_pending else None
        if checkpoint in (_STATE, _AUTOMATIC) and saver is not None:
            is_automatic = checkpoint is _AUTOMATIC
            return self._kept(lambda: keeper.keep_from(saver, t, counts, is_automatic), is_automatic)
        path = Path(checkpoint)
        return self._kept(lambda: keeper.keep(path, t, counts))

    def _kept(
        self, save: Callable[[], types.Checkpoint | None], is_automatic: bool = False
    ) -> types.Checkpoint | None:
        return self._attempts.keep(save, is_automatic, self._is_let_go)

    # --- orders --------------------------------------------------------------------------

    def obey_halt(self, prepared: Callable[[], AbstractContextManager[None]]) -> None:
        """Obey a Halt that came since the last report, within `prepared()`: a trial may wait there."""
        with self._lock:
            halt = None if self.is_halted else self._look()
            if halt is not None:
                with prepared():
                    self._obey(halt)

    def _look(self) -> Halt | None:
        """Take the orders that arrived since the last report: none of them answers this report."""
        while True:
            order = self._receive(wait=False)
            if isinstance(order, Nothing):
                return self._halt_by_notice() if self.notice.is_given else None
            if isinstance(order, Halt):
                return order
            if isinstance(order, Proceed):
                self._take(order)
            else:
                self._take_answer(order)

    def _obey(self, halt: Halt | None) -> None:
        """Return when report() may return: after `halt`, or after the order that answers this report."""
        while True:
            order = halt or self.notice.unless_given(lambda: self._receive(wait=True), self._halt_by_notice)
            halt = None
            if isinstance(order, Proceed):
                self._take(order)
                self._save()
                return
            if not isinstance(order, Halt):
                self._take_answer(order)
            elif self._is_let_go_by(order):
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
        """Return whether report() returns after a Halt, to save (True), or waits (False); else raise."""
        self.is_final = order.final and not order.park
        if self._is_fresh:
            raise self._ended("it was told to end")
        if self.saver is not None:
            if order.save:
                try:
                    # a trial that can be paused loses nothing, and releases its resources
                    self._send_saved(self.saver, lambda: order.park or self.notice.is_given)
                except Exception as error:
                    if lacks_room(error):
                        self._keeper.say(f"what was done since the last save is not kept: {error}")
                    self._send("save_failed", shorten(f"{type(error).__name__}: {error}"))
                    if order.park:
                        return False
            elif order.final and not order.park and self.rule.is_due_at_end():
                self._save_at_end(self.saver)
        elif order.save and self._is_cooperative:
            self._wants_save = self._is_let_go = True
            return True
        elif order.save and order.park:
            self._send("save_failed", "the trainable reported no checkpoint with this result")
            return False
        raise self._ended("it was told to end")

    def _save(self) -> None:
        """Save now, if a save was requested and the trial has a `saver`."""
        if self._wants_save and self.saver is not None:
            self._wants_save = False
            try:
                self._send_saved(self.saver)
            except NoRoomError as error:
                self._attempts.tell_no_room(error)
            except Exception as error:
                if not self._shortage.excuses(error):
                    raise

    def _send_saved(self, saver: Saver, is_over: Callable[[], bool] | None = None) -> None:
        """Save for an order; the save counts as automatic with `checkpoint_freq=None`."""
        keeper, t, counts = self._keeper, self.iteration, self._counts
        is_automatic = self.rule.is_automatic
        patience_s = None if is_over is None else HURRIED_S
        kept = self._shortage.wait(
            lambda: self._attempts.timed(lambda: keeper.keep_from(saver, t, counts, is_automatic)),
            is_over,
            patience_s,
        )
        self._send("saved", kept)
        self._is_fresh = True

    def _save_at_end(self, saver: Saver) -> None:
        keeper, t, counts = self._keeper, self.iteration, self._counts
        is_automatic = not self._job.checkpoint_at_end
        kept = self._kept(lambda: keeper.keep_from(saver, t, counts, is_automatic), is_automatic)
        if kept is not None:
            self._send("saved", kept)

    def get_context(self) -> Session:
        """Return the session itself, which has all the `get_...` methods."""
        return self

    # --- checkpoints ---------------------------------------------------------------------

    def should_checkpoint(self) -> bool:
        """Return whether to save now and call `record_checkpoint`; stays true until that call.

        Without `checkpoint_freq` it follows `SavingRule`: the first save after 10 s, then as often as the
        overhead limit allows. It cannot know which call is the last: to keep the final state, record it
        before the function returns.
        """
        self._is_cooperative = True
        self.notice.arm()
        keeper, t = self._keeper, self.iteration
        if self.notice.is_given and keeper.t != t:
            self._wants_save = self._is_let_go = True
        if keeper.has_pending or (not self._wants_save and (keeper.t == t or not self.rule.is_due(t))):
            return False
        self.rule.begin()
        return True

    def record_checkpoint(self, path: str | os.PathLike[str]) -> None:
        """Keep a copy of the file or directory `path` as the state after the last report.

        `checkpoint` is a path of the same kind when the trial, or a clone, is restored from it.

        Raises:
            TrialHalted: The trial was told to end and ran only for this save.
            TrainableError: `path` does not exist.
        """
        with self._lock:
            if self.is_halted:
                raise TrialHalted("this trial was told to end")
            keeper, counts, place, t = self._keeper, self._counts, Path(path), self.iteration
            is_automatic = self.rule.is_automatic and self.rule.has_begun
            may_be_left_out = is_automatic and not (self._wants_save or self._is_let_go)
            kept = self._kept(lambda: keeper.keep(place, t, counts, is_automatic), may_be_left_out)
            self._wants_save = False
            if kept is not None:
                self._send("saved", kept)
                self._is_fresh = True
            if self._is_let_go:
                raise self._ended("it has saved")

    def make_checkpoint_dir(self) -> str:
        """Return a new directory; the next `report()` carries its contents."""
        return self._shortage.wait(self._keeper.collect)

    def save_checkpoint(self, path: str | os.PathLike[str]) -> None:
        """Choose the file or directory to restore from, in that directory."""
        self._keeper.name_pending(Path(path))

    @contextmanager
    def checkpoint_dir(self, step: int | None = None) -> Iterator[str]:
        """Yield a new directory to save into; the next `report()` carries its contents.

        Args:
            step: Accepted for compatibility; the checkpoint is named after the report.
        """
        with self.rule.preparing(), ExitStack() as stack:
            yield str(self._shortage.wait(lambda: stack.enter_context(self._keeper.collected())))

    def collect_checkpoint(self, fill: Callable[[Path], object]) -> None:
        """Let `fill` write what the next report carries; wait for room unless the trial is told to halt."""
        try:
            with self.checkpoint_dir() as folder:
                self._shortage.wait(lambda: fill(Path(folder)))
        except Exception as error:
            if not self._shortage.excuses(error):
                raise
            self._shortage.tell(error, "this state is not kept")

    def finish(self) -> None:
        """Keep a waiting checkpoint that no report carried, at the end of the trial."""
        with self._lock:  # a thread that the trial has left may be reporting
            keeper, t, counts = self._keeper, self.iteration, self._counts
            if keeper.has_pending and not self.is_halted:
                kept = self._kept(lambda: keeper.keep_pending(t, counts))
                if kept is not None:
                    self._send("saved", kept)
            keeper.drop_pending()

    @property
    def n_reported(self) -> int:
        """Number of results that this attempt has reported."""
        return self._counts.n_here
