"""Experiments as data, as `run_experiments` takes them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from overtone.experiment import Experiment as Native
from overtone.tune.arguments import to_experiment
from overtone.tune.trial import Trial as Trial

_OTHER_NAMES = {"trial_resources": "resources_per_trial", "repeat": "num_samples"}


class Experiment:
    """An experiment: `Experiment("name", trainable, stop=..., config=..., num_samples=...)`.

    Args:
        name: The name of the results folder.
        run: A trainable, or the name of a registered one.
        arguments: Further arguments of `tune.run`.
    """

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
    raise TypeError(f"an experiment must be a tune.Experiment or {{name: {{'run': ...}}}}, not {given!r}")
