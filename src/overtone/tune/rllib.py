"""Algorithms of an installed RLlib as trainables: `tune.run("PPO", config={"env": "CartPole-v1"})`."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from overtone.errors import TrainableError
from overtone.worker.trainables.trainable import Trainable
from overtone.worker.trainables.with_parameters import Bound


class Algorithm(Trainable):
    """A trial that trains an algorithm of RLlib; its subclasses have the names of the algorithms."""

    def setup(self, config: dict[str, Any], environments: Mapping[str, Any] | None = None) -> None:
        """Build the algorithm.

        Args:
            config: Settings of the algorithm, as RLlib takes them in a dict.
            environments: Functions that `register_env` registered, by name.
        """
        from ray.tune.registry import register_env

        for name, creator in (environments or {}).items():
            register_env(name, creator)
        self._algorithm = algorithm_class(type(self).__name__)(config=dict(config))

    def step(self) -> Any:
        """Train for one iteration of the algorithm."""
        return self._algorithm.step()

    def save_checkpoint(self, checkpoint_dir: str) -> None:
        """Save the algorithm."""
        self._algorithm.save_checkpoint(checkpoint_dir)

    def load_checkpoint(self, checkpoint: Any) -> None:
        """Restore the algorithm."""
        self._algorithm.load_checkpoint(checkpoint)

    def cleanup(self) -> None:
        """End the algorithm's workers."""
        self._algorithm.cleanup()


def rllib_algorithm(name: str, environments: Mapping[str, Any]) -> Bound | None:
    """Return RLlib's algorithm of this name as a trainable; None if Ray or such an algorithm is missing.

    Connects this process to Ray, as the trials need a cluster.

    Args:
        environments: Functions that `register_env` registered, by name.

    Raises:
        TrainableError: Ray is installed, and RLlib cannot be imported.
    """
    try:
        import ray
    except ImportError:
        return None
    if not hasattr(ray, "init"):  # a folder named "ray"
        return None
    try:
        from ray.rllib.algorithms.registry import ALGORITHMS
    except ImportError as error:
        raise TrainableError(
            f"no trainable is registered as {name!r}, and RLlib, which may have it, cannot be imported: "
            f"{error}. "
            f'Call tune.register_trainable({name!r}, your_function) first, or pip install "ray[rllib]"'
        ) from error
    if name not in ALGORITHMS:
        return None
    _connect(ray)
    parameters = {"environments": dict(environments)} if environments else {}
    return Bound(getattr(sys.modules[__name__], name), parameters, resources=_Resources(name), uses_ray=True)


def algorithm_class(name: str) -> Any:
    """Return RLlib's class of this name."""
    from ray.rllib.algorithms.registry import ALGORITHMS

    return ALGORITHMS[name]()[0]


class _Resources:
    """The resources of a trial, by its config: its own process, then the workers that it starts."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __call__(self, config: Mapping[str, Any]) -> Any:
        kind = algorithm_class(self._name)
        asked = kind.default_resource_request(kind.get_default_config().update_from_dict(dict(config)))
        return [dict(bundle) for bundle in asked.bundles]


def _connect(ray: Any) -> None:
    from overtone.as_ray.state import is_installed

    if is_installed():
        from overtone.as_ray.facade import ready_ray

        ready_ray()
    if not ray.is_initialized():
        ray.init()


def __getattr__(name: str) -> Any:
    """Return the trainable of an algorithm; pickle finds it in this module by the algorithm's name."""
    if not name.isidentifier() or name.startswith("_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    kind = type(name, (Algorithm,), {"__module__": __name__, "__doc__": f"A trial of RLlib's {name}."})
    return vars(sys.modules[__name__]).setdefault(name, kind)
