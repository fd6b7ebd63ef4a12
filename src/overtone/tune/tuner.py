"""`Tuner(trainable, param_space=...).fit()`, and its options as objects."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from overtone.engines.local.prestart import ahead
from overtone.errors import ArgumentError, OvertoneError, UsageError
from overtone.experiment import Experiment
from overtone.keywords import KnownKeywords
from overtone.tune.arguments import FIELDS, POLICY, to_experiment
from overtone.tune.environment import catches_signals, changes_directory
from overtone.tune.tune import FailureConfig, RunConfig, TuneConfig
from overtone.worker.trainables.demand import demand

if TYPE_CHECKING:
    from overtone.analysis import ResultGrid


class Tuner(KnownKeywords):
    """A search with its settings; `fit()` runs it.

    Args:
        trainable: A function, class or callable object; the name of a registered trainable; or an
            object with `as_trainable()`.
        param_space: The search space; or a list, generator or frame of configs.
        tune_config: Search settings: goal, searcher, scheduler and budget.
        run_config: Run settings: name, storage, failures, checkpoints and output.

    Raises:
        UsageError: No trainable is given.
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
            raise UsageError("Tuner() needs a trainable: Tuner(my_function, param_space={...})")
        own = getattr(trainable, "run_config", None)  # a trainer may bring one
        self._trainable = trainable
        self._space = param_space
        configs = ("tune_config", tune_config, TuneConfig), ("run_config", run_config, RunConfig)
        for name, value, kind in configs:
            if value is not None and not isinstance(value, kind):
                made = f"tune.{kind.__name__}(...)"
                raise ArgumentError(f"{name}={value!r}: must be None or made with {made}")
        self._tune = tune_config or TuneConfig()
        self._run = run_config or (own if isinstance(own, RunConfig) else RunConfig())
        self._results: ResultGrid | None = None
        self._restored: Path | None = None
        self._experiment: Experiment | None = None
        self.to_experiment()  # raise for a wrong argument here, not when the search runs

    def fit(self) -> ResultGrid:
        """Run the search and return the results of all trials. Block until every trial has ended.

        Failed trials do not raise: their errors are in the grid's `errors`.

        Raises:
            KeyboardInterrupt: At the second Ctrl-C, or at the first if no trial has reported a result.
        """
        experiment = self.to_experiment()
        with ahead(experiment.engine):
            from overtone.analysis import ResultGrid
            from overtone.run import execute

            self._results = ResultGrid(execute(experiment, catches_signals()))
        return self._results

    def get_results(self) -> ResultGrid:
        """Return the results of `fit`, or the recorded results of a restored experiment.

        Raises:
            OvertoneError: `fit` was not called, or it raised.
        """
        if self._results is None and self._restored is not None:
            from overtone.analysis import ExperimentAnalysis, ResultGrid

            return ResultGrid(ExperimentAnalysis(self._restored))
        if self._results is None:
            raise OvertoneError("there are no results yet: call fit() first")
        return self._results

    def to_experiment(self) -> Experiment:
        """Return the native experiment that `fit` runs.

        Raises:
            ArgumentError: `tune_config` and `run_config` differ in an option that both have.
        """
        if self._experiment is not None:
            return self._experiment
        tune, run = self._tune, self._run
        for name in ("trial_limits", "chdir_to_trial_dir"):
            both = [value for value in (getattr(tune, name), getattr(run, name)) if value not in (None, {})]
            if both[1:] and both[0] != both[1]:
                raise ArgumentError(f"{name} is given to TuneConfig and to RunConfig: give it to one of them")
        configs = (run, RunConfig), (tune, TuneConfig), (run.failure_config or FailureConfig(), FailureConfig)
        given = [(one.name, getattr(config, one.name)) for config, kind in configs for one in fields(kind)]
        arguments = {name: value for name, value in given if value is not None and name != "failure_config"}
        arguments["trial_limits"] = tune.trial_limits or run.trial_limits  # {} is none
        return to_experiment(self._trainable, config=self._space, raise_on_failed_trial=False, **arguments)

    @classmethod
    def restore(
        cls,
        path: str | Path,
        trainable: Any = None,
        resume_unfinished: bool = True,
        resume_errored: bool = False,
        restart_errored: bool = False,
        param_space: Any = None,
        **arguments: Any,
    ) -> Tuner:
        """Return the tuner of an earlier experiment; its `fit()` resumes the experiment.

        Args:
            path: The experiment's folder, or its URL.
            trainable: The function or class again, since code is not recorded. If its source changed,
                `fit` prints a warning; functions that the trainable calls are not compared.
            resume_unfinished: Must be True: unfinished trials always resume.
            resume_errored: Retry failed trials from their last checkpoint.
            restart_errored: Retry failed trials from their beginning.
            param_space: The space again, if it holds values that are neither plain data nor functions
                of the trainable's module. Its keys must be the recorded ones.
            arguments: Arguments of `tune.run` that should differ, such as `num_samples`, or that are not
                plain data, such as `callbacks`. All other arguments are taken from the experiment.

        Raises:
            OvertoneError: An argument must be passed again (the message names it), or
                `resume_unfinished` is False.
            TrainableError: The experiment is of another trainable.
            SpaceError: `param_space` has other keys than the recorded space.
            StorageError: There is no experiment at `path`.
        """
        from overtone.reading.location import located
        from overtone.run.resume.recorded_experiment import recorded_experiment
        from overtone.run.storage.location import locate
        from overtone.store.files import is_url

        if not resume_unfinished:
            raise OvertoneError(
                "resume_unfinished=False: open the results with tune.ExperimentAnalysis(path) instead"
            )
        if trainable is None:
            raise UsageError(
                "Tuner.restore() needs the trainable: Tuner.restore(path, trainable=my_function)"
            )
        if not is_url(str(path)):
            located(path)  # raises if there is no experiment, and says what there is
        folder = locate(path)
        if param_space is not None:
            arguments["config"] = param_space
        told = to_experiment(trainable, **arguments)
        given = {FIELDS[name]: getattr(told, FIELDS[name]) for name in FIELDS.keys() & arguments.keys()}
        if told.resources is not None:  # the trainable may bring its own
            given["resources"] = told.resources
        if (own_folders := changes_directory()) is not None:
            given.setdefault("chdir_to_trial_dir", own_folders)
        errored = "+RESTART_ERRORED" if restart_errored else "+ERRORED" if resume_errored else ""
        tuner = cls.__new__(cls)
        tuner._results, tuner._restored = None, folder
        tuner._experiment = recorded_experiment(
            folder, told.trainable, {"raise_on_failed_trial": False, **given, "resume": f"LOCAL{errored}"}
        )
        if callable(tuner._experiment.resources):  # it returns what the user wrote
            tuner._experiment.resources = demand(tuner._experiment.resources)
        for name, argument in POLICY.items():  # set only the given options of the policy
            if argument in arguments:
                setattr(tuner._experiment.checkpoints, name, getattr(told.checkpoints, name))
        return tuner

    @classmethod
    def can_restore(cls, path: str | Path, **_: Any) -> bool:
        """Return whether there is an experiment at `path`."""
        from overtone.run.storage.location import holds_experiment

        return holds_experiment(path)
