"""The description of an experiment in one object, for every dialect of the API."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from overtone.core.limits import TrialLimits
from overtone.core.protocols import Engine, Observer, Searcher, TrialScheduler
from overtone.core.resources import parse_bytes


@dataclass(slots=True)
class CheckpointPolicy:
    """The policy of saving and keeping checkpoints.

    Attributes:
        every: Iterations between checkpoints; 0 for no checkpoints. None for an automatic interval:
            at most 5 % of a trial's time, but a save at least every 10 minutes.
        at_end: Whether class trainables save when a trial ends. None to save if `every` is None and
            the trial ran for 10 s or more.
        keep: Number of best checkpoints kept per trial, besides its newest. None for all requested
            ones, and of the automatic ones the best and the two newest.
        order: The metric that selects the kept checkpoints; None for the newest.
        order_mode: "max" or "min" of `order`.
        max_disk: Size limit of the checkpoints of all trials together, such as "20GB" or a number
            of bytes; None for no limit. The worst checkpoints are deleted first, except those
            that a trial may still restore. While these alone take more, no new checkpoint is
            kept.
    """

    every: int | None = None
    at_end: bool | None = None
    keep: int | None = None
    order: str | None = None
    order_mode: str = "max"
    max_disk: float | str | None = None

    @property
    def most_bytes(self) -> int | None:
        """`max_disk` in bytes.

        Raises:
            ValueError: `max_disk` is not a size.
        """
        if self.max_disk is None:
            return None
        size = parse_bytes(self.max_disk) if not isinstance(self.max_disk, bool) else 0
        if not 0 < size < float("inf"):
            raise ValueError(f'max_disk={self.max_disk!r} must be a size above 0, such as "20GB"')
        return int(size)


@dataclass(slots=True)
class Experiment:
    """A search, before it runs.

    Attributes:
        trainable: A function, class, generator, partial, lambda or callable object.
        space: The search space; or a list, generator or frame of configurations.
        name: The experiment's folder below `storage`; made from the trainable's name and
            the date when None.
        storage: The parent folder of experiments, or a URL; `~/overtone_results` if None.
        num_samples: Number of samples of the space; -1 for no limit.
        metric, mode: The goal; None to take it from the scheduler, the searcher, or the
            first result.
        scheduler: None for FIFO. A class is instantiated.
        searcher: None for random and grid search.
        stop: Criteria as a dict, a callable, a Stopper, or a list of these.
        resources: A mapping, a list of mappings (one a bundle), a `Resources`, a callable
            `config -> resources`, or None for the trainable's own request, else 1 CPU.
        max_concurrent: Largest number of trials at the same time; None or 0 for no limit.
        max_failures: Number of retries of a failed trial; -1 for no limit.
        fail_fast: End the search, and within seconds all trials, at the first failed one; "raise"
            does so and raises.
        time_budget_s: Seconds after which the search ends; None for no limit.
        reuse: Keep a trial's process for the next one.
        log_to_file: True for files "stdout" and "stderr", or one or two names.
        checkpoints: When to save and what to keep.
        callbacks: `Callback`s of users, or `Observer`s.
        reporter: A `ProgressReporter`, or None to choose by `verbose` and terminal.
        verbose: 0 silent, 1 the table, 2 and 3 more.
        seed: None draws one, which is logged.
        engine: "local", "ray", "inline", "simulated", an Engine, or None to choose.
        trial_name: `trial -> name`, shown to people.
        trial_folder: `trial -> folder name` below the experiment's folder.
        points_to_evaluate: Configs (may be partial) to try first.
        warm_start: Earlier searches that the searcher learns from before it begins: folders of
            experiments, Overtone's or Ray Tune's, URLs of Optuna's storages, Optuna studies.
        constraints: Metrics that a good trial must keep at 0 or less; a mapping gives each
            its upper bound, such as {"latency_ms": 50}.
        priority: `config -> number`; trials with a higher one are chosen first.
        raise_on_failed_trial: Whether failed trials make the run end in TuneError.
        captures_output: Whether the output of trials is shown with their name.
        durability: "interval" (fsync once a second) or "sync" (each batch).
        grace_s: Seconds from a halt to SIGTERM, and from there to SIGKILL. After an external SIGTERM,
            a trial has as many seconds to save.
        trial_limits: Limits of each trial with all processes that it starts, in the form
            {"time_s": 60, "cpu_s": 60, "memory": "2GB"}; see `TrialLimits`.
        resume: Whether to resume an earlier experiment: True, False, or "AUTO" (if there is one);
            "AUTO+ERRORED" and "AUTO+RESTART_ERRORED" also retry failed trials. Settings that differ
            from the recorded run are printed, each with the value that counts.
        storage_patience_s: Seconds that a `storage` at a URL may be unreachable before the run ends.
        tensorboard: Whether event files are written; None to write them if the library is installed.
        files: Whether each trial has params.json, result.json, progress.csv and event files; None for
            all but simulated searches. The journal has it all, and `overtone export` writes it.
    """

    trainable: Any
    space: Any = field(default_factory=dict)
    name: str | None = None
    storage: str | Path | None = None
    num_samples: int = 1
    metric: str | Sequence[str] | None = None
    mode: str | Sequence[str] | None = None
    scheduler: TrialScheduler | type[TrialScheduler] | str | None = None
    searcher: Searcher | str | None = None
    stop: Any = None
    resources: Any = None
    max_concurrent: int | None = None
    max_failures: int = 0
    fail_fast: bool | str = False
    time_budget_s: float | None = None
    reuse: bool = False
    log_to_file: bool | str | Sequence[str] = False
    checkpoints: CheckpointPolicy = field(default_factory=CheckpointPolicy)
    callbacks: Sequence[Observer | Any] = ()
    reporter: Any = None
    verbose: int = 2
    seed: int | None = None
    engine: Engine | str | None = None
    trial_name: Callable[[Any], str] | None = None
    trial_folder: Callable[[Any], str] | None = None
    points_to_evaluate: Sequence[Mapping[str, Any]] = ()
    warm_start: Sequence[Any] = ()
    constraints: Sequence[str] | Mapping[str, float] = ()
    priority: Callable[[Mapping[str, Any]], float] | None = None
    raise_on_failed_trial: bool = True
    captures_output: bool = True
    durability: str = "interval"
    grace_s: float = 10.0
    trial_limits: Mapping[str, Any] | TrialLimits | None = None
    resume: bool | str | None = False
    storage_patience_s: float = 300.0
    tensorboard: bool | None = None
    files: bool | None = None

    def __post_init__(self) -> None:
        whole = (int,)
        for name, value, kinds, least in (
            ("num_samples", self.num_samples, whole, -1),
            ("max_concurrent_trials", self.max_concurrent, whole, 0),
            ("max_failures", self.max_failures, whole, -1),
            ("time_budget_s", self.time_budget_s, (int, float), 0),
            ("checkpoint_freq", self.checkpoints.every, whole, 0),
            ("keep_checkpoints_num", self.checkpoints.keep, whole, 1),
            ("seed", self.seed, whole, 0),
        ):
            if value is None:
                continue
            if isinstance(value, bool) or not hasattr(value, "__index__" if kinds is whole else "__float__"):
                raise ValueError(f"{name}={value!r} must be a number, {least} or more")
            if value < least:
                raise ValueError(f"{name}={value!r} must be {least} or more")
        _ = self.checkpoints.most_bytes  # Raises if it is not a size.
        limits = TrialLimits.of(self.trial_limits)
        self.trial_limits = limits and limits.as_data()
        if self.fail_fast not in (True, False, "raise"):
            raise ValueError(f'fail_fast={self.fail_fast!r}: choose True, False or "raise"')
        for name, maker in (
            ("trial_name_creator", self.trial_name),
            ("trial_dirname_creator", self.trial_folder),
        ):
            if maker is not None and not callable(maker):
                raise ValueError(f"{name}={maker!r} must be a function of a trial")
        if isinstance(self.callbacks, (str, bytes)) or not hasattr(self.callbacks, "__iter__"):
            raise ValueError(f"callbacks={self.callbacks!r} must be a list of Callback objects")
        for name, text in (("metric", self.metric), ("mode", self.mode)):
            many = [text] if isinstance(text, str) or text is None else text
            if not hasattr(many, "__iter__") or not all(isinstance(one, (str, type(None))) for one in many):
                raise ValueError(f"{name}={text!r} must be a name, or a list of names")
