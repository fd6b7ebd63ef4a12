"""Registry of trainables by name, so that experiments can be written as data."""

from __future__ import annotations

from typing import Any

from overtone.errors import TrainableError
from overtone.lazy import nearest

_trainables: dict[str, Any] = {}


def register_trainable(name: str, trainable: Any, warn: bool = True) -> None:
    """Register `trainable` under `name` for experiments of this process.

    Args:
        name: Any text; a trainable registered under the same name is replaced.
        trainable: A function, class or callable object.
        warn: Accepted and ignored.

    Raises:
        TrainableError: `trainable` is not callable.
    """
    if not callable(trainable):
        raise TrainableError(
            f"register_trainable({name!r}, ...) got {trainable!r}: give a function or a Trainable class"
        )
    _trainables[name] = trainable


def registered(name: str) -> Any:
    """Return the trainable registered under `name`.

    Raises:
        TrainableError: No trainable is registered under `name`.
    """
    if name not in _trainables:
        from overtone.tune.rllib import rllib_algorithm

        algorithm = rllib_algorithm(name, {})
        if algorithm is not None:
            return algorithm
        known = ", ".join(map(repr, sorted(_trainables))) or "none"
        raise TrainableError(
            f"no trainable is registered as {name!r}{nearest(name, _trainables)} (registered: {known}); "
            f"call tune.register_trainable({name!r}, your_function) first. Algorithms of RLlib, such as "
            '"PPO", need pip install "overtone[ray]" "ray[rllib]"'
        )
    return _trainables[name]
