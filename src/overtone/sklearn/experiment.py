"""One search as an experiment: its engine, its scheduler and its folder."""

from __future__ import annotations

import copy
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from joblib import effective_n_jobs

from overtone.core.protocols import Engine
from overtone.run.execute import execute
from overtone.sklearn.evaluation import METRIC, Evaluation
from overtone.sklearn.outcomes import Outcomes
from overtone.sklearn.stopping import scheduler_of
from overtone.sklearn.trials import FoldTrial, PartTrial
from overtone.tune.arguments import to_experiment
from overtone.worker import shared_objects
from overtone.worker.trainables.with_parameters import Bound

_FILES = {"csv": "files", "json": "files", "tensorboard": "tensorboard"}


@dataclass
class SearchOptions:
    """The arguments of a search that concern its run; see `TuneSearchCV`."""

    space: Any
    searcher: Any
    n_trials: int
    seed: int
    early_stopping: Any
    n_jobs: int | None
    verbose: int
    name: str | None
    local_dir: Any
    use_gpu: bool
    loggers: Any
    stopper: Any
    time_budget_s: Any
    engine: Any


def run_search(evaluation: Evaluation, options: SearchOptions) -> Outcomes:
    """Run the search and return what its trials reported.

    Raises:
        Exception: A fit failed, and `error_score` is "raise".
    """
    outcomes = Outcomes()
    is_kept = options.name is not None or options.local_dir is not None or bool(options.loggers)
    engine = _engine(options)
    is_inline = engine == "inline" or (isinstance(engine, Engine) and engine.capabilities.calls_pump)
    with (
        _failures(evaluation, is_inline),
        _folder(options, is_kept) as storage,
        _shared(evaluation, is_inline) as parameter,
    ):
        experiment = to_experiment(
            Bound(PartTrial if evaluation.max_iters else FoldTrial, {"evaluation": parameter}),
            config=options.space,
            search_alg=options.searcher,
            num_samples=options.n_trials,
            metric=METRIC,
            mode="max",
            scheduler=scheduler_of(options.early_stopping, evaluation),
            stop=copy.deepcopy(options.stopper),
            time_budget_s=options.time_budget_s,
            seed=options.seed,
            name=options.name,
            storage_path=storage,
            engine=engine,
            resources_per_trial={"cpu": 1, "gpu": 1} if options.use_gpu else None,
            callbacks=[outcomes, *_logger_callbacks(options.loggers)],
            verbose=min(int(options.verbose), 3),
            checkpoint_freq=0,
            reuse_actors=True,
            chdir_to_trial_dir=False,
            fail_fast="raise" if evaluation.error_score == "raise" else False,
            raise_on_failed_trial=evaluation.error_score == "raise",
            **_files(options.loggers),
        )
        try:
            execute(experiment, catches_signals=False)
        except Exception as error:
            failure = evaluation.kept_failure()
            if failure is None:
                raise
            raise failure from None if is_inline else error
    return outcomes


def _engine(options: SearchOptions) -> Any:
    """Return the engine: this process for one job, else as many processes as there are jobs."""
    if options.engine is not None:
        return copy.deepcopy(options.engine)
    n_jobs = effective_n_jobs(options.n_jobs)
    if n_jobs == 1 and not options.use_gpu:
        from overtone.engines.inline import Inline

        return Inline(1)
    from overtone.engines.local import Local

    return Local(n_jobs)


@contextmanager
def _folder(options: SearchOptions, is_kept: bool) -> Iterator[str | None]:
    """Yield the folder of experiments; a temporary one unless the experiment is kept."""
    if is_kept:
        yield None if options.local_dir is None else str(Path(options.local_dir).expanduser())
        return
    with tempfile.TemporaryDirectory(prefix="overtone-search-", ignore_cleanup_errors=True) as folder:
        yield folder


@contextmanager
def _failures(evaluation: Evaluation, is_inline: bool) -> Iterator[None]:
    """Have a place for the exception of a trial in another process, if it is to be raised here."""
    if is_inline or evaluation.error_score != "raise":
        yield
        return
    with tempfile.TemporaryDirectory(prefix="overtone-failure-", ignore_cleanup_errors=True) as folder:
        evaluation.failure_file = str(Path(folder, "error.pickle"))
        yield


@contextmanager
def _shared(evaluation: Evaluation, is_inline: bool) -> Iterator[Any]:
    """Yield the evaluation for trials in this process, else a reference to it in shared memory."""
    if is_inline:
        yield evaluation
        return
    reference = shared_objects.put(evaluation)
    try:
        yield reference
    finally:
        shared_objects.delete(reference)


def _files(loggers: Any) -> dict[str, bool]:
    """Return which files of trials are written: those of the loggers that are named."""
    named = {_FILES.get(one) for one in loggers or () if isinstance(one, str)}
    return {"files": bool(named & {"files", "tensorboard"}), "tensorboard": "tensorboard" in named}


def _logger_callbacks(loggers: Any) -> list[Any]:
    """Return the callbacks of the loggers that are not files."""
    found = []
    for one in loggers or ():
        if one == "mlflow":
            from overtone.tune.logger.mlflow import MLflowLoggerCallback

            found.append(MLflowLoggerCallback())
        elif isinstance(one, type):
            found.append(one())
        elif not isinstance(one, str):
            found.append(one)
    return found
