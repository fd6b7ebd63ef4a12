"""A trial that the caller asked for and runs."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from overtone.core.job import Job
from overtone.core.messages import Cause
from overtone.core.trial import Trial
from overtone.errors import ArgumentError, TrialHalted, UsageError
from overtone.worker.session.session import Session

if TYPE_CHECKING:
    from overtone.engines.asked import TrialLine
    from overtone.worker.checkpoints.checkpoint import Checkpoint

Named = Callable[[Any], dict[str, Any] | None]
"""Returns values as metrics by name; None for None."""


class AskedTrial:
    """A trial of a `Study`: the caller trains with its `config` and reports results.

    `report` may be called from any thread of the process that made the study.

    Attributes:
        trial_id: The id, such as "358bb_00006".
        number: Its place in the order of creation, from 0.
        resumed_at: The iteration of the last result that an earlier program reported for this trial, 0 if
            there is none; None if the trial is new.
    """

    def __init__(
        self, line: TrialLine, job: Job, trial: Trial, named: Named, check: Callable[[bool], None]
    ) -> None:
        start = line.start
        self.trial_id, self.number = start.trial_id, start.index
        self.resumed_at = trial.ruled_t if trial.attempt else None
        self._line, self._named, self._check = line, named, check
        self._session = Session(line, job, start)
        self._lock = threading.RLock()
        self._last: dict[str, Any] | None = None
        self._end: Cause | None = None
        self._is_told = False
        last = trial.last
        if last is not None:
            self._last = dict(last.metrics)
            if self._session.origin is None:
                self._session.count_from(trial.ruled_t, float(last.metrics.get("time_total_s") or 0.0))
        line.send(("started", start.trial_id, start.attempt, *_process(), self._session.origin))

    @property
    def config(self) -> dict[str, Any]:
        """The hyperparameters; a scheduler may change them while the trial runs."""
        return self._session.params

    params = config
    """The hyperparameters, under the name that users of Optuna know."""

    @property
    def seed(self) -> int:
        """The seed of this trial, 0 to 2**32 - 1; the same after a resume."""
        return self._session.get_trial_seed()

    @property
    def folder(self) -> str:
        """The trial's folder, created if missing."""
        return self._session.get_trial_dir()

    @property
    def iteration(self) -> int:
        """The `training_iteration` of the last result, those of an earlier program included."""
        return self._session.iteration

    @property
    def checkpoint(self) -> str | None:
        """The path of the newest checkpoint that an earlier program reported; None if there is none."""
        return self._session.checkpoint

    @property
    def is_over(self) -> bool:
        """Whether the trial has ended: it was stopped or told."""
        return self._end is not None or self._is_told

    def report(
        self,
        values: Any = None,
        step: Any = None,
        *,
        checkpoint: str | Checkpoint | None = None,
        training_iteration: int | None = None,
        **metrics: Any,
    ) -> bool:
        """Report a result, and return whether to continue. The result is in the journal then.

        Args:
            values: A dict of metrics; or the metric of the study as a number, or a list of numbers for
                several metrics.
            step: Recorded as the metric "step". Iterations are counted without it.
            checkpoint: A file or folder with the state after this iteration, of which the study keeps a copy.
            training_iteration: The iteration; by default the one after the last result, also after a
                resume. A smaller one than before the resume repeats a result that is known.
            metrics: Metrics by name, added to `values`.

        Returns:
            False if the trial was stopped, by its scheduler or by a request. It has ended then, and
            `Study.tell` is optional.

        Raises:
            UsageError: The trial has ended, or this is another process than the study's.
            StorageError: The journal cannot be written; the study ends.
        """
        with self._lock:
            if self.is_over:
                raise UsageError(f"trial {self.trial_id} {self._how()}: it takes no more results")
            steps = {} if step is None else {"step": step}
            given = {**(self._named(values) or {}), **metrics, **steps}
            if not given:
                raise UsageError("report() needs a result, such as trial.report(0.3) or report(loss=0.3)")
            self._check(False)
            self._count(training_iteration)
            is_halted = False
            try:
                self._session.report(given, checkpoint=checkpoint)
            except TrialHalted:
                is_halted = True
            self._check(not is_halted and self._line.await_handled())
            self._last = given
            if is_halted or self._line.is_halted:
                self._end = "returned" if self._session.is_done else "halted"
                self._finish()
            return self._end is None

    def __getattr__(self, name: str) -> Any:
        if name[0] == "_":
            raise AttributeError(name)
        from overtone.run.optuna_names import of_trial

        return of_trial(self, name)

    def _tell(self, values: Any, cause: Cause, error: str, problem: Callable[[Any], str]) -> None:
        """End the trial; see `Study.tell`.

        Args:
            problem: Returns why metrics cannot end a trial, as a sentence; "" if they can.
        """
        with self._lock:
            if self._is_told:
                raise UsageError(f"trial {self.trial_id} was told already: a trial ends once")
            given = self._named(values)
            if given is not None and self._last is not None and _repeats(given, self._last):
                given = None  # The last report, told again.
            if self._end is not None:
                if given is not None:
                    raise UsageError(
                        f"trial {self.trial_id} {self._how()} at iteration {self.iteration} and takes no "
                        "more results: call tell(trial) without values, or do not tell it"
                    )
                self._is_told = True
                return
            self._check(False)
            why = problem({**(self._last or {}), **(given or {})}) if cause == "returned" else ""
            if why:
                raise ArgumentError(f"values={values!r:.100}: {why}")
            self._line.is_last = True
            if given is not None:
                try:
                    with suppress(TrialHalted):
                        self._session.report(given)
                    self._check(False)
                except BaseException:
                    self._line.take_back()
                    raise
            self._end = cause
            self._finish(error, "pruned by the caller" if cause == "halted" else "")
            self._is_told = True

    def _finish(self, error: str = "", reason: str = "") -> None:
        """Record the end of the trial."""
        assert self._end is not None
        try:
            is_taken = self._line.end(self._end, error, reason)
        except EOFError:
            is_taken = False
        self._check(is_taken)

    def _count(self, t: int | None) -> None:
        """Let the next result be of iteration `t`."""
        if t is None:
            return
        least = self._session.n_reported and self._session.iteration
        if isinstance(t, bool) or not isinstance(t, int) or t <= least:
            raise ArgumentError(f"training_iteration={t!r}: must be a whole number above {least}")
        self._session.iteration = t - 1

    def _how(self) -> str:
        return "has been told" if self._is_told else "was stopped"

    def __repr__(self) -> str:
        return f"AskedTrial({self.trial_id!r}, config={self.config!r})"


def _process() -> tuple[int, str]:
    import os
    import platform

    return os.getpid(), platform.node()


def _repeats(values: Mapping[str, Any], last: Mapping[str, Any]) -> bool:
    """Return whether a result has `values` already; NaN equals NaN."""
    missing = object()
    for name, value in values.items():
        before = last.get(name, missing)
        try:
            if not (before is value or bool(before == value) or (before != before and value != value)):
                return False
        except Exception:  # Such as arrays, which are not compared.
            return False
    return True
