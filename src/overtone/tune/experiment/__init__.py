"""Experiments as data, and `tune.run_experiments`, which runs them."""

from __future__ import annotations

import copy
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from overtone.errors import UsageError
from overtone.experiment import Experiment as Native
from overtone.tune.arguments import to_experiment, trainable_of
from overtone.tune.registry import register_trainable
from overtone.tune.trials import Trials
from overtone.worker.trainables.with_parameters import trainable_name

if TYPE_CHECKING:
    from overtone.tune.trial import Trial as Trial

_OTHER_NAMES = {"trial_resources": "resources_per_trial", "repeat": "num_samples"}


def __getattr__(name: str) -> Any:
    if name == "Trial":
        from overtone.tune import trial

        return trial.Trial
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


class Experiment:
    """An experiment: `Experiment("name", trainable, stop=..., config=..., num_samples=...)`.

    Args:
        name: The name of the results folder.
        run: A trainable, or the name of a registered one.
        arguments: Further arguments of `tune.run`.

    Attributes:
        PUBLIC_KEYS: The arguments in `public_spec`.
    """

    PUBLIC_KEYS = frozenset({"stop", "num_samples", "time_budget_s"})

    def __init__(self, name: str | None, run: Any, **arguments: Any) -> None:
        self.name = name
        self.run = run
        self.arguments = {_OTHER_NAMES.get(key, key): value for key, value in arguments.items()}
        self.to_experiment()  # raise for a wrong argument here, not when the experiment runs

    @classmethod
    def from_json(cls, name: str, spec: Mapping[str, Any]) -> Experiment:
        """Return the experiment of `{"run": ..., "config": ..., ...}`.

        Raises:
            TypeError: "run" is missing, or an argument is unknown.
        """
        if not isinstance(spec, Mapping) or "run" not in spec:
            raise UsageError(
                f'experiment {name!r} must look like {{"run": trainable, "config": {{...}}}}, not {spec!r}'
            )
        arguments = {key: value for key, value in spec.items() if key not in ("run", "env", "name")}
        if "env" in spec:
            arguments["config"] = {**(arguments.get("config") or {}), "env": spec["env"]}
        return cls(name, spec["run"], **arguments)

    @property
    def spec(self) -> dict[str, Any]:
        """The experiment as plain data."""
        return {"run": self.run, **self.arguments}

    @classmethod
    def get_trainable_name(cls, run_object: Any) -> str:
        """Return the name of a trainable; a text is the name of a registered one.

        Raises:
            TuneError: `run_object` is neither a trainable nor a text.
        """
        return run_object if isinstance(run_object, str) else trainable_name(trainable_of(run_object))

    @classmethod
    def register_if_needed(cls, run_object: Any) -> str:
        """Register a trainable under its name, and return the name; a text is returned as it is.

        Raises:
            TuneError: `run_object` is neither a trainable nor a text.
        """
        name = cls.get_trainable_name(run_object)
        if not isinstance(run_object, str):
            register_trainable(name, run_object)
        return name

    @property
    def run_identifier(self) -> str:
        """The trainable's name."""
        return self.get_trainable_name(self.run)

    @property
    def stopper(self) -> Any:
        """The stopper that was given; None if bounds of metrics were."""
        stop = self.arguments.get("stop")
        return None if isinstance(stop, Mapping) else stop

    @property
    def checkpoint_config(self) -> Any:
        """The checkpoint settings, as they were given."""
        return self.arguments.get("checkpoint_config")

    @property
    def public_spec(self) -> dict[str, Any]:
        """The arguments named in `PUBLIC_KEYS`; `time_budget_s` is None if it is not given."""
        defaults = {"time_budget_s": None, "num_samples": 1}
        return {name: value for name, value in (defaults | self.spec).items() if name in self.PUBLIC_KEYS}

    @property
    def path(self) -> str | None:
        """The results folder, or its address in remote storage; None if the run makes up a name."""
        from overtone.run.storage.location import DEFAULT
        from overtone.store.files import is_url

        if self.name is None:
            return None
        storage = os.fspath(self.to_experiment().storage or DEFAULT)
        if is_url(storage):
            return f"{storage.rstrip('/')}/{self.name}"
        return os.path.abspath(os.path.expanduser(os.path.join(storage.removeprefix("file://"), self.name)))

    local_path = remote_path = path

    def to_experiment(self, **arguments: Any) -> Native:
        """Return the native experiment; `arguments` are defaults for arguments that are not set."""
        merged = {key: value for key, value in arguments.items() if value is not None} | self.arguments
        return to_experiment(self.run, **{"name": self.name, **merged})


def experiments_of(given: Any) -> list[Experiment]:
    """Return the experiments in a mapping by name, in a list, or the single one given.

    Raises:
        TypeError: `given` is none of these.
    """
    if isinstance(given, Experiment):
        return [given]
    if isinstance(given, Mapping):
        return [Experiment.from_json(name, spec) for name, spec in given.items()]
    if isinstance(given, list | tuple):
        return [one for each in given for one in experiments_of(each)]
    raise UsageError(f"an experiment must be a tune.Experiment or {{name: {{'run': ...}}}}, not {given!r}")


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
    from overtone.tune.environment import catches_signals

    arguments.pop("concurrent", None)
    native = experiments_to_run(experiments, space, scheduler, **arguments)
    return Trials([execute(each, catches_signals()) for each in native])


def experiments_to_run(
    experiments: Any, space: Any = None, scheduler: Any = None, **arguments: Any
) -> list[Native]:
    """Return the native experiments that these arguments of `run_experiments` describe."""
    if not isinstance(experiments, Experiment | Mapping) and not is_several(experiments):
        arguments["config"] = space
    elif space is not None and scheduler is None:
        scheduler = space  # the second argument of the dialect without a space
    return natives(experiments, scheduler=scheduler, **arguments)


def natives(given: Any, **arguments: Any) -> list[Native]:
    """Return the native experiments of a trainable, of an `Experiment`, or of several.

    Each of several has its own copy of the scheduler and the searcher.
    """
    if not isinstance(given, Experiment) and not is_several(given):
        return [to_experiment(given, **arguments)]
    found = [each.to_experiment(**arguments) for each in experiments_of(given)]
    for one in found[1:]:
        one.scheduler, one.searcher = copy.deepcopy((one.scheduler, one.searcher))
    return found


def is_several(given: Any) -> bool:
    """Return whether `given` holds experiments, as a mapping or a list."""
    return isinstance(given, Mapping) or (isinstance(given, Sequence) and not isinstance(given, str))
