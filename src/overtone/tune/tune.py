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
    """The decorated function itself, which type checkers and `help` see with these arguments."""
    return functools.wraps(to_experiment, assigned=())


@_takes_arguments_of(to_experiment)
def run(run_or_experiment: Any, *args: Any, **arguments: Any) -> ExperimentAnalysis:
    """What was found, once every trial has ended.

    Args:
        run_or_experiment: A function, class, generator function or callable object; the name
            of a registered one; or a `tune.Experiment`, or several.
        name: The experiment's folder below `storage_path`; made from the trainable's name
            and the date when None.
        metric: The metric to optimise; None to take it from the scheduler, the searcher or
            the first result.
        mode: "max" or "min".
        stop: When trials end: a dict such as {"training_iteration": 10}, a callable
            `(trial_id, result) -> bool`, a Stopper, or a list of these.
        time_budget_s: End the search after so many seconds, or after a timedelta.
        config: The search space; or a list, generator or frame of configs.
        resources_per_trial: Such as {"cpu": 2, "gpu": 0.5, "memory": "2GB"}; 1 CPU when None.
        num_samples: How often the space is sampled; -1 without end.
        storage_path, local_dir: Where experiments lie; `~/overtone_results` when None.
        search_alg: A searcher or its name; None for random and grid search.
        scheduler: A scheduler, its class or its name; None for first in, first out.
        checkpoint_config: A `CheckpointConfig`; or, one by one, `checkpoint_freq`,
            `checkpoint_at_end`, `keep_checkpoints_num`, and `checkpoint_score_attr` (a metric;
            "min-loss" where less is better), and `max_disk` (such as "20GB", for all together).
            Trials that can save do so by themselves, so often that it costs at most 5 % of
            their time; `checkpoint_freq=0` turns that off.
        verbose: 0 silent, 1 the table, 2 and 3 more.
        progress_reporter: Shows the state of the run.
        log_to_file: True for files "stdout" and "stderr" of each trial, or their names.
        trial_name_creator, trial_dirname_creator: `trial -> text`.
        max_failures: A failed trial is tried again so often; -1 for ever. One that somebody
            killed runs again in any case.
        trial_limits: What each trial may use, with all processes that it starts, such as
            {"time_s": 3600, "cpu_s": 7200, "memory": "2GB"}; one that uses more has failed.
        fail_fast: End the search, and within seconds all trials, at the first failed one; "raise"
            does so and raises.
        reuse_actors: Keep a trial's process for the next one, unless the trial leaves threads running.
            A class trainable that defines `reset_config` keeps its object as well.
        raise_on_failed_trial: Whether failed trials raise in the end.
        callbacks: `Callback`s, called as the run goes on.
        max_concurrent_trials: At most so many trials at once.
        points_to_evaluate: Configs (may be partial) to try first.
        resume: Go on with an earlier experiment: True, False, or "AUTO" for where there is one;
            "AUTO+ERRORED" also tries failed trials again, "AUTO+RESTART_ERRORED" from their
            beginning. Without a name, the last one of this script. A resume prints each setting that
            differs from the recorded run, and whether the source of the trainable changed; functions
            that the trainable calls are not compared.
        resume_config: The same as a `ResumeConfig`.
        seed: None draws one, which is logged.
        engine: "local", "ray", "inline", "simulated" or an Engine; None to choose.

    Returns:
        The analysis; for a list of experiments, a list of theirs.

    Raises:
        TuneError: Trials failed; its `analysis` holds all that was found.
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
    """A run that goes on while the caller does: `run.wait(n)`, `run.results_df`, `run.stop()`.

    The arguments are those of `tune.run`.
    """
    from overtone.run import start as start_run

    if isinstance(run_or_experiment, Experiment):
        return start_run(run_or_experiment.to_experiment(*args, **arguments))
    return start_run(to_experiment(run_or_experiment, *args, **arguments))


def run_experiments(
    experiments: Any, space: Mapping[str, Any] | None = None, scheduler: Any = None, **arguments: Any
) -> Trials:
    """The trials of one or several experiments, which run one after the other.

    Args:
        experiments: A trainable, with its `space` as the second argument; or
            `{name: {"run": ..., "config": ..., "stop": ..., "num_samples": ...}}`; or a
            `tune.Experiment`, or a list of these.
        space: The search space of a single trainable.
        scheduler: A scheduler, or its class.
        arguments: Further arguments of `tune.run`, for every experiment.

    Raises:
        TuneError: Trials failed; its `analysis` holds all that was found.
    """
    from overtone.run import execute

    arguments.pop("concurrent", None)
    native = experiments_to_run(experiments, space, scheduler, **arguments)
    return Trials([execute(each) for each in native])


def experiments_to_run(
    experiments: Any, space: Any = None, scheduler: Any = None, **arguments: Any
) -> list[NativeExperiment]:
    """The native experiments that `run_experiments` with these arguments means."""
    if isinstance(experiments, Experiment | Mapping) or _is_several(experiments):
        if space is not None and scheduler is None:
            scheduler = space  # the second argument of the dialect without a space
        return _natives(experiments, scheduler=scheduler, **arguments)
    return [to_experiment(experiments, config=space, scheduler=scheduler, **arguments)]


def _natives(several: Any, *args: Any, **arguments: Any) -> list[NativeExperiment]:
    """The native experiments, none of which may see what another's scheduler or searcher has learnt."""
    found = [each.to_experiment(*args, **arguments) for each in experiments_of(several)]
    for one in found[1:]:
        one.scheduler, one.searcher = copy.deepcopy((one.scheduler, one.searcher))
    return found


def _is_several(given: Any) -> bool:
    return isinstance(given, Mapping) or (isinstance(given, Sequence) and not isinstance(given, str))
