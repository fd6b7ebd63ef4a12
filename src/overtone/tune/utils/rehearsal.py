"""Checks of a trainable before a run: serialization, saving and loading."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from overtone.errors import TrainableError


def diagnose_serialization(trainable: Any) -> bool | set[str]:
    """Return True if `trainable` can be serialized, or else the names it uses that cannot.

    Create the values of these names inside the trainable.
    """
    if _travels(trainable):
        return True
    from inspect import getclosurevars, isfunction

    function = getattr(trainable, "trainable", trainable)
    culprits = set()
    if isfunction(function):
        used = getclosurevars(function)
        culprits = {name for name, value in {**used.globals, **used.nonlocals}.items() if not _travels(value)}
    return culprits


def validate_save_restore(
    trainable_cls: type, config: Mapping[str, Any] | None = None, num_gpus: float = 0
) -> bool:
    """Check that a new object of a class trainable resumes from a saved checkpoint; return True.

    Args:
        trainable_cls: A subclass of `tune.Trainable`.
        config: The hyperparameters.
        num_gpus: Accepted and ignored: the check runs in this process.

    Raises:
        TrainableError: `trainable_cls` is not a class trainable, or it did not resume from the
            saved iteration.
    """
    from overtone.worker.checkpoints.saving import Restored
    from overtone.worker.trainables.class_trial import is_steppable, trainable_class
    from overtone.worker.trainables.trainable import save_state

    if not is_steppable(trainable_cls):
        raise TrainableError(f"validate_save_restore takes a class with step(), not {trainable_cls!r}")
    kind = trainable_class(trainable_cls, {})
    first, second = kind(dict(config or {})), kind(dict(config or {}))
    first.train()
    with tempfile.TemporaryDirectory() as folder:
        state = save_state(first, Path(folder))
        second.go_on_from(Restored(Path(folder), state).like_saved, first.iteration)
        second.train()
    if second.iteration != first.iteration + 1:
        raise TrainableError(f"{trainable_cls.__name__} did not continue from the checkpoint that it saved")
    first.stop()
    second.stop()
    return True


def _travels(value: Any) -> bool:
    import cloudpickle

    try:
        cloudpickle.dumps(value)
    except Exception:  # a __reduce__ may raise any exception
        return False
    return True
