"""`Tuner(trainable, param_space=...).fit()`, and its options as objects."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from overtone.errors import OvertoneError
from overtone.experiment import Experiment
from overtone.tune.arguments import to_experiment
from overtone.tune.run_config import FailureConfig, RunConfig
from overtone.tune.tune_config import TuneConfig

if TYPE_CHECKING:
    from overtone.analysis import ResultGrid


class Tuner:
    """A search, ready to run.

    Args:
        trainable: A function, class or callable object; the name of a registered one; or an
            object with `as_trainable()`.
        param_space: The search space; or a list, generator or frame of configs.
        tune_config: What is searched for, and how.
        run_config: Everything else: storage, failures, checkpoints, output.
    """

    def __init__(
        self,
        trainable: Any = None,
        *,
        param_space: Any = None,
        tune_config: TuneConfig | None = None,
        run_config: RunConfig | None = None,
    ) -> None:
        if trainable is None:
            raise TypeError("Tuner() needs a trainable: Tuner(my_function, param_space={...})")
        own = getattr(trainable, "run_config", None)  # a trainer may bring one
        self._trainable = trainable
        self._space = param_space
        self._tune = tune_config or TuneConfig()
        self._run = run_config or (own if isinstance(own, RunConfig) else RunConfig())
        self._results: ResultGrid | None = None
        self.to_experiment()  # a wrong argument is an error here, not when it runs

    def fit(self) -> ResultGrid:
        """The results of all trials, once every one has ended.

        Failed trials do not raise: they are the grid's `errors`.
        """
        from overtone.analysis import ResultGrid
        from overtone.run import execute

        self._results = ResultGrid(execute(self.to_experiment()))
        return self._results

    def get_results(self) -> ResultGrid:
        """What `fit` returned.

        Raises:
            OvertoneError: `fit` was not called, or raised.
        """
        if self._results is None:
            raise OvertoneError("there are no results yet: call fit() first")
        return self._results

    def to_experiment(self) -> Experiment:
        """What Overtone runs."""
        tune, run = self._tune, self._run
        failure = run.failure_config or FailureConfig()
        return to_experiment(
            self._trainable,
            config=self._space,
            metric=tune.metric,
            mode=tune.mode,
            search_alg=tune.search_alg,
            scheduler=tune.scheduler,
            num_samples=tune.num_samples,
            max_concurrent_trials=tune.max_concurrent_trials,
            time_budget_s=tune.time_budget_s,
            reuse_actors=tune.reuse_actors,
            trial_name_creator=tune.trial_name_creator,
            trial_dirname_creator=tune.trial_dirname_creator,
            seed=tune.seed,
            priority=tune.priority,
            name=run.name,
            storage_path=run.storage_path,
            local_dir=run.local_dir,
            max_failures=failure.max_failures,
            fail_fast=failure.fail_fast,
            checkpoint_config=run.checkpoint_config,
            sync_config=run.sync_config,
            progress_reporter=run.progress_reporter,
            stop=run.stop,
            callbacks=run.callbacks,
            verbose=run.verbose,
            log_to_file=run.log_to_file,
            engine=run.engine,
            raise_on_failed_trial=False,
        )

    @classmethod
    def restore(cls, path: str | Path, trainable: Any = None, **_: Any) -> Tuner:
        """Not in this version.

        Raises:
            OvertoneError: Always; the message says how to look at the results.
        """
        raise OvertoneError(
            f"Tuner.restore({str(path)!r}): resuming an experiment is not available in this version of "
            f"Overtone; tune.ExperimentAnalysis({str(path)!r}) opens what was found"
        )

    @classmethod
    def can_restore(cls, path: str | Path, **_: Any) -> bool:
        """Whether `restore` could go on from `path`: in this version never."""
        return False
