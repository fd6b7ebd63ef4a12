"""The options of a search as arguments: of `tune.run`, and of the objects that `Tuner` takes.

`tests/packaging/option_tables.py` writes the options' lines of docstrings here from `overtone.experiment`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

from overtone.engines.local.prestart import ahead
from overtone.errors import ArgumentError, OvertoneError
from overtone.keywords import KnownKeywords, check_config
from overtone.option import at_least
from overtone.tune.syncer import SyncConfig

if TYPE_CHECKING:
    from overtone.analysis import ExperimentAnalysis
    from overtone.core.limits import TrialLimits


def run(
    run_or_experiment: Any,
    name: str | None = None,
    metric: str | Sequence[str] | None = None,
    mode: str | Sequence[str] | None = None,
    stop: Any = None,
    time_budget_s: float | timedelta | None = None,
    config: Any = None,
    resources_per_trial: Any = None,
    num_samples: int = 1,
    storage_path: str | Path | None = None,
    local_dir: str | Path | None = None,
    search_alg: Any = None,
    scheduler: Any = None,
    checkpoint_config: CheckpointConfig | None = None,
    keep_checkpoints_num: int | None = None,
    checkpoint_score_attr: str | None = None,
    checkpoint_freq: int | None = None,
    checkpoint_at_end: bool | None = None,
    max_disk: float | str | None = None,
    verbose: int | None = None,
    progress_reporter: Any = None,
    log_to_file: bool | str | Sequence[str] = False,
    trial_name_creator: Callable[[Any], str] | None = None,
    trial_dirname_creator: Callable[[Any], str] | None = None,
    max_failures: int = 0,
    fail_fast: bool | str = False,
    reuse_actors: bool | None = None,
    raise_on_failed_trial: bool = True,
    callbacks: Sequence[Any] | None = None,
    loggers: Sequence[Any] | None = None,
    max_concurrent_trials: int | None = None,
    points_to_evaluate: Sequence[Mapping[str, Any]] | None = None,
    seed: int | None = None,
    engine: Any = None,
    resume_config: ResumeConfig | None = None,
    *,
    resume: bool | str | None = False,
    warm_start: Sequence[Any] | None = None,
    constraints: Sequence[str] | Mapping[str, float] | None = None,
    priority: Callable[[Mapping[str, Any]], float] | None = None,
    trial_limits: Mapping[str, Any] | TrialLimits | None = None,
    captures_output: bool = True,
    durability: Literal["interval", "sync"] = "interval",
    chdir_to_trial_dir: bool | None = None,
    export_formats: Sequence[str] | None = None,
    restore: str | Path | None = None,
    grace_s: float | None = None,
    storage_patience_s: float = 300.0,
    tensorboard: bool | None = None,
    files: bool | None = None,
    ui: bool = False,
    **others: Any,
) -> ExperimentAnalysis:
    """Run one or more experiments and return their results. Block until every trial has ended.

    Args:
        run_or_experiment: A function, class, generator function or callable object; the name of a
            registered trainable; or one or several `tune.Experiment`s.
        name: The experiment's folder below `storage_path`; made from the trainable's name and the date when
            None.
        metric: The metric to optimise, or a list of several; None takes it from the scheduler, the searcher
            or the first result.
        mode: "max" or "min"; for several metrics a list.
        stop: When trials end: a dict such as {"training_iteration": 10}, a callable `(trial_id, result) ->
            bool`, a Stopper, or a list of these.
        time_budget_s: Maximum time of the search, in seconds or as a timedelta; None for no limit.
        config: The search space; or a list, generator or frame of configs.
        resources_per_trial: Resources of a trial, such as {"cpu": 2, "gpu": 0.5, "memory": "2GB"}; a list of
            such mappings, one a bundle; or a function `config -> resources`. "gpu_memory", such as "6GB" or
            "auto", lets trials share GPUs by memory. None takes the trainable's own request, else 1 CPU.
        num_samples: Number of samples of the space; -1 for no limit.
        storage_path: The folder of all experiments, or a URL; `~/overtone_results` when None.
        local_dir: The old name of `storage_path`.
        search_alg: A searcher or its name; None for random and grid search.
        scheduler: A scheduler, its class or its name; None for first in, first out.
        checkpoint_config: A `CheckpointConfig`: when trials save, and which checkpoints are kept. Trials that
            can save are saved automatically. `tune.run` also takes its options as separate arguments.
        keep_checkpoints_num: Number of best checkpoints kept per trial, in addition to the newest; at least
            1. None keeps all requested checkpoints, and the best and the two newest automatic ones.
        checkpoint_score_attr: The metric that selects the kept checkpoints; None for the newest. `tune.run`
            also takes "min-loss": low values of "loss" are kept.
        checkpoint_freq: Iterations between two checkpoints; 0 for no checkpoints. None saves automatically,
            with a target of at most 5 % overhead. No more than about 10 minutes of work stay unsaved, which
            costs more if one save takes longer than 30 s or one iteration longer than 5 minutes.
        checkpoint_at_end: Whether class trainables save when a trial ends. None saves if checkpoints are
            automatic and the trial ran for 10 s or more.
        max_disk: Size limit of the checkpoints of all trials together, such as "20GB" or a number of bytes;
            None for no limit. The worst checkpoints are deleted first, except those that a trial may still
            restore. While these alone take more, no new checkpoint is kept.
        verbose: 0 for no output, 1 for the table, 2 and 3 for more.
        progress_reporter: A reporter that shows the state of the run; None chooses by `verbose` and the
            terminal.
        log_to_file: True for files "stdout" and "stderr" of each trial, or their names, one or two.
        trial_name_creator: `trial -> name`, the name that output shows.
        trial_dirname_creator: `trial -> name of the trial's folder`, below the experiment's folder.
        max_failures: Maximum number of retries of a failed trial; -1 for no limit. Killed trials are always
            restarted.
        fail_fast: True ends the search, and within seconds all trials, at the first failed trial; "raise"
            also raises its error.
        reuse_actors: Keep a trial's process for the next trial, unless the trial leaves threads running. A
            class trainable that defines `reset_config` keeps its object as well.
        raise_on_failed_trial: Whether to raise at the end of the run if trials failed; a `Tuner` never does.
        callbacks: `Callback`s, called during the run.
        loggers: Classes of loggers, as early versions of the API have them.
        max_concurrent_trials: Maximum number of trials that run at the same time; None or 0 for no limit.
        points_to_evaluate: Configs (may be partial) to evaluate first.
        seed: The seed of all random choices. None draws it, from NumPy's state if imported, and logs it.
        engine: "local", "ray", "inline", "simulated" or an Engine; None to choose.
        resume_config: The same choices as a `ResumeConfig`.
        resume: True, False, or "AUTO" to resume the earlier experiment if there is one. "AUTO+ERRORED" also
            retries failed trials from their last checkpoint, "AUTO+RESTART_ERRORED" from their beginning.
            Without a name, the last experiment of this script is resumed. A resume prints each setting that
            differs from the recorded run, and whether the source of the trainable changed; functions that the
            trainable calls are not compared.
        warm_start: Earlier searches whose results the searcher observes first: folders of experiments,
            Overtone's or Ray Tune's, URLs of Optuna's storages, Optuna studies.
        constraints: Metrics that a good trial must keep at 0 or less; a mapping gives each its upper bound,
            such as {"latency_ms": 50}.
        priority: `config -> number`; trials with a higher number are chosen first.
        trial_limits: Limits of each trial with all processes that it starts, such as {"time_s": 3600,
            "cpu_s": 7200, "memory": "2GB"}; a trial that exceeds a limit fails.
        captures_output: Whether the output of trials is shown with their name.
        durability: When the journal is on the disk: "interval" (fsync once a second) or "sync" (each batch).
        chdir_to_trial_dir: Whether each trial works in its own folder, so that files with relative paths are
            there; the driver's directory is `os.environ["TUNE_ORIG_WORKING_DIR"]`. None takes the environment
            variable RAY_CHDIR_TO_TRIAL_DIR (1 or 0), else True.
        export_formats: Formats, such as "model", in which class trainables export their model when they end:
            `_export_model(export_formats, export_dir)` is called with the trial's folder.
        restore: The folder, file or URL of a checkpoint that each trial begins with. The experiment keeps a
            copy. Iterations are counted on from a checkpoint that Overtone saved.
        grace_s: Seconds from a halt to SIGTERM, and from there to SIGKILL. After an external SIGTERM, a trial
            has as many seconds to save.
        storage_patience_s: Seconds that a `storage_path` at a URL may be unreachable before the run ends.
        tensorboard: Whether event files are written; None writes them if the library is installed.
        files: Whether each trial has params.json, result.json, progress.csv and event files; None for all but
            simulated searches. The journal has it all, and `overtone export` writes it.
        ui: Whether the dashboard of the folder of all experiments is started, or used if it runs; its address
            is printed. Needs `pip install "overtone[ui]"`.
        others: Arguments of earlier versions of the API.

    Returns:
        The analysis; for several experiments, a list of analyses.

    Raises:
        TuneError: Trials failed; the error's `analysis` holds all results.
        TypeError: An argument is unknown.
        KeyboardInterrupt: At the second Ctrl-C, or at the first if no trial has reported a result.
    """
    arguments = dict(locals())
    arguments |= arguments.pop("others")
    del arguments["run_or_experiment"]
    with ahead(engine):
        from overtone.run import execute
        from overtone.tune.environment import catches_signals
        from overtone.tune.experiment import is_several, natives

        experiments = natives(run_or_experiment, **arguments)
        found: list[Any] = [execute(each, catches_signals()) for each in experiments]
        return cast("ExperimentAnalysis", found if is_several(run_or_experiment) else found[0])


@dataclass
class TuneConfig(KnownKeywords):
    """Search settings: goal, searcher, scheduler and budget.

    Attributes:
        mode: "max" or "min"; for several metrics a list.
        metric: The metric to optimise, or a list of several; None takes it from the scheduler, the searcher
            or the first result.
        search_alg: A searcher or its name; None for random and grid search.
        scheduler: A scheduler, its class or its name; None for first in, first out.
        num_samples: Number of samples of the space; -1 for no limit.
        max_concurrent_trials: Maximum number of trials that run at the same time; None or 0 for no limit.
        time_budget_s: Maximum time of the search, in seconds or as a timedelta; None for no limit.
        trial_limits: Limits of each trial with all processes that it starts, such as {"time_s": 3600,
            "cpu_s": 7200, "memory": "2GB"}; a trial that exceeds a limit fails.
        reuse_actors: Keep a trial's process for the next trial, unless the trial leaves threads running. A
            class trainable that defines `reset_config` keeps its object as well.
        trial_name_creator: `trial -> name`, the name that output shows.
        trial_dirname_creator: `trial -> name of the trial's folder`, below the experiment's folder.
        chdir_to_trial_dir: Whether each trial works in its own folder, so that files with relative paths are
            there; the driver's directory is `os.environ["TUNE_ORIG_WORKING_DIR"]`. None takes the environment
            variable RAY_CHDIR_TO_TRIAL_DIR (1 or 0), else True.
        seed: The seed of all random choices. None draws it, from NumPy's state if imported, and logs it.
        priority: `config -> number`; trials with a higher number are chosen first.
        points_to_evaluate: Configs (may be partial) to evaluate first.
        warm_start: Earlier searches whose results the searcher observes first: folders of experiments,
            Overtone's or Ray Tune's, URLs of Optuna's storages, Optuna studies.
        constraints: Metrics that a good trial must keep at 0 or less; a mapping gives each its upper bound,
            such as {"latency_ms": 50}.
    """

    mode: str | Sequence[str] | None = None
    metric: str | Sequence[str] | None = None
    search_alg: Any = None
    scheduler: Any = None
    num_samples: int = 1
    max_concurrent_trials: int | None = None
    time_budget_s: float | timedelta | None = None
    trial_limits: Mapping[str, Any] | None = None
    reuse_actors: bool = False
    trial_name_creator: Callable[[Any], str] | None = None
    trial_dirname_creator: Callable[[Any], str] | None = None
    chdir_to_trial_dir: bool | None = None
    seed: int | None = None
    priority: Callable[[Mapping[str, Any]], float] | None = None
    points_to_evaluate: Sequence[Mapping[str, Any]] | None = None
    warm_start: Sequence[Any] = ()
    constraints: Sequence[str] | Mapping[str, float] = ()


@dataclass
class RunConfig(KnownKeywords):
    """Run settings: name, storage, failures, checkpoints and output.

    Attributes:
        name: The experiment's folder below `storage_path`; made from the trainable's name and the date when
            None.
        storage_path: The folder of all experiments, or a URL; `~/overtone_results` when None.
        storage_filesystem: Accepted; local paths only.
        failure_config: Retries, and whether a failed trial ends the search.
        checkpoint_config: A `CheckpointConfig`: when trials save, and which checkpoints are kept. Trials that
            can save are saved automatically. `tune.run` also takes its options as separate arguments.
        sync_config: Accepted; see `SyncConfig`.
        progress_reporter: A reporter that shows the state of the run; None chooses by `verbose` and the
            terminal.
        stop: When trials end: a dict such as {"training_iteration": 10}, a callable `(trial_id, result) ->
            bool`, a Stopper, or a list of these.
        callbacks: `Callback`s, called during the run.
        verbose: 0 for no output, 1 for the table, 2 and 3 for more.
        log_to_file: True for files "stdout" and "stderr" of each trial, or their names, one or two.
        local_dir: The old name of `storage_path`.
        engine: "local", "ray", "inline", "simulated" or an Engine; None to choose.
        trial_limits: Limits of each trial with all processes that it starts, such as {"time_s": 3600,
            "cpu_s": 7200, "memory": "2GB"}; a trial that exceeds a limit fails.
        chdir_to_trial_dir: Whether each trial works in its own folder, so that files with relative paths are
            there; the driver's directory is `os.environ["TUNE_ORIG_WORKING_DIR"]`. None takes the environment
            variable RAY_CHDIR_TO_TRIAL_DIR (1 or 0), else True.
        ui: Whether the dashboard of the folder of all experiments is started, or used if it runs; its address
            is printed. Needs `pip install "overtone[ui]"`.
    """

    name: str | None = None
    storage_path: str | Path | None = None
    storage_filesystem: Any = None
    failure_config: FailureConfig | None = None
    checkpoint_config: CheckpointConfig | None = None
    sync_config: SyncConfig | None = None
    progress_reporter: Any = None
    stop: Any = None
    callbacks: Sequence[Any] | None = None
    verbose: int | None = None
    log_to_file: bool | str | Sequence[str] = False
    local_dir: str | Path | None = None
    engine: Any = None
    trial_limits: Mapping[str, Any] | None = None
    chdir_to_trial_dir: bool | None = None
    ui: bool = False

    def __post_init__(self) -> None:
        check_config("failure_config", self.failure_config, "FailureConfig")
        check_config("checkpoint_config", self.checkpoint_config, "CheckpointConfig")


@dataclass
class FailureConfig(KnownKeywords):
    """Failure settings: retries, and whether a failed trial ends the search.

    Attributes:
        max_failures: Maximum number of retries of a failed trial; -1 for no limit. Killed trials are always
            restarted.
        fail_fast: True ends the search, and within seconds all trials, at the first failed trial; "raise"
            also raises its error.
    """

    max_failures: int = 0
    fail_fast: bool | str = False


@dataclass
class CheckpointConfig(KnownKeywords):
    """Checkpoint settings: when trials save, and which checkpoints are kept.

    Attributes:
        num_to_keep: Number of best checkpoints kept per trial, in addition to the newest; at least 1. None
            keeps all requested checkpoints, and the best and the two newest automatic ones.
        checkpoint_score_attribute: The metric that selects the kept checkpoints; None for the newest.
            `tune.run` also takes "min-loss": low values of "loss" are kept.
        checkpoint_score_order: "max" or "min": whether high or low values of that metric are kept.
        checkpoint_frequency: Iterations between two checkpoints; 0 for no checkpoints. None saves
            automatically, with a target of at most 5 % overhead. No more than about 10 minutes of work stay
            unsaved, which costs more if one save takes longer than 30 s or one iteration longer than 5
            minutes.
        checkpoint_at_end: Whether class trainables save when a trial ends. None saves if checkpoints are
            automatic and the trial ran for 10 s or more.
        max_disk: Size limit of the checkpoints of all trials together, such as "20GB" or a number of bytes;
            None for no limit. The worst checkpoints are deleted first, except those that a trial may still
            restore. While these alone take more, no new checkpoint is kept.
    """

    num_to_keep: int | None = None
    checkpoint_score_attribute: str | None = None
    checkpoint_score_order: str | None = "max"
    checkpoint_frequency: int | None = None
    checkpoint_at_end: bool | None = None
    max_disk: float | str | None = None

    def __post_init__(self) -> None:
        at_least(1)("num_to_keep", self.num_to_keep)
        if self.checkpoint_score_order not in ("max", "min", None):
            raise ArgumentError(
                f"checkpoint_score_order={self.checkpoint_score_order!r}: choose 'max' or 'min'"
            )


@dataclass
class ResumeConfig(KnownKeywords):
    """Resume settings for an earlier experiment's trials.

    Attributes:
        finished: "skip": finished trials are kept unchanged. No other value is possible.
        unfinished: "resume": unfinished trials resume from their last checkpoint. No other value
            is possible.
        errored: "skip", "resume" (from the last checkpoint) or "restart" (from the beginning).
    """

    class ResumeType(Enum):
        """Choices for a group of trials."""

        RESUME = "resume"
        RESTART = "restart"
        SKIP = "skip"

    finished: ResumeType | str = ResumeType.SKIP
    unfinished: ResumeType | str = ResumeType.RESUME
    errored: ResumeType | str = ResumeType.SKIP

    def suffix(self) -> str:
        """Return the suffix for `resume="AUTO"`.

        Raises:
            OvertoneError: `finished` is not "skip", or `unfinished` is not "resume".
        """
        finished, unfinished, errored = (
            self.ResumeType(one) for one in (self.finished, self.unfinished, self.errored)
        )
        if finished is not self.ResumeType.SKIP or unfinished is not self.ResumeType.RESUME:
            raise OvertoneError(
                f'{self!r}: must have finished="skip" and unfinished="resume"; only errored can be chosen'
            )
        return {"skip": "", "resume": "+ERRORED", "restart": "+RESTART_ERRORED"}[errored.value]


def __getattr__(name: str) -> Any:
    if name in ("Experiment", "run_experiments"):  # Scripts import them from here, too.
        from overtone.tune import experiment

        return getattr(experiment, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
