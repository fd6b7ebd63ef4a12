"""An experiment as data: the form that `run_experiments` takes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from overtone.experiment import Experiment as Native
from overtone.tune.arguments import to_experiment
from overtone.tune.trial import Trial as Trial

_OTHER_NAMES = {"trial_resources": "resources_per_trial", "repeat": "num_samples"}


class Experiment:
    """`Experiment("name", trainable, stop=..., config=..., num_samples=...)`.

    Args:
        name: The folder of its results.
        run: A trainable, or the name of a registered one.
        arguments: Further arguments of `tune.run`.
    """

    def __init__(self, name: str | None, run: Any, **arguments: Any) -> None:
        self.name = name
        self.run = run
        self.arguments = {_OTHER_NAMES.get(key, key): value for key, value in arguments.items()}
        self.to_experiment()  # a wrong argument is an error here, not when it runs

    @classmethod
    def from_json(cls, name: str, spec: Mapping[str, Any]) -> Experiment:
        """The experiment of `{"run": ..., "config": ..., ...}`.

        Raises:
            TypeError: There is no "run", or an argument is unknown.
        """
        if not isinstance(spec, Mapping) or "run" not in spec:
            raise TypeError(
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

    def to_experiment(self, **arguments: Any) -> Native:
        """What Overtone runs; `arguments` fill in what the experiment itself leaves open."""
        merged = {key: value for key, value in arguments.items() if value is not None} | self.arguments
        return to_experiment(self.run, **{"name": self.name, **merged})


def experiments_of(given: Any) -> list[Experiment]:
    """The experiments in a mapping by name, a list, or a single one.

    Raises:
        TypeError: It is none of these.
    """
    if isinstance(given, Experiment):
        return [given]
    if isinstance(given, Mapping):
        return [Experiment.from_json(name, spec) for name, spec in given.items()]
    if isinstance(given, list | tuple):
        return [one for each in given for one in experiments_of(each)]
    raise TypeError(f"an experiment must be a tune.Experiment or {{name: {{'run': ...}}}}, not {given!r}")
