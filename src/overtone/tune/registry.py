"""Registry of trainables and environments by name, so that experiments can be written as data."""

from __future__ import annotations

from typing import Any

from overtone.errors import TrainableError, UsageError
from overtone.lazy import nearest

_trainables: dict[str, Any] = {}
_environments: dict[str, Any] = {}
_inputs: dict[str, Any] = {}


def register_trainable(name: str, trainable: Any, warn: bool = True) -> None:
    """Register `trainable` under `name` for experiments of this process.

    Args:
        name: Any text; a trainable registered under the same name is replaced.
        trainable: A function, class or callable object.
        warn: Accepted and ignored.

    Raises:
        UsageError: `trainable` is not callable.
    """
    if not callable(trainable):
        raise UsageError(
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

        algorithm = rllib_algorithm(name, _environments)
        if algorithm is not None:
            return algorithm
        known = ", ".join(map(repr, sorted(_trainables))) or "none"
        raise TrainableError(
            f"no trainable is registered as {name!r}{nearest(name, _trainables)} (registered: {known}); "
            f"call tune.register_trainable({name!r}, your_function) first. Algorithms of RLlib, such as "
            '"PPO", need pip install "overtone[ray]" "ray[rllib]"'
        )
    return _trainables[name]


def get_trainable_cls(trainable_name: str) -> Any:
    """Return the trainable registered under `trainable_name`: a class, or a function as it was given.

    Raises:
        TrainableError: No trainable is registered under this name.
    """
    return registered(trainable_name)


def validate_trainable(trainable_name: str) -> None:
    """Refuse the name of no trainable.

    Raises:
        TrainableError: No trainable is registered under this name.
    """
    registered(trainable_name)


def is_function_trainable(trainable: Any) -> bool:
    """Return whether a trainable, or the registered one with this name, is a function and not a class."""
    known = _trainables.get(trainable) if isinstance(trainable, str) else trainable
    return callable(known) and not isinstance(known, type)


def register_env(name: str, env_creator: Any) -> None:
    """Register an environment under `name`, for trainables that create it by name: see `registered_env`.

    Args:
        name: Any text; an environment registered under the same name is replaced.
        env_creator: A function `env_config -> environment`.

    Raises:
        UsageError: `env_creator` is not callable.
    """
    _check_function("register_env", name, env_creator)
    _environments[name] = env_creator


def registered_env(name: str) -> Any:
    """Return the function registered under `name`.

    Raises:
        TrainableError: No environment is registered under `name`.
    """
    if name not in _environments:
        known = ", ".join(map(repr, sorted(_environments))) or "none"
        raise TrainableError(
            f"no environment is registered as {name!r}{nearest(name, _environments)} (registered: {known}); "
            f"call register_env({name!r}, your_function) first"
        )
    return _environments[name]


def register_input(name: str, input_creator: Any) -> None:
    """Register a function that makes a reader of recorded data, for trainables that look it up by name.

    Raises:
        UsageError: `input_creator` is not callable.
    """
    _check_function("register_input", name, input_creator)
    _inputs[name] = input_creator


def registry_contains_input(name: str) -> bool:
    """Return whether a function is registered under `name`, by `register_input`."""
    return name in _inputs


def registry_get_input(name: str) -> Any:
    """Return the function registered under `name`, by `register_input`.

    Raises:
        KeyError: No function is registered under `name`.
    """
    return _inputs[name]


def _check_function(register: str, name: str, given: Any) -> None:
    if not callable(given):
        raise UsageError(f"{register}({name!r}, ...) got {given!r}: give a function")
