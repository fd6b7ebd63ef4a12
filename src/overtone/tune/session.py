"""The calls that training code makes, as functions: each asks the trial that runs here."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from overtone.worker.session.current import current, is_inside

if TYPE_CHECKING:
    from overtone.core.resources import Resources
    from overtone.worker.checkpoints.checkpoint import Checkpoint
    from overtone.worker.session.session import Session


def report(metrics: Any = None, /, *, checkpoint: Any = None, **more: Any) -> None:
    """Reports a result, and waits where the scheduler may have to decide.

    `report({"acc": 0.9}, checkpoint=Checkpoint.from_directory(d))`, `report(acc=0.9)` and
    `report(0.9)` (then the metric is called `_metric`).
    """
    current().report(metrics, checkpoint=checkpoint, **more)


def get_checkpoint() -> Checkpoint | None:
    """What the trial goes on from; None to begin anew."""
    return current().get_checkpoint()


def get_context() -> Session:
    """The trial's session, which has all the `get_...` methods."""
    return current()


def checkpoint_dir(step: int | None = None) -> AbstractContextManager[str]:
    """A new directory to save into, as a context; the next `report` carries what is in it."""
    return current().checkpoint_dir(step)


def should_checkpoint() -> bool:
    """Whether to save now and call `record_checkpoint`."""
    return current().should_checkpoint()


def record_checkpoint(path: str | os.PathLike[str]) -> None:
    """Keeps a copy of the file or directory `path` as the state after the last report."""
    current().record_checkpoint(path)


def get_trial_id() -> str:
    """Such as "358bb_00006"."""
    return current().get_trial_id()


def get_trial_name() -> str:
    """Such as "train_358bb_00006"."""
    return current().get_trial_name()


def get_trial_dir() -> str:
    """The trial's folder."""
    return current().get_trial_dir()


def get_experiment_name() -> str:
    """The name of the experiment's folder."""
    return current().get_experiment_name()


def get_trial_resources() -> Resources:
    """What the trial was given."""
    return current().get_trial_resources()


def make_checkpoint_dir(step: int | None = None) -> str:
    """A new directory to save into; call `save_checkpoint` then, or just report.

    Args:
        step: Accepted: the checkpoint is named after the report that carries it.
    """
    return current().make_checkpoint_dir()


def save_checkpoint(path: str | os.PathLike[str]) -> None:
    """Lets the next `report` carry the file or directory `path`, in one of `make_checkpoint_dir`."""
    current().save_checkpoint(path)


def simulate_time(seconds: float) -> None:
    """Lets `seconds` of training pass: on the simulated engine's clock; with other engines it sleeps so long.

    What a trial computes takes no virtual time, so this is how an ordinary trainable says what it
    would take.
    """
    current().simulate_time(seconds)


def get_world_size() -> int:
    """How many ranks the trial has."""
    return current().get_world_size()


def get_world_rank() -> int:
    """This process' rank in the trial."""
    return current().get_world_rank()


def get_local_rank() -> int:
    """This process' rank among the trial's on this machine."""
    return current().get_world_rank()


def is_session_enabled() -> bool:
    """Whether a trial runs in this process."""
    return is_inside()


def of_the_trial(name: str) -> Any:
    """`params` or `checkpoint` of the trial that runs here.

    Raises:
        AttributeError: None does.
    """
    if not is_inside():
        raise AttributeError(
            f"tune.{name} is there while a trial runs: use it in a trainable that tune.run(...) called"
        )
    value: Mapping[str, Any] | str | None = getattr(current(), name)
    return value
