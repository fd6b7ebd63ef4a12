"""Trainables under a name, so that experiments can be written as data."""

from __future__ import annotations

from typing import Any

from overtone.errors import TrainableError
from overtone.lazy import nearest

_trainables: dict[str, Any] = {}


def register_trainable(name: str, trainable: Any, warn: bool = True) -> None:
    """Lets experiments of this process call `trainable` by `name`.

    Args:
        name: Any text; a name that is taken is given to the new trainable.
        trainable: A function, class or callable object.
        warn: Accepted for scripts that pass it.

    Raises:
        TrainableError: It cannot be called.
    """
    if not callable(trainable):
        raise TrainableError(
            f"register_trainable({name!r}, ...) got {trainable!r}: give a function or a Trainable class"
        )
    _trainables[name] = trainable


def registered(name: str) -> Any:
    """The trainable under `name`.

    Raises:
        TrainableError: There is none.
    """
    if name not in _trainables:
        known = ", ".join(map(repr, sorted(_trainables))) or "none"
        raise TrainableError(
            f"no trainable is registered as {name!r}{nearest(name, _trainables)} (registered: {known}); "
            f"call tune.register_trainable({name!r}, your_function) first"
        )
    return _trainables[name]
