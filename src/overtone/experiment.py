"""What the user wants, in one object: every dialect of the API ends here."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from overtone.core.protocols import Engine, Observer, Searcher, TrialScheduler


@dataclass(slots=True)
class CheckpointPolicy:
    """When class trainables save, and which checkpoints are kept.

    Attributes:
        every: Save every so many iterations; 0 for never.
        at_end: Save when a trial ends.
        keep: How many checkpoints of a trial are kept; None for all. The newest is always kept.
        order: The metric by which the kept ones are chosen; None for the newest.
        order_mode: "max" or "min" of `order`.
    """

    every: int = 0
    at_end: bool = False
    keep: int | None = None
    order: str | None = None
    order_mode: str = "max"


@dataclass(slots=True)
class Experiment:
    """A search, before it runs.

    Attributes:
        trainable: A function, class, generator, partial, lambda or callable object.
        space: The search space; or a list, generator or frame of configurations.
        name: The experiment's folder below `storage`; made from the trainable's name and
            the date when None.
        storage: Where experiments lie; `~/overtone_results` when None.
        num_samples: How often the space is sampled; -1 without end.
        metric, mode: The goal; None to take it from the scheduler, the searcher, or the
            first result.
        scheduler: None for FIFO. A class is instantiated.
        searcher: None for random and grid search.
        stop: Criteria as a dict, a callable, a Stopper, or a list of these.
        resources: A mapping, a list of mappings (one a bundle), a `Resources`, a callable
            `config -> resources`, or None for the trainable's own request, else 1 CPU.
        max_concurrent: At most so many trials at once; None or 0 for no limit.
        max_failures: A trial is tried again so often; -1 for ever.
        fail_fast: End the search at the first failed trial; "raise" raises at once.
        time_budget_s: End the search after so many seconds.
        reuse: Keep a trial's process for the next one.
        log_to_file: True for files "stdout" and "stderr", or one or two names.
        checkpoints: When to save and what to keep.
        callbacks: `Callback`s of users, or `Observer`s.
        reporter: A `ProgressReporter`, or None to choose by `verbose` and terminal.
        verbose: 0 silent, 1 the table, 2 and 3 more.
        seed: None draws one, which is logged.
        engine: "local", "inline", "simulated", an Engine, or None to choose.
        trial_name: `trial -> name`, shown to people.
        trial_folder: `trial -> folder name` below the experiment's folder.
        points_to_evaluate: Configs (may be partial) to try first.
        priority: `config -> number`; trials with a higher one are chosen first.
        raise_on_failed_trial: Whether failed trials make the run end in TuneError.
        captures_output: Whether what trials print is shown with their name.
        durability: "interval" (fsync once a second) or "sync" (each batch).
        grace_s: From a halt to SIGTERM, and from there to SIGKILL.
        tensorboard: Whether event files are written; None where its library is there.
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
    priority: Callable[[Mapping[str, Any]], float] | None = None
    raise_on_failed_trial: bool = True
    captures_output: bool = True
    durability: str = "interval"
    grace_s: float = 10.0
    tensorboard: bool | None = None

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
