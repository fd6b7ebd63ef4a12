"""`tune.run`, `tune.start` and `tune.run_experiments`: three ways to run an experiment."""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, cast

from overtone.engines.local.prestart import ahead
from overtone.tune.arguments import to_experiment
from overtone.tune.experiment import Experiment, experiments_of
from overtone.tune.trials import Trials

if TYPE_CHECKING:
    from overtone.analysis import ExperimentAnalysis
    from overtone.experiment import Experiment as NativeExperiment
    from overtone.run import Run

P = ParamSpec("P")
R = TypeVar("R")


def _takes_arguments_of(_: Callable[P, Any]) -> Callable[[Callable[..., R]], Callable[P, R]]:
    """Return a decorator that shows these arguments to type checkers and `help`."""
    return functools.wraps(to_experiment, assigned=())


@_takes_arguments_of(to_experiment)
def run(run_or_experiment: Any, *args: Any, **arguments: Any) -> ExperimentAnalysis:
    """Run one or more experiments and return their results. Block until every trial has ended.

    Args:
        run_or_experiment: A function, class, generator function or callable object; the name
            of a registered trainable; or one or several `tune.Experiment`s.
        name: The experiment's folder below `storage_path`; made from the trainable's name
            and the date when None.
        metric: The metric to optimise; None takes it from the scheduler, the searcher or
            the first result.
        mode: "max" or "min".
        stop: When trials end: a dict such as {"training_iteration": 10}, a callable
            `(trial_id, result) -> bool`, a Stopper, or a list of these.
        time_budget_s: Maximum time of the search, in seconds or as a timedelta.
        config: The search space; or a list, generator or frame of configs.
        resources_per_trial: Such as {"cpu": 2, "gpu": 0.5, "memory": "2GB"}; 1 CPU when None.
        num_samples: Number of samples of the space; -1 for no limit.
        storage_path: The folder of all experiments; `~/overtone_results` when None.
        local_dir: The old name of `storage_path`.
        search_alg: A searcher or its name; None for random and grid search.
        scheduler: A scheduler, its class or its name; None for first in, first out.
        checkpoint_config: A `CheckpointConfig`; or its options as separate arguments:
            `checkpoint_freq`, `checkpoint_at_end`, `keep_checkpoints_num`, `checkpoint_score_attr`
            (a metric; "min-loss" if lower is better) and `max_disk` (such as "20GB", for all trials).
            Trials that can save are saved automatically, with a target of at most 5 % overhead;
            `checkpoint_freq=0` turns that off.
        verbose: 0 for no output, 1 for the table, 2 and 3 for more.
        progress_reporter: A reporter that shows the state of the run.
        log_to_file: True for files "stdout" and "stderr" of each trial, or their names.
        trial_name_creator: `trial -> name`, the name that output shows.
        trial_dirname_creator: `trial -> name of the trial's folder`.
        max_failures: Maximum number of retries of a failed trial; -1 for no limit. Killed trials
            are always restarted.
        trial_limits: Limits for each trial and all processes that it starts, such as
            {"time_s": 3600, "cpu_s": 7200, "memory": "2GB"}; a trial that exceeds a limit fails.
        fail_fast: True ends the search, and within seconds all trials, at the first failed trial;
            "raise" also raises its error.
        reuse_actors: Keep a trial's process for the next trial, unless the trial leaves threads running.
            A class trainable that defines `reset_config` keeps its object as well.
        raise_on_failed_trial: Whether to raise at the end of the run if trials failed.
        callbacks: `Callback`s, called during the run.
        max_concurrent_trials: Maximum number of trials that run at the same time.
        points_to_evaluate: Configs (may be partial) to evaluate first.
        resume: True, False, or "AUTO" to resume the earlier experiment if there is one.
            "AUTO+ERRORED" also retries failed trials from their last checkpoint,
            "AUTO+RESTART_ERRORED" from their beginning. Without a name, the last experiment of this
            script is resumed. A resume prints each setting that differs from the recorded run, and
            whether the source of the trainable changed; functions that the trainable calls are
            not compared.
        resume_config: The same choices as a `ResumeConfig`.
        seed: The seed of all random choices; None draws a seed, which is logged.
        engine: "local", "ray", "inline", "simulated" or an Engine; None to choose.

    Returns:
        The analysis; for several experiments, a list of analyses.

    Raises:
        TuneError: Trials failed; the error's `analysis` holds all results.
        TypeError: An argument is unknown.
    """
    with ahead(arguments.get("engine")):
        from overtone.run import execute

        if not isinstance(run_or_experiment, Experiment) and not _is_several(run_or_experiment):
            return execute(to_experiment(run_or_experiment, *args, **arguments))
        several = _natives(run_or_experiment, *args, **arguments)
        found: list[Any] = [execute(each) for each in several]
        return cast("ExperimentAnalysis", found if _is_several(run_or_experiment) else found[0])


@_takes_arguments_of(to_experiment)
def start(run_or_experiment: Any, *args: Any, **arguments: Any) -> Run:
    """Start a run in the background: `run.wait(n)`, `run.results_df`, `run.stop()`.

    The arguments are those of `tune.run`.
    """
    from overtone.run import start as start_run

    if isinstance(run_or_experiment, Experiment):
        return start_run(run_or_experiment.to_experiment(*args, **arguments))
    return start_run(to_experiment(run_or_experiment, *args, **arguments))


def run_experiments(
    experiments: Any, space: Mapping[str, Any] | None = None, scheduler: Any = None, **arguments: Any
) -> Trials:
    """Run one or several experiments, one after the other, and return their trials.

    Args:
        experiments: A trainable, with its `space` as the second argument; or
            `{name: {"run": ..., "config": ..., "stop": ..., "num_samples": ...}}`; or a
            `tune.Experiment`, or a list of these.
        space: The search space of a single trainable.
        scheduler: A scheduler, or its class.
        arguments: Further arguments of `tune.run`, for every experiment.

    Raises:
        TuneError: Trials failed; the error's `analysis` holds all results.
    """
    from overtone.run import execute

    arguments.pop("concurrent", None)
    native = experiments_to_run(experiments, space, scheduler, **arguments)
    return Trials([execute(each) for each in native])


def experiments_to_run(
    experiments: Any, space: Any = None, scheduler: Any = None, **arguments: Any
) -> list[NativeExperiment]:
    """Return the native experiments that these arguments of `run_experiments` describe."""
    if isinstance(experiments, Experiment | Mapping) or _is_several(experiments):
        if space is not None and scheduler is None:
            scheduler = space  # the second argument of the dialect without a space
        return _natives(experiments, scheduler=scheduler, **arguments)
    return [to_experiment(experiments, config=space, scheduler=scheduler, **arguments)]


def _natives(several: Any, *args: Any, **arguments: Any) -> list[NativeExperiment]:
    """Return the native experiments, each with its own copy of the scheduler and the searcher."""
    found = [each.to_experiment(*args, **arguments) for each in experiments_of(several)]
    for one in found[1:]:
        one.scheduler, one.searcher = copy.deepcopy((one.scheduler, one.searcher))
    return found


def _is_several(given: Any) -> bool:
    return isinstance(given, Mapping) or (isinstance(given, Sequence) and not isinstance(given, str))
