"""Files of a training's state that `torch.load(weights_only=True)` reads, which executes nothing."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import torch

from overtone.errors import TrainableError, UsageError


def save_state(state: Mapping[str, Any], path: str | os.PathLike[str]) -> str:
    """Replace a file by one with `state`, atomically; return its path.

    Raises:
        TrainableError: The state has other objects than plain data and tensors.
        OSError: The file cannot be written.
    """
    new = f"{os.fspath(path)}.new"
    try:
        with open(new, "wb") as file:  # torch's own writer reports a full disk as a RuntimeError
            torch.save(dict(state), file)
        unsafe = torch.serialization.get_unsafe_globals_in_checkpoint(new)
        if unsafe:
            raise TrainableError(
                f"the state of this training holds {unsafe[0]}, which a safe load refuses: return numbers, "
                "strings, lists, dicts and tensors from TrainingOperator.state_dict()"
            )
        os.replace(new, path)
    finally:
        with suppress(FileNotFoundError):
            os.unlink(new)
    return os.fspath(path)


def load_state(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the state in a file, on the CPU.

    Raises:
        UsageError: It is not a file of `save_state`.
        OSError: The file cannot be read.
    """
    try:
        loaded: dict[str, Any] = torch.load(path, map_location="cpu", weights_only=True)
    except OSError:
        raise
    except Exception as error:  # any, since torch.load raises as it can on a file of another kind
        raise UsageError(f"{os.fspath(path)} is not a file that TorchTrainer.save wrote: {error}") from error
    return loaded


def check_state(state: Any) -> None:
    """Check what a training should continue from.

    Raises:
        UsageError: It is not from `state_dict()`.
    """
    if not isinstance(state, Mapping) or not {"shared", "workers"} <= set(state):
        shown = sorted(map(str, state)) if isinstance(state, Mapping) else type(state).__name__
        raise UsageError(f"load_state_dict({shown!s:.100}): must be from TorchTrainer.state_dict()")
